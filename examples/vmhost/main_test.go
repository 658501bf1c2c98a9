// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho/sim"
)

// result is what a run of the program left.
type result struct {
	code           int
	stdout, stderr string
}

// drive runs the program on a simulation in memory, in a bubble, so that each
// figure is exact. Its servers take the options in addition.
func drive(t *testing.T, ctx func(context.Context) context.Context, opts []sim.Option, args ...string) (r result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		p := program{
			listen: func(o ...sim.Option) (*sim.Server, error) { return sim.NewServer(append(o, opts...)...), nil },
			env:    func(string) string { return "" }, stdout: &stdout, stderr: &stderr,
		}
		c := t.Context()
		if ctx != nil {
			c = ctx(c)
		}
		r.code = p.run(c, args)
		r.stdout, r.stderr = stdout.String(), stderr.String()
	})
	return r
}

// measured is the output without what tells of the machine.
func measured(s string) string {
	s, _, _ = strings.Cut(s, "\nThis machine")
	return s
}

func TestBothSides(t *testing.T) {
	t.Parallel()
	r := drive(t, nil, nil, "-nic-jitter", "0", "-nic-delay", "250us", "-calls", "3", "-blocks", "4")
	_, tables, _ := strings.Cut(measured(r.stdout), "\nblock")
	// The card adds one delay each way to each call, two more to connecting and
	// two to the handshake.
	const want = `  side    cold  duration of each call, ms
    1  host   72.5    73.2   71.3   69.7
    2  VM     74.0    73.7   71.8   70.2
    3  VM     72.4    70.9   68.6   68.4
    4  host   70.9    70.4   68.1   67.9

host: 6 calls in the figures; left out: 2 cold; not complete: 0

VM: 6 calls in the figures; left out: 2 cold; not complete: 0

Calls on a kept connection
figure    side  n      mean  deviation  smallest    largest
duration  host  6  70.09 ms    1.55 ms  67.89 ms   73.16 ms
          VM    6  70.59 ms    1.55 ms  68.39 ms   73.66 ms
ttlt      host  6  70.09 ms    1.55 ms  67.89 ms   73.16 ms
          VM    6  70.59 ms    1.55 ms  68.39 ms   73.66 ms
ttft      host  6  22.75 ms    0.00 ms  22.75 ms   22.75 ms
          VM    6  23.25 ms    0.00 ms  23.25 ms   23.25 ms
ttfb      host  6  20.00 ms    0.00 ms  20.00 ms   20.00 ms
          VM    6  20.50 ms    0.00 ms  20.50 ms   20.50 ms
send      host  6      0 ns       0 ns      0 ns       0 ns
          VM    6      0 ns       0 ns      0 ns       0 ns
wait      host  6  20.00 ms    0.00 ms  20.00 ms   20.00 ms
          VM    6  20.50 ms    0.00 ms  20.50 ms   20.50 ms
tpot      host  6  966.1 µs    31.7 µs  921.1 µs  1028.7 µs
          VM    6  966.1 µs    31.7 µs  921.1 µs  1028.7 µs
tpot: one token is assumed in the first event.

Cold calls, one a block, left out above
figure    side  n      mean  deviation  smallest   largest
duration  host  2  71.71 ms    1.18 ms  70.88 ms  72.54 ms
          VM    2  73.21 ms    1.18 ms  72.38 ms  74.04 ms
ttft      host  2  22.75 ms    0.00 ms  22.75 ms  22.75 ms
          VM    2  24.25 ms    0.00 ms  24.25 ms  24.25 ms
ttfb      host  2  20.00 ms    0.00 ms  20.00 ms  20.00 ms
          VM    2  21.50 ms    0.00 ms  21.50 ms  21.50 ms
connect   host  2    0.0 µs     0.0 µs    0.0 µs    0.0 µs
          VM    2  500.0 µs     0.0 µs  500.0 µs  500.0 µs
tls       host  2    0.0 µs     0.0 µs    0.0 µs    0.0 µs
          VM    2  500.0 µs     0.0 µs  500.0 µs  500.0 µs
send      host  2      0 ns       0 ns      0 ns      0 ns
          VM    2      0 ns       0 ns      0 ns      0 ns
wait      host  2  20.00 ms    0.00 ms  20.00 ms  20.00 ms
          VM    2  20.50 ms    0.00 ms  20.50 ms  20.50 ms

VM − host, the difference of the means of neighbouring blocks; pairs: 2
figure         mean   smallest    largest
duration  +500.0 µs  +500.0 µs  +500.0 µs
ttlt      +500.0 µs  +500.0 µs  +500.0 µs
ttft      +500.0 µs  +500.0 µs  +500.0 µs
ttfb      +500.0 µs  +500.0 µs  +500.0 µs
send           0 ns       0 ns       0 ns
wait      +500.0 µs  +500.0 µs  +500.0 µs
tpot           0 ns       0 ns       0 ns
Known: by its parameters the emulated card adds 2 × (250µs + 0s) = 500µs to ttfb
in the mean. A sleep of 250µs takes 250µs here (median), which makes it about
500µs. The rest is chance and this machine.
`
	if tables != want {
		t.Errorf("got\n%s\nwant\n%s", tables, want)
	}
	if r.code != 0 || r.stderr != "" {
		t.Errorf("code %d, stderr %q", r.code, r.stderr)
	}
	for _, text := range []string{"emulation in this process", "no virtual machine",
		"a report (in Chinese) on the same model called from a host and from a VM on it made 10 calls a side, all host calls before all VM calls.",
		"What that design cannot show: ten calls cannot show a difference in deviation"} {
		if !strings.Contains(strings.Join(strings.Fields(r.stdout), " "), text) {
			t.Errorf("the output does not say %q", text)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	r := drive(t, nil, []sim.Option{sim.WithScript(sim.Script{HeaderDelay: 30 * time.Millisecond, BodyDelay: 10 * time.Millisecond})},
		"run", "-no-stream", "-calls", "2")
	_, got, _ := strings.Cut(measured(r.stdout), "\ncall")
	const want = `        ttfb    duration
cold    30.00 ms    40.00 ms
   1    30.00 ms    40.00 ms
   2    30.00 ms    40.00 ms

this machine: 2 calls in the figures; left out: 1 cold; not complete: 0

Calls on a kept connection
figure    n      mean  deviation  smallest   largest
duration  2  40.00 ms    0.00 ms  40.00 ms  40.00 ms
ttfb      2  30.00 ms    0.00 ms  30.00 ms  30.00 ms
send      2      0 ns       0 ns      0 ns      0 ns
wait      2  30.00 ms    0.00 ms  30.00 ms  30.00 ms

Cold calls, one a block, left out above
figure    n      mean  deviation  smallest   largest
duration  1  40.00 ms          –  40.00 ms  40.00 ms
ttfb      1  30.00 ms          –  30.00 ms  30.00 ms
connect   1      0 ns          –      0 ns      0 ns
tls       1      0 ns          –      0 ns      0 ns
send      1      0 ns          –      0 ns      0 ns
wait      1  30.00 ms          –  30.00 ms  30.00 ms
`
	if got != want || r.code != 0 {
		t.Errorf("code %d, got\n%s\nwant\n%s", r.code, got, want)
	}
	// The published report is on two sides.
	if strings.Contains(r.stdout, "Published") {
		t.Errorf("one side has the published report:\n%s", r.stdout)
	}
}

func TestCtrlC(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "r.json")
	script := sim.Script{HeaderDelay: 100 * time.Millisecond}
	stop := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(350*time.Millisecond, cancel)
		return ctx
	}
	r := drive(t, stop, []sim.Option{sim.WithScript(script)}, "run", "-out", file)
	_, got, _ := strings.Cut(measured(r.stdout), "\ncall")
	const want = `        ttfb        ttft        ttlt    duration
cold    100.0 ms    100.0 ms    100.0 ms    100.0 ms
   1    100.0 ms    100.0 ms    100.0 ms    100.0 ms
   2    100.0 ms    100.0 ms    100.0 ms    100.0 ms
   3           –           –           –    50.00 ms  cancelled

INCOMPLETE: stopped before the end; the figures are of the calls made so far.

this machine: 2 calls in the figures; left out: 1 cold; not complete: 1
  1 × cancelled, type cancelled
`
	if !strings.HasPrefix(got, want) || r.code != 1 || r.stderr != "" {
		t.Errorf("code %d, stderr %q, got\n%s\nwant first\n%s", r.code, r.stderr, got, want)
	}
	rep, err := readReport(file)
	if err != nil {
		t.Fatal(err)
	}
	if !rep.Incomplete || len(rep.Calls) != 4 || rep.Summary[0].Measured != 2 {
		t.Errorf("incomplete %v, %d calls, %d measured", rep.Incomplete, len(rep.Calls), rep.Summary[0].Measured)
	}
}

// Ctrl-C before a call is in the figures leaves no file, and one call is a call.
func TestCtrlCEarly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		after  time.Duration
		counts string
		kept   bool
	}{
		{150 * time.Millisecond, "this machine: 0 calls in the figures; left out: 1 cold; not complete: 1\n", false},
		{250 * time.Millisecond, "this machine: 1 call in the figures; left out: 1 cold; not complete: 1\n", true},
	}
	for _, tt := range tests {
		file := filepath.Join(t.TempDir(), "r.json")
		stop := func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(tt.after, cancel)
			return ctx
		}
		r := drive(t, stop, []sim.Option{sim.WithScript(sim.Script{HeaderDelay: 100 * time.Millisecond})}, "run", "-out", file)
		_, err := os.Stat(file)
		written := strings.HasSuffix(r.stdout, "\nWritten to "+file+"\n")
		if !strings.Contains(r.stdout, tt.counts) || (err == nil) != tt.kept || written != tt.kept || r.code != 1 {
			t.Errorf("after %v: code %d, file %v, stdout\n%s", tt.after, r.code, err, r.stdout)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "r.json")
	r := drive(t, nil, nil, "-calls", "2", "-blocks", "4", "-out", file)
	if r.code != 0 {
		t.Fatalf("code %d: %s", r.code, r.stderr)
	}
	var stdout bytes.Buffer
	code := run(t.Context(), []string{"show", file}, func(string) string { return "" }, &stdout, io.Discard)
	if code != 0 {
		t.Fatalf("show: code %d", code)
	}
	// From the counts on, what a file shows is what the run showed.
	_, ran, _ := strings.Cut(r.stdout, "\nhost: ")
	ran, _, _ = strings.Cut(ran, "\nWritten to")
	_, shown, _ := strings.Cut(stdout.String(), "\nhost: ")
	if shown != ran {
		t.Errorf("shown\n%s\nthe run printed\n%s", shown, ran)
	}
}

// TestObjectives judges the warm calls of both sides: exit code 3 when they break
// an objective, 2 when it cannot be read.
func TestObjectives(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		slo    string
		code   int
		output string
	}{
		{"ttft max <= 23250us", 0, "✓  ttft max <= 23.25ms  met  23.25ms, of 12"},
		{"ttft max < 23250us", 3, "✗  ttft max < 23.25ms  broken  23.25ms, of 12"},
		{`ttft p99 <= 23ms {side="host"}`, 0, `✓  ttft p99 <= 23ms {side="host"}  met  22.75ms, of 6`},
		{`ttft p99 <= 23ms {side="VM"}`, 3, `✗  ttft p99 <= 23ms {side="VM"}  broken  23.25ms (250µs over), of 6`},
		{"ttft p99.9 <= 1s", 0, "?  ttft p99.9 <= 1s  undecided  23.25ms, of 12, 38 more like these would decide"},
		{"ttft p99", 2, ""},
	} {
		r := drive(t, nil, nil, "-nic-jitter", "0", "-nic-delay", "250us", "-calls", "3", "-blocks", "4", "-slo", tc.slo, "-slo", "errors <= 1%")
		if r.code != tc.code || !strings.Contains(r.stdout, tc.output) {
			t.Errorf("-slo %q: code %d, want %d; %q is not in\n%s%s", tc.slo, r.code, tc.code, tc.output, r.stdout, r.stderr)
		}
	}
}
