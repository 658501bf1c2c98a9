// SPDX-License-Identifier: Apache-2.0

package wire

import "bytes"

// The scanner reads JSON forward only and can stop between any two bytes: a
// body or an event may arrive in pieces of any size, and what is remembered
// between two pieces is a stack of known containers and at most one short
// token. It is lenient about commas, and steps over whatever no table names.

// slot names a place in a document that some table knows; the zero slot is
// everything else.
type slot uint8

// machine state: what the next byte may begin.
type mstate uint8

const (
	mValue   mstate = iota // a value for d.slot
	mMember                // an object's key or its end
	mElement               // an array's element or its end
	mKey                   // inside a key that began in an earlier piece
	mColon                 // the colon after such a key
	mString                // inside a string value
	mLiteral               // inside a number, true, false or null
	mSkip                  // inside a container that no table knows
	mSkipStr               // inside a string there
	mRaw                   // inside a document that is not JSON
	mDone                  // after the document
)

const (
	maxDepth = 10  // known containers; the deepest table entry is at 8
	maxToken = 512 // bytes kept of a short string; longer ones are cut
	maxLit   = 40  // bytes kept of a number

	maxReason = 64 // bytes kept of a finish reason or status
)

type frame struct {
	slot  slot
	array bool
	n     uint32 // elements begun
}

// machine is the resumable part of a Decoder.
type machine struct {
	st     mstate
	kind   strKind
	esc    bool // the piece ended inside an escape: the next byte is taken as it is
	depth  int32
	nstack int32
	slot   slot
	nlit   uint8
	npend  uint8
	chars  int64 // code points of the string so far
	pend   [12]byte
	lit    [maxLit]byte
	stack  [maxDepth]frame
	tok    []byte // a short string or key that was split or had escapes
}

func (m *machine) reset() {
	m.st, m.slot, m.nstack, m.npend, m.esc = mValue, 0, 0, 0, false
}

// top is the innermost known container. There is always one when it is asked for.
func (m *machine) top() *frame { return &m.stack[m.nstack-1] }

// feed runs the machine over one piece.
func (d *Decoder) feed(b []byte) {
	m := &d.m
	for i := 0; i < len(b); {
		switch m.st {
		case mMember:
			i = d.members(b, i)

		case mElement:
			c := b[i]
			if c <= ' ' || c == ',' {
				i++
				continue
			}
			if c == ']' || c == '}' {
				i++
				if d.kept != nil {
					d.endRaw(b, i)
				}
				d.pop()
				continue
			}
			f := m.top()
			m.slot, m.st = f.slot, mValue
			f.n++

		case mValue:
			if b[i] <= ' ' || m.nstack == 0 && (b[i] == 0xef || b[i] == 0xbb || b[i] == 0xbf) {
				i++ // white space, or a byte order mark before the document
				continue
			}
			i = d.value(b, i)

		case mKey:
			end, done := m.stringEnd(b, i)
			d.text(b[i:end], done, &m.tok, maxToken)
			i = end
			if done {
				i++
				m.slot, m.st = d.child(m.top().slot, m.tok), mColon
			}

		case mColon:
			if b[i] == ':' {
				m.st = mValue
			} else if b[i] == '}' || b[i] == ',' {
				m.st = mMember // a key without a value: broken, go on
				d.fault = true
				continue
			}
			i++

		case mString:
			end, done := m.stringEnd(b, i)
			d.stringPiece(b[i:end], done)
			i = end
			if done {
				i++
				d.after()
			}

		case mLiteral:
			n := litEnd(b[i:])
			m.nlit += uint8(copy(m.lit[m.nlit:], b[i:i+n]))
			if i += n; i < len(b) {
				d.scalar(m.slot, m.lit[:m.nlit])
				d.after()
			}

		case mSkip:
			i = m.skip(b, i)
			if m.depth == 0 {
				d.after()
			}

		case mSkipStr:
			end, done := m.stringEnd(b, i)
			if i = end; done {
				i++
				m.st = mSkip
			}

		case mRaw:
			if m.nlit == 1 && m.lit[0] == '[' && b[i] == '{' {
				m.list()
				continue
			}
			m.nlit += uint8(copy(m.lit[m.nlit:], b[i:]))
			return

		case mDone:
			if b[i] > ' ' {
				d.fault = true
				return
			}
			i++
		}
	}
}

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

// list begins a document that is an array of objects: Gemini sends an error so.
func (m *machine) list() {
	m.stack[0], m.nstack, m.st = frame{slot: root, array: true}, 1, mElement
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

// after goes on behind a complete value.
func (d *Decoder) after() {
	m := &d.m
	switch {
	case m.nstack == 0:
		m.st = mDone
	case m.top().array:
		m.st = mElement
	default:
		m.st = mMember
	}
}

// pop leaves the innermost container.
func (d *Decoder) pop() {
	m := &d.m
	m.nstack--
	if f := &m.stack[m.nstack]; f.array {
		d.closeArray(f.slot, int64(f.n))
	} else {
		d.close(f.slot)
	}
	d.after()
}

// position is the index in its array of the object that is just being opened
// or closed, 0 when it stands alone.
func (m *machine) position() int32 {
	if m.nstack > 0 && m.top().array {
		return int32(min(m.top().n-1, 1<<20))
	}
	return 0
}

// skip steps through a container that no table knows, from b[i].
func (m *machine) skip(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case '"':
			end, done := m.stringEnd(b, i+1)
			if !done {
				m.st = mSkipStr
				return end
			}
			i = end
		case '{', '[':
			m.depth++
		case '}', ']':
			if m.depth--; m.depth == 0 {
				return i + 1
			}
		}
		i++
	}
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
