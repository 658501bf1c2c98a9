// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
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

// drive runs the program on servers in memory, in a bubble, so that time is exact
// and passes as fast as the machine can.
func drive(t *testing.T, timeout time.Duration, args ...string) (r result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		p := program{
			listen: func(o ...sim.Option) (*sim.Server, error) { return sim.NewServer(o...), nil },
			env:    func(string) string { return "" }, stdout: &stdout, stderr: &stderr,
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

// The three models come out within 10 % of the published figures at 100 requests
// a second, and in their order, through refusals.
func TestPublished(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	r := drive(t, 0, "-rates", "100", "-concurrency", "", "-out", dir)
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	text, err := os.ReadFile(filepath.Join(dir, "load.json"))
	if err != nil {
		t.Fatal(err)
	}
	var results map[string]*load.Result
	if err := json.Unmarshal(text, &results); err != nil {
		t.Fatal(err)
	}
	var ttfts, rates, ratios []float64
	for _, name := range presets {
		want, s := report2024[name], &results[name].Stages[1]
		if s.Name != publishedRate || s.Offered != 250 || s.Missed+s.NotStarted+s.Failed != 0 {
			t.Fatalf("%s: %s: %+v", name, s.Name, s.Counts)
		}
		ttft, _ := s.Snapshot.Streams.Figure(tacho.TTFT).Mean()
		rate, _ := s.ServedRate()
		ratio, _ := s.OutputPerInput()
		ttfts, rates, ratios = append(ttfts, ttft.Seconds()), append(rates, rate), append(ratios, ratio)
		for what, pair := range map[string][2]float64{"TTFT": {ttft.Seconds(), want.ttft.Seconds()}, "served": {rate, want.served}, "output÷input": {ratio, want.ratio}} {
			if math.Abs(pair[0]/pair[1]-1) > 0.1 {
				t.Errorf("%s: %s is %.4g, published %.4g", name, what, pair[0], pair[1])
			}
		}
		if share, _ := s.RefusedShare(); share < 0.05 {
			t.Errorf("%s refuses %.1f %%", name, 100*share)
		}
	}
	// GPT-4, GPT-4 Turbo, o1-preview.
	if !(ttfts[1] < ttfts[0] && ttfts[0] < ttfts[2] && rates[1] > rates[0] && rates[0] > rates[2] && ratios[1] > ratios[0] && ratios[0] > ratios[2]) {
		t.Errorf("not in the published order: %v, %v, %v", ttfts, rates, ratios)
	}
	for _, name := range []string{"report.json", "report.html", "report.csv", "report.md", "gpt4-2024.hlog"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	f, err := os.Open(filepath.Join(dir, "gpt4-2024.hlog"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := tacho.ReadHDR(f)
	if err != nil || s.Streams.Calls() == 0 {
		t.Errorf("the histograms have %d calls, %v", s.Streams.Calls(), err)
	}
	if again := drive(t, 0, "-rates", "1", "-concurrency", "", "-out", dir); again.code != 2 || !strings.Contains(again.stderr, "is there already") {
		t.Errorf("a report is written over: %d, %q", again.code, again.stderr)
	}
}

// Stopped in the middle, it tells what it has.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	r := drive(t, 5*time.Second, "-model", "gpt4-2024", "-rates", "10", "-concurrency", "", "-duration", "10s")
	if r.code != 1 || !strings.Contains(r.stderr, "models: stopped after 5s of 17s") || !strings.Contains(r.stdout, "INCOMPLETE") {
		t.Errorf("exit code %d, %q\n%.400s", r.code, r.stderr, r.stdout)
	}
}

// Servers that refuse all leave a report, and a reason.
func TestAllFail(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		p := program{
			listen: func(...sim.Option) (*sim.Server, error) {
				return sim.NewServer(sim.WithScript(sim.Script{Status: 500})), nil
			},
			env: func(string) string { return "" }, stdout: &stdout, stderr: &stderr,
		}
		if code := p.run(t.Context(), []string{"-model", "gpt4-2024", "-rates", "5", "-concurrency", ""}); code != 1 {
			t.Errorf("exit code %d", code)
		}
	})
	if !strings.Contains(stderr.String(), "was served: 500 Internal Server Error") || strings.Contains(stdout.String(), "NaN") || !strings.Contains(stdout.String(), "At a rate") {
		t.Errorf("%q\n%s", stderr.String(), stdout.String())
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-rates", "x"}, `-rates "x": give numbers above 0`},
		{[]string{"-rates", "", "-concurrency", ""}, "there is no load"},
		{[]string{"-think", "-1s"}, "-think -1s"},
		{[]string{"-temperature", "NaN"}, "-temperature NaN"},
		{[]string{"-top-p", "-1"}, "-top-p -1"},
		{[]string{"-base-url", "http://x.invalid/v1", "-model", "a,b,a"}, "a is there twice"},
		{[]string{"-concurrency", "1.5"}, "callers are whole"},
		{[]string{"-duration", "0s"}, "-duration 0s"},
		{[]string{"-segment", "3/2"}, `-segment "3/2"`},
		{[]string{"-arrivals", "often"}, `-arrivals "often"`},
		{[]string{"-scale", "0"}, "-scale 0"},
		{[]string{"-base-url", "http://x.invalid/v1", "-model", "m", "-scale", "2"}, "-scale is for the simulation"},
		{[]string{"-model", "gpt4-2024,=x"}, "give NAME or NAME=URL"},
		{[]string{"-slo", "ttft p99 <= soon"}, "soon"},
	} {
		if r := drive(t, 0, tt.args...); r.code != 2 || !strings.Contains(r.stderr, tt.want) {
			t.Errorf("%q: exit code %d, %q, want %q", tt.args, r.code, r.stderr, tt.want)
		}
	}
	if r := drive(t, 0, "-model", "gpt5"); r.code != 1 || !strings.Contains(r.stderr, `no preset "gpt5"; there are gpt4-2024`) {
		t.Errorf("exit code %d, %q", r.code, r.stderr)
	}
}

// Two generators with a half of the schedule each, merged from their folders, have
// made the calls of one.
func TestMerge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, part := range []string{"1/2", "2/2"} {
		if r := drive(t, 0, "-model", "gpt4-2024", "-rates", "10", "-concurrency", "3", "-segment", part, "-good", "ttft <= 2s",
			"-out", filepath.Join(dir, part[:1])); r.code != 0 {
			t.Fatalf("exit code %d: %s", r.code, r.stderr)
		}
	}
	out := filepath.Join(dir, "both")
	if r := drive(t, 0, "merge", "-out", out, filepath.Join(dir, "1"), filepath.Join(dir, "2")); r.code != 0 || !strings.Contains(r.stdout, "merged from segments [1/2 2/2]") {
		t.Fatalf("exit code %d: %s\n%s", r.code, r.stderr, r.stdout)
	}
	sides, err := merged([]string{out})
	if err != nil || len(sides) != 1 {
		t.Fatalf("%d models, %v", len(sides), err)
	}
	// 10 a second for 2.5 s, half a gap from its start.
	if s := sides[0].result.Stages[1]; s.Offered != 25 || s.Served != 25 || s.Good != 25 {
		t.Errorf("%+v", s.Counts)
	}
	if s := sides[0].result.Stages[2]; s.Flow.Most != 3 {
		t.Errorf("%d callers, want 3", s.Flow.Most)
	}
	for _, bad := range [][]string{{"merge"}, {"merge", dir}, {"merge", filepath.Join(dir, "1"), filepath.Join(dir, "1")}} {
		if r := drive(t, 0, bad...); r.code != 2 {
			t.Errorf("%q: exit code %d, %s", bad, r.code, r.stderr)
		}
	}
}

// A merged report says what the files say, and nothing of flags that nobody gave:
// its time is that of the load, not up to the merging.
func TestMergedParameters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const text = `{"m":{"start":"2026-01-02T03:04:05Z","seed":42,"segments":["1/2"],"stages":[
		{"name":"20/s","open":true,"start":"2026-01-02T03:04:15Z","window":60,"offered":600,"started":600,"served":600,"ended_served":600},
		{"name":"3 workers","workers":3,"start":"2026-01-02T03:05:15Z","window":30,"started":1,"served":1}]}}`
	if err := os.WriteFile(filepath.Join(dir, "load.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := drive(t, 0, "merge", dir)
	for _, not := range []string{"max_tokens 0", "temperature 0", "0s of warm-up", "; arrivals"} {
		if strings.Contains(r.stdout, not) {
			t.Errorf("the report has %q", not)
		}
	}
	for _, want := range []string{"2026-01-02 03:04:05 UTC, 1m40s", "42"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("the report has no %q:\n%.1500s", want, r.stdout)
		}
	}
}

// More than the bound on callers is served where calls of the stage before it end
// in a stage that is short: the report says so.
func TestServedBeyondBound(t *testing.T) {
	t.Parallel()
	r := drive(t, 0, "-rates", "20", "-concurrency", "3", "-duration", "1s", "-warmup", "300ms", "-max-in-flight", "8")
	if r.code != 0 || !strings.Contains(r.stdout, "calls of the stage before") {
		t.Errorf("exit code %d, %s\n%.4000s", r.code, r.stderr, r.stdout)
	}
}

// A file that is no result, or half of one, is an error or a report, and no crash.
func TestMergeOfLittle(t *testing.T) {
	t.Parallel()
	for text, code := range map[string]int{
		"null": 2, "{}": 2, `{"m":null}`: 2, "[]": 2, "": 2, `{"m":{"stages":[{"offered":-1}]}}`: 2,
		`{"m":{}}`: 1, `{"m":{"stages":[{}]}}`: 1, `{"m":{"segments":["1/2"],"stages":[{"name":"a","streams":null}]}}`: 1,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "load.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := drive(t, 0, "merge", dir); r.code != code || r.stderr == "" || strings.Contains(r.stdout, "NaN") {
			t.Errorf("%q: exit code %d, want %d, %s", text, r.code, code, r.stderr)
		}
	}
}

// A trace of one moment has a length all the same.
func TestTraceOfAMoment(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "trace.csv")
	if err := os.WriteFile(file, []byte("time\n7\n7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := drive(t, 0, "-trace", file, "-duration", "20s"); r.code != 0 || !strings.Contains(r.stdout, "0.100") {
		t.Errorf("exit code %d, %s\n%.3000s", r.code, r.stderr, r.stdout)
	}
}

// A trace and a file of conversations take the place of rates and made-up prompts.
func TestTrace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	trace, prompts := filepath.Join(dir, "trace.csv"), filepath.Join(dir, "prompts.json")
	if err := errors.Join(
		os.WriteFile(trace, []byte("time,prompt_tokens,output_tokens\n10,40,5\n11,80,7\n12.5,40,3\n"), 0o600),
		os.WriteFile(prompts, []byte(`[{"conversations":[{"from":"human","value":"What is a tachometer?"},{"from":"gpt","value":"A gauge."}]}]`), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if r := drive(t, 0, "-model", "gpt4-2024", "-trace", trace, "-out", out); r.code != 0 {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	sides, err := merged([]string{out})
	if err != nil {
		t.Fatal(err)
	}
	s := sides[0].result.Stages[1]
	in, output, _, _, _ := s.Snapshot.Streams.Tokens()
	if s.Name != "trace" || s.Served != 3 || in != 160 || output != 15 {
		t.Errorf("%s: %d served, %d tokens in, %d out", s.Name, s.Served, in, output)
	}
	if r := drive(t, 0, "-model", "gpt4-2024", "-prompts", prompts, "-rates", "2", "-concurrency", ""); r.code != 0 || !strings.Contains(r.stdout, "drawn from a list of 1") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
}

// With one call in flight the delay is in the duration from the intended start,
// and not in that from the actual one beside it.
func TestActualStart(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	r := drive(t, 0, "-model", "gpt4-2024", "-rates", "2", "-concurrency", "", "-duration", "40s", "-warmup", "0s", "-max-in-flight", "1", "-out", out)
	if r.code != 0 || !strings.Contains(r.stdout, "p50, actual ms") {
		t.Fatalf("exit code %d: %s\n%s", r.code, r.stderr, r.stdout)
	}
	sides, err := merged([]string{out})
	if err != nil {
		t.Fatal(err)
	}
	s := &sides[0].result.Stages[1]
	intended, _, _ := of(s, tacho.Duration).Quantile(0.5)
	from, _ := actual(s, tacho.Duration).Quantile(0.5)
	if from < time.Second || from > 2*time.Second || intended < 5*time.Second {
		t.Errorf("p50 %v from the intended start, %v from the actual", intended, from)
	}
}

// Callers that think for 2 s between calls of some 1.6 s end fewer than 3 ÷ 3.6
// calls a second, the bound that is printed.
func TestThink(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	r := drive(t, 0, "-model", "gpt4-2024", "-rates", "", "-concurrency", "3", "-think", "2s", "-duration", "40s", "-out", out)
	if r.code != 0 || !strings.Contains(r.stdout, "think for 2s between two calls") {
		t.Fatalf("exit code %d: %s\n%.3000s", r.code, r.stderr, r.stdout)
	}
	sides, err := merged([]string{out})
	if err != nil {
		t.Fatal(err)
	}
	s := &sides[0].result.Stages[1]
	bound, ok := load.Bound(s.Workers, ceilingOf(sides[0]).unloaded, s.Think, 0)
	if x, _ := s.ServedRate(); !ok || s.Think != 2*time.Second || x < 0.9*bound || x > 1.1*bound || bound > 0.9 {
		t.Errorf("%.3f served a second, bound %.3f, think %v", x, bound, s.Think)
	}
}
