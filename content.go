// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"net/http"

	"github.com/tacho-go/tacho/internal/wire"
)

// What a body is by its headers and its first bytes.

func isEventStream(h http.Header) bool {
	const mime = "text/event-stream"
	t := first(h["Content-Type"])
	return len(t) >= len(mime) && equalFold(t[:len(mime)], mime)
}

// isContent reports whether the body is the content itself, by its type: bytes
// of any value, not to be taken for a stream's first. It is sounds, images or
// films, speech of whatever type, and what was spoken in a sound as a text alone.
func (x *exchange) isContent(h http.Header) bool {
	t := first(h["Content-Type"])
	if x.call.api == wire.Speech && x.call.status < 400 {
		return !x.typed && !isJSON(h)
	}
	spoken := x.call.api == wire.Transcriptions || x.call.api == wire.Translations
	for _, kind := range [...]string{"audio/", "image/", "video/", "text/"} {
		if len(t) > len(kind) && equalFold(t[:len(kind)], kind) {
			return kind != "text/" || spoken && !x.typed
		}
	}
	return false
}

func isJSON(h http.Header) bool {
	const mime = "application/json"
	t := first(h["Content-Type"])
	return len(t) >= len(mime) && equalFold(t[:len(mime)], mime)
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
