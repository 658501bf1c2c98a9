// SPDX-License-Identifier: Apache-2.0

package wire

import "bytes"

// What stands in the holes of a pattern or shape.

// fitsHole returns where the value of a hole ends in p, and the code points of
// a text; notHere if that does not fit, and notYet if it is not there.
func (d *Decoder) fitsHole(p []byte, at int, h *hole) (end int, chars int64) {
	if h.flags&holeString == 0 {
		n := litEnd(p[at:])
		switch {
		case at+n == len(p):
			return notYet, 0
		case n == 0 || p[at] == '{' || p[at] == '[':
			return notHere, 0
		}
		return at + n, 0
	}
	q := bytes.IndexByte(p[at:], '"')
	if q < 0 {
		return notYet, 0
	}
	text := h.flags&holeText != 0
	if text && q <= maxPlain && isASCII(p[at:at+q]) {
		chars = int64(q)
	} else {
		if q > 0 && p[at+q-1] == '\\' || text && bytes.IndexByte(p[at:at+q], '\\') >= 0 {
			end, done := d.m.stringEnd(p, at)
			if !done {
				d.m.esc = false
				return notYet, 0
			}
			q = end - at
		}
		if hasLineEnd(p[at : at+q]) {
			return notHere, 0 // no string has one, and a stream's event would end there
		}
		if text {
			chars = d.countText(p[at : at+q])
		}
	}
	if text && q > 0 != (h.flags&holeFull != 0) {
		return notHere, 0
	}
	return at + q, chars
}

const (
	notHere = -1
	notYet  = -2
)

// countText counts the code points of a text as it stands in JSON.
func (d *Decoder) countText(b []byte) int64 {
	if len(b) <= maxPlain && isASCII(b) {
		return int64(len(b))
	}
	d.m.chars = 0
	d.text(b, true, nil, 0)
	return d.m.chars
}

// maxPlain bounds the texts that are looked at byte by byte, as most are: for a
// few of them that is cheaper than a call of what is made for many.
const maxPlain = 32

// isASCII reports whether a text has neither escapes nor more than ASCII, and no
// control characters.
func isASCII(b []byte) bool {
	for _, c := range b {
		if c-' ' >= 0x80-' ' || c == '\\' {
			return false
		}
	}
	return true
}

// hasLineEnd reports whether there is a CR or LF in b, which is short as a rule.
func hasLineEnd(b []byte) bool {
	if len(b) > maxPlain {
		return bytes.IndexByte(b, '\n') >= 0 || bytes.IndexByte(b, '\r') >= 0
	}
	for _, c := range b {
		if c == '\n' || c == '\r' {
			return true
		}
	}
	return false
}
