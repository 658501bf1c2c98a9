// SPDX-License-Identifier: Apache-2.0

// Package sse cuts a byte stream into server-sent events as the WHATWG
// grammar defines them, in place: it hands out slices of what it is fed and
// keeps a few bytes of state, whatever the length of a line or an event.
//
// Grammar: https://html.spec.whatwg.org/multipage/server-sent-events.html
package sse

import "bytes"

// Token says what Next found.
type Token uint8

const (
	// None: the input is used up; feed the next bytes.
	None Token = iota
	// Data: a piece of the open event's data. The pieces of an event, put
	// together, are its data; the LF between two data lines is a piece too.
	Data
	// End: the open event is complete.
	End
)

// maxName bounds the event name that is kept; the longest name in use,
// "response.function_call_arguments.delta" and its like, are told by the data.
const maxName = 24

type state uint8

const (
	stStart  state = iota // at the start of the stream: a BOM may follow
	stLine                // at the start of a line
	stField               // inside a field name
	stData0               // after "data:", before an optional space
	stData                // inside a data line
	stName0               // after "event:", before an optional space
	stName                // inside an event name
	stIgnore              // inside a line that means nothing here
)

var newline = []byte{'\n'}

// Scanner is the state between two reads. The zero value is ready at the start
// of a stream. It is not safe for concurrent use and never fails: what is no
// field is skipped, as the grammar says.
type Scanner struct {
	state state
	cr    bool // the last byte was CR, and an LF now would belong to it
	open  bool // the event has a data line
	n     uint8
	nname uint8
	field [5]byte
	name  [maxName]byte
}

// Next takes bytes from the front of p and returns the token they complete,
// how many bytes were used, and for Data the piece, a slice of p or the LF
// between two data lines. Call it with the rest of p until it returns None.
func (s *Scanner) Next(p []byte) (tok Token, piece []byte, used int) {
	i := 0
	for i < len(p) {
		switch s.state {
		case stStart:
			i = s.skipBOM(p)

		case stLine:
			c := p[i]
			if s.cr {
				s.cr = false
				if c == '\n' {
					i++
					continue
				}
			}
			switch {
			case c == '\n' || c == '\r':
				i++
				s.cr = c == '\r'
				if s.open {
					s.open = false
					return End, nil, i
				}
				s.nname = 0
			case c == ':':
				s.state = stIgnore
			case len(p)-i >= 5 && string(p[i:i+5]) == "data:":
				i += 5
				s.state = stData0
				if s.startData() {
					return Data, newline, i
				}
			default:
				s.state, s.n = stField, 0
			}

		case stField:
			if i = s.fieldName(p, i); s.state == stData0 && s.startData() {
				return Data, newline, i
			}

		case stData0:
			if p[i] == ' ' {
				i++
			}
			s.state = stData

		case stData:
			end := LineEnd(p[i:])
			if end < 0 {
				return Data, p[i:], len(p)
			}
			piece = p[i : i+end]
			i += end
			s.endLine(p[i])
			i++
			if len(piece) > 0 {
				return Data, piece, i
			}

		case stName0:
			if p[i] == ' ' {
				i++
			}
			s.state = stName

		case stName:
			end := LineEnd(p[i:])
			line := p[i:]
			if end >= 0 {
				line = p[i : i+end]
			}
			s.nname += uint8(copy(s.name[s.nname:], line))
			i += len(line)
			if end >= 0 {
				s.endLine(p[i])
				i++
			}

		case stIgnore:
			end := LineEnd(p[i:])
			if end < 0 {
				return None, nil, len(p)
			}
			i += end
			s.endLine(p[i])
			i++
		}
	}
	return None, nil, i
}

// Between reports whether the next byte is the first of an event, and nothing of
// one before is open.
func (s *Scanner) Between() bool { return s.state == stLine && !s.open && !s.cr && s.nname == 0 }

// Name returns the name that an "event:" line gave to the event that End just
// completed, cut at 24 bytes; empty when there was none. It is valid until
// ResetName, which the caller owes after each End.
func (s *Scanner) Name() []byte { return s.name[:s.nname] }

// ResetName forgets the event's name. The caller calls it after each End.
func (s *Scanner) ResetName() { s.nname = 0 }

// Flush reports whether an event was still open when the stream ended, and
// closes it. The grammar drops such an event; a measuring instrument wants to
// know of it, since servers were seen that end without the last blank line.
func (s *Scanner) Flush() bool {
	open := s.open
	s.open = false
	return open
}

// startData opens the event, and reports whether a data line came before, so
// that an LF stands between them.
func (s *Scanner) startData() (again bool) {
	again, s.open = s.open, true
	return again
}

func (s *Scanner) endLine(c byte) {
	s.state = stLine
	s.cr = c == '\r'
}

// fieldName collects a field name from p[i:] up to its colon or line end.
func (s *Scanner) fieldName(p []byte, i int) int {
	for ; i < len(p); i++ {
		c := p[i]
		if c != ':' && c != '\n' && c != '\r' {
			if int(s.n) == len(s.field) {
				s.state = stIgnore
				return i
			}
			s.field[s.n] = c
			s.n++
			continue
		}
		name := string(s.field[:s.n])
		if c == ':' {
			i++
			switch name {
			case "data":
				s.state = stData0
			case "event":
				s.state, s.nname = stName0, 0
			default:
				s.state = stIgnore
			}
			return i
		}
		// A name without a colon is a field with an empty value. The line end
		// is left for the data state, which takes it as an empty line's.
		switch name {
		case "data":
			s.state = stData0
		default:
			if name == "event" {
				s.nname = 0
			}
			s.state = stIgnore
		}
		return i
	}
	return i
}

// skipBOM passes over a byte order mark, which may be spread over reads, at
// the very start of the stream. Bytes that begin one and then differ are the
// begin of an unknown field.
func (s *Scanner) skipBOM(p []byte) int {
	const bom = "\xef\xbb\xbf"
	for i := range p {
		if p[i] != bom[s.n] {
			s.state = stLine
			if s.n > 0 {
				s.state = stIgnore
			}
			s.n = 0
			return i
		}
		if s.n++; int(s.n) == len(bom) {
			s.state, s.n = stLine, 0
			return i + 1
		}
	}
	return len(p)
}

// LineEnd returns the index of the first CR or LF, or -1. Two vectorised passes
// over a window are faster than one byte loop, for CR is rare; windows, so that
// a short line costs its own length and not that of all that follows.
func LineEnd(p []byte) int {
	const window = 1024
	for off := 0; off < len(p); off += window {
		w := p[off:min(off+window, len(p))]
		lf := bytes.IndexByte(w, '\n')
		if lf >= 0 {
			w = w[:lf]
		}
		if cr := bytes.IndexByte(w, '\r'); cr >= 0 {
			return off + cr
		}
		if lf >= 0 {
			return off + lf
		}
	}
	return -1
}
