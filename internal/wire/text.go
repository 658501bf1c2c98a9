// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// strKind says what becomes of a string value.
type strKind uint8

const (
	strSkip  strKind = iota
	strShort         // kept whole, up to maxToken bytes, and handed over at its end
	strText          // generated text: counted, and kept only under capture
)

// stringPiece takes a piece of the current string value; last ends it.
func (d *Decoder) stringPiece(piece []byte, last bool) {
	m := &d.m
	switch m.kind {
	case strShort:
		d.text(piece, last, &m.tok, maxToken)
		if last {
			d.short(m.slot, m.tok)
		}
	case strText:
		var keep *[]byte
		limit := 0
		if d.kept != nil {
			keep = &m.tok
			if limit = d.kept.part; limit > 0 {
				limit += utf8.UTFMax // room for it to be full
			}
		}
		d.text(piece, last, keep, limit)
		if last {
			d.generated(m.slot, m.chars, m.tok)
		}
	}
}

// text decodes a piece of a JSON string: it counts code points in m.chars, and
// appends the decoded bytes to out, if any, up to limit bytes (0: no limit).
// What a piece cuts in two, an escape, a surrogate pair, a rune, waits in
// m.pend. A bad byte or a lone surrogate counts as one U+FFFD, which is what
// encoding/json makes of it.
func (d *Decoder) text(b []byte, last bool, out *[]byte, limit int) {
	m := &d.m
	for m.npend > 0 && (len(b) > 0 || last) {
		// Complete the unit that the last piece cut.
		if len(b) > 0 {
			m.pend[m.npend] = b[0]
			m.npend++
			b = b[1:]
		}
		end := last && len(b) == 0
		r, n := unit(m.pend[:m.npend], end)
		if n == 0 {
			continue
		}
		m.emit(r, out, limit)
		rest := copy(m.pend[:], m.pend[n:m.npend])
		m.npend = 0
		if rest > 0 {
			// The bytes behind the unit are the begin of another one.
			var again [12]byte
			copy(again[:], m.pend[:rest])
			d.text(again[:rest], end, out, limit)
		}
	}
	for len(b) > 0 {
		run := bytes.IndexByte(b, '\\')
		if run < 0 {
			run = len(b)
			if !last {
				run -= cutRune(b)
			}
		}
		if run > 0 {
			m.chars += int64(utf8.RuneCount(b[:run]))
			appendText(out, b[:run], limit)
			b = b[run:]
		}
		if len(b) == 0 {
			return
		}
		r, n := unit(b, last)
		if n == 0 {
			m.npend = uint8(copy(m.pend[:], b))
			return
		}
		m.emit(r, out, limit)
		b = b[n:]
	}
}

func (m *machine) emit(r rune, out *[]byte, limit int) {
	m.chars++
	if out != nil && (limit == 0 || len(*out) <= limit-utf8.UTFMax) {
		*out = utf8.AppendRune(*out, r)
	}
}

func appendText(out *[]byte, b []byte, limit int) {
	if out == nil {
		return
	}
	if (limit == 0 || len(*out)+len(b) <= limit-utf8.UTFMax) && utf8.Valid(b) {
		*out = append(*out, b...)
		return
	}
	for len(b) > 0 && (limit == 0 || len(*out) <= limit-utf8.UTFMax) {
		r, n := utf8.DecodeRune(b)
		*out = utf8.AppendRune(*out, r)
		b = b[n:]
	}
}

// cutRune returns how many bytes at the end of b begin a rune that is not whole.
func cutRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		c := b[len(b)-n]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// unit decodes the escape or rune at the start of b. n is 0 when it may go on
// in a later piece; at the end of the string it never is.
func unit(b []byte, last bool) (r rune, n int) {
	if b[0] != '\\' {
		if !last && !utf8.FullRune(b) {
			return 0, 0
		}
		return utf8.DecodeRune(b)
	}
	if len(b) < 2 {
		return cut(b, last)
	}
	switch c := b[1]; c {
	case 'u':
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	default:
		return rune(c), 2
	}
	if len(b) < 6 {
		return cut(b, last)
	}
	r, ok := hex4(b[2:6])
	if !ok {
		return utf8.RuneError, 2
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	rest := b[6:]
	if len(rest) < 6 && !last && (len(rest) < 1 || rest[0] == '\\') && (len(rest) < 2 || rest[1] == 'u') {
		return 0, 0
	}
	if len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if low, ok := hex4(rest[2:6]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
	}
	return utf8.RuneError, 6
}

func cut(b []byte, last bool) (rune, int) {
	if last {
		return utf8.RuneError, len(b)
	}
	return 0, 0
}

func hex4(b []byte) (r rune, ok bool) {
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// stringEnd returns the index of the quote that ends the string, or len(b)
// and false when it lies in a later piece.
func (m *machine) stringEnd(b []byte, i int) (end int, done bool) {
	if m.esc {
		if i == len(b) {
			return i, false
		}
		m.esc = false
		i++
	}
	low := i
	for {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			m.esc = backslashes(b[low:])&1 == 1
			return len(b), false
		}
		j += i
		if j == low || b[j-1] != '\\' || backslashes(b[low:j])&1 == 0 {
			return j, true
		}
		i = j + 1
		low = i
	}
}

// backslashes counts those at the end of b.
func backslashes(b []byte) int {
	n := 0
	for n < len(b) && b[len(b)-1-n] == '\\' {
		n++
	}
	return n
}

// plain reports whether the inside of a string is what it stands for, as it
// is: short, without escapes and valid UTF-8.
func plain(b []byte) bool {
	return len(b) <= maxToken-utf8.UTFMax && bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b)
}
