// SPDX-License-Identifier: Apache-2.0

package bpe

// Count returns how many tokens valid UTF-8 has.
func (v *Vocabulary) Count(split Splitter, b []byte) int {
	n := 0
	var s *scratch
	for i := 0; i < len(b); {
		end := split(b, i)
		if v.piece(b, i, end) != none {
			n++
		} else {
			if s == nil {
				s = v.getScratch()
			}
			n += len(v.encode(s, b[i:end]))
		}
		i = end
	}
	if s != nil {
		v.putScratch(s)
	}
	return n
}

// Append appends the tokens of valid UTF-8 to dst.
func (v *Vocabulary) Append(dst []int, split Splitter, b []byte) []int {
	var s *scratch
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
	if s != nil {
		v.putScratch(s)
	}
	return dst
}
