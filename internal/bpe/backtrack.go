// SPDX-License-Identifier: Apache-2.0

package bpe

import "sync"

// scratch is what encoding a piece needs.
type scratch struct {
	merged merged
	tokens []uint32 // those chosen so far
	dead   []uint64 // a bit for each offset from which no way leads to the end
}

// The most tokens and words that a scratch keeps for the next use: those of
// pieces of a megabyte.
const keepScratch = 1 << 20

var scratches = sync.Pool{New: func() any { return &scratch{tokens: make([]uint32, 0, 256), dead: make([]uint64, 0, 64)} }}

func (s *scratch) free() {
	if cap(s.tokens) <= keepScratch {
		scratches.Put(s)
	}
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
	if len(b) <= mergeLimit {
		return v.merge(&s.merged, b)
	}
	words := len(b)>>6 + 1
	if cap(s.dead) < words {
		s.dead = make([]uint64, words)
	}
	dead := s.dead[:words]
	clear(dead)
	tokens := s.tokens[:0]
	last := none
	for i, limit := 0, len(b); i < len(b); {
		next, n := v.prefix(b, i, limit)
		for {
			if end := i + n; dead[end>>6]>>(end&63)&1 == 0 && (last == none || v.neighbours(last, next)) {
				tokens = append(tokens, next)
				last, i = next, end
				limit = len(b) - i
				break
			}
			if n > 1 {
				next, n = v.prefix(b, i, n-1)
				continue
			}
			// No token fits here: take the last one back and try a shorter.
			dead[i>>6] |= 1 << (i & 63)
			n = v.size(last)
			i -= n
			limit = n - 1
			tokens = tokens[:len(tokens)-1]
			if last = none; len(tokens) > 0 {
				last = tokens[len(tokens)-1]
			}
			break
		}
	}
	s.tokens = tokens
	return tokens
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
