// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/load"
)

// A worker's call under way when the last stage ends is bounded by the drain, as
// those of open stages are.
func TestDrainOfWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		res, err := load.Run(t.Context(), load.Config{
			Stages: []load.Stage{load.Workers(2, 5*time.Second)}, Drain: 2 * time.Second,
			Call: func(ctx context.Context, _ load.Job) error { return plainCall(ctx, time.Hour) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 7*time.Second {
			t.Errorf("the run took %v", took)
		}
		if s := &res.Stages[0]; s.Started != 2 || s.CutOff != 2 || s.Failed+s.Cancelled != 0 {
			t.Errorf("%+v", s.Counts)
		}
	})
}

// An interruption cuts off the calls of workers at once.
func TestInterruptedWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		began := time.Now()
		res, err := load.Run(ctx, load.Config{
			Stages: []load.Stage{load.Workers(2, 5*time.Second)},
			Call:   func(ctx context.Context, _ load.Job) error { return plainCall(ctx, time.Second) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 1500*time.Millisecond {
			t.Errorf("the run took %v", took)
		}
		s := &res.Stages[0]
		if s.Served != 2 || s.Started != 4 || s.CutOff != 2 || s.Window != 1500*time.Millisecond || s.Flow.Window != 1500*time.Millisecond {
			t.Errorf("window %v, %+v", s.Window, s.Counts)
		}
	})
}

// What waits for room when the run is interrupted was wanted and not started: it
// is counted, not dropped.
func TestInterruptedWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		res, err := load.Run(ctx, load.Config{
			Stages: []load.Stage{load.Constant(10, 10*time.Second)}, MaxInFlight: 1,
			Call: func(ctx context.Context, _ load.Job) error { return plainCall(ctx, time.Hour) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if s := &res.Stages[0]; s.Offered != 50 || s.Started != 1 || s.NotStarted != 49 || s.CutOff != 1 {
			t.Errorf("%+v", s.Counts)
		}
	})
}

// After an early stop calls under way go on, and end behind the window as it was
// played: they are no throughput of it.
func TestEndedBehindStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		res, err := load.Run(t.Context(), load.Config{
			Stages: []load.Stage{load.Constant(10, time.Minute)}, StopSaturated: true,
			Call: func(ctx context.Context, _ load.Job) error { return plainCall(ctx, 25*time.Second) },
		})
		if err != nil {
			t.Fatal(err)
		}
		s := &res.Stages[0]
		if !s.Saturated || s.Window >= 25*time.Second || s.Served != s.Started || s.Served < 100 {
			t.Fatalf("window %v, %+v", s.Window, s.Counts)
		}
		if x, ok := s.ServedRate(); !ok || x != 0 || s.Ended != 0 || s.EndedServed != 0 || s.EndedGood != 0 {
			t.Errorf("served %v a second, though none ended in the window: %+v", x, s.Counts)
		}
	})
}

// A rate so low that the first arrival lies behind all time is no arrival, and no
// endless loop.
func TestLowestRates(t *testing.T) {
	t.Parallel()
	for _, p := range []load.Process{load.Steady(), load.Random(), load.Bursty(2)} {
		for _, rate := range []float64{1e-12, 5e-324} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				res, err := load.Run(ctx, load.Config{
					Stages: []load.Stage{{Rate: rate, Process: p, For: time.Second}},
					Call:   func(ctx context.Context, _ load.Job) error { return nil },
				})
				if err != nil {
					t.Fatal(err)
				}
				if s := &res.Stages[0]; s.Offered != 0 || res.Incomplete != "" {
					t.Errorf("%v at %g: %+v", p, rate, s.Counts)
				}
			})
		}
	}
}

// A Progress that holds up the run's watch makes a second of calls in flight no
// more of them.
func TestSlowProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		res, err := load.Run(t.Context(), load.Config{
			Stages: []load.Stage{load.Constant(10, time.Minute)},
			Call:   func(ctx context.Context, _ load.Job) error { return plainCall(ctx, time.Second/2) },
			Progress: func(p load.Progress) {
				time.Sleep(p.Elapsed / 10) // slower with every second
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if s := &res.Stages[0]; s.Saturated {
			t.Error("a steady load is over-saturated")
		}
	})
}

// A panic, or runtime.Goexit, in Call is the end of that call, which is failed: the
// run goes on and has its figures.
func TestPanicInCall(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(){
		"panic in Call":            func() { panic("a secret prompt") },
		"Call ended its goroutine": runtime.Goexit,
		"panic in Call: runtime error: index out of range [3] with length 0": func() {
			var list []int
			list[len(os.Args[:0])+3]++
		},
	} {
		for _, stage := range []load.Stage{load.Constant(10, time.Second), load.Workers(1, time.Second).Named("w")} {
			synctest.Test(t, func(t *testing.T) {
				res, err := load.Run(t.Context(), load.Config{
					Stages: []load.Stage{stage}, MaxInFlight: 1, Pause: 100 * time.Millisecond,
					Call: func(ctx context.Context, j load.Job) error {
						if j.Index == 9 {
							end()
						}
						return plainCall(ctx, 50*time.Millisecond)
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				s := &res.Stages[0]
				if s.Failed != 1 || s.Bad != 1 || s.Served != s.Started-1 || s.Flow.Most != 1 || len(s.Errors) != 1 || s.Errors[0].What != name {
					t.Errorf("%s: %+v, %+v", name, s.Counts, s.Errors)
				}
				if at := "ends_test.go:"; strings.HasPrefix(name, "panic") && !strings.Contains(s.Errors[0].Advice, at) {
					t.Errorf("%s: %q", name, s.Errors[0].Advice)
				}
			})
		}
	}
}

// Ctrl-C in the drain cuts calls off before their time: the result says so.
func TestInterruptedDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		res, err := load.Run(ctx, load.Config{
			Stages: []load.Stage{load.Constant(1, 2*time.Second)},
			Call:   func(ctx context.Context, _ load.Job) error { return plainCall(ctx, 10*time.Second) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if s := &res.Stages[0]; s.CutOff != 2 || !s.Whole || !strings.Contains(res.Incomplete, "under way at the end") {
			t.Errorf("%q, %+v", res.Incomplete, s.Counts)
		}
	})
}

// A Call without a transport that fails keeps its worker no longer than it takes.
func TestUnmeasuredFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		res, err := load.Run(t.Context(), load.Config{
			Stages: []load.Stage{load.Workers(1, time.Second)}, Pause: -1,
			Call: func(context.Context, load.Job) error {
				time.Sleep(100 * time.Millisecond)
				return errors.New("no transport at all")
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if s := &res.Stages[0]; s.Started != 10 || s.Failed != 10 || s.Unmeasured != 10 {
			t.Errorf("%+v", s.Counts)
		}
	})
}

// A call that fails by itself before the run's end cuts others off is failed, and
// not cut off, though its transport tells of it behind that.
func TestFailedBeforeCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := tacho.NewTransport(failing{errors.New("refused")})
		res, err := load.Run(t.Context(), load.Config{
			Stages: []load.Stage{load.Constant(1, 2*time.Second)}, Drain: 520 * time.Millisecond,
			Call: func(ctx context.Context, j load.Job) error {
				if j.Index == 1 {
					time.Sleep(time.Second)
					return context.DeadlineExceeded // of its own, and nothing measured: waited for
				}
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sim.invalid/v1/chat/completions", strings.NewReader("{}"))
				if err != nil {
					return err
				}
				_, err = rt.RoundTrip(req)
				return err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if s := &res.Stages[0]; s.Failed != 2 || s.CutOff != 0 {
			t.Errorf("%+v", s.Counts)
		}
	})
}
