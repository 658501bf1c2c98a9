// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"strings"
	"unicode"
)

// isCredentialMember reports whether a member of an object is a credential by its
// name. It is left out of the content, so that names of other things, such as a
// program's "code" and a keyboard's "keys", must not be taken for one.
func isCredentialMember(name string) bool {
	words := wordsOf(name)
	for i, w := range words {
		switch w {
		case "auth", "oauth", "authorization", "authentication", "bearer", "secret", "secrets", "cookie", "cookies",
			"password", "passwords", "passwd", "passphrase", "pwd", "credential", "credentials", "signature", "sig", "headers",
			"apikey", "apikeys", "accesskey", "secretkey", "privatekey", "authtoken", "accesstoken":
			return true
		case "key", "token":
			if !isMeasure(words[len(words)-1]) {
				return true
			}
		case "keys", "tokens": // many of them are counts, or of a keyboard
			if i > 0 && qualifies(words[i-1]) {
				return true
			}
		}
	}
	return false
}

// isMeasure reports whether a name that ends in the word is of a number or a kind.
func isMeasure(word string) bool {
	switch word {
	case "count", "limit", "usage", "budget", "type", "size":
		return true
	}
	return false
}

// qualifies reports whether the word says that keys or tokens open something.
func qualifies(word string) bool {
	switch word {
	case "api", "access", "refresh", "id", "auth", "session", "private", "signing", "encryption", "ssh", "subscription", "service", "security":
		return true
	}
	return false
}

// wordsOf are the words of a name in lower case: those of api_key, apiKey and
// API-Key are the same two.
func wordsOf(name string) []string {
	var b strings.Builder
	r := []rune(name)
	for i, c := range r {
		upper := unicode.IsUpper(c)
		// A word begins at a capital behind a small letter, and at the last of
		// several capitals that a small letter follows.
		if upper && i > 0 && (!unicode.IsUpper(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1])) {
			b.WriteByte(' ')
		}
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			b.WriteRune(unicode.ToLower(c))
		} else {
			b.WriteByte(' ')
		}
	}
	return strings.Fields(b.String())
}
