// SPDX-License-Identifier: Apache-2.0

package report

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is done to every text before any form shows it.

// CleanURL returns a URL as it may be shown: without user information, query and
// fragment, each of which may hold a key. Of what cannot be read as a URL with a
// host, nothing is shown. The path stays.
func CleanURL(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" {
		return unreadableURL
	}
	v := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return v.String()
}

const unreadableURL = "(a URL that cannot be read)"

// cleanText makes a text fit to be shown: see the package's comment.
func cleanText(s string) string {
	if plainASCII(s) {
		return cleanURLs(s)
	}
	var b strings.Builder
	for _, r := range s { // a byte that is no UTF-8 comes as U+FFFD
		b.WriteRune(cleanRune(r))
	}
	return cleanURLs(strings.TrimSpace(b.String()))
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return strings.TrimSpace(s) == s
}

func cleanRune(r rune) rune {
	switch {
	case r == '\n' || r == '\r' || r == '\t' || r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029:
		return ' '
	case r == 0x200c || r == 0x200d || r == 0xad: // joiners, which scripts need, and the soft hyphen
		return r
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), r&0xfffe == 0xfffe:
		return utf8.RuneError
	}
	return r
}

// cleanURLs takes from each URL of a text what may be secret.
func cleanURLs(s string) string {
	at := strings.Index(s, "://")
	if at < 0 {
		return s
	}
	var b strings.Builder
	for ; at >= 0; at = strings.Index(s, "://") {
		at += len("://")
		b.WriteString(s[:at])
		s = s[at:]
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 {
			end = len(s)
		}
		b.WriteString(cleanRest(s[:end]))
		s = s[end:]
	}
	b.WriteString(s)
	return b.String()
}

// cleanRest cleans what stands behind a URL's "://", up to a space. Where the
// authority cannot be told, all up to the last @ is taken for a password.
func cleanRest(s string) string {
	host, path := s, ""
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		host, path = s[:i], s[i:]
	}
	if !strings.Contains(host, "@") && !isHost(host, path == "") {
		return afterLastAt(s)
	}
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	if strings.Contains(path, "@") {
		// No host and no port to a parser, or a user before them: a password may have
		// a / in it.
		if u, err := url.Parse("https://" + host + path); err != nil || u.User != nil {
			return afterLastAt(s)
		}
	}
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	// A further URL inside the path would bring its own.
	if i := strings.Index(path, "://"); i >= 0 {
		path = path[:i+3] + cleanRest(path[i+3:])
	}
	return host + path
}

func afterLastAt(s string) string {
	i := strings.LastIndexByte(s, '@')
	if host, _, colon := strings.Cut(s, ":"); i < 0 && colon && strings.Trim(s[len(host):], `.,;:!)'"`) == "" {
		return s // a colon of the sentence
	}
	if i < 0 {
		return unreadableURL
	}
	return cleanRest(s[i+1:])
}

// isHost reports whether s is a host with a port or without: what stands behind
// a colon is then digits, and where a sentence may end, its mark.
func isHost(s string, ends bool) bool {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		return true
	}
	port := s[i+1:]
	if ends {
		port = strings.TrimRight(port, `.,;:!)'"`)
	}
	for _, r := range port {
		if r < '0' || r > '9' {
			return false
		}
	}
	return port != ""
}
