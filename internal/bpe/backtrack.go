// SPDX-License-Identifier: Apache-2.0

package bpe

// scratch is what encoding a piece needs. It is of one vocabulary.
type scratch struct {
	merged merged
	list   symbols  // for a merger
	tokens []uint32 // those chosen so far
	dead   []uint64 // a bit for each offset from which no way leads to the end
	clean  []byte   // text made valid
	normal []byte   // and normal
	steps  int      // choices tried, for the tests

	// Of a piece whose tokens are only counted, those that the list has no more.
	counting bool
	spilled  int
	known    [1 << knownBits]uint64

	counted *cache // made when missed says that it pays
	missed  int    // pieces that were counted without it
}

// knownBits is the logarithm of how many answers of neighbours are kept: 32 KB.
// Text repeats itself, and a long run of one character asks for the same few
// pairs again and again.
const knownBits = 12

// The most tokens, and bytes, that a scratch keeps room for: those of a piece
// of a megabyte. Larger texts and pieces are counted in parts, so that one does
// not leave tens of megabytes behind where small texts follow.
const keepScratch = 1 << 20

// spillAt is how many tokens of a piece that is only counted are listed, and
// spillKeep how many stay of them: what is taken back is a few tokens.
const (
	spillAt   = 1 << 14
	spillKeep = 1 << 10
)

// spill leaves the last of the tokens if they are only counted.
func (s *scratch) spill(tokens []uint32) []uint32 {
	if n := len(tokens) - spillKeep; s.counting && len(tokens) >= spillAt {
		s.spilled += n
		return tokens[:copy(tokens, tokens[n:])]
	}
	return tokens
}

func (v *Vocabulary) getScratch() *scratch {
	if s, ok := v.scratches.Get().(*scratch); ok {
		return s
	}
	return new(scratch)
}

func (v *Vocabulary) putScratch(s *scratch) {
	if cap(s.tokens) > keepScratch || cap(s.dead) > keepScratch || cap(s.list.tokens) > keepScratch {
		s.tokens, s.dead, s.list = nil, nil, symbols{}
	}
	if cap(s.clean) > keepScratch || cap(s.normal) > keepScratch {
		s.clean, s.normal = nil, nil
	}
	v.scratches.Put(s)
}

// encode splits the piece b into tokens as merging its bytes pair by pair
// does, the lowest token first. They are in s until the next use of it.
//
// In a piece of more than mergeLimit bytes tokens are chosen from the left, the longest first, such that each pair of
// neighbours is one that merging leaves as it is; where none fits, the last
// choice is taken back and a shorter one made. An offset that is left so is
// never tried again, so that each is left once at most: what it takes is
// bounded by the bytes of the piece times the most tokens that begin alike.
func (v *Vocabulary) encode(s *scratch, b []byte) []uint32 {
	s.spilled = 0
	if v.merger != nil {
		return v.mergeList(s, b)
	}
	if len(b) <= mergeLimit {
		return v.merge(&s.merged, b)
	}
	if len(b) > longPiece && v.mergeWindows(s, b) {
		return s.tokens
	}
	s.spilled = 0
	words := len(b)>>6 + 1
	if cap(s.dead) < words {
		s.dead = make([]uint64, words)
	}
	dead := s.dead[:words]
	clear(dead)
	tokens := s.tokens[:0]
	last := none
	for i := 0; i < len(b); {
		next, n := v.prefix(b, i, len(b)-i)
		for {
			s.steps++
			end := i + n
			if dead[end>>6]>>(end&63)&1 == 0 && (last == none || s.neighbours(v, last, next)) {
				tokens = s.spill(append(tokens, next))
				last, i = next, end
				break
			}
			for n == 1 {
				// No token fits here: take the last one back, a shorter is next.
				dead[i>>6] |= 1 << (i & 63)
				next, n = last, v.size(last)
				i -= n
				tokens = tokens[:len(tokens)-1]
				if last = none; len(tokens) > 0 {
					last = tokens[len(tokens)-1]
				} else if s.spilled > 0 { // more is taken back than is left
					s.counting = false
					return v.encode(s, b)
				}
			}
			next, n = v.shorten(next)
		}
	}
	s.tokens = tokens
	return tokens
}

// neighbours is Vocabulary.neighbours with a memory.
func (s *scratch) neighbours(v *Vocabulary, left, right uint32) bool {
	const present, yes = 1 << 63, 1 << 62
	key := present | uint64(left)<<20 | uint64(right)
	slot := &s.known[key*mix>>(64-knownBits)]
	if *slot&^yes == key {
		return *slot&yes != 0
	}
	ok := v.neighbours(left, right)
	*slot = key
	if ok {
		*slot |= yes
	}
	return ok
}

// neighbours reports whether merging leaves left and right as they are when
// they stand side by side. It takes their merges back, the latest first, and
// looks whether two parts that touched across the border would have been
// merged before that.
func (v *Vocabulary) neighbours(left, right uint32) bool {
	limit := none
	for {
		if v.pairs.find(left, right) < limit {
			return false
		}
		if left > right {
			limit = left
			left = v.right[left]
			if left == limit { // one byte
				limit = right + 1
				right = v.left[right]
				if right+1 == limit {
					return true
				}
			}
		} else {
			limit = right + 1
			right = v.left[right]
			if right+1 == limit {
				limit = left
				left = v.right[left]
				if left == limit {
					return true
				}
			}
		}
	}
}

// mergeList is encode by a merger.
func (v *Vocabulary) mergeList(s *scratch, b []byte) []uint32 {
	s.list.tokens = s.list.tokens[:0]
	for _, c := range b {
		s.list.tokens = append(s.list.tokens, v.bytes[c])
	}
	v.merger.merge(&s.list)
	s.tokens = s.tokens[:0]
	for _, id := range s.list.tokens {
		if id != none {
			s.tokens = append(s.tokens, id)
		}
	}
	return s.tokens
}
