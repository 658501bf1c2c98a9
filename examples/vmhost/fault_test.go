// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho/examples/internal/term"
	"github.com/tacho-go/tacho/sim"
)

func TestFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script sim.Script
		args   []string
		counts string // of the only side
		stderr string
	}{
		{
			name:   "a key that is refused ends the run",
			script: sim.Script{Status: http.StatusUnauthorized, ErrorCode: "invalid_api_key", ErrorMessage: "Incorrect API key."},
			counts: "this machine: 0 calls in the figures; left out: 1 cold; not complete: 1\n" +
				"  1 × error, status 401, type invalid_request_error, code invalid_api_key\n",
			stderr: "vmhost: 401 Unauthorized: Incorrect API key.\n        Check the key: -api-key or OPENAI_API_KEY.\n",
		},
		{
			name:   "a rate limit does not",
			script: sim.Script{Status: http.StatusTooManyRequests, ErrorCode: "rate_limit_exceeded", ErrorType: "requests", ErrorMessage: "Slow down."},
			counts: "this machine: 0 calls in the figures; left out: 1 cold; not complete: 3\n" +
				"  3 × error, status 429, type requests, code rate_limit_exceeded\n",
			stderr: "vmhost: 429 Too Many Requests: Slow down.\n        The endpoint refuses by its rate limit: try later, or with fewer calls.\n",
		},
		{
			name: "time is up", args: []string{"-timeout", "50ms"},
			script: sim.Script{HeaderDelay: time.Second},
			counts: "this machine: 0 calls in the figures; left out: 1 cold; not complete: 3\n" +
				"  3 × deadline, type timeout\n",
			stderr: "vmhost: context deadline exceeded\n        The time for a call was up: raise -timeout.\n",
		},
		{
			name:   "an answer of another kind",
			script: sim.Script{Body: []byte(`{"id":"1","object":"chat.completion","model":"sim","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`)},
			counts: "this machine: 0 calls in the figures; left out: 1 cold, " +
				"2 not answered in the kind asked for; not complete: 0\n",
			stderr: "vmhost: the answer is not of the kind asked for: one JSON object in place of a stream\n" +
				"        The endpoint answers without a stream: add -no-stream.\n",
		},
		{
			name: "a web page", args: []string{"-no-stream"},
			script: sim.Script{Body: []byte("<title>It works</title>"), ContentType: "text/html"},
			counts: "this machine: 0 calls in the figures; left out: 1 cold, " +
				"2 not answered in the kind asked for; not complete: 0\n",
			stderr: "vmhost: the answer is not of the kind asked for: no answer of a model in place of one JSON object\n" +
				"        Check the base URL, which usually ends in /v1: what answers there may be a web page.\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "r.json")
			r := drive(t, nil, []sim.Option{sim.WithScript(tt.script)}, append([]string{"run", "-calls", "2", "-out", file}, tt.args...)...)
			_, counts, _ := strings.Cut(measured(r.stdout), "\n\nthis machine")
			counts, _, _ = strings.Cut("this machine"+counts, "\nCold calls")
			counts, _, _ = strings.Cut(counts, "\nNothing is written")
			counts = strings.TrimRight(counts, "\n") + "\n"
			if counts != tt.counts {
				t.Errorf("got counts\n%swant\n%s", counts, tt.counts)
			}
			if r.code != 1 || r.stderr != tt.stderr {
				t.Errorf("code %d, stderr %q, want 1, %q", r.code, r.stderr, tt.stderr)
			}
			if n := strings.Count(r.stdout, "of another kind, left out\n"); (n == 3) != strings.Contains(tt.counts, "in the kind asked for") {
				t.Errorf("%d calls of another kind in\n%s", n, r.stdout)
			}
			// The corrected command may name the same file, and the machine's lines
			// would stand between the failure and its reader.
			if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the file is there: %v", err)
			}
			if last := "\n\nNothing is written to " + file + ", as no call is in the figures.\n"; !strings.HasSuffix(r.stdout, last) {
				t.Errorf("no %q at the end of\n%s", last, r.stdout)
			}
			for _, text := range []string{"This machine", "Published"} {
				if strings.Contains(r.stdout, text) {
					t.Errorf("%q in\n%s", text, r.stdout)
				}
			}
		})
	}
}

func TestBadUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	there := filepath.Join(dir, "there.json")
	empty := filepath.Join(dir, "empty.json")
	other := filepath.Join(dir, "other.json")
	none := filepath.Join(dir, "none.json")
	list := filepath.Join(dir, "list.json")
	page := filepath.Join(dir, "page.html")
	for name, text := range map[string]string{there: "{}", empty: "", other: `{"program":"probe"}`, none: `{"calls":1}`, list: "[]", page: "<html>"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"walk"}, `vmhost: "walk" is no command: there are run and show`},
		{[]string{"run", "more"}, `vmhost run: "more" is no flag and no known command`},
		{[]string{"show"}, `vmhost show: FILE is missing`},
		{[]string{"show", empty}, "vmhost show: " + empty + " is empty: the run that made it was killed before its end"},
		{[]string{"show", other}, "vmhost show: " + other + ` is not a report of vmhost: its "program" is "probe"`},
		{[]string{"show", none}, "vmhost show: " + none + " is not a report of vmhost"},
		{[]string{"show", list}, "vmhost show: " + list + " is not a report of vmhost"},
		{[]string{"show", page}, "vmhost show: " + page + " is not a report of vmhost: it is no JSON: invalid character '<' looking for beginning of value"},
		{[]string{"-calls", "1"}, "vmhost: -calls 1: give 2 to 10000, as one call has no deviation"},
		{[]string{"-calls", "x"}, `vmhost: invalid value "x" for flag -calls: parse error`},
		{[]string{"-max-tokens", "0"}, "vmhost: -max-tokens 0: give 1 or more"},
		{[]string{"-blocks", "6"}, "vmhost: -blocks 6: give a multiple of 4, so that each side comes first as often as the other"},
		{[]string{"run", "-blocks", "8"}, "vmhost run: -blocks is for the run of both sides on the simulation: without run, without an endpoint"},
		{[]string{"-nic-delay", "-1ms"}, "vmhost: -nic-delay and -nic-jitter: give 0 or more, such as 500us"},
		{[]string{"-base-url", "http://127.0.0.1:1"}, "vmhost: -model is missing: name a model that the endpoint serves, such as gpt-4o-mini"},
		{[]string{"-out", there}, "vmhost: -out: " + there + " is there already: give another name, or remove it"},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), tt.args, func(string) string { return "" }, &stdout, &stderr)
			want := tt.want + "\nRun \"vmhost -h\" for help.\n"
			if code != 2 || stdout.Len() != 0 || stderr.String() != want {
				t.Errorf("code %d, stdout %q, stderr\n%s\nwant 2 and\n%s", code, stdout.String(), stderr.String(), want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-h"}, {"run", "-h"}, {"show", "-h"}, {"help"}} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), args, func(string) string { return "" }, &stdout, &stderr)
		if code != 0 || !strings.HasPrefix(stdout.String(), usage) || stderr.Len() != 0 {
			t.Errorf("%v: code %d, stdout %.40q, stderr %q", args, code, stdout.String(), stderr.String())
		}
		// A command without flags has no head for them.
		if flags := args[0] != "help"; strings.Contains(stdout.String(), "\nFlags:\n") != flags {
			t.Errorf("%v: flags %v, stdout\n%s", args, !flags, stdout.String())
		}
		for line := range strings.Lines(stdout.String()) {
			if n := term.Width(line); n > 100 {
				t.Errorf("%v: a line of %d columns: %s", args, n, line)
			}
		}
	}
}

// The report has these keys and no others at its top.
func TestReportKeys(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "r.json")
	if r := drive(t, nil, nil, "run", "-calls", "2", "-out", file); r.code != 0 {
		t.Fatalf("code %d: %s", r.code, r.stderr)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(b, &top); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields("program version started ended incomplete endpoint loopback simulation model prompt " +
		"max_tokens stream calls_a_block summary fingerprint stall steal calls") {
		if _, ok := top[key]; !ok {
			t.Errorf("no key %q", key)
		}
		delete(top, key)
	}
	for key := range top {
		t.Errorf("a key %q more", key)
	}
}

func TestSeconds(t *testing.T) {
	t.Parallel()
	for s, want := range map[Seconds]time.Duration{
		0: 0, 1.5: 1500 * time.Millisecond, 0.016532999: 16_532_999, -0.25: -250 * time.Millisecond, 1e-9: 1,
	} {
		if got := s.Duration(); got != want {
			t.Errorf("%v is %d ns, want %d", float64(s), got, want)
		}
	}
	if got := exact(0.0016623769999999998); got != 0.001662377 {
		t.Errorf("exact = %v", got)
	}
}
