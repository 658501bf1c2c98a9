// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"bytes"
	"math"
	"unicode/utf8"
)

// Normal returns b as the encoding reads it: valid, and normal where the
// encoding makes it so. That is b itself if nothing changes.
func (e *Encoding) Normal(b []byte) []byte {
	if e.normalize == nil && utf8.Valid(b) {
		return b
	}
	b = AppendValid(nil, b)
	if e.normalize != nil {
		b = e.normalize(nil, b)
	}
	return b
}

// Truncate returns where the longest beginning of b, which Normal returned, ends
// that is made of whole tokens and whole code points and has at most limit
// tokens, and how many it has.
func (e *Encoding) Truncate(b []byte, limit int) (end, tokens int) {
	var ends []int // of the first tokens
	most := limit + min(ahead, math.MaxInt-limit)
	if e.pieces != nil || len(e.always.ids) > 0 {
		ends = e.decodedEnds(b, most)
	} else {
		ends = e.pieceEnds(b, most)
	}
	for n := min(most, len(ends)); n > 0; n-- {
		end := ends[n-1]
		if end < len(b) && !utf8.RuneStart(b[end]) || n > limit && !endsBlank(b[:end]) {
			continue
		}
		// What is cut off can have kept pieces apart, or joined them.
		if tokens := e.Count(b[:end]); tokens <= limit {
			return end, tokens
		}
	}
	return 0, 0
}

// ahead is how many tokens beyond the limit are looked at. White space is cut
// before its last code point where a text follows, and read as one where none
// does: then what ends with it may have fewer tokens than end up to there. They
// are fewer by 1 in all runs of white space that the tests make.
const ahead = 4

// endsBlank reports whether the last code point of b is white space.
func endsBlank(b []byte) bool {
	_, n := utf8.DecodeLastRune(b)
	class, _ := classAt(b, len(b)-n)
	return class&whitespace != 0
}

// pieceEnds returns where the first tokens of b end, limit of them or more. It
// reads no further than that.
func (e *Encoding) pieceEnds(b []byte, limit int) []int {
	v := e.vocabulary
	var ends []int
	s := v.getScratch()
	defer v.putScratch(s)
	for i := 0; i < len(b) && len(ends) < limit; {
		next := e.pattern.split(b, i)
		if v.piece(b, i, next) != none {
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
	return ends
}

// decodedEnds returns where the first tokens of b end, limit at most, by their
// texts.
func (e *Encoding) decodedEnds(b []byte, limit int) []int {
	tokens := e.Append(nil, b)
	var ends []int
	var text []byte
	for n, token := range tokens[:min(limit, len(tokens))] {
		one, bad := e.Decode([]int{token})
		if bad >= 0 {
			break
		}
		if n > 0 && e.pieces != nil && e.pieces.prefix {
			one = e.pieces.textOf(token) // only the first has a space to strip
		}
		if text = append(text, one...); !bytes.HasPrefix(b, text) {
			break
		}
		ends = append(ends, len(text))
	}
	return ends
}
