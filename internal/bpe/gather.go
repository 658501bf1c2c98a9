// SPDX-License-Identifier: Apache-2.0

package bpe

import "strings"

// gatherSize is how much text is gathered before a place to cut is looked for.
const gatherSize = 4096

// cuts reports whether text can be cut before a space that follows a letter or
// digit of ASCII, and each part be encoded by itself. Patterns end a piece
// there, and no normal form reaches over it; but an added token may, and an
// encoding of code points has no pieces.
func (e *Encoding) cuts() bool {
	if e.pieces != nil {
		return false
	}
	for text := range e.always.ids {
		if strings.Contains(text, " ") {
			return false
		}
	}
	return true
}

// gather takes the next part of a text that is gathered.
func (c *Counter) gather(p []byte) {
	c.buf = append(c.buf, p...)
	if !c.cuts || len(c.buf) < gatherSize {
		return
	}
	if i := lastCut(c.buf, c.seen); i > 0 {
		c.count += c.e.Count(c.buf[:i])
		c.buf = c.buf[:copy(c.buf, c.buf[i:])]
	}
	c.seen = len(c.buf)
}

// lastCut returns the last place, none before from, where b can be cut as cuts has
// it, or 0.
func lastCut(b []byte, from int) int {
	for i := len(b) - 1; i >= max(from, 1); i-- {
		if b[i] == ' ' && ascii[b[i-1]]&(letters|number) != 0 {
			return i
		}
	}
	return 0
}
