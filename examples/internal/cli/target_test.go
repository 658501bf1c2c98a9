// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"flag"
	"strings"
	"testing"

	"github.com/tacho-go/tacho/examples/internal/cli"
)

const secret = "sk-secret"

func TestTarget(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		args  string
		env   map[string]string
		url   string // as shown; "" is the simulation
		key   string
		note  bool
		error string
	}{
		{name: "nothing"},
		{name: "a model for the simulation", args: "-model m"},
		{name: "flags", args: "-base-url https://h/v1/ -api-key sk-secret -model m", url: "https://h/v1", key: secret},
		{name: "environment", args: "-model m", env: map[string]string{"OPENAI_BASE_URL": "http://h:8080", "OPENAI_API_KEY": secret}, url: "http://h:8080/v1", key: secret},
		{name: "flags come first", args: "-base-url http://flag/v1 -api-key sk-flag -model m",
			env: map[string]string{"OPENAI_BASE_URL": "http://env/v1", "OPENAI_API_KEY": secret}, url: "http://flag/v1", key: "sk-flag"},
		{name: "no key", args: "-base-url http://h/v1 -model m", url: "http://h/v1"},
		{name: "the query is not shown", args: "-base-url http://h/v1?api-version=1&key=sk-secret -model m", url: "http://h/v1"},
		{name: "a key alone in the environment", env: map[string]string{"OPENAI_API_KEY": secret}, note: true},
		{name: "a key alone by flag", args: "-api-key sk-secret", error: "-api-key is given but no endpoint: add -base-url, such as https://api.openai.com/v1"},
		{name: "no model", args: "-base-url http://h/v1", error: "-model is missing: name a model that the endpoint serves, such as gpt-4o-mini"},
		{name: "no scheme", args: "-base-url api.openai.com/v1 -model m", error: `-base-url: the base URL does not begin with http:// or https://: give one like https://api.openai.com/v1`},
		{name: "no URL", args: "-base-url http://[ -model m", error: "-base-url: the base URL cannot be read: give one like https://api.openai.com/v1"},
		{name: "bad URL in the environment", args: "-model m", env: map[string]string{"OPENAI_BASE_URL": "h"}, error: `OPENAI_BASE_URL: the base URL does not begin with http:// or https://: give one like https://api.openai.com/v1`},
		{name: "credentials", args: "-base-url http://u:sk-secret@h/v1 -model m", error: "-base-url: the URL of h has credentials in it: give the key by OPENAI_API_KEY"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fs := flag.NewFlagSet("p", flag.ContinueOnError)
			var f cli.TargetFlags
			f.Add(fs)
			if err := fs.Parse(strings.Fields(tt.args)); err != nil {
				t.Fatal(err)
			}
			got, note, err := f.Target(func(k string) string { return tt.env[k] })
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != tt.error || (note != "") != tt.note {
				t.Errorf("error %q, want %q; note %q", text, tt.error, note)
			}
			if err == nil && (got.Shown != tt.url || got.Key != tt.key) {
				t.Errorf("URL %q, key %q; want %q, %q", got.Shown, got.Key, tt.url, tt.key)
			}
			if strings.Contains(text+note+got.Shown, secret) {
				t.Errorf("the key is told: %q %q %q", text, note, got.Shown)
			}
		})
	}
}

func TestBadKeyAndModel(t *testing.T) {
	t.Parallel()
	tests := []struct{ key, model, want string }{
		{"sk secret", "m", "-api-key: a key has no white space and only ASCII characters: check how it was copied"},
		{"sk-secret\n", "m", "-api-key: a key has no white space and only ASCII characters: check how it was copied"},
		{"k", "a b", `-model "a b": a model's name has no white space`},
	}
	for _, tt := range tests {
		fs := flag.NewFlagSet("p", flag.ContinueOnError)
		var f cli.TargetFlags
		f.Add(fs)
		if err := fs.Parse([]string{"-base-url", "http://h/v1", "-api-key", tt.key, "-model", tt.model}); err != nil {
			t.Fatal(err)
		}
		_, _, err := f.Target(func(string) string { return "" })
		if err == nil || err.Error() != tt.want {
			t.Errorf("key %q, model %q: error %v, want %q", tt.key, tt.model, err, tt.want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args   []string
		names  []string
		code   int
		done   bool
		stdout string // begins so
		stderr string
	}{
		{args: []string{"-n", "3"}},
		{args: []string{"FILE"}, names: []string{"FILE"}},
		{args: []string{"-h"}, done: true, stdout: "the usage\n\nFlags:\n  -n number\n"},
		{args: []string{"-n", "x"}, code: 2, done: true, stderr: "p q: invalid value \"x\" for flag -n: parse error\nRun \"p -h\" for help.\n"},
		{args: []string{"-m"}, code: 2, done: true, stderr: "p q: flag provided but not defined: -m\nRun \"p -h\" for help.\n"},
		{args: []string{"x"}, code: 2, done: true, stderr: "p q: \"x\" is no flag and no known command\nRun \"p -h\" for help.\n"},
		{names: []string{"FILE"}, code: 2, done: true, stderr: "p q: FILE is missing\nRun \"p -h\" for help.\n"},
	}
	for _, tt := range tests {
		fs := flag.NewFlagSet("p q", flag.ContinueOnError)
		fs.Int("n", 1, "the `number`")
		var stdout, stderr bytes.Buffer
		code, done := cli.Parse(fs, tt.args, "the usage\n", &stdout, &stderr, tt.names...)
		if code != tt.code || done != tt.done || stderr.String() != tt.stderr || !strings.HasPrefix(stdout.String(), tt.stdout) {
			t.Errorf("%q: code %d, done %v, stdout %q, stderr %q", tt.args, code, done, stdout.String(), stderr.String())
		}
	}
}
