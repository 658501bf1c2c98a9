// SPDX-License-Identifier: Apache-2.0

package bpe

import "slices"

// specials are texts that stand for one token each. Where one is the beginning
// of another the longer is meant.
type specials struct {
	ids     map[string]int
	texts   map[int]string
	first   [256]bool // the bytes that they begin with
	lengths []int     // the numbers of bytes that they have, the largest first
}

func (s *specials) add(text string, id int) {
	if s.ids == nil {
		s.ids, s.texts = map[string]int{}, map[int]string{}
	}
	s.ids[text] = id
	if _, ok := s.texts[id]; !ok {
		s.texts[id] = text
	}
	s.first[text[0]] = true
	if i, ok := slices.BinarySearchFunc(s.lengths, len(text), func(a, b int) int { return b - a }); !ok {
		s.lengths = slices.Insert(s.lengths, i, len(text))
	}
}

func (s *specials) text(id int) (string, bool) {
	text, ok := s.texts[id]
	return text, ok
}

// find returns the first special token in b, and where it begins and ends; at
// the end of b if there is none.
func (s *specials) find(b []byte) (begin, end, id int) {
	if len(s.ids) == 0 {
		return len(b), len(b), 0
	}
	for i, c := range b {
		if !s.first[c] {
			continue
		}
		for _, n := range s.lengths {
			if i+n > len(b) {
				continue
			}
			if id, ok := s.ids[string(b[i:i+n])]; ok {
				return i, i + n, id
			}
		}
	}
	return len(b), len(b), 0
}
