// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// Target is the endpoint that a program calls.
type Target struct {
	URL     string // the base of the API; "" is none, which means the built-in simulation
	Shown   string // URL as it may be printed: without its query, which may hold a key
	Key     string // "" sends none; it must not be printed
	Model   string
	Options []tacho.ClientOption // what a client of the simulation needs besides
}

// Simulated is the target with a simulated server for an endpoint.
func (t Target) Simulated(srv *sim.Server) Target {
	t.URL, t.Shown = srv.URL(), "the built-in simulation"
	t.Options = []tacho.ClientOption{tacho.WithBase(srv.Transport())}
	if t.Model == "" {
		t.Model = "sim"
	}
	return t
}

// TargetFlags are the flags that name a Target.
type TargetFlags struct{ url, key, model string }

// Add defines the flags.
func (f *TargetFlags) Add(fs *flag.FlagSet) {
	fs.StringVar(&f.url, "base-url", "", "the `URL` of the endpoint's API, such as https://api.openai.com/v1\n(else $OPENAI_BASE_URL, else the built-in simulation)")
	fs.StringVar(&f.key, "api-key", "", "the API `key` (else $OPENAI_API_KEY);\nother users of this machine can see flags: prefer the variable")
	fs.StringVar(&f.model, "model", "", "the `name` of the model to ask for; needed with an endpoint")
}

// Target resolves flags and environment, flags first. The note, if there is
// one, is for the reader of the output.
func (f *TargetFlags) Target(env func(string) string) (t Target, note string, err error) {
	from, base := "-base-url", f.url
	if base == "" {
		from, base = "OPENAI_BASE_URL", env("OPENAI_BASE_URL")
	}
	keyFrom, key := "-api-key", f.key
	if key == "" {
		keyFrom, key = "OPENAI_API_KEY", env("OPENAI_API_KEY")
	}
	if strings.ContainsFunc(f.model, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return t, "", fmt.Errorf("-model %q: a model's name has no white space", f.model)
	}
	t.Model = f.model
	if base == "" {
		switch {
		case f.key != "":
			return t, "", errors.New("-api-key is given but no endpoint: add -base-url, such as https://api.openai.com/v1")
		case key != "":
			note = "OPENAI_API_KEY is set, but no endpoint is named: this is the built-in simulation. Add -base-url to call one."
		}
		return t, note, nil
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return t, "", fmt.Errorf("%s: a key has no white space and only ASCII characters: check how it was copied", keyFrom)
	}
	shown, err := checkBase(base)
	if err != nil {
		return t, "", fmt.Errorf("%s: %w", from, err)
	}
	if t.Model == "" {
		return t, "", errors.New("-model is missing: name a model that the endpoint serves, such as gpt-4o-mini")
	}
	t.URL, t.Shown, t.Key = base, shown, key
	return t, "", nil
}

// checkBase checks a base URL as [tacho.NewClient] does, which calls it as
// shown. Its errors show no part of the URL that may be secret.
func checkBase(base string) (shown string, err error) {
	if _, err := tacho.NewClient(base, ""); err != nil {
		return "", errors.New(strings.TrimPrefix(err.Error(), "tacho: "))
	}
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil {
		return "", errors.New("the URL cannot be read")
	}
	if u.User != nil {
		return "", fmt.Errorf("the URL of %s has credentials in it: give the key by OPENAI_API_KEY", u.Host)
	}
	v := url.URL{Scheme: u.Scheme, Host: u.Host, Path: cmp.Or(strings.TrimRight(u.Path, "/"), "/v1")}
	return v.String(), nil
}
