// SPDX-License-Identifier: Apache-2.0

package bpe

import "fmt"

// merger merges tokens by a list of merges, the first of the list that is
// possible first. It is what byte-pair encoding is by definition, for lists to
// which backtracking does not apply, and takes a time of n log n.
type merger struct {
	ranks   pairTable // which merge two tokens have, the first being 0
	results []uint32  // what it makes of them
}

// make takes the merges of a file, numberOf being its vocabulary.
func (m *merger) make(list [][2]string, numberOf func(string) (uint32, bool)) error {
	if len(list) >= maxTokens {
		return fmt.Errorf("%d merges", len(list))
	}
	m.ranks.make(len(list))
	m.results = make([]uint32, len(list))
	for i, pair := range list {
		left, ok1 := numberOf(pair[0])
		right, ok2 := numberOf(pair[1])
		result, ok3 := numberOf(pair[0] + pair[1])
		if !ok1 || !ok2 || !ok3 {
			return fmt.Errorf("merge %d is of no tokens", i)
		}
		m.ranks.add(left+1, right+1, uint32(i)) // a pair of 0 is a free slot
		m.results[i] = result
	}
	return nil
}

// symbols is a text while it is merged: tokens in a list, and merges that may
// be made.
type symbols struct {
	tokens     []uint32 // none where one was merged into the one before
	prev, next []int32
	todo       merges
}

// merges is a heap of merges, each its rank above the place of its left token:
// the lowest rank first, in a rank the leftmost.
type merges []uint64

func (m *merges) push(x uint64) {
	h := append(*m, x)
	i := len(h) - 1
	for i > 0 && h[(i-1)/2] > x {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = x
	*m = h
}

func (m *merges) pop() uint64 {
	h := *m
	top, x := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	for i := 0; len(h) > 0; {
		child := 2*i + 1
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if child >= len(h) || h[child] >= x {
			h[i] = x
			break
		}
		h[i] = h[child]
		i = child
	}
	*m = h
	return top
}

// merge merges s.tokens in place, and leaves none where one was merged into the
// one before.
func (m *merger) merge(s *symbols) {
	s.prev, s.next, s.todo = s.prev[:0], s.next[:0], s.todo[:0]
	last := int32(len(s.tokens) - 1)
	for i := range last + 1 {
		s.prev, s.next = append(s.prev, i-1), append(s.next, i+1)
	}
	if last < 0 {
		return
	}
	s.next[last] = -1
	for i := range last {
		if rank := m.rank(s, i); rank != none {
			s.todo.push(uint64(rank)<<32 | uint64(i))
		}
	}
	for len(s.todo) > 0 {
		top := s.todo.pop()
		rank, i := uint32(top>>32), int32(uint32(top))
		now := m.rank(s, i)
		if now == none || m.results[now] != m.results[rank] {
			continue // one of the two was merged meanwhile
		}
		right := s.next[i]
		s.tokens[i], s.tokens[right] = m.results[now], none
		if s.next[i] = s.next[right]; s.next[i] >= 0 {
			s.prev[s.next[i]] = i
		}
		for _, k := range []int32{s.prev[i], i} {
			if k < 0 {
				continue
			}
			if rank := m.rank(s, k); rank != none {
				s.todo.push(uint64(rank)<<32 | uint64(k))
			}
		}
	}
}

// rank returns the merge of the token at i and the next, or none.
func (m *merger) rank(s *symbols, i int32) uint32 {
	if s.tokens[i] == none || s.next[i] < 0 {
		return none
	}
	return m.ranks.find(s.tokens[i]+1, s.tokens[s.next[i]]+1)
}
