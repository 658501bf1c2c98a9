// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/load"
	"github.com/tacho-go/tacho/sim"
)

// result is what a run of the program left.
type result struct {
	code           int
	stdout, stderr string
}

// drive runs the program on servers in memory, in a bubble.
func drive(t *testing.T, timeout time.Duration, opts []sim.Option, args ...string) (r result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		p := program{
			listen: func(o ...sim.Option) (*sim.Server, error) {
				if opts != nil {
					o = opts
				}
				return sim.NewServer(o...), nil
			},
			env: func(string) string { return "" }, stdout: &stdout, stderr: &stderr,
		}
		ctx := t.Context()
		if timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, timeout)
			defer cancel()
		}
		r.code = p.run(ctx, args)
		r.stdout, r.stderr = stdout.String(), stderr.String()
	})
	return r
}

// The regions and devices are apart by their ways, and streams and plain calls
// are not mixed.
func TestLabels(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	r := drive(t, 0, nil, "-rate", "1", "-duration", "20s", "-out", dir)
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("exit code %d: %s\n%s", r.code, r.stderr, r.stdout)
	}
	f, err := os.Open(filepath.Join(dir, "latency.hlog"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := tacho.ReadHDR(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range ways() {
		s := all.Where("region", w.region, "device", w.device)
		ttft, _ := s.Streams.Figure(tacho.TTFT).Mean()
		if s.Streams.Calls() != 20 || s.Plain.Calls() != 20 {
			t.Errorf("%s, %s: %d streams, %d plain calls", w.region, w.device, s.Streams.Calls(), s.Plain.Calls())
		}
		// 320 ms of the model, the way there and back, and four draws of its jitter at
		// most: the request is several packets, of which the last one counts.
		way := 320*time.Millisecond + 2*w.link.Delay
		if ttft < way || ttft > way+4*w.link.Jitter+time.Millisecond {
			t.Errorf("%s, %s: TTFT %v, at least %v", w.region, w.device, ttft, way)
		}
	}
	for _, want := range []string{
		"First and last token apart", "What an SLA takes", "99.9 %          p99.9              10,000", "P99 ≤ 200 ms",
		"Notes on the tails", "Streams and plain calls side by side", "42.1 tokens/s",
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("the report has no %q", want)
		}
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	if r := drive(t, 10*time.Second, nil, "-rate", "1", "-kind", "streams"); r.code != 1 || !strings.Contains(r.stderr, "stopped after 10s of 28s") || !strings.Contains(r.stdout, "INCOMPLETE") {
		t.Errorf("stopped: exit code %d, %q", r.code, r.stderr)
	}
	fails := []sim.Option{sim.WithScript(sim.Script{Status: 500})}
	if r := drive(t, 0, fails, "-rate", "1", "-duration", "2s"); r.code != 1 || !strings.Contains(r.stderr, "500 Internal Server Error") || strings.Contains(r.stdout, "NaN") {
		t.Errorf("all fail: exit code %d, %q", r.code, r.stderr)
	}
	if r := drive(t, 0, nil, "-rate", "1", "-duration", "2s", "-slo", `ttft p50 <= 1ms {stream="true"}`); r.code != 3 || !strings.Contains(r.stdout, "broken") {
		t.Errorf("broken: exit code %d, %q\n%s", r.code, r.stderr, r.stdout)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-rate", "0"}, "-rate 0: give a number above 0"},
		{[]string{"-kind", "all"}, `-kind "all"`},
		{[]string{"-label", "region"}, "give NAME=VALUE"},
		{[]string{"-label", "stage=x"}, "a label of the program's own"},
		{[]string{"-label", "region=eu"}, "add -base-url"},
		{[]string{"-from", "region=eu"}, "give labels and a URL"},
		{[]string{"-from", "region=eu@ftp://x", "-model", "m"}, "does not begin with http"},
		{[]string{"-model", "m", "-from", "region=eu@http://a.invalid/v1", "-from", "region=eu@http://b.invalid/v1"}, "two places are region=eu"},
		{[]string{"-prompt-tokens", "1"}, "-prompt-tokens"},
	} {
		if r := drive(t, 0, nil, tt.args...); r.code != 2 || !strings.Contains(r.stderr, tt.want) {
			t.Errorf("%q: exit code %d, %q, want %q", tt.args, r.code, r.stderr, tt.want)
		}
	}
}

// Each place is told with its own URL, without the credentials in it.
func TestPlacesByURL(t *testing.T) {
	t.Parallel()
	s := settings{from: []from{{[]string{"region", "eu"}, "https://key:secret@eu.example.com/v1"}, {[]string{"region", "us"}, "https://us.example.com/v1"}}}
	s.target.Shown = "https://eu.example.com/v1"
	list, stop, err := (&program{}).places(s)
	defer stop()
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	if list[0].shown == list[1].shown || strings.Contains(list[0].shown, "secret") || list[1].shown != "https://us.example.com/v1" {
		t.Errorf("%q, %q", list[0].shown, list[1].shown)
	}
}

// Warnings of streams and plain calls are told apart.
func TestWarningsByKind(t *testing.T) {
	t.Parallel()
	fails := []sim.Option{sim.WithScript(sim.Script{Status: 500})}
	r := drive(t, 0, fails, "-rate", "1", "-duration", "2s")
	for _, want := range []string{"region=eu, device=desktop, streams: none of 2", "region=eu, device=desktop, plain calls: none of"} {
		if text := strings.Join(strings.Fields(r.stdout), " "); !strings.Contains(text, want) {
			t.Errorf("the report has no %q", want)
		}
	}
}

// With one call in flight, calls of 1.8 s and one wanted each second, the delay
// grows: it is in the latency from the intended start alone, and what was never
// started is told.
func TestStarts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	r := drive(t, 0, nil, "-rate", "1", "-duration", "40s", "-warmup", "0s", "-kind", "streams", "-max-in-flight", "1", "-out", dir)
	if r.code != 0 {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	f, err := os.Open(filepath.Join(dir, "load.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all map[string]*load.Result
	if err := json.NewDecoder(f).Decode(&all); err != nil {
		t.Fatal(err)
	}
	res := all["region=eu, device=desktop, streams"]
	if len(all) != 4 || res == nil {
		t.Fatalf("%d results", len(all))
	}
	s := res.Stages[0]
	intended, _ := s.Streams.TTFT.Mean()
	actual, _ := s.Snapshot.Streams.Figure(tacho.TTFT).Mean()
	if s.Offered != 40 || s.Started+s.NotStarted != 40 || s.NotStarted < 10 || actual > time.Second || intended < 5*time.Second {
		t.Errorf("%+v, mean %v from the intended start, %v from the actual", s.Counts, intended, actual)
	}
	text := strings.Join(strings.Fields(r.stdout), " ")
	for _, want := range []string{"From the intended and from the actual start", "mean, intended ms", "not started", "calls were never started"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report has no %q", want)
		}
	}
}

// That the machine stood still is told once, not beside each quantile.
func TestStallToldOnce(t *testing.T) {
	t.Parallel()
	stalls := new(tacho.Histogram)
	stalls.Record(13551180897)
	rec := load.NewRecorder()
	var res *load.Result
	synctest.Test(t, func(t *testing.T) {
		srv := sim.NewServer()
		defer srv.Close()
		c, err := tacho.NewClient(srv.URL(), "", tacho.WithBase(srv.Transport()), tacho.WithRecorder(rec))
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseIdleConnections()
		chat := load.Chat{Client: c, Model: "m", Prompts: load.Fixed("hi")}
		if res, err = load.Run(t.Context(), load.Config{Stages: []load.Stage{load.Constant(1, 3*time.Second).Named("streams")}, Call: chat.Call, Recorder: rec}); err != nil {
			t.Fatal(err)
		}
	})
	res.Health.Stalls = stalls
	m := measured{s: settings{only: "streams", names: []string{"model"}, tail: 3}, places: []place{{}}, results: []*load.Result{res}, all: rec.Total()}
	got := m.tails()
	if !strings.Contains(got.Notes[0], "held up timers by 13.5512s at most, a tenth or more of 3 of the P99") || len(got.Table.Rows) == 0 {
		t.Errorf("%q, %d rows", got.Notes, len(got.Table.Rows))
	}
	for _, row := range got.Table.Rows {
		for _, c := range row {
			if strings.Contains(fmt.Sprint(c), "stalled") {
				t.Errorf("told in a row: %v", row)
			}
		}
	}
}
