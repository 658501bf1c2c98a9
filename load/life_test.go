// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/load"
	"github.com/tacho-go/tacho/sim"
)

// What is under way when the run ends is cut off, and known to take longer.
func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// Headers at once; a call takes 10 s from the fifth on.
		b := newBed(t, sim.WithScript(sim.Script{Text: "a b", FirstDelay: 10 * time.Second, Gap: time.Second}))
		for range 4 {
			b.srv.Play(sim.Script{Text: "a b", FirstDelay: 100 * time.Millisecond, Gap: 100 * time.Millisecond})
		}
		began := time.Now()
		res := b.run(t, t.Context(), load.Config{
			Stages: []load.Stage{load.Constant(1, 8*time.Second)},
			Drain:  2 * time.Second,
			Limits: []budget.Limit{{Figure: tacho.TTFT, AtMost: 4 * time.Second}},
		})
		if took := time.Since(began); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("the run took %v", took)
		}
		s := &res.Stages[0]
		// The calls of 4.5, 5.5, 6.5 and 7.5 s are cut off at 10 s: after 5.5, 4.5, 3.5
		// and 2.5 s, of which two are past the limit.
		if s.Started != 8 || s.Served != 4 || s.CutOff != 4 || s.Failed != 0 || s.Cancelled != 0 || s.Good != 4 || s.Bad != 2 || s.Undecided != 2 {
			t.Fatalf("%+v", s.Counts)
		}
		for _, q := range []struct {
			q       float64
			want    time.Duration
			atLeast bool
		}{{0.5, 200 * time.Millisecond, false}, {0.75, 3500 * time.Millisecond, true}, {1, 5500 * time.Millisecond, true}} {
			d, atLeast, ok := s.Streams.TTFT.Quantile(q.q)
			if !ok || d.Round(10*time.Millisecond) != q.want || atLeast != q.atLeast {
				t.Errorf("TTFT quantile %v: %v, at least %v, %v; want %+v", q.q, d, atLeast, ok, q)
			}
		}
		if share, ok := s.GoodShare(); !ok || share != 4.0/6 {
			t.Errorf("good share %v", share)
		}
		if len(s.Errors) != 1 || s.Errors[0].Count != 4 || s.Errors[0].What != "cut off by the end of the run" {
			t.Errorf("errors %+v", s.Errors)
		}
	})
}

// Workers' calls are cut off as those of a schedule are.
func TestCutOffOfWorkers(t *testing.T) {
	t.Parallel()
	for _, interrupted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBed(t, sim.WithScript(sim.Script{Text: "a b", FirstDelay: time.Hour}))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			want := 5 * time.Second
			if interrupted {
				want = time.Second
				time.AfterFunc(want, cancel)
			}
			began := time.Now()
			res := b.run(t, ctx, load.Config{Stages: []load.Stage{load.Workers(3, 3*time.Second)}, Drain: 2 * time.Second})
			if took := time.Since(began); took != want {
				t.Errorf("interrupted %v: the run took %v, want %v", interrupted, took, want)
			}
			s := &res.Stages[0]
			if s.Started != 3 || s.CutOff != 3 || s.Window != min(want, 3*time.Second) || s.Whole == interrupted {
				t.Errorf("interrupted %v: window %v, whole %v, %+v", interrupted, s.Window, s.Whole, s.Counts)
			}
			if d, atLeast, ok := s.Streams.TTFT.Quantile(0.5); !ok || !atLeast || d.Round(100*time.Millisecond) != want {
				t.Errorf("interrupted %v: TTFT %v, at least %v", interrupted, d, atLeast)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, sim.WithModel(even))
		ctx, cancel := context.WithTimeout(t.Context(), 2090*time.Millisecond)
		defer cancel()
		began := time.Now()
		res := b.run(t, ctx, load.Config{Stages: []load.Stage{load.Constant(10, 4*time.Second), load.Workers(3, 4*time.Second)}})
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("it took %v after the interruption", took)
		}
		if len(res.Stages) != 1 || !strings.HasPrefix(res.Incomplete, "stopped after 2.09s of 8s") {
			t.Fatalf("%d stages, %q", len(res.Stages), res.Incomplete)
		}
		s := &res.Stages[0]
		// Arrivals at 0.05, 0.15 … 2.05 s, of which the last one is cut off at once.
		if s.Whole || s.Window != 2090*time.Millisecond || s.Served != 20 || s.Started-s.CutOff != 20 || s.Failed+s.Cancelled != 0 {
			t.Errorf("window %v, whole %v, %+v", s.Window, s.Whole, s.Counts)
		}
		if w := res.Warnings(); len(w) == 0 || !strings.HasPrefix(w[0], "incomplete: ") {
			t.Errorf("warnings %q", w)
		}
	})
}

// One in flight, calls of 100 ms, 20 a second wanted: half are never started.
func TestNeverStarted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, sim.WithModel(even))
		res := b.run(t, t.Context(), load.Config{Stages: []load.Stage{load.Constant(20, 10*time.Second)}, MaxInFlight: 1})
		s := &res.Stages[0]
		if s.Offered != 200 || s.Started != 100 || s.NotStarted != 100 || s.Served != 100 || s.Missed != 0 || s.Late < 90 {
			t.Errorf("%+v", s.Counts)
		}
		if share, _ := s.GoodShare(); share != 0.5 {
			t.Errorf("good share %v, want 0.5", share)
		}
		if most, _ := s.Delay.Max(); most < 4800*time.Millisecond || most > 5000*time.Millisecond {
			t.Errorf("longest schedule delay %v", most)
		}
	})
}

func TestRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, sim.WithScript(sim.Script{Status: 429, ErrorCode: "rate_limit_exceeded"}))
		b.srv.Play(sim.Script{Status: 503}, sim.Script{Status: 500})
		res := b.run(t, t.Context(), load.Config{Stages: []load.Stage{load.Workers(1, 10*time.Second)}, Pause: time.Second})
		s := &res.Stages[0]
		if s.Unavailable != 1 || s.Failed != 1 || s.TooMany != 8 || s.Served != 0 || s.Good != 0 || s.Bad != 10 {
			t.Errorf("%+v", s.Counts)
		}
		if err := res.Err(); err == nil || err.Error() != "load: none of 10 calls was served: 429 Too Many Requests (rate_limit_exceeded)" {
			t.Errorf("%v", err)
		}
		text, err := json.Marshal(res)
		if err != nil || bytes.Contains(text, []byte("NaN")) {
			t.Errorf("%v\n%s", err, text)
		}
	})
}

// Two generators with halves of a schedule come to what one with the whole does.
func TestSegments(t *testing.T) {
	t.Parallel()
	run := func(seg load.Segment) (res *load.Result) {
		synctest.Test(t, func(t *testing.T) {
			b := newBed(t, sim.WithModel(even))
			res = b.run(t, t.Context(), load.Config{
				Stages: []load.Stage{
					load.Poisson(40, 10*time.Second).After(2 * time.Second),
					load.Gamma(20, 2, 5*time.Second).RampTo(60),
					load.Workers(6, 5*time.Second),
				},
				Seed: 7, Segment: seg, Limits: []budget.Limit{{Figure: tacho.Duration, AtMost: 100 * time.Millisecond}},
			})
		})
		return res
	}
	whole, one, two := run(load.Segment{}), run(load.Segment{I: 1, N: 2}), run(load.Segment{I: 2, N: 2})
	// As generators on two machines do it, through files.
	var merged *load.Result
	{
		var a, b load.Result
		for r, into := range map[*load.Result]*load.Result{one: &a, two: &b} {
			text, err := json.Marshal(r)
			if err == nil {
				err = json.Unmarshal(text, into)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if merged, err = a.Merge(&b); err != nil {
			t.Fatal(err)
		}
	}
	for i := range whole.Stages {
		a, b := &whole.Stages[i], &merged.Stages[i]
		// Each generator opens connections of its own, and sees its own calls at a time.
		a.Opened, a.Reused, b.Opened, b.Reused = 0, 0, 0, 0
		if diff := cmp.Diff(a.Counts, b.Counts); diff != "" {
			t.Errorf("%s: %s", a.Name, diff)
		}
		if diff := cmp.Diff(hdr(t, a), hdr(t, b)); diff != "" {
			t.Errorf("%s: %.2000s", a.Name, diff)
		}
		x, _ := a.Flow.InFlight()
		y, _ := b.Flow.InFlight()
		if x-y > 1e-9 || y-x > 1e-9 {
			t.Errorf("%s: %v and %v in flight", a.Name, x, y)
		}
	}
	if _, err := one.Merge(one); err == nil {
		t.Error("a segment merges with itself")
	}
	if _, err := whole.Merge(two); err == nil {
		t.Error("the whole merges with a part")
	}
}

// hdr are the histograms of a stage as their encodings.
func hdr(t *testing.T, s *load.StageResult) map[string]string {
	t.Helper()
	out := map[string]string{}
	put := func(name string, h *tacho.Histogram) {
		text, err := h.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(text)
	}
	put("delay", s.Delay)
	for _, l := range []*load.Latencies{s.Streams, s.Plain} {
		put("ttft", l.TTFT.Known())
		put("duration", l.Duration.Known())
	}
	for _, f := range []tacho.Figure{tacho.TTFT, tacho.Gap, tacho.TPOT, tacho.Duration} {
		put(f.String(), s.Snapshot.Streams.Figure(f))
	}
	return out
}

// A web page under status 200 is no served call.
func TestOtherKind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, sim.WithScript(sim.Script{Body: []byte("<html>hello"), ContentType: "text/html"}))
		res := b.run(t, t.Context(), load.Config{Stages: []load.Stage{load.Constant(1, 2*time.Second)}})
		s := &res.Stages[0]
		if s.Served != 0 || s.Failed != 2 || len(s.Errors) != 1 || s.Errors[0].What != "no answer of a model: check the base URL" {
			t.Errorf("%+v, %+v", s.Counts, s.Errors)
		}
	})
}

func TestProgressAndRows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, sim.WithModel(even))
		var rows bytes.Buffer
		var seen []load.Progress
		b.run(t, t.Context(), load.Config{
			Stages: []load.Stage{load.Constant(2, 3*time.Second).After(time.Second)},
			Rows:   &rows, Progress: func(p load.Progress) { seen = append(seen, p) },
		})
		if len(seen) != 4 || seen[1].Elapsed != 2*time.Second || seen[1].Total != 4*time.Second || seen[1].Started != 4 || seen[1].Served != 4 {
			t.Errorf("progress %+v", seen)
		}
		lines := strings.Split(strings.TrimSpace(rows.String()), "\n")
		if len(lines) != 6 {
			t.Fatalf("%d rows, want 6", len(lines))
		}
		var row struct {
			Stage    string
			Index    int64
			Intended time.Time `json:"intended_start"`
			Delay    *float64  `json:"schedule_delay"`
			Call     struct {
				TTFT    float64
				Outcome string
			}
		}
		if err := json.Unmarshal([]byte(lines[0]), &row); err != nil || row.Stage != "2/s constant" || row.Index != 2 || row.Delay == nil || *row.Delay != 0 || row.Call.TTFT != 0.04 || row.Call.Outcome != "complete" {
			t.Errorf("%v: %s", err, lines[0])
		}
	})
}

// Calls of two seconds for a server that can do five at a time, ten a second.
func TestSaturated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := sim.Model{Base: 2 * time.Second, Prefill: -1, PerToken: -1, Output: 1, OutputSpread: -1, Slots: 5}
		b := newBed(t, sim.WithModel(slow))
		stages := []load.Stage{load.Poisson(10, 60*time.Second), load.Poisson(10, 60*time.Second)}
		res := b.run(t, t.Context(), load.Config{Stages: stages, StopSaturated: true, Drain: -1})
		if len(res.Stages) != 1 || !res.Stages[0].Saturated || !strings.Contains(res.Incomplete, "over-saturated") || res.Stages[0].Window > 20*time.Second {
			t.Errorf("%d stages, %q", len(res.Stages), res.Incomplete)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, sim.WithModel(even))
		res := b.run(t, t.Context(), load.Config{Stages: []load.Stage{load.Poisson(10, 2*time.Minute)}, StopSaturated: true})
		if res.Incomplete != "" || res.Stages[0].Saturated {
			t.Errorf("a steady load: %q", res.Incomplete)
		}
	})
}
