// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tacho-go/tacho/internal/wire"
)

// What a server sends back may repeat what it was sent as a credential: in a text,
// or in a word such as an error's code.

// redacted stands for a credential in content.
const redacted = "[REDACTED]"

// redact leaves credentials out of content. Texts that are JSON may have them
// escaped, in ways that are undone when the JSON becomes structured values.
func (c *Content) redact(secrets []string) {
	if len(secrets) == 0 {
		return
	}
	pairs := make([]string, 0, 2*len(secrets))
	for _, s := range secrets {
		pairs = append(pairs, s, redacted)
	}
	r := strings.NewReplacer(pairs...)
	c.texts(func(s *string) {
		if *s = r.Replace(*s); !strings.Contains(*s, `\`) {
			return
		}
		d := json.NewDecoder(strings.NewReader(*s))
		d.UseNumber()
		var tree any
		if d.Decode(&tree) != nil || d.More() {
			return
		}
		found := false
		tree = replaced(tree, func(text string) string {
			clean := r.Replace(text)
			found = found || clean != text
			return clean
		})
		if found {
			*s = jsonText(tree)
		}
	})
}

// replaced is a tree with f of each string, keys too, in its place.
func replaced(v any, f func(string) string) any {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		for i := range v {
			v[i] = replaced(v[i], f)
		}
	case map[string]any:
		for k, e := range v {
			delete(v, k)
			v[f(k)] = replaced(e, f)
		}
	}
	return v
}

// bearerOf is the key that a request carries, in one of the headers in use, ""
// if it has none that is long enough to be told from a word.
func bearerOf(h http.Header) string {
	key := ""
	for _, name := range [...]string{"Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key"} {
		if v := h[name]; len(v) > 0 {
			key = v[0]
			break
		}
	}
	if _, rest, ok := strings.Cut(key, " "); ok {
		key = rest
	}
	if len(key) < minSecret {
		return ""
	}
	return key
}

// hideKey takes the key of the request out of the words of the answer, which reach
// telemetry as they are.
func (c *Call) hideKey(key string) {
	if key == "" {
		return
	}
	f := &c.facts
	for _, n := range [...]*wire.Name{&f.ID, &f.Model} {
		if !n.Empty() && n.Holds(key) {
			n.Set([]byte(other))
		}
	}
	for _, s := range [...]*string{&f.Tier, &f.Error.Type, &f.Error.Code} {
		if strings.Contains(*s, key) {
			*s = other
		}
	}
	for i := range f.Finish {
		if strings.Contains(f.Finish[i].Reason, key) {
			f.Finish[i].Reason = other
		}
	}
	if d := f.Detail; d != nil && strings.Contains(d.Fingerprint, key) {
		f.Detail = &wire.Detail{Fingerprint: other, In: d.In, Out: d.Out}
	}
}
