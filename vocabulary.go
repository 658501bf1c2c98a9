// SPDX-License-Identifier: Apache-2.0

package tacho

import "sync"

// maxWords bounds how many values of one kind from the wire become attributes.
const maxWords = 200

// vocabulary bounds the values that an attribute takes: the first maxWords are
// let in, later ones are _OTHER, so that a server cannot make endless series.
// The zero value is ready; it is safe for concurrent use.
type vocabulary struct {
	mu    sync.RWMutex
	words map[string]struct{}
}

// word lets s in, or stands _OTHER for it.
func (v *vocabulary) word(s string) string {
	if s = bounded(s); s == other || s == "" {
		return s
	}
	v.mu.RLock()
	_, known := v.words[s]
	full := len(v.words) >= maxWords
	v.mu.RUnlock()
	if known {
		return s
	}
	if full {
		return other
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, known = v.words[s]; !known {
		if len(v.words) >= maxWords {
			return other
		}
		if v.words == nil {
			v.words = make(map[string]struct{})
		}
		v.words[s] = struct{}{}
	}
	return s
}

// other stands for a value from the wire that is not let into telemetry.
const other = "_OTHER"

// bounded lets a value from the wire into telemetry if it is made of
// [A-Za-z0-9_.:/-] and at most 64 bytes long.
func bounded(s string) string {
	if len(s) > 64 {
		return other
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9',
			c == '_', c == '.', c == ':', c == '/', c == '-':
		default:
			return other
		}
	}
	return s
}
