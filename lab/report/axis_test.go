// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"strings"
	"testing"
)

// TestTicks: ticks are round, have a unit, and hold the values between them.
func TestTicks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		axis   Axis
		values []float64
		zero   bool
		most   int
		want   string // the unit: the ticks
	}{
		{Axis{Kind: Duration}, []float64{0.0123, 0.097}, true, 6, "ms: 0 20 40 60 80 100"},
		{Axis{Kind: Duration}, []float64{1.2, 0.3}, true, 6, "s: 0.0 0.2 0.4 0.6 0.8 1.0 1.2"},
		{Axis{Kind: Duration, Unit: "ms"}, []float64{1.2}, true, 3, "ms: 0 500 1000 1500"},
		{Axis{Kind: Duration}, []float64{0, 61}, false, 9, "s: 0 10 20 30 40 50 60"},
		{Axis{Kind: Rate}, []float64{38, 87}, true, 5, "/s: 0 20 40 60 80 100"},
		{Axis{Kind: Share}, []float64{0.07, 0.5}, true, 5, "%: 0 10 20 30 40 50"},
		{Axis{Kind: Count}, []float64{1, 2}, true, 9, ": 0 1 2"},
		{Axis{}, []float64{-3, 5}, true, 4, ": −4 −2 0 2 4 6"},
		{Axis{}, []float64{7, 7}, true, 4, ": 0 2 4 6 8"},
		{Axis{}, []float64{7, 7}, false, 4, ": 4 6 8 10"},
		{Axis{}, []float64{0}, true, 2, ": 0.0 0.5 1.0"},
		{Axis{}, nil, true, 2, ": 0.0 0.5 1.0"},
		{Axis{}, []float64{math.NaN(), math.Inf(1)}, true, 2, ": 0.0 0.5 1.0"},
		{Axis{}, []float64{1e-12, 3e-12}, true, 3, ": 0.000000000000 0.000000000001 0.000000000002 0.000000000003"},
		{Axis{Kind: Duration, Log: true}, []float64{0.002, 0.9}, true, 12, ": 1 ms 2 ms 5 ms 10 ms 20 ms 50 ms 100 ms 200 ms 500 ms 1 s"},
		{Axis{Kind: Duration, Log: true}, []float64{1e-6, 9}, true, 6, ": 1 µs 100 µs 10 ms 1 s"},
		{Axis{Log: true}, []float64{-1, 0, 10}, true, 6, ": 10 20 50 100"},
		{Axis{Log: true}, []float64{-1, 0}, true, 2, ": 0.0 0.5 1.0"},
	}
	for _, tt := range tests {
		r := newRuler(tt.axis, tt.values, tt.zero, 0, 100, tt.most)
		var labels []string
		for _, tick := range r.ticks {
			labels = append(labels, tick.label)
			if at := r.at(tick.value); !(at >= 0 && at <= 100) {
				t.Errorf("%v: the tick %s is at %v", tt.values, tick.label, at)
			}
		}
		if got := r.unit + ": " + strings.Join(labels, " "); got != tt.want {
			t.Errorf("%+v %v: %q, want %q", tt.axis, tt.values, got, tt.want)
		}
		for _, v := range tt.values {
			if r.holds(v) && !r.outOfPlace && (v < r.low-1e-9 || v > r.high+1e-9) {
				t.Errorf("%v is not between %v and %v", v, r.low, r.high)
			}
		}
	}
}

// FuzzRuler: whatever the values, the axis is finite and ascending, and its
// ticks are few.
func FuzzRuler(f *testing.F) {
	f.Add(0.1, 5.0, true, true, uint8(3))
	f.Add(-1e300, 1e300, false, true, uint8(4))
	f.Add(1e-300, 1e300, true, false, uint8(1))
	f.Fuzz(func(t *testing.T, a, b float64, log, zero bool, kind uint8) {
		r := newRuler(Axis{Kind: Kind(kind % 8), Log: log}, []float64{a, b}, zero, 0, 100, 6)
		if !finitePoint(r.low) || !finitePoint(r.high) || r.low > r.high || len(r.ticks) > 100 {
			t.Fatalf("from %v to %v, %d ticks", r.low, r.high, len(r.ticks))
		}
		for _, v := range []float64{a, b, 0} {
			if at := r.at(v); r.holds(v) && !(at >= 0 && at <= 100) {
				t.Errorf("%v is at %v", v, at)
			}
		}
	})
}
