// SPDX-License-Identifier: Apache-2.0

package tacho

import "sync"

// maxWords bounds how many values of one kind from the wire become attributes.
const maxWords = 200

// maxServers bounds the hosts: most are the caller's own choice, but redirects
// lead to others.
const maxServers = 1000

// vocabulary bounds the values that an attribute takes: the first ones are let in,
// later ones are _OTHER, so that a server cannot make endless series. The zero
// value is ready; it is safe for concurrent use.
type vocabulary struct {
	mu    sync.RWMutex
	words map[string]struct{}
}

// word lets s in if it is a plain one, or stands _OTHER for it.
func (v *vocabulary) word(s string) string {
	if s = bounded(s); s == "" || s == other || v.admits(s, maxWords) {
		return s
	}
	return other
}

// admits reports whether s is among the first so many.
func (v *vocabulary) admits(s string, limit int) bool {
	v.mu.RLock()
	_, known := v.words[s]
	full := len(v.words) >= limit
	v.mu.RUnlock()
	if known || full {
		return known
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, known = v.words[s]; known || len(v.words) >= limit {
		return known
	}
	if v.words == nil {
		v.words = make(map[string]struct{})
	}
	v.words[s] = struct{}{}
	return true
}

// other stands for a value from the wire that is not let into telemetry.
const other = "_OTHER"

// bounded lets a value from the wire into telemetry if it is made of
// [A-Za-z0-9_.:/-] and at most 64 bytes long.
//
//go:noinline
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
