// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// The tables are open-addressing hash tables with linear probing, filled once.

// mix spreads a key over the upper bits.
const mix = 0x9e3779b97f4a7c15

// tableBits returns the logarithm of a table's size for n entries, so that at
// most two of three places are taken.
func tableBits(n int) int { return max(4, bits.Len(uint(n+n/2))) }

// word8 returns the n bytes of b from i on, 8 at most, the first the lowest.
func word8(b []byte, i, n int) uint64 {
	if i+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[i:]) & (^uint64(0) >> (64 - 8*n))
	}
	var w uint64
	for k := n - 1; k >= 0; k-- {
		w = w<<8 | uint64(b[i+k])
	}
	return w
}

// shortTable finds tokens of at most 8 bytes.
type shortTable struct {
	slots []shortSlot
	shift int
}

// shortSlot is a token: its bytes, and its number with their count above it,
// which tells "a" from "a\x00". A free slot has a count of 0.
type shortSlot struct {
	bytes uint64
	id    uint32
}

func (t *shortTable) make(n int) {
	k := tableBits(n)
	t.slots, t.shift = make([]shortSlot, 1<<k), 64-k
}

func (t *shortTable) add(w uint64, id uint32, n int) {
	for i := w * mix >> t.shift; ; i = (i + 1) & uint64(len(t.slots)-1) {
		if t.slots[i].id == 0 {
			t.slots[i] = shortSlot{w, id | uint32(n)<<20}
			return
		}
	}
}

func (t *shortTable) find(w uint64, n int) uint32 {
	for i := w * mix >> t.shift; i < uint64(len(t.slots)); i = (i + 1) & uint64(len(t.slots)-1) {
		s := &t.slots[i]
		if s.bytes == w && s.id>>20 == uint32(n) {
			return s.id & (maxTokens - 1)
		}
		if s.id == 0 {
			break
		}
	}
	return none
}

// triples is a filter of the tokens of 3 bytes.
type triples [1 << (triplesBits - 6)]uint64

const triplesBits = 17 // 16 KB

func (t *triples) add(w uint64) {
	f := w * mix >> (64 - triplesBits)
	t[f>>6] |= 1 << (f & 63)
}

func (t *triples) may(w uint64) bool {
	f := w * mix >> (64 - triplesBits)
	return t[f>>6]>>(f&63)&1 != 0
}

// longTable finds tokens of more than 8 bytes, by a hash of the first 8, the
// last 8 and their number; then all are compared.
type longTable struct {
	slots []longSlot
	shift int
}

// longSlot is a token: part of its hash, and its number plus one.
type longSlot struct{ tag, id uint32 }

func (t *longTable) make(n int) {
	k := tableBits(n)
	t.slots, t.shift = make([]longSlot, 1<<k), 64-k
}

func longHash(b []byte) uint64 {
	first, last := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[len(b)-8:])
	hi, lo := bits.Mul64(first^mix, last+uint64(len(b))*mix)
	return (hi ^ lo) * mix
}

func (t *longTable) add(b []byte, id uint32) {
	h := longHash(b)
	for i := h >> t.shift; ; i = (i + 1) & uint64(len(t.slots)-1) {
		if t.slots[i].id == 0 {
			t.slots[i] = longSlot{uint32(h), id + 1}
			return
		}
	}
}

// find returns the token of the bytes b, whose hash is h.
func (t *longTable) find(v *Vocabulary, b []byte, h uint64) uint32 {
	for i := h >> t.shift; i < uint64(len(t.slots)); i = (i + 1) & uint64(len(t.slots)-1) {
		s := t.slots[i]
		if s.id == 0 {
			break
		}
		if s.tag == uint32(h) && bytes.Equal(v.token(s.id-1), b) {
			return s.id - 1
		}
	}
	return none
}

// pairTable finds what two tokens are merged to. A slot has the three numbers,
// 20 bits each; a free one is 0, which no pair is: it would be a token merged
// to itself.
//
// Most pairs are asked for in vain, and the slots are too many for a core's
// cache, so a filter of 8 bits a slot is looked at before: the hash of each
// pair that is there sets three of them, all in one word. Since it keeps most of
// the others away from the slots, four of five of these may be taken.
type pairTable struct {
	slots  []uint64
	filter []uint64
	shift  int
}

func (t *pairTable) make(n int) {
	k := max(4, bits.Len(uint(n+n/4)))
	t.slots, t.filter, t.shift = make([]uint64, 1<<k), make([]uint64, 1<<(k-3)), 64-k
}

func (t *pairTable) add(left, right, id uint32) {
	key := uint64(left)<<20 | uint64(right)
	h := key * mix
	word, bits := t.filterBits(h)
	t.filter[word] |= bits
	for i := h >> t.shift; ; i = (i + 1) & uint64(len(t.slots)-1) {
		if t.slots[i] == 0 {
			t.slots[i] = key<<20 | uint64(id)
			return
		}
	}
}

// filterBits returns the word of the filter and the bits in it that stand for a
// pair.
func (t *pairTable) filterBits(h uint64) (word int, bits uint64) {
	f := h >> (t.shift - 15)
	return int(f >> 18), 1<<(f&63) | 1<<(f>>6&63) | 1<<(f>>12&63)
}

// find returns the token, or none, which is larger than any.
func (t *pairTable) find(left, right uint32) uint32 {
	h := (uint64(left)<<20 | uint64(right)) * mix
	if word, bits := t.filterBits(h); t.filter[word]&bits != bits {
		return none
	}
	return t.probe(left, right, h)
}

func (t *pairTable) probe(left, right uint32, h uint64) uint32 {
	key := uint64(left)<<20 | uint64(right)
	for i := h >> t.shift; i < uint64(len(t.slots)); i = (i + 1) & uint64(len(t.slots)-1) {
		s := t.slots[i]
		if s>>20 == key && s != 0 {
			return uint32(s) & (maxTokens - 1)
		}
		if s == 0 {
			break
		}
	}
	return none
}

// lengths is a set of numbers of bytes, bit n for n bytes; the bit of overlong
// stands for all from there on.
type lengths uint64

const overlong = 63

func (l lengths) longest() int          { return bits.Len64(uint64(l)) - 1 }
func (l lengths) without(n int) lengths { return l &^ (1 << n) }

// headTable finds how long the tokens are that begin with 4 bytes. Like the
// table of pairs it has a filter of 8 bits a slot.
type headTable struct {
	slots  []headSlot
	filter []uint64
	used   int
	shift  int
}

type headSlot struct {
	lengths lengths
	head    uint32
}

func (t *headTable) make(n int) {
	k := tableBits(n)
	t.slots, t.filter, t.shift, t.used = make([]headSlot, 1<<k), make([]uint64, 1<<(k-3)), 64-k, 0
}

func (t *headTable) add(token []byte) {
	if 4*t.used > 3*len(t.slots) {
		old := t.slots
		t.make(len(old))
		for _, s := range old {
			if s.lengths != 0 {
				t.put(s.head, s.lengths)
			}
		}
	}
	t.put(binary.LittleEndian.Uint32(token), 1<<min(len(token), overlong))
}

func (t *headTable) put(head uint32, l lengths) {
	h := uint64(head) * mix
	f := h >> (t.shift - 3)
	t.filter[f>>6] |= 1 << (f & 63)
	for i := h >> t.shift; ; i = (i + 1) & uint64(len(t.slots)-1) {
		s := &t.slots[i]
		if s.lengths == 0 {
			t.used++
			s.head = head
		}
		if s.head == head {
			s.lengths |= l
			return
		}
	}
}

// find returns the lengths of tokens that begin with head, up to limit.
func (t *headTable) find(head uint32, limit int) lengths {
	if f := uint64(head) * mix >> (t.shift - 3); t.filter[f>>6]>>(f&63)&1 == 0 {
		return 0
	}
	return t.probe(head, limit)
}

func (t *headTable) probe(head uint32, limit int) lengths {
	for i := uint64(head) * mix >> t.shift; i < uint64(len(t.slots)); i = (i + 1) & uint64(len(t.slots)-1) {
		s := &t.slots[i]
		if s.lengths == 0 {
			break
		}
		if s.head == head {
			if limit >= overlong {
				return s.lengths
			}
			return s.lengths & (1<<(limit+1) - 1)
		}
	}
	return 0
}
