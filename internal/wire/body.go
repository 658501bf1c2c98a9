// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf8"
)

// Body keeps a request body for capture: its JSON, of which the strings are cut
// at a limit as they come, so that a picture of megabytes takes no more than a
// sentence may. It is fed pieces of any size; the zero Body keeps nothing.
type Body struct {
	buf   []byte
	cuts  []stringCut
	part  int // bytes kept of a string, as it stands in JSON
	all   int // bytes kept in all
	n     int // of the string so far
	str   int // strings begun
	lost  int64
	code  uint16 // of the escape being read
	high  bool   // the last escape was the first half of a character
	state bodyState
	full  bool // what comes from now on is not looked at
}

// stringCut is the string of that number, from 1, and what was not kept of it.
type stringCut struct {
	str  int
	lost int64 // code points
}

type bodyState uint8

const (
	betweenStrings bodyState = iota
	inString
	inEscape  // behind a backslash
	inUnicode // behind \u; the next three are its further digits
	_
	_
	_
)

// NewBody returns room for a body, of which it keeps so many bytes of a string
// and of all.
func NewBody(part, all int) *Body { return &Body{part: part, all: all} }

// Feed takes the next bytes.
func (b *Body) Feed(p []byte) {
	for len(p) > 0 && !b.full {
		if b.state == betweenStrings {
			n := bytes.IndexByte(p, '"') + 1
			if n == 0 {
				n = len(p)
			} else {
				b.state, b.n, b.lost, b.high = inString, 0, 0, false
				b.str++
			}
			b.keep(p[:n])
			p = p[n:]
			continue
		}
		p = p[b.text(p):]
	}
}

// text takes bytes of a string, up to its end, and returns how many.
func (b *Body) text(p []byte) int {
	from := 0
	for i, c := range p {
		within := b.state == inString
		// A character, which two escapes may be.
		begins := within && c&0xc0 != 0x80 && !(b.high && c == '\\')
		switch {
		case b.state == inEscape && c == 'u':
			b.state, b.code = inUnicode, 0
		case b.state == inEscape:
			b.state = inString
		case b.state > inEscape:
			b.code = b.code<<4 | hexDigit(c)
			if b.state++; b.state == inUnicode+4 {
				b.state, b.high = inString, b.code&0xfc00 == 0xd800
			}
		case c == '"':
			if b.lost == 0 {
				b.keep(p[from : i+1])
			} else {
				b.cuts = append(b.cuts, stringCut{b.str, b.lost})
				b.keep(p[i : i+1])
			}
			b.state = betweenStrings
			return i + 1
		case c == '\\':
			b.state = inEscape
		}
		switch {
		case b.lost > 0:
			if begins {
				b.lost++
			}
		case b.n >= b.part && (begins || within && b.n >= b.part+overhang(c)): // or bytes that are no text
			b.keep(p[from:i])
			b.lost = 1
		}
		if within && c != '\\' {
			b.high = false
		}
		b.n++
	}
	if b.lost == 0 {
		b.keep(p[from:])
	}
	return len(p)
}

// overhang is how far a character may reach past a limit that falls into it, if c is
// none of its first bytes: two escapes may stand for one, or four bytes be one.
func overhang(c byte) int {
	if c == '\\' {
		return len(`\ud83d\ude00`)
	}
	return utf8.UTFMax - 1
}

// hexDigit is the value of a digit; of what is none, whatever.
func hexDigit(c byte) uint16 {
	if c >= 'A' {
		return uint16(c&^0x20-'A'+10) & 0xf
	}
	return uint16(c-'0') & 0xf
}

func (b *Body) keep(p []byte) {
	if len(b.buf)+len(p) > b.all {
		b.full = true
		p = p[:b.all-len(b.buf)]
	}
	b.buf = append(b.buf, p...)
}

// Full reports whether the body was longer than is kept of one.
func (b *Body) Full() bool { return b.full }

// Len returns how many bytes are kept.
func (b *Body) Len() int { return len(b.buf) }

// Cut is a string of a body that was cut.
type Cut struct {
	S    string
	Lost int64 // code points
}

// maxNesting bounds how deep a body is read.
const maxNesting = 64

// Tree returns what the body says, as far as it is JSON: map[string]any, []any,
// string, Cut, json.Number, bool or nil. What was complete of a broken one is there.
func (b *Body) Tree() any {
	d := json.NewDecoder(bytes.NewReader(b.buf))
	d.UseNumber()
	t := treeReader{d: d, cuts: b.cuts}
	v, _ := t.value(0)
	return v
}

type treeReader struct {
	d    *json.Decoder
	cuts []stringCut
	str  int
}

func (t *treeReader) value(depth int) (any, error) {
	tok, err := t.d.Token()
	if err != nil {
		return nil, err
	}
	switch tok := tok.(type) {
	case string:
		return t.string(tok), nil
	case json.Delim:
		if depth == maxNesting {
			return nil, io.ErrShortBuffer
		}
		if tok == '{' {
			return t.object(depth)
		}
		return t.array(depth)
	}
	return tok, nil
}

// string joins a string with what is known to be cut of it.
func (t *treeReader) string(s string) any {
	t.str++
	if len(t.cuts) > 0 && t.cuts[0].str == t.str {
		lost := t.cuts[0].lost
		t.cuts = t.cuts[1:]
		return Cut{s, lost}
	}
	return s
}

// object and array return what they have read beside an error.
func (t *treeReader) object(depth int) (any, error) {
	m := map[string]any{}
	for t.d.More() {
		tok, err := t.d.Token()
		if err != nil {
			return m, err
		}
		key, ok := tok.(string)
		if !ok {
			return m, io.ErrUnexpectedEOF
		}
		t.string(key)
		v, err := t.value(depth + 1)
		if v != nil || err == nil {
			m[key] = v
		}
		if err != nil {
			return m, err
		}
	}
	_, err := t.d.Token()
	return m, err
}

func (t *treeReader) array(depth int) (any, error) {
	l := []any{}
	for t.d.More() {
		v, err := t.value(depth + 1)
		if v != nil || err == nil {
			l = append(l, v)
		}
		if err != nil {
			return l, err
		}
	}
	_, err := t.d.Token()
	return l, err
}
