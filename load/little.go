// SPDX-License-Identifier: Apache-2.0

package load

import (
	"math"
	"time"
)

// Flow is what Little's law (Little, A Proof for the Queuing Formula L = λW,
// Operations Research 9, 1961) ties together: in a window in which as many calls
// end as begin, those in flight are the calls a second times the time that each
// stays. All calls count, refused and failed ones too.
type Flow struct {
	Area   float64       `json:"in_flight_seconds"` // the integral of the calls in flight
	Most   int           `json:"most_in_flight"`    // of several generators, the sum
	Ended  int64         `json:"ended"`
	Stayed float64       `json:"stayed_seconds"` // of the calls that ended, in all
	Window time.Duration `json:"-"`              // in JSON as window, in seconds
}

// InFlight returns N, the mean of the calls in flight.
func (f Flow) InFlight() (float64, bool) {
	if f.Window <= 0 {
		return 0, false
	}
	return f.Area / f.Window.Seconds(), true
}

// Rate returns X, the calls that ended a second.
func (f Flow) Rate() (float64, bool) {
	if f.Window <= 0 {
		return 0, false
	}
	return float64(f.Ended) / f.Window.Seconds(), true
}

// Stay returns W, the mean time in flight of the calls that ended.
func (f Flow) Stay() (time.Duration, bool) {
	if f.Ended == 0 {
		return 0, false
	}
	return time.Duration(f.Stayed / float64(f.Ended) * float64(time.Second)), true
}

// Difference returns N ÷ (X × W) − 1. It is absent when nothing ended.
//
// Both sides are taken from the same moments, so that what differs is at the
// edges of the window: calls that began before it or end behind it. Above 5 % the
// window is too short for the calls, the load was not steady, or calls were
// counted wrongly.
func (f Flow) Difference() (float64, bool) {
	if f.Ended == 0 || f.Stayed <= 0 {
		return 0, false
	}
	return f.Area/f.Stayed - 1, true
}

// Steady reports whether the difference is at most 5 %.
func (f Flow) Steady() (steady, ok bool) {
	d, ok := f.Difference()
	return math.Abs(d) <= maxDifference, ok
}

const maxDifference = 0.05

func (f *flow) of(i int) Flow {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := &f.windows[i]
	return Flow{w.within, w.most, w.ended, w.stayed, w.to - w.from}
}

func (f Flow) plus(o Flow) Flow {
	return Flow{f.Area + o.Area, f.Most + o.Most, f.Ended + o.Ended, f.Stayed + o.Stayed, max(f.Window, o.Window)}
}

// Bound returns the calls a second that n callers cannot exceed: min(n ÷ (w₀ + z),
// capacity), w₀ being the latency without load, z the think time (Denning & Buzen,
// The Operational Analysis of Queueing Network Models, ACM Computing Surveys 10,
// 1978). A capacity of 0 is unknown. It is absent without a w₀.
func Bound(n int, unloaded, think time.Duration, capacity float64) (float64, bool) {
	if n <= 0 || unloaded <= 0 || think < 0 {
		return 0, false
	}
	bound := float64(n) / (unloaded + think).Seconds()
	if capacity > 0 {
		bound = min(bound, capacity)
	}
	return bound, true
}
