// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func collect(stages []Stage, seed uint64) (out []arrival) {
	for a := range arrivals(stages, seed) {
		out = append(out, a)
	}
	return out
}

func TestArrivals(t *testing.T) {
	t.Parallel()
	steady := collect([]Stage{Constant(4, time.Second), Workers(3, time.Second), Constant(2, time.Second)}, 1)
	want := []float64{0.125, 0.375, 0.625, 0.875, 2.25, 2.75}
	if len(steady) != len(want) {
		t.Fatalf("%d arrivals", len(steady))
	}
	for i, a := range steady {
		if a.at.Seconds() != want[i] || a.index != int64(i) || a.stage != []int{0, 0, 0, 0, 2, 2}[i] {
			t.Errorf("arrival %d: %+v, want at %v", i, a, want[i])
		}
	}
	// From 0 to 10 a second in 10 s: the n-th is at √(2n), n counted from a half.
	for i, a := range collect([]Stage{Constant(0, 10*time.Second).RampTo(10)}, 1) {
		if want := math.Sqrt(2 * (float64(i) + 0.5)); math.Abs(a.at.Seconds()-want) > 1e-6 {
			t.Errorf("arrival %d of the ramp: %v, want %v", i, a.at.Seconds(), want)
		}
	}
	if n := len(collect([]Stage{Constant(100, 10*time.Second).RampTo(0.001)}, 1)); n != 500 {
		t.Errorf("a ramp to nothing has %d arrivals, want 500", n)
	}
}

// The gaps of a process have its mean and its coefficient of variation.
func TestProcesses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		stage Stage
		cv    float64
	}{
		{Constant(1000, 60*time.Second), 0},
		{Poisson(1000, 60*time.Second), 1},
		{Gamma(1000, 0.5, 60*time.Second), 0.5},
		{Gamma(1000, 2, 60*time.Second), 2},
	} {
		as := collect([]Stage{tt.stage}, 3)
		n, sum, squares := float64(len(as)-1), 0.0, 0.0
		for i := 1; i < len(as); i++ {
			gap := (as[i].at - as[i-1].at).Seconds() * 1000
			sum += gap
			squares += gap * gap
		}
		mean := sum / n
		cv := math.Sqrt(max(0, squares/n-mean*mean)) / mean
		// Three standard errors of the mean, and as much for the deviation.
		if se := 3 * max(tt.cv, 1e-3) / math.Sqrt(n); math.Abs(mean-1) > se || math.Abs(cv-tt.cv) > 5*se*(1+tt.cv) {
			t.Errorf("%v: mean gap %v, cv %v, want 1 and %v", tt.stage, mean, cv, tt.cv)
		}
	}
}

func TestWorkersAt(t *testing.T) {
	t.Parallel()
	stages := []Stage{Workers(2, 10*time.Second), Constant(1, 10*time.Second), Workers(3, 9*time.Second).RampTo(1), Workers(1, 9*time.Second).RampTo(3)}
	for _, tt := range []struct {
		at     time.Duration
		worker int
		n      int
		stage  int
		next   time.Duration
		ending bool
	}{
		{0, 2, 2, 0, 10 * time.Second, false},
		{10 * time.Second, 0, 0, 1, 20 * time.Second, false},
		{20 * time.Second, 3, 3, 2, 29 * time.Second, false},
		{23 * time.Second, 2, 2, 2, 29 * time.Second, false}, // one whose turn is over has none again
		{26 * time.Second, 1, 1, 2, 29 * time.Second, false},
		{29 * time.Second, 1, 1, 3, 32 * time.Second, false},
		{29 * time.Second, 2, 1, 3, 35 * time.Second, false}, // the third waits for its own turn
		{29 * time.Second, 3, 1, 3, 38 * time.Second, false},
		{32 * time.Second, 2, 2, 3, 35 * time.Second, false},
		{37 * time.Second, 3, 3, 3, 38 * time.Second, false},
		{38 * time.Second, 0, 0, 0, 0, true},
	} {
		n, stage, next, ok := workersAt(stages, tt.at, tt.worker)
		if n != tt.n || stage != tt.stage || next != tt.next || ok == tt.ending {
			t.Errorf("at %v: %d, stage %d, next %v, %v; want %+v", tt.at, n, stage, next, ok, tt)
		}
	}
	// A stage of days with a million steps ends, and has each number once.
	long := []Stage{Workers(1, 72*time.Hour).RampTo(1 << 20)}
	steps, last := 0, 0
	for at := time.Duration(0); ; {
		n, _, next, ok := workersAt(long, at, last)
		if !ok {
			break
		}
		if n < last || next <= at {
			t.Fatalf("at %v: %d after %d, next %v", at, n, last, next)
		}
		if n > last {
			steps, last = steps+1, n
		}
		at = next
	}
	if steps != 1<<20 || last != 1<<20 {
		t.Errorf("%d steps up to %d workers", steps, last)
	}
}

// A generator that comes too late to its arrivals makes them up only if asked.
func TestMissed(t *testing.T) {
	t.Parallel()
	for _, catchUp := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c, err := Config{
				Stages: []Stage{Constant(10, 10*time.Second)}, CatchUp: catchUp,
				Call: func(context.Context, Job) error { return nil },
			}.withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			// Five seconds late, as by a machine that slept.
			r := &runner{config: c, recorder: NewRecorder(), observe: true, start: time.Now().Add(-5 * time.Second)}
			r.begin(t.Context())
			r.open(t.Context())
			r.calls.Wait()
			n := &r.stages[0].Counts
			// Arrivals at 0.05, 0.15 … 4.85 s are later than 100 ms.
			want := Counts{Offered: 100, Missed: 49, Started: 51, Served: 51, Good: 51, Unmeasured: 51, Ended: 51, EndedServed: 51, EndedGood: 51}
			if catchUp {
				want = Counts{Offered: 100, Late: 49, Started: 100, Served: 100, Good: 100, Unmeasured: 100, Ended: 100, EndedServed: 100, EndedGood: 100}
			}
			if *n != want {
				t.Errorf("catch up %v: %+v, want %+v", catchUp, *n, want)
			}
		})
	}
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	feed := func(n int, f func(i int) float64) bool {
		var g growth
		for i := range n {
			g.add(f(i))
		}
		return g.growing()
	}
	for name, tt := range map[string]struct {
		n    int
		f    func(int) float64
		want bool
	}{
		"grows":             {30, func(i int) float64 { return float64(i) }, true},
		"too short":         {9, func(i int) float64 { return float64(i) }, false},
		"level":             {300, func(int) float64 { return 50 }, false},
		"wave":              {300, func(i int) float64 { return 50 + 20*math.Sin(float64(i)) }, false},
		"grows by a tenth":  {300, func(i int) float64 { return 100 + float64(i)/30 }, false},
		"falls":             {300, func(i int) float64 { return 300 - float64(i) }, false},
		"grows for an hour": {3600, func(i int) float64 { return float64(i) }, true},
	} {
		if got := feed(tt.n, tt.f); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	var g growth
	for i := range 100_000 {
		g.add(float64(i))
	}
	if len(g.values) > maxPoints {
		t.Errorf("%d points are kept", len(g.values))
	}
}
