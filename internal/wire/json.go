// SPDX-License-Identifier: Apache-2.0

package wire

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

// list begins a document that is an array of objects: Gemini sends an error so.
func (m *machine) list() {
	m.stack[0], m.nstack, m.st = frame{slot: root, array: true}, 1, mElement
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
