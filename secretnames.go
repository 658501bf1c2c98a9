// SPDX-License-Identifier: Apache-2.0

package tacho

import "strings"

// isCredentialMember reports whether a member of an object is a credential by its
// name. It is left out of the content, so that names of other things, such as a
// program's "code" and a keyboard's "keys", must not be taken for one.
func isCredentialMember(name string) bool {
	name = wordsOf(name)
	for _, word := range [...]string{
		"auth", "oauth", "authorization", "authentication", "bearer", "secret", "secrets", "cookie", "cookies",
		"password", "passwords", "passwd", "passphrase", "pwd", "credential", "credentials", "signature", "sig", "headers",
		"apikey", "apikeys", "accesskey", "secretkey", "privatekey", "authtoken", "accesstoken",
		// Other keys and tokens in the plural are counts, or of a keyboard.
		"api_keys", "access_keys", "private_keys", "ssh_keys", "auth_tokens", "access_tokens", "refresh_tokens", "session_tokens",
	} {
		if strings.Contains(name, "_"+word+"_") {
			return true
		}
	}
	for _, measure := range [...]string{"count", "limit", "usage", "budget", "type", "size"} {
		if strings.HasSuffix(name, "_"+measure+"_") {
			return false
		}
	}
	return strings.Contains(name, "_key_") || strings.Contains(name, "_token_")
}

// wordsOf are the words of a name in lower case, each between two "_": those of
// api_key, apiKey and API-Key are the same two. Letters are those of ASCII.
func wordsOf(name string) string {
	isSmall := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= 0x80 }
	isCapital := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	words := []byte{'_'}
	for i := range len(name) {
		c := name[i]
		switch {
		case isCapital(c):
			// A word begins at a capital behind a small letter, and at the last of
			// several that a small letter follows.
			if i > 0 && (!isCapital(name[i-1]) || i+1 < len(name) && isSmall(name[i+1])) {
				words = append(words, '_')
			}
			c += 'a' - 'A'
		case !isSmall(c) && (c < '0' || c > '9'):
			c = '_'
		}
		words = append(words, c)
	}
	return string(append(words, '_'))
}
