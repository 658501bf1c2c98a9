// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tacho-go/tacho/sim"
)

// drive runs the program on a simulation in memory, in a bubble, so that each
// figure is exact.
func drive(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var out, errs bytes.Buffer
		p := program{env: func(k string) string { return env[k] }, stdout: &out, stderr: &errs}
		p.listen = func(o ...sim.Option) (*sim.Server, error) { return sim.NewServer(o...), nil }
		code = p.run(t.Context(), args)
		stdout, stderr = out.String(), errs.String()
	})
	return code, stdout, stderr
}

func TestSimulation(t *testing.T) { //nolint:paralleltest // the SDK builds its codecs in the first bubble, and no two may do so at once
	code, stdout, stderr := drive(t, nil)
	const want = `openai: the built-in simulation, model sim

call 1: A needle that tells turns a minute.
  outcome   complete, duration 255.0 ms
  TTFT      135.0 ms from the call's start, 135.0 ms from the last attempt's
  attempt 1 waited 0 ns, began at 0 ns, took 255.0 ms, status 200

call 2: A needle that tells turns a minute.
  outcome   complete, duration 1.030 s
  TTFT      910.0 ms from the call's start, 135.0 ms from the last attempt's
  attempt 1 waited 0 ns, began at 0 ns, took 25.00 ms, status 429, error rate_limit_exceeded
  attempt 2 waited 750.0 ms, began at 775.0 ms, took 255.0 ms, status 200
`
	if code != 0 || stdout != want || stderr != "" {
		t.Errorf("code %d, stderr %q, got\n%s\nwant\n%s", code, stderr, stdout, want)
	}
}

func TestBadCommandLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		env  map[string]string
		args []string
		says string
	}{
		{nil, []string{"-base-url", "https://host.invalid/v1"}, "-model is missing"},
		{map[string]string{"OPENAI_BASE_URL": "ftp://host.invalid"}, nil, "OPENAI_BASE_URL: the base URL does not begin with http"},
		{nil, []string{"more"}, `"more" is no flag`},
	} {
		var out, errs bytes.Buffer
		p := program{env: func(k string) string { return tc.env[k] }, stdout: &out, stderr: &errs}
		if code := p.run(t.Context(), tc.args); code != 2 || !strings.Contains(errs.String(), tc.says) {
			t.Errorf("%q: code %d, %q, want 2 and %q", tc.args, code, errs.String(), tc.says)
		}
	}
}

// TestEndpoint calls a server on a port, whose URL lacks its /v1.
func TestEndpoint(t *testing.T) { //nolint:paralleltest // see TestSimulation
	srv, err := sim.Listen(sim.WithAPIKey("k"), sim.WithScript(sim.Script{Text: "to be"}))
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	var out, errs bytes.Buffer
	env := map[string]string{"OPENAI_BASE_URL": strings.TrimSuffix(srv.URL(), "/v1"), "OPENAI_API_KEY": "k"}
	p := program{env: func(k string) string { return env[k] }, stdout: &out, stderr: &errs}
	if code := p.run(t.Context(), []string{"-model", "m"}); code != 0 || strings.Count(out.String(), "outcome   complete") != 2 {
		t.Errorf("code %d, %q, got\n%s", code, errs.String(), out.String())
	}
	env["OPENAI_API_KEY"] = "another"
	errs.Reset()
	if code := p.run(t.Context(), []string{"-model", "m"}); code != 1 || strings.Count(errs.String(), "401") != 2 || strings.Contains(out.String()+errs.String(), "another") {
		t.Errorf("code %d, %q, got\n%s", code, errs.String(), out.String())
	}
}
