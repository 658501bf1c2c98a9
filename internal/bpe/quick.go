// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"encoding/binary"
	"math/bits"
)

// quickRoom is how many bytes quickWord reads.
const quickRoom = 16

// quickWord returns the bytes of the piece at i, and how many it has, if it is
//
//	?[A-Z]?[a-z]+
//
// of at most 8 bytes, where the expression begins with a space, and ASCII other
// than a letter or an apostrophe is behind it: patterns that have the mark quick
// end a piece there, whatever else follows. Otherwise n is 0. It looks at 8 bytes
// at once, and has no loop whose end a processor would have to guess.
func quickWord(b []byte, i int) (w uint64, n int) {
	w = binary.LittleEndian.Uint64(b[i:])
	if b[i] == ' ' {
		n = 1
	}
	if ascii[b[i+n]] == upper {
		n++
	}
	run := lowerRun(binary.LittleEndian.Uint64(b[i+n:]))
	if n += run; run == 0 || n > 8 {
		return 0, 0
	}
	if c := b[i+n]; c >= 0x80 || c == '\'' || ascii[c]&letters != 0 {
		return 0, 0
	}
	return w & (^uint64(0) >> (64 - 8*n)), n
}

// lowerRun returns how many of the 8 bytes of w, from the lowest on, are letters
// of a to z.
func lowerRun(w uint64) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	low := w &^ high
	from := low + (0x80-'a')*ones // the high bit says: not before a
	past := low + (0x7f-'z')*ones // behind z
	return bits.TrailingZeros64(^(from&^past&^w)&high) / 8
}

// lowerEnd returns the end of [a-z]* at i, or a place in it from which on fewer
// than 8 bytes are left.
func lowerEnd(b []byte, i int) int {
	for i+8 <= len(b) {
		n := lowerRun(binary.LittleEndian.Uint64(b[i:]))
		if i += n; n < 8 {
			break
		}
	}
	return i
}
