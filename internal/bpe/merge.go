// SPDX-License-Identifier: Apache-2.0

package bpe

import "encoding/binary"

// mergeLimit is up to how many bytes a piece is merged pair by pair. That takes
// a time quadratic in them, but looks at less memory than backtracking does,
// and is faster on pieces up to here.
const mergeLimit = 16

// A piece of more than longPiece bytes, which no word is, is merged in windows
// of mergeWindow bytes that overlap by some mergeMargin.
const (
	longPiece   = 256
	mergeWindow = 48
	mergeMargin = 16
)

// merged is the tokens of a piece, while they are merged.
type merged struct {
	tokens [mergeWindow]uint32
	pairs  [mergeWindow]uint32 // what token i and the next are merged to
}

// merge splits the piece b, of 2 to mergeWindow bytes, into tokens, as byte-pair
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

// mergeWindows is encode for long pieces. It merges the bytes of a window, keeps
// the tokens that end well before its end, and goes on behind them. Tokens are
// those of the piece if and only if each two that stand side by side are
// neighbours: within a window they are, and where two windows meet that is
// tested. If it does not hold the window begins one token earlier. It returns
// false if that does not help, or a token is too long for a window.
func (v *Vocabulary) mergeWindows(s *scratch, b []byte) bool {
	const maxRetries = 4
	tokens, last := s.tokens[:0], none
	for begin, furthest, retries := 0, 0, 0; ; {
		end := min(begin+mergeWindow, len(b))
		s.steps += end - begin
		part := s.merged.tokens[:1]
		if end-begin == 1 {
			part[0] = v.bytes[b[begin]]
		} else {
			part = v.merge(&s.merged, b[begin:end])
		}
		if last != none && !s.neighbours(v, last, part[0]) {
			if retries++; retries > maxRetries {
				return false
			}
			begin -= v.size(last)
			tokens = tokens[:len(tokens)-1]
			if last = none; len(tokens) > 0 {
				last = tokens[len(tokens)-1]
			} else if s.spilled > 0 {
				return false
			}
			continue
		}
		if end == len(b) {
			s.tokens = append(tokens, part...)
			return true
		}
		at := begin
		for _, id := range part {
			n := v.size(id)
			if at+n > end-mergeMargin {
				break
			}
			tokens, last, at = append(tokens, id), id, at+n
		}
		if at == begin {
			return false
		}
		tokens = s.spill(tokens)
		if begin = at; begin > furthest {
			furthest, retries = begin, 0
		}
	}
}
