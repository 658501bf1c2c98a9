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

const byteOrderMark = "\xef\xbb\xbf"

// sniffBody decides by the first bytes what the body is: content types are
// missing or wrong with some servers. It returns the bytes that are left to
// look at, nil while it is undecided.
func (x *exchange) sniffBody(p []byte) []byte {
	held, start := x.nsniff > 0, -1
	for i, b := range p {
		if x.nsniff == 0 && (b == ' ' || b == '\t' || b == '\n' || b == '\r') {
			continue
		}
		if start < 0 {
			start = i
		}
		x.sniff[x.nsniff] = b
		x.nsniff++
		if head := x.sniff[:x.nsniff]; len(head) <= len(byteOrderMark) && string(head) == byteOrderMark[:len(head)] {
			if len(head) == len(byteOrderMark) {
				x.nsniff, start = 0, -1 // before a stream or a document, it is none of it
			}
			continue
		}
		stream, decided := looksLikeStream(x.sniff[:x.nsniff], x.typed)
		if decided {
			x.decide(stream)
			if !held {
				// The usual case: they are all in this Read.
				x.nsniff = 0
				return p[start:]
			}
			switch x.mode {
			case bodyPlain:
				x.dec.Write(x.sniff[:x.nsniff])
				x.nsniff = 0
			case bodyRefusal:
				x.scanRefusal(x.sniff[:x.nsniff])
				x.nsniff = 0
			}
			return p[i+1:]
		}
	}
	return nil
}

func (x *exchange) decide(stream bool) {
	x.mode = bodyPlain
	switch {
	case stream && x.call.status >= 400:
		x.mode, stream = bodyRefusal, false
	case stream:
		x.mode = bodyStream
	}
	if x.call.stream = stream; !stream {
		x.stopGuard()
	}
	if x.dec == nil {
		x.dec = x.transport.readers.get()
	}
	x.dec.Init(x.call.api, stream, x.keepAnswer(), &x.call.facts)
}
