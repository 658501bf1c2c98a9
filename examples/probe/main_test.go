// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

type result struct {
	code           int
	stdout, stderr string
}

// drive runs the program on a simulation in memory, in a bubble, so that each
// figure is exact. A script replaces the built-in one.
func drive(t *testing.T, stopAfter time.Duration, script *sim.Script, args ...string) (r result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		p := program{env: func(string) string { return "" }, stdout: &stdout, stderr: &stderr}
		p.listen = func(o ...sim.Option) (*sim.Server, error) {
			if script != nil {
				o = []sim.Option{sim.WithScript(*script), sim.WithLookupDelay(5 * time.Millisecond), sim.WithDialDelay(10 * time.Millisecond)}
			}
			return sim.NewServer(o...), nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if stopAfter > 0 {
			time.AfterFunc(stopAfter, cancel)
		}
		r.code = p.run(ctx, args)
		r.stdout, r.stderr = stdout.String(), stderr.String()
	})
	return r
}

// drawn is the output from the waterfall on.
func drawn(s string) string {
	_, s, _ = strings.Cut(s, "\n\n")
	return s
}

const head = "                   from        time\n"

func TestStream(t *testing.T) {
	t.Parallel()
	script := sim.Script{
		HeaderDelay: 35 * time.Millisecond, FirstDelay: 50 * time.Millisecond,
		Steps: []sim.Step{
			sim.Role(0), sim.Reasoning(0, "a").After(0), sim.Text(0, "b").After(20 * time.Millisecond),
			sim.Text(0, "c").After(80 * time.Millisecond), sim.Finish(0, "stop").After(0), sim.Done().After(0),
		},
		UsageShape: sim.UsageOnLastChunk,
		RateLimit:  sim.RateLimit{LimitRequests: 10, RemainingRequests: 9, ResetRequests: time.Second, LimitTokens: 100, RemainingTokens: 90, ResetTokens: 20 * time.Millisecond},
	}
	r := drive(t, 0, &script)
	const want = head +
		"dns                0 ns    5.000 ms  █\n" +
		"connect        5.000 ms    10.00 ms   ██▏\n" +
		"tls                   –           –\n" +
		"send           15.00 ms        0 ns     ▏\n" +
		"wait           15.00 ms    35.00 ms     ███████▌\n" +
		"first token    50.00 ms    50.00 ms            ███████████\n" +
		"last token     100.0 ms    100.0 ms                       █████████████████████\n" +
		"end            200.0 ms        0 ns                                           █\n" +
		`
times        ttfb 50.00 ms, ttfc 100.0 ms, ttft 100.0 ms, ttfo 120.0 ms, ttlt
             200.0 ms, duration 200.0 ms
tokens       tpot 50.00 ms (assumed: one token in the first event), tokens a
             second 30.0, streamed 3, first channel reasoning
gaps         2, min 20.00 ms, mean 50.00 ms, max 80.00 ms, deviation 42.43 ms
             ▃█
usage        input 11, output 3, of it reasoning 1; from cache 0
rate limits  requests 9 of 10, reset in 1.000 s; tokens 90 of 100, reset in
             20.00 ms
connection   new, HTTP/1.1, remote sim.invalid:80, rtt –, retransmits –
outcome      complete, status 200, finish stop, model sim
`
	if got := drawn(r.stdout); got != want || r.code != 0 || r.stderr != "" {
		t.Errorf("code %d, stderr %q, got\n%s\nwant\n%s", r.code, r.stderr, got, want)
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	r := drive(t, 0, &sim.Script{HeaderDelay: 35 * time.Millisecond, BodyDelay: 50 * time.Millisecond}, "-no-stream")
	const want = head +
		"dns                0 ns    5.000 ms  ██▏\n" +
		"connect        5.000 ms    10.00 ms    ████▎\n" +
		"tls                   –           –\n" +
		"send           15.00 ms        0 ns        ▎\n" +
		"wait           15.00 ms    35.00 ms        ███████████████\n" +
		"body           50.00 ms    50.00 ms                       █████████████████████\n" +
		"\ntimes        ttfb 50.00 ms, duration 100.0 ms\n"
	if got := drawn(r.stdout); !strings.HasPrefix(got, want) || r.code != 0 {
		t.Errorf("code %d, stderr %q, got\n%s\nwant first\n%s", r.code, r.stderr, got, want)
	}
}

// Ctrl-C in the middle of a stream prints what there is.
func TestCtrlC(t *testing.T) {
	t.Parallel()
	script := sim.Script{Steps: []sim.Step{sim.Text(0, "a"), sim.Text(0, "b").After(20 * time.Millisecond), sim.Hang()}}
	r := drive(t, 100*time.Millisecond, &script)
	for _, text := range []string{
		"INCOMPLETE: stopped before the end\n",
		"first token    15.00 ms        0 ns",
		"last token     15.00 ms    20.00 ms",
		"end            35.00 ms    65.00 ms",
		"ttft 15.00 ms, ttfo 15.00 ms, ttlt\n             35.00 ms, duration 100.0 ms\n",
		"tpot –, tokens a second –, streamed –",
		"gaps         1, min 20.00 ms, mean 20.00 ms, max 20.00 ms\n             █\n",
		"outcome      cancelled, status 200",
	} {
		if !strings.Contains(r.stdout, text) {
			t.Errorf("no %q in\n%s", text, r.stdout)
		}
	}
	if r.code != 1 || r.stderr != "probe: context canceled\n" {
		t.Errorf("code %d, stderr %q", r.code, r.stderr)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	r := drive(t, 0, nil, "-json", "-max-tokens", "12")
	var rec struct {
		Stream  bool    `json:"stream"`
		TTFT    float64 `json:"ttft"`
		Outputs int     `json:"output_events"`
		Outcome string  `json:"outcome"`
	}
	if err := json.Unmarshal([]byte(r.stdout), &rec); err != nil {
		t.Fatalf("%v in %q", err, r.stdout)
	}
	if !rec.Stream || rec.TTFT == 0 || rec.Outputs != 12 || rec.Outcome != "complete" || r.code != 0 || r.stderr != "" {
		t.Errorf("code %d, stderr %q, %+v", r.code, r.stderr, rec)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	refused := sim.Script{Status: 401, ErrorMessage: "Incorrect API key."}
	r := drive(t, 0, &refused)
	const advice = "probe: 401 Unauthorized: Incorrect API key.\n       Check the key: -api-key or OPENAI_API_KEY.\n"
	if r.code != 1 || r.stderr != advice || !strings.Contains(r.stdout, "outcome      error, status 401, error type invalid_request_error, code –") {
		t.Errorf("code %d, stderr %q, stdout\n%s", r.code, r.stderr, r.stdout)
	}
	mid := sim.Script{Steps: []sim.Step{sim.Text(0, "a"), sim.Error("overloaded", "server_error", "busy")}}
	r = drive(t, 0, &mid)
	if r.code != 1 || !strings.Contains(r.stdout, "outcome      stream_error, status 200, error type server_error, code overloaded,\n") {
		t.Errorf("code %d, stdout\n%s", r.code, r.stdout)
	}
	for args, want := range map[string]string{
		"-max-tokens 0":         "probe: -max-tokens 0: give 1 or more",
		"-timeout 0":            "probe: -timeout 0s: give a time such as 60s",
		"-prompt=":              "probe: -prompt is empty: give a text, or leave it out",
		"-base-url x -model m":  `probe: -base-url: the base URL does not begin with http:// or https://: give one like https://api.openai.com/v1`,
		"-base-url http://h/v1": "probe: -model is missing: name a model that the endpoint serves, such as gpt-4o-mini",
		"now":                   `probe: "now" is no flag and no known command`,
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(args), func(string) string { return "" }, &stdout, &stderr)
		if code != 2 || stderr.String() != want+"\nRun \"probe -h\" for help.\n" {
			t.Errorf("%s: code %d, stderr %q", args, code, stderr.String())
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	n := func(n int64) tacho.Tokens { return tacho.Tokens{N: n, Reported: true} }
	tests := []struct {
		limits tacho.RateLimits
		want   string
	}{
		{tacho.RateLimits{ResetRequests: -1, ResetTokens: -1, RetryAfter: -1}, "–"},
		{tacho.RateLimits{ResetRequests: -1, ResetTokens: -1, RetryAfter: 2 * time.Second}, "retry after 2.000 s"},
		{tacho.RateLimits{RemainingRequests: n(0), ResetRequests: -1, ResetTokens: -1, RetryAfter: 1500 * time.Millisecond}, "requests 0 left; retry after 1.500 s"},
		{tacho.RateLimits{LimitRequests: n(10), ResetRequests: 0, ResetTokens: -1, RetryAfter: -1}, "requests at most 10, reset in 0 ns"},
		{tacho.RateLimits{LimitTokens: n(9), RemainingTokens: n(8), ResetRequests: time.Second, ResetTokens: time.Second, RetryAfter: -1},
			"requests reset in 1.000 s; tokens 8 of 9, reset in 1.000 s"},
	}
	for _, tt := range tests {
		if got := describe(tt.limits); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.limits, got, tt.want)
		}
	}
}

// A refusal with Retry-After alone showed six figures that it has not.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	script := sim.Script{Status: 429, RetryAfter: 3 * time.Second}
	r := drive(t, 0, &script)
	if want := "\nrate limits  retry after 3.000 s\n"; r.code != 1 || !strings.Contains(r.stdout, want) {
		t.Errorf("code %d, no %q in\n%s", r.code, want, r.stdout)
	}
}
