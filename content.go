// SPDX-License-Identifier: Apache-2.0

package tacho

import "github.com/tacho-go/tacho/internal/wire"

// What a body is by its headers and its first bytes.

// contentType is what a Content-Type header names, as far as it matters.
type contentType uint8

const (
	otherType contentType = iota
	typeJSON
	typeStream // of events
	typeText   // any other text
	typeMedia  // a sound, an image, a film
)

// bodyType returns the type that a header tells.
func bodyType(v string) contentType {
	for i := range contentTypes {
		if t := &contentTypes[i]; begins(v, t.word) {
			return t.is
		}
	}
	return otherType
}

var contentTypes = [...]struct {
	word string
	is   contentType
}{
	{"application/json", typeJSON}, {"text/event-stream", typeStream}, {"text/", typeText},
	{"audio/", typeMedia}, {"image/", typeMedia}, {"video/", typeMedia},
}

// begins reports whether a header's value begins with a lower-case ASCII word, in
// whatever case.
func begins(v, word string) bool {
	return len(v) >= len(word) && (v[:len(word)] == word || equalFold(v[:len(word)], word))
}

// isContent reports whether the body is the content itself, by its type: bytes
// of any value, not to be taken for a stream's first. It is sounds, images or
// films, speech of whatever type, and what was spoken in a sound as a text alone.
func (x *exchange) isContent(t contentType) bool {
	switch c := x.call; c.api {
	case wire.Speech:
		if c.status < 400 {
			return t != typeStream && t != typeJSON
		}
	case wire.Transcriptions, wire.Translations:
		return t == typeText || t == typeMedia
	}
	return t == typeMedia
}

// first is the first value of a header that is looked up under its canonical
// name, which saves making that name.
func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// equalFold compares with a lower-case ASCII word.
func equalFold(s, lower string) bool {
	for i := range len(lower) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return len(s) == len(lower)
}

// looksLikeStream judges the first bytes, white space left out.
func looksLikeStream(b []byte, typed bool) (stream, decided bool) {
	if b[0] == '{' || b[0] == '[' {
		return false, true
	}
	if typed || b[0] == ':' {
		return true, true
	}
	for _, mark := range [...]string{"data:", "event:", "id:", "retry:"} {
		n := min(len(b), len(mark))
		if string(b[:n]) == mark[:n] {
			return true, n == len(mark)
		}
	}
	return false, true
}
