// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// TestMain fails when a goroutine is left after all tests.
func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	// A closed connection's goroutines need turns of the scheduler, not time.
	for range 1_000_000 {
		if runtime.NumGoroutine() <= before {
			break
		}
		runtime.Gosched()
	}
	// A fuzzing run has a goroutine of its own for signals.
	fuzzing := flag.Lookup("test.fuzz").Value.String() != ""
	if n := runtime.NumGoroutine(); code == 0 && n > before && !fuzzing {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		fmt.Fprintf(os.Stderr, "%d goroutines are left:\n%s", n-before, stacks)
		code = 1
	}
	os.Exit(code)
}

const (
	ms = time.Millisecond
	us = time.Microsecond

	chatPath        = "/chat/completions"
	completionsPath = "/completions"
	responsesPath   = "/responses"

	chatStream        = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}`
	chatStreamUsage   = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello"}]}`
	chatPlain         = `{"model":"m","messages":[{"role":"user","content":"hello"}]}`
	completionsStream = `{"model":"m","stream":true,"prompt":"hello"}`
	completionsPlain  = `{"model":"m","prompt":"hello"}`
	responsesStream   = `{"model":"m","stream":true,"input":"hello"}`
	responsesPlain    = `{"model":"m","input":"hello"}`
)

// rig is a simulated endpoint and a measuring client of it.
type rig struct {
	t      *testing.T
	srv    *sim.Server
	tr     *tacho.Transport
	client *http.Client
}

// newRig makes a rig in memory; call it inside the bubble.
func newRig(t *testing.T, simOpts []sim.Option, opts ...tacho.Option) *rig {
	t.Helper()
	r := &rig{t: t, srv: sim.New(t, simOpts...)}
	base := r.srv.Transport()
	t.Cleanup(base.CloseIdleConnections)
	quiet := []tacho.Option{tacho.WithoutTracing(), tacho.WithoutMetrics()}
	r.tr = tacho.NewTransport(base, append(quiet, opts...)...)
	r.client = &http.Client{Transport: r.tr}
	return r
}

func (r *rig) request(ctx context.Context, path, body string) *http.Request {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.srv.URL()+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

// do makes a call, gives the response to use, and returns the record.
func (r *rig) do(path, body string, use func(*http.Response)) *tacho.Call {
	r.t.Helper()
	ctx, tr := tacho.Track(r.t.Context())
	resp, err := r.client.Do(r.request(ctx, path, body))
	if err != nil {
		r.t.Fatal(err)
	}
	use(resp)
	return one(r.t, tr)
}

// one returns the only call of a tracker.
func one(t *testing.T, tr *tacho.Tracker) *tacho.Call {
	t.Helper()
	calls := tr.Calls()
	if len(calls) != 1 {
		t.Fatalf("told %d times, want once", len(calls))
	}
	return calls[0]
}

// readAll reads a body to its end and closes it.
func readAll(resp *http.Response) {
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

// figures are expected durations; what is not named must be absent.
type figures map[tacho.Figure]time.Duration

var allFigures = []tacho.Figure{tacho.DNS, tacho.Connect, tacho.TLS, tacho.Send, tacho.Wait, tacho.TTFB, tacho.TTFC, tacho.TTFT,
	tacho.TTFO, tacho.TTLT, tacho.Duration, tacho.TPOT, tacho.NetworkWait, tacho.ConsumerWait}

func (want figures) check(t *testing.T, c *tacho.Call) {
	t.Helper()
	for _, f := range allFigures {
		got, ok := c.Figure(f)
		w, there := want[f]
		if ok != there || got != w {
			t.Errorf("%v = %v (%v), want %v (%v)", f, got, ok, w, there)
		}
	}
}
