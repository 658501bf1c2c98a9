// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/load"
	"github.com/tacho-go/tacho/sim"
)

// bed is a simulated endpoint in a bubble, and a chat that calls it.
type bed struct {
	srv  *sim.Server
	rec  *tacho.Recorder
	chat load.Chat
}

func newBed(t *testing.T, opts ...sim.Option) *bed {
	t.Helper()
	b := &bed{srv: sim.New(t, opts...), rec: load.NewRecorder()}
	client, err := tacho.NewClient(b.srv.URL(), "", tacho.WithBase(b.srv.Transport()), tacho.WithRecorder(b.rec))
	if err != nil {
		t.Fatal(err)
	}
	b.chat = load.Chat{Client: client, Model: "m", Prompts: load.Synthetic(8, 32), MaxTokens: 4}
	return b
}

func (b *bed) run(t *testing.T, ctx context.Context, c load.Config) *load.Result {
	t.Helper()
	if c.Call == nil {
		c.Call = b.chat.Call
		c.Recorder = b.rec
	}
	res, err := load.Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	_ = b.chat.Client.Transport().Wait(context.Background())
	return res
}

// even is a model whose calls take 100 ms: 40 before the first token, then three
// of 20. They do not slow each other down.
var even = sim.Model{Base: 30 * time.Millisecond, Prefill: 4000, PerToken: 20 * time.Millisecond, Spread: -1, Output: 1000, OutputSpread: -1}

func TestOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, sim.WithModel(even))
		res := b.run(t, t.Context(), load.Config{Stages: []load.Stage{
			load.Constant(10, 5*time.Second).After(time.Second),
			load.Constant(20, 5*time.Second),
		}})
		if err := res.Err(); err != nil || res.Incomplete != "" || len(res.Stages) != 2 {
			t.Fatalf("%v, %q, %d stages", err, res.Incomplete, len(res.Stages))
		}
		// Of the second stage's calls two end behind it, and one of the first's in it.
		ended := []int64{50, 99}
		for i, want := range []int64{50, 100} {
			s := &res.Stages[i]
			if s.Offered != want || s.Started != want || s.Served != want || s.EndedServed != ended[i] || s.Good != want || s.Late+s.Missed+s.NotStarted+s.Failed != 0 {
				t.Errorf("%s: %+v, want %d", s.Name, s.Counts, want)
			}
			if x, ok := s.ServedRate(); !ok || x != float64(ended[i])/5 {
				t.Errorf("%s: served %v a second", s.Name, x)
			}
			d, atLeast, ok := s.Streams.Duration.Quantile(0.99)
			if !ok || atLeast || d.Round(time.Millisecond) != 100*time.Millisecond {
				t.Errorf("%s: duration %v, %v, %v", s.Name, d, atLeast, ok)
			}
			if ttft, ok := s.Snapshot.Streams.Figure(tacho.TTFT).Quantile(0.5); !ok || ttft.Round(time.Millisecond) != 40*time.Millisecond {
				t.Errorf("%s: TTFT %v", s.Name, ttft)
			}
			if n := s.Snapshot.Streams.Calls(); n != want {
				t.Errorf("%s: the recorder has %d calls, want %d", s.Name, n, want)
			}
			if n := s.Snapshot.Streams.Figure(tacho.Gap).Count(); n != 3*want {
				t.Errorf("%s: %d gaps, want %d", s.Name, n, 3*want)
			}
			if most, _ := s.Delay.Max(); most != 0 {
				t.Errorf("%s: schedule delay of %v", s.Name, most)
			}
			if r, ok := s.OutputPerInput(); !ok || r != 0.1 {
				t.Errorf("%s: output ÷ input %v", s.Name, r)
			}
			// Little: 10 a second that stay 100 ms; 20, which are one in flight too few
			// for the first 50 ms.
			n, _ := s.Flow.InFlight()
			if want := []float64{1, 1.99}[i]; math.Abs(n-want) > 1e-9 {
				t.Errorf("%s: %v in flight, want %v", s.Name, n, want)
			}
			if steady, ok := s.Flow.Steady(); !ok || !steady {
				t.Errorf("%s: Little's law does not hold", s.Name)
			}
		}
		if w := res.Warnings(); len(w) > 0 && res.Health.CPU != nil && *res.Health.CPU <= 0.8 {
			t.Errorf("warnings: %q", w)
		}
	})
}

func TestWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, sim.WithModel(even))
		var most atomic.Int64
		var now atomic.Int64
		res := b.run(t, t.Context(), load.Config{
			Recorder: b.rec,
			Call: func(ctx context.Context, j load.Job) error {
				n := now.Add(1)
				defer now.Add(-1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				return b.chat.Call(ctx, j)
			},
			Stages: []load.Stage{
				load.Workers(4, 10*time.Second),
				load.Workers(2, 10*time.Second).Thinking(100 * time.Millisecond),
				load.Workers(1, 40*time.Second).RampTo(4),
			},
		})
		// 4 workers × 10 s ÷ 100 ms; 2 × 10 s ÷ 200 ms; 1, 2, 3, 4 workers for 10 s each.
		for i, want := range []int64{400, 100, 1000} {
			s := &res.Stages[i]
			if s.Open || s.Started != want || s.Served != want || s.Offered != want {
				t.Errorf("%s: %+v, want %d", s.Name, s.Counts, want)
			}
		}
		if most.Load() != 4 {
			t.Errorf("%d calls at a time, want 4", most.Load())
		}
		if n, ok := res.Stages[1].Flow.InFlight(); !ok || n < 0.99 || n > 1.01 {
			t.Errorf("%v in flight with 2 workers that think as long as they call", n)
		}
	})
}

// A call in five takes a second, one at a time: from the actual start the others
// look well.
func TestCoordinatedOmission(t *testing.T) {
	t.Parallel()
	stop := func(bound int) (s load.StageResult) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			// The server stands still from second 5 to 6; else a call takes 2 ms.
			res, err := load.Run(t.Context(), load.Config{
				Stages:      []load.Stage{load.Constant(100, 10*time.Second)},
				MaxInFlight: bound,
				Call: func(ctx context.Context, _ load.Job) error {
					return stall(ctx, began)
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			s = res.Stages[0]
		})
		return s
	}
	one, all := stop(1), stop(0)
	for _, s := range []load.StageResult{one, all} {
		if s.Started != 1000 || s.Served != 1000 || s.Missed != 0 || s.NotStarted != 0 {
			t.Errorf("%+v", s.Counts)
		}
	}
	intended := func(s load.StageResult) time.Duration {
		d, _, _ := s.Plain.Duration.Quantile(0.99)
		return d.Round(time.Millisecond)
	}
	actual := func(s load.StageResult) time.Duration {
		d, _ := s.Snapshot.Plain.Figure(tacho.Duration).Quantile(0.99)
		return d.Round(time.Millisecond)
	}
	if d := intended(one); d < 880*time.Millisecond || d > 930*time.Millisecond {
		t.Errorf("one in flight, from the intended start: P99 %v", d)
	}
	if d := actual(one); d != 2*time.Millisecond {
		t.Errorf("one in flight, from the actual start: P99 %v", d)
	}
	if d := intended(all); d < 880*time.Millisecond || d > 930*time.Millisecond {
		t.Errorf("no bound, from the intended start: P99 %v", d)
	}
	if d := actual(all); d < 880*time.Millisecond || d > 930*time.Millisecond {
		t.Errorf("no bound, from the actual start: P99 %v", d)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	call := func(context.Context, load.Job) error { return nil }
	for name, c := range map[string]load.Config{
		"no stage":      {Call: call},
		"no call":       {Stages: []load.Stage{load.Constant(1, time.Second)}},
		"no rate":       {Call: call, Stages: []load.Stage{{For: time.Second}}},
		"both":          {Call: call, Stages: []load.Stage{{For: time.Second, Rate: 1, Workers: 1}}},
		"no time":       {Call: call, Stages: []load.Stage{{Rate: 1}}},
		"negative":      {Call: call, Stages: []load.Stage{load.Constant(-1, time.Second)}},
		"burst of 0":    {Call: call, Stages: []load.Stage{load.Gamma(1, 0, time.Second)}},
		"open thinks":   {Call: call, Stages: []load.Stage{load.Constant(1, time.Second).Thinking(time.Second)}},
		"segment 3/2":   {Call: call, Stages: []load.Stage{load.Constant(1, time.Second)}, Segment: load.Segment{I: 3, N: 2}},
		"trace falls":   {Call: call, Stages: []load.Stage{load.Replay([]load.Request{{At: 2}, {At: 1}})}},
		"trace empty":   {Call: call, Stages: []load.Stage{load.Replay([]load.Request{})}},
		"negative room": {Call: call, Stages: []load.Stage{load.Constant(1, time.Second)}, MaxInFlight: -1},
	} {
		if res, err := load.Run(context.Background(), c); err == nil || res != nil {
			t.Errorf("%s: %v, %v", name, res, err)
		}
	}
}

// stall is a call of 2 ms, and of the rest of a pause from 5 s to 6 s if it comes
// into it, measured over a round tripper that makes no connection.
func stall(ctx context.Context, began time.Time) error {
	at := time.Since(began)
	d := 2 * time.Millisecond
	if at >= 5*time.Second && at < 6*time.Second {
		d += 6*time.Second - at
	}
	return plainCall(ctx, d)
}
