// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/load"
)

func quick(ctx context.Context, _ load.Job) error { return plainCall(ctx, time.Millisecond) }

// RampTo(0) goes down to nothing: it does not stay where it was.
func TestRampToNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		res, err := load.Run(t.Context(), load.Config{Call: quick, Stages: []load.Stage{
			load.Constant(20, 10*time.Second).RampTo(0),
			load.Workers(3, 8*time.Second).Thinking(time.Second - time.Millisecond).RampTo(0),
			load.Workers(2, 6*time.Second).Thinking(time.Second - time.Millisecond).RampTo(0.2),
		}})
		if err != nil {
			t.Fatal(err)
		}
		// 20 × 10 ÷ 2; 3, 2, 1, 0 workers for 2 s each; 2, 1, 0 workers for 2 s each.
		for i, want := range []struct {
			n    int64
			name string
		}{{100, "20→0/s constant"}, {12, "3→0 workers"}, {6, "2→0 workers"}} {
			if s := &res.Stages[i]; s.Offered != want.n || s.Name != want.name {
				t.Errorf("%q: %d offered, want %+v", s.Name, s.Offered, want)
			}
		}
		if s := &res.Stages[1]; s.Workers != 0 || s.Open {
			t.Errorf("%d workers at the end, open %v", s.Workers, s.Open)
		}
	})
	for name, s := range map[string]load.Stage{
		"rate below 0":    load.Constant(20, time.Second).RampTo(-1),
		"workers below 0": load.Workers(20, time.Second).RampTo(-1),
		"a trace":         load.Replay([]load.Request{{}, {At: 1}}).RampTo(0),
		"nothing":         load.Stage{For: time.Second}.RampTo(0),
	} {
		if _, err := load.Run(t.Context(), load.Config{Call: quick, Stages: []load.Stage{s}}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Each stage has a name of its own, or the recorder would mix the calls of two.
func TestNamesApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var stages []load.Stage
		for _, name := range []string{"a", "a", "a (2)", "a (2)", "a (3)", "a"} {
			stages = append(stages, load.Constant(1, time.Second).Named(name))
		}
		res, err := load.Run(t.Context(), load.Config{Stages: stages, Call: quick})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for i := range res.Stages {
			s := &res.Stages[i]
			if seen[s.Name] || s.Snapshot.Plain.Calls() != 1 {
				t.Errorf("%q: %d calls", s.Name, s.Snapshot.Plain.Calls())
			}
			seen[s.Name] = true
		}
	})
}

// A recorder with the calls of an earlier run would tell them as this one's.
func TestRecorderOfTwoRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		c := load.Config{Stages: []load.Stage{load.Constant(1, 2*time.Second)}}
		b.run(t, t.Context(), c)
		c.Call, c.Recorder = b.chat.Call, b.rec
		if res, err := load.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "NewRecorder") {
			t.Errorf("%v, %d calls", err, res.Stages[0].Snapshot.Streams.Calls())
		}
		c.Stages[0].Name = "another"
		if _, err := load.Run(t.Context(), c); err != nil {
			t.Errorf("another stage: %v", err)
		}
	})
}

// Of a call that nothing measured no limit is known to be kept or broken.
func TestUnmeasuredIsUndecided(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		res, err := load.Run(t.Context(), load.Config{
			Stages: []load.Stage{load.Constant(10, time.Second)}, Limits: []budget.Limit{{Figure: tacho.TTFT, AtMost: time.Second}},
			Call: func(context.Context, load.Job) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		s := &res.Stages[0]
		if s.Served != 10 || s.Undecided != 10 || s.Bad != 0 {
			t.Errorf("%+v", s.Counts)
		}
		if x, ok := s.Goodput(); ok {
			t.Errorf("a goodput of %v, with no call decided", x)
		}
	})
}

// Plain calls have no first token: a limit on it decides nothing, which is told.
func TestLimitThatDecidesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		res, err := load.Run(t.Context(), load.Config{
			Stages: []load.Stage{load.Constant(10, time.Second)}, Limits: []budget.Limit{{Figure: tacho.TTFT, AtMost: time.Second}},
			Call: quick,
		})
		if err != nil {
			t.Fatal(err)
		}
		s := &res.Stages[0]
		if _, ok := s.Goodput(); ok || s.Undecided != 10 || s.Good+s.Bad != 0 {
			t.Errorf("%+v", s.Counts)
		}
		if w := strings.Join(res.Warnings(), "\n"); !strings.Contains(w, "10 of 10") || !strings.Contains(w, "limits") {
			t.Errorf("warnings: %s", w)
		}
	})
}

// All arrivals at one moment are no rate.
func TestTraceOfAMoment(t *testing.T) {
	t.Parallel()
	trace := []load.Request{{}, {}, {}}
	if _, err := load.Run(t.Context(), load.Config{Call: quick, Stages: []load.Stage{load.Replay(trace)}}); err == nil || !strings.Contains(err.Error(), "For") {
		t.Errorf("%v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := load.Replay(trace)
		s.For = time.Second
		res, err := load.Run(t.Context(), load.Config{Call: quick, Stages: []load.Stage{s}})
		if err != nil {
			t.Fatal(err)
		}
		if x, ok := res.Stages[0].OfferedRate(); !ok || x != 3 {
			t.Errorf("%v a second", x)
		}
	})
}

// Workers that a ramp has not come to sleep until it does: they do not wake at
// each of its steps, of which there are as many as workers.
func TestRampOfManyWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var most, now atomic.Int64
		const n = 2000
		res, err := load.Run(t.Context(), load.Config{
			Stages: []load.Stage{load.Workers(1, 20*time.Second).RampTo(n), load.Workers(n, 20*time.Second).RampTo(1)},
			Call: func(ctx context.Context, _ load.Job) error {
				most.Store(max(most.Load(), now.Add(1)))
				defer now.Add(-1)
				return plainCall(ctx, 10*time.Second)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		// Worker k of 1 to 2000 begins at (k−1) ÷ 100 s, and makes a call more for each
		// 10 s that are left of the 20: 1 to 1000 make two.
		if s := &res.Stages[0]; s.Offered != 3000 || most.Load() != n {
			t.Errorf("%d offered, %d at a time", s.Offered, most.Load())
		}
	})
}
