// SPDX-License-Identifier: Apache-2.0

package bpe

import "encoding/binary"

// mergeLimit is up to how many bytes a piece is merged pair by pair. That takes
// a time quadratic in them, but looks at less memory than backtracking does,
// and is faster on pieces up to here.
const mergeLimit = 16

// merged is the tokens of a piece, while they are merged.
type merged struct {
	tokens [mergeLimit]uint32
	pairs  [mergeLimit]uint32 // what token i and the next are merged to
}

// merge splits the piece b, of 2 to mergeLimit bytes, into tokens, as byte-pair
// encoding is defined: as long as two neighbours are the parents of a token, the
// lowest such token takes their place.
func (v *Vocabulary) merge(m *merged, b []byte) []uint32 {
	n := len(b)
	tokens, pairs := m.tokens[:n], m.pairs[:n]
	for i := range n - 1 {
		tokens[i] = v.bytes[b[i]]
		pairs[i] = v.two[binary.LittleEndian.Uint16(b[i:])]
	}
	tokens[n-1], pairs[n-1] = v.bytes[b[n-1]], none
	for {
		best, at := none, 0
		for i, p := range pairs {
			if p < best {
				best, at = p, i
			}
		}
		if best == none {
			return tokens
		}
		tokens[at] = best
		copy(tokens[at+1:], tokens[at+2:])
		copy(pairs[at+1:], pairs[at+2:])
		tokens, pairs = tokens[:len(tokens)-1], pairs[:len(pairs)-1]
		pairs[at] = none
		if at+1 < len(tokens) {
			pairs[at] = v.pairs.find(best, tokens[at+1])
		}
		if at > 0 {
			pairs[at-1] = v.pairs.find(tokens[at-1], best)
		}
	}
}
