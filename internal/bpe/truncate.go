// SPDX-License-Identifier: Apache-2.0

package bpe

import "unicode/utf8"

// Truncate returns where the longest beginning of valid UTF-8 ends that is made
// of whole tokens and whole code points and has at most limit tokens, and how
// many it has.
func (e *Encoding) Truncate(b []byte, limit int) (end, tokens int) {
	// ends has where the last tokens end, to go back over them: how many there
	// are before the code point that a token ends in is bounded by its bytes,
	// but cutting may also cut the text into other pieces.
	v := e.vocabulary
	var ends []int
	s := v.getScratch()
	defer v.putScratch(s)
	for i := 0; i < len(b) && len(ends) < limit; {
		next := e.pattern.split(b, i)
		if v.whole(b, i, next) != none {
			ends = append(ends, next)
		} else {
			at := i
			for _, id := range v.encode(s, b[i:next]) {
				at += v.size(id)
				ends = append(ends, at)
			}
		}
		i = next
	}
	for n := min(limit, len(ends)); n > 0; n-- {
		end := ends[n-1]
		if end < len(b) && !utf8.RuneStart(b[end]) {
			continue
		}
		// What is cut off can have kept pieces apart, or joined them.
		if tokens := e.Count(b[:end]); tokens <= limit {
			return end, tokens
		}
	}
	return 0, 0
}
