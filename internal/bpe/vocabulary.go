// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"cmp"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
)

// none is no token.
const none = ^uint32(0)

// maxTokens bounds the numbers of tokens: three of them fit into one word of
// the table of pairs.
const maxTokens = 1 << 20

// A Vocabulary is the tokens of an encoding, in the order in which byte-pair
// encoding merges them. It does not change after it is made, and may be used
// concurrently.
type Vocabulary struct {
	text    []byte   // the tokens' bytes, one token after the other
	offsets []uint32 // where token i begins in text; one more for the end
	left    []uint32 // what token i is merged of: itself if it is one byte,
	right   []uint32 // none if there is no token of that number
	longest int      // bytes of the longest token

	bytes [256]uint32 // the tokens of one byte
	two   []uint32    // those of two bytes, by these bytes
	three triples     // whether there is one of 3 bytes
	short shortTable  // those of at most 8 bytes
	long  longTable   // the others
	pairs pairTable   // what two tokens are merged to
	heads headTable   // lengths of tokens by their first 4 bytes

	// The longest token that a token begins with, and how many bytes it has
	// above its number: found out when it is first asked for.
	shorter []atomic.Uint32

	// Of a tokenizer file: the numbers of tokens there, the tokens by these
	// numbers, and tokens that a piece can be but that no merges lead to.
	ids    []uint32
	tokens []uint32
	extra  map[string]uint32

	merger *merger // instead of backtracking, or nil

	scratches sync.Pool // of *scratch
}

// load reads an embedded vocabulary, which gen writes: the first limit tokens of it,
// or all of them if limit is 0.
func load(data string, limit int) (*Vocabulary, error) {
	d := packed{data}
	total := d.number()
	if total < 256 || total > maxTokens {
		return nil, fmt.Errorf("vocabulary: %d tokens", total)
	}
	n := total - 256
	singles, left0, right0 := d.next(256), d.next(n), d.next(n)
	lefts, rights := d.next(d.number()), d.next(d.number())
	upper := make([]byte, 4*n)
	leftUpper, rightUpper := upper[:2*n], upper[2*n:]
	var wg sync.WaitGroup
	var rightErr error
	wg.Go(func() { rightErr = inflate(rightUpper, rights) })
	err := inflate(leftUpper, lefts)
	wg.Wait()
	if err = cmp.Or(err, rightErr); err != nil {
		return nil, fmt.Errorf("vocabulary: %w", err)
	}
	if limit > 0 {
		total = limit
	}
	left, right := make([]uint32, total), make([]uint32, total)
	for i := range uint32(256) {
		left[i], right[i] = i, i
	}
	for i := range total - 256 {
		l := uint32(left0[i]) | uint32(leftUpper[i])<<8 | uint32(leftUpper[n+i])<<16
		r := uint32(right0[i]) | uint32(rightUpper[i])<<8 | uint32(rightUpper[n+i])<<16
		if l == 0xffffff {
			l, r = none, none
		} else if l >= uint32(256+i) || r >= uint32(256+i) {
			return nil, fmt.Errorf("vocabulary: token %d is merged of %d and %d", 256+i, l, r)
		}
		left[256+i], right[256+i] = l, r
	}
	return newVocabulary([]byte(singles), left, right), nil
}

// packed is what is left to read of an embedded vocabulary.
type packed struct{ rest string }

// next returns the next n bytes, or fewer at the end.
func (p *packed) next(n int) string {
	n = min(n, len(p.rest))
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b
}

// number reads 4 bytes, 0 where there are fewer.
func (p *packed) number() int {
	b := p.next(4)
	if len(b) < 4 {
		return 0
	}
	return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 | int(b[3])<<24
}

func inflate(dst []byte, data string) error {
	_, err := io.ReadFull(flate.NewReader(strings.NewReader(data)), dst)
	return err
}

// newVocabulary makes a vocabulary of the bytes that the first 256 tokens
// stand for and the parents of all. A number without a token has none for
// both.
func newVocabulary(singles []byte, left, right []uint32) *Vocabulary {
	v := &Vocabulary{left: left, right: right, offsets: make([]uint32, len(left)+1)}
	var wg sync.WaitGroup
	wg.Go(v.indexPairs)
	size := uint32(0)
	lengths := v.offsets[1:] // of each token, for now
	for i, l := range left {
		switch {
		case i < 256:
			lengths[i] = 1
		case l != none:
			lengths[i] = lengths[l] + lengths[right[i]]
		}
		size += lengths[i]
	}
	// Most tokens have 8 bytes at most: of these 8 are copied at once, and what is
	// too much is written over by the next.
	text := make([]byte, size+8)
	v.text, v.offsets[0] = text[:size:size], 0
	at := uint32(0)
	put := func(id uint32) {
		begin, end := v.offsets[id], v.offsets[id+1]
		if n := end - begin; n <= 8 {
			binary.LittleEndian.PutUint64(text[at:], binary.LittleEndian.Uint64(text[begin:]))
		} else {
			copy(text[at:], text[begin:end])
		}
		at += end - begin
	}
	for i, l := range left {
		switch {
		case i < 256:
			text[at] = singles[i]
			at++
		case l != none:
			put(l)
			put(right[i])
		}
		v.offsets[i+1] = at
	}
	v.indexTexts()
	wg.Wait()
	return v
}

// index makes the tables of the tokens that are merged, once their texts are
// there.
func (v *Vocabulary) index() {
	var wg sync.WaitGroup
	wg.Go(v.indexPairs)
	v.indexTexts()
	wg.Wait()
}

// indexPairs needs no texts. Filling tables is waiting for memory mostly, so
// that it goes on beside the rest.
func (v *Vocabulary) indexPairs() {
	v.pairs.make(len(v.left))
	for i, l := range v.left {
		if id := uint32(i); l != none && l != id {
			v.pairs.add(l, v.right[i], id)
		}
	}
}

func (v *Vocabulary) indexTexts() {
	short := 0
	for i, l := range v.left {
		if n := v.size(uint32(i)); l != none {
			v.longest = max(v.longest, n)
			if n <= 8 {
				short++
			}
		}
	}
	v.shorter = make([]atomic.Uint32, len(v.left))
	v.two = make([]uint32, 1<<16)
	for i := range v.two {
		v.two[i] = none
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		v.heads.make(len(v.left) / 5)
		for i, l := range v.left {
			if l != none && v.size(uint32(i)) >= 4 {
				v.heads.add(v.token(uint32(i)))
			}
		}
	})
	v.short.make(short)
	v.long.make(len(v.left) - short)
	for i, l := range v.left {
		id, t := uint32(i), v.token(uint32(i))
		if l == none {
			continue
		}
		switch len(t) {
		case 1:
			v.bytes[t[0]] = id
		case 2:
			v.two[binary.LittleEndian.Uint16(t)] = id
		case 3:
			v.three.add(word8(t, 0, 3))
		}
		if len(t) <= 8 {
			v.short.add(word8(t, 0, len(t)), id, len(t))
		} else {
			v.long.add(t, id)
		}
	}
	wg.Wait()
}

// Len returns one more than the largest number of a token.
func (v *Vocabulary) Len() int { return len(v.left) }

// token returns the bytes of a token, which are empty if there is none of that
// number.
func (v *Vocabulary) token(id uint32) []byte {
	return v.text[v.offsets[id]:v.offsets[id+1]]
}

// size returns how many bytes a token has.
func (v *Vocabulary) size(id uint32) int { return int(v.offsets[id+1] - v.offsets[id]) }

// whole returns the token that has the bytes of b from i to end, at least one,
// or none.
func (v *Vocabulary) whole(b []byte, i, end int) uint32 {
	switch n := end - i; {
	case n == 1:
		return v.bytes[b[i]]
	case n == 2:
		return v.two[binary.LittleEndian.Uint16(b[i:])]
	case n <= 8:
		return v.short.find(word8(b, i, n), n)
	case n <= v.longest:
		return v.long.find(v, b[i:end], longHash(b[i:end]))
	default:
		return none
	}
}

// piece returns the token that the piece from i to end is as a whole, or none.
func (v *Vocabulary) piece(b []byte, i, end int) uint32 {
	id := v.whole(b, i, end)
	if id == none && v.extra != nil {
		if id, ok := v.extra[string(b[i:end])]; ok {
			return id
		}
	}
	return id
}

// number returns the number that a token has outside.
func (v *Vocabulary) number(id uint32) int {
	if v.ids != nil {
		return int(v.ids[id])
	}
	return int(id)
}

// textOf returns the bytes of the token that has a number outside, if there is
// one.
func (v *Vocabulary) textOf(number int) []byte {
	if v.ids != nil {
		if number >= len(v.tokens) || v.tokens[number] == none {
			return nil
		}
		return v.token(v.tokens[number])
	}
	if number >= len(v.left) {
		return nil
	}
	return v.token(uint32(number))
}

// prefix returns the longest token of at most limit bytes that b has from i on,
// and how many it has. There is one of one byte always.
func (v *Vocabulary) prefix(b []byte, i, limit int) (id uint32, n int) {
	if limit >= 4 {
		for lengths := v.heads.find(binary.LittleEndian.Uint32(b[i:]), limit); lengths != 0; {
			n := lengths.longest()
			if n == overlong {
				if id, n := v.overlong(b, i, limit); id != none {
					return id, n
				}
			} else if id := v.whole(b, i, i+n); id != none {
				return id, n
			}
			lengths = lengths.without(n)
		}
	}
	if limit >= 3 {
		if w := word8(b, i, 3); v.three.may(w) {
			if id := v.short.find(w, 3); id != none {
				return id, 3
			}
		}
	}
	if limit >= 2 {
		if id := v.two[binary.LittleEndian.Uint16(b[i:])]; id != none {
			return id, 2
		}
	}
	return v.bytes[b[i]], 1
}

// overlong is prefix among the tokens of at least overlong bytes.
func (v *Vocabulary) overlong(b []byte, i, limit int) (id uint32, n int) {
	for n = min(limit, v.longest); n >= overlong; n-- {
		if id := v.long.find(v, b[i:i+n], longHash(b[i:i+n])); id != none {
			return id, n
		}
	}
	return none, 0
}

// shorten returns the longest token that a token of at least two bytes begins
// with, other than itself, and how many bytes it has.
func (v *Vocabulary) shorten(token uint32) (id uint32, n int) {
	if known := v.shorter[token].Load(); known != 0 {
		return known & (maxTokens - 1), int(known >> 20)
	}
	id, n = v.prefix(v.token(token), 0, v.size(token)-1)
	if n < 1<<12 {
		v.shorter[token].Store(id | uint32(n)<<20)
	}
	return id, n
}
