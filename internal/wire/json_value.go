// SPDX-License-Identifier: Apache-2.0

package wire

import "bytes"

// The members and values that the machine reads where they are whole in a piece.

// members reads the members of an object from b[i], as long as they are whole
// in the piece and begin as most do: a key without escapes, a colon, a value.
func (d *Decoder) members(b []byte, i int) int {
	m := &d.m
	for i < len(b) {
		c := b[i]
		if c != '"' {
			i++
			if c == '}' || c == ']' {
				if d.kept != nil {
					d.endRaw(b, i)
				}
				d.pop()
				return i
			}
			continue
		}
		end := i + 1 + bytes.IndexByte(b[i+1:], '"')
		if end <= i || end+1 >= len(b) || b[end+1] != ':' || b[end-1] == '\\' {
			return d.key(b, i+1)
		}
		k := b[i+1 : end]
		s := d.child(m.top().slot, k)
		if s == none && bytes.IndexByte(k, '\\') >= 0 || s == gValue && !plain(k) {
			return d.key(b, i+1) // it may be a known one, written with escapes
		}
		m.slot = s
		i = end + 2
		if i < len(b) && b[i] == ' ' {
			i++
		}
		m.st = mValue
		if i == len(b) || b[i] <= ' ' {
			return i
		}
		if i = d.value(b, i); m.st != mMember {
			return i
		}
	}
	return i
}

// key reads a key that begins at b[i], after its quote.
func (d *Decoder) key(b []byte, i int) int {
	m := &d.m
	end, done := m.stringEnd(b, i)
	k := b[i:end]
	if !done || !plain(k) {
		m.tok = m.tok[:0]
		m.chars = 0
		d.text(k, done, &m.tok, maxToken)
		if !done {
			m.st = mKey
			return end
		}
		k = m.tok
	}
	end++
	m.slot = d.child(m.top().slot, k)
	if end < len(b) && b[end] == ':' {
		m.st = mValue
		return end + 1
	}
	m.st = mColon
	return end
}

// value begins the value at b[i], which is no white space, for m.slot.
func (d *Decoder) value(b []byte, i int) int {
	m := &d.m
	s := m.slot
	c := b[i]
	if m.nstack == 0 && c != '{' {
		return d.root(b, i)
	}
	switch c {
	case '"':
		i++
		m.kind = kinds[s]
		m.chars = 0
		// Most strings are whole in the piece and end at the first quote.
		end, done := i+bytes.IndexByte(b[i:], '"'), true
		if end < i || end > i && b[end-1] == '\\' {
			end, done = m.stringEnd(b, i)
		}
		if m.kind == strSkip {
			if !done {
				m.st = mString
				return end
			}
			if d.memo.learn {
				d.addHole(i, end, s, holeString)
			}
			d.after()
			return end + 1
		}
		piece := b[i:end]
		if s == sID && d.memo.learn && d.shaped {
			d.addHole(i, end, s, holeString)
		}
		if d.memo.learn && m.kind == strText {
			d.addHole(i, end, s, holeString|holeText)
		}
		if done && m.kind == strShort && plain(piece) {
			d.short(s, piece)
			d.after()
			return end + 1
		}
		m.tok = m.tok[:0]
		d.stringPiece(piece, done)
		if !done {
			m.st = mString
			return end
		}
		d.after()
		return end + 1

	case '{', '[':
		i++
		if s == 0 || !d.enters(s, c == '[') || m.nstack == maxDepth {
			m.depth, m.st = 1, mSkip
			return i
		}
		if c == '{' {
			d.open(s)
			if s == sItem && d.kept != nil {
				d.openRaw(i - 1)
			}
		}
		m.stack[m.nstack] = frame{slot: s, array: c == '['}
		m.nstack++
		m.st = mMember
		if c == '[' {
			m.st = mElement
		}
		return i

	case '}', ']', ',':
		// A member without a value: broken, let the container see the byte.
		d.fault = true
		m.st = mMember
		if m.top().array {
			m.st = mElement
		}
		return i

	case ':':
		return i + 1 // a second colon: broken, step over it

	default:
		n := litEnd(b[i:])
		if n == 0 {
			n = 1
		}
		if i+n < len(b) {
			if d.memo.learn {
				d.numberHole(i, i+n, s, c)
			}
			if s != 0 {
				d.scalar(s, b[i:i+min(n, maxLit)])
			}
			d.after()
			return i + n
		}
		m.nlit = uint8(copy(m.lit[:], b[i:]))
		m.st = mLiteral
		return len(b)
	}
}

// root begins a document that is no object.
func (d *Decoder) root(b []byte, i int) int {
	m := &d.m
	if b[i] == '[' && (!d.stream || i+1 < len(b) && b[i+1] == '{') {
		m.list()
		return i + 1
	}
	m.nlit = 0
	m.st = mRaw
	return i
}

// litEnd returns the length of the number or word at the start of b.
func litEnd(b []byte) int {
	for i, c := range b {
		if litStop[c] {
			return i
		}
	}
	return len(b)
}

// litStop are the bytes that end a number or a word.
var litStop = [256]bool{
	0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true, 11: true, 12: true,
	13: true, 14: true, 15: true, 16: true, 17: true, 18: true, 19: true, 20: true, 21: true, 22: true, 23: true, 24: true,
	25: true, 26: true, 27: true, 28: true, 29: true, 30: true, 31: true, ' ': true, ',': true, ']': true, '}': true, '"': true, ':': true,
}
