// SPDX-License-Identifier: Apache-2.0

package load

import (
	"math"
	"testing"
	"time"
)

// Over 72 hours a steady stage has the exact number of arrivals, each within a
// nanosecond of its place.
func TestNoDrift(t *testing.T) {
	t.Parallel()
	const length = 72 * time.Hour
	for _, rate := range []float64{1.0 / 3, 0.7, 1, 7, 10.0 / 3} {
		n := int64(0)
		for r := range (Constant(rate, length)).requests(1, 0) {
			// In extended precision: (n + ½) ÷ rate, in nanoseconds.
			if want := (float64(n) + 0.5) / rate * 1e9; math.Abs(float64(r.At)-want) > 1 {
				t.Fatalf("%g/s: arrival %d at %v, want %g ns", rate, n, r.At, want)
			}
			n++
		}
		if want := int64(math.Round(rate * length.Seconds())); n != want {
			t.Errorf("%g/s: %d arrivals, want %d", rate, n, want)
		}
	}
}

// A ramp has the integral of its rate in arrivals, whichever way it goes, and they
// never go back.
func TestRampCounts(t *testing.T) {
	t.Parallel()
	for _, a := range []float64{0, 0.5, 1, 3, 50, 1000} {
		for _, b := range []float64{0, 0.5, 1, 3, 50, 1000} {
			for _, d := range []time.Duration{time.Second, 10 * time.Second, 77 * time.Second} {
				if a == 0 && b == 0 {
					continue
				}
				s := Stage{Rate: a, For: d}.RampTo(b)
				n, last := 0, time.Duration(-1)
				for r := range s.requests(1, 0) {
					if r.At < last || r.At >= d {
						t.Fatalf("%v: %v behind %v", s, r.At, last)
					}
					n, last = n+1, r.At
				}
				if want := int(math.Ceil((a+b)/2*d.Seconds() - 0.5)); n != want {
					t.Errorf("%v in %v: %d arrivals, want %d", s, d, n, want)
				}
			}
		}
	}
}

// Stages of one rate have other arrivals, and a stage the same in every run.
func TestSeedsOfStages(t *testing.T) {
	t.Parallel()
	first := func(seed uint64, stage int, p Process) (at time.Duration) {
		for r := range (Stage{Rate: 1, Process: p, For: time.Hour}).requests(seed, stage) {
			return r.At
		}
		return 0
	}
	for _, p := range []Process{Random(), Bursty(0.5), Bursty(3)} {
		seen := map[time.Duration]bool{}
		for seed := range uint64(4) {
			for stage := range 4 {
				at := first(seed, stage, p)
				if seen[at] || at != first(seed, stage, p) {
					t.Errorf("%v: seed %d, stage %d begins at %v, as another, or not again", p, seed, stage, at)
				}
				seen[at] = true
			}
		}
	}
}
