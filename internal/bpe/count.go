// SPDX-License-Identifier: Apache-2.0

package bpe

// Count returns how many tokens valid UTF-8 has.
func (v *Vocabulary) Count(p *pattern, b []byte) int {
	n, s := v.count(nil, p, b)
	if s != nil {
		v.putScratch(s)
	}
	return n
}

// count is Count with a scratch, or none: then it takes one if it needs one, and
// returns it.
func (v *Vocabulary) count(s *scratch, p *pattern, b []byte) (int, *scratch) {
	n := 0
	room := -1
	if p.quick {
		room = len(b) - quickRoom
	}
	for i := 0; i < len(b); {
		if i <= room {
			if w, size := quickWord(b, i); size > 0 {
				if v.short.find(w, size) != none {
					n++
					i += size
					continue
				}
			}
		}
		end := p.split(b, i)
		if v.piece(b, i, end) != none {
			n++
		} else {
			if s == nil {
				s = v.getScratch()
			}
			n += v.countPiece(s, b, i, end)
		}
		i = end
	}
	return n, s
}

// countPiece returns how many tokens a piece has that is none itself.
func (v *Vocabulary) countPiece(s *scratch, b []byte, i, end int) int {
	if s.counted == nil {
		if s.missed++; s.missed > cacheAfter {
			s.counted = new(cache)
		}
	}
	if end-i <= maxCached && s.counted != nil {
		p := s.counted.place(b, i, end)
		if p.is(b[i:end]) {
			return int(p.tokens)
		}
		n := len(v.encode(s, b[i:end]))
		p.keep(b[i:end], n)
		return n
	}
	if end-i > keepScratch {
		s.counting = true
		defer func() { s.counting = false }()
	}
	n := len(v.encode(s, b[i:end]))
	return n + s.spilled
}

// Append appends the tokens of valid UTF-8 to dst.
func (v *Vocabulary) Append(dst []int, split Splitter, b []byte) []int {
	dst, s := v.append(dst, nil, split, b)
	if s != nil {
		v.putScratch(s)
	}
	return dst
}

func (v *Vocabulary) append(dst []int, s *scratch, split Splitter, b []byte) ([]int, *scratch) {
	for i := 0; i < len(b); {
		end := split(b, i)
		if id := v.piece(b, i, end); id != none {
			dst = append(dst, v.number(id))
		} else {
			if s == nil {
				s = v.getScratch()
			}
			for _, id := range v.encode(s, b[i:end]) {
				dst = append(dst, v.number(id))
			}
		}
		i = end
	}
	return dst, s
}
