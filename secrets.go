// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
)

// minSecret is the shortest value that is taken for a credential: a shorter one,
// such as the "none" that local servers are given, is a word of many texts.
const minSecret = 8

// secrets are the credentials that the request carries.
func (x *exchange) secrets() []string {
	if x.extra == nil {
		return nil
	}
	return x.extra.secrets
}

// keepSecrets notes them, so that content which repeats one can leave it out.
func (x *exchange) keepSecrets(req *http.Request) {
	if x.extra == nil {
		x.extra = new(extra)
	}
	add := x.extra.addSecret
	for name, values := range req.Header {
		if !isCredential(name) {
			continue
		}
		for _, v := range values {
			add(v)
			if scheme, rest, ok := strings.Cut(v, " "); ok {
				add(rest)
				if b, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "basic") {
					_, password, _ := strings.Cut(string(b), ":")
					add(string(b))
					add(password)
				}
			}
		}
	}
	for _, c := range req.Cookies() {
		add(c.Value)
	}
	u := req.URL
	if u.User != nil {
		password, _ := u.User.Password()
		add(password)
		add(u.User.Username())
	}
	for member := range strings.SplitSeq(u.RawQuery, "&") {
		if name, v, _ := strings.Cut(member, "="); isCredential(name) {
			add(v)
			if plain, err := url.QueryUnescape(v); err == nil && plain != v {
				add(plain)
			}
		}
	}
}

// addSecret notes one.
//
//go:noinline
func (x *extra) addSecret(s string) {
	if s = strings.TrimSpace(s); len(s) < minSecret {
		return
	}
	// The longest first: one may be the begin of another.
	list := append(x.secrets, s)
	for i := len(list) - 1; i > 0 && len(list[i-1]) < len(s); i-- {
		list[i], list[i-1] = list[i-1], s
	}
	x.secrets = list
}

// isCredential reports whether a header or a member of a URL's query may be a
// credential. A word too many costs nothing here: what it holds is looked for in
// the content, and left out of it.
func isCredential(name string) bool {
	name = strings.ToLower(name)
	for _, word := range [...]string{"auth", "key", "secret", "token", "cookie", "password", "credential", "signature"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return name == "sig" || name == "code"
}
