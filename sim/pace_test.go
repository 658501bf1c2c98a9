// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math"
	"slices"
	"testing"
	"time"
)

const millisecond = time.Millisecond

// sendAll gives the arrivals of packets that are all sent at once.
func sendAll(l Link, sizes ...int) []time.Duration {
	p, start := l.pace(1), time.Unix(0, 0)
	var got []time.Duration
	for _, n := range sizes {
		got = append(got, p.arrival(start, n).Sub(start))
	}
	return got
}

func TestPaceBandwidth(t *testing.T) {
	t.Parallel()
	// 1000 bytes take 1 ms; nothing takes no time; all cross in 10 ms.
	l := Link{Delay: 10 * millisecond, Bandwidth: 1e6}
	want := []time.Duration{11 * millisecond, 13 * millisecond, 13 * millisecond, 13500 * time.Microsecond}
	if got := sendAll(l, 1000, 2000, 0, 500); !slices.Equal(got, want) {
		t.Errorf("arrivals %v, not %v", got, want)
	}
	// After a pause the link is free.
	p, start := l.pace(1), time.Unix(0, 0)
	p.arrival(start, 1000)
	if got := p.arrival(start.Add(500*time.Microsecond), 1000).Sub(start); got != 12*millisecond {
		t.Errorf("behind another: %v", got)
	}
	if got := p.arrival(start.Add(5*millisecond), 1000).Sub(start); got != 16*millisecond {
		t.Errorf("after a pause: %v", got)
	}
}

// TestPaceLoss finds the stalls of lost packets: a time-out, three when the packet
// is lost again, seven the time after; and their share.
func TestPaceLoss(t *testing.T) {
	t.Parallel()
	l := Link{Delay: 10 * millisecond, Loss: 0.2}
	const n = 100_000
	counts := map[time.Duration]float64{}
	p := l.pace(1)
	for range n {
		counts[p.delay()]++
	}
	const timeout = 220 * millisecond
	for k, want := range []float64{0.8, 0.2 * 0.8, 0.04 * 0.8, 0.008 * 0.8} {
		d := 10*millisecond + time.Duration(1<<k-1)*timeout
		if got := counts[d] / n; math.Abs(got-want) > 0.005 {
			t.Errorf("%.4f are %v late, not %.4f", got, d, want)
		}
	}
	l.Timeout = 50 * millisecond
	got := sendAll(l, make([]int, 50)...)
	if !slices.IsSorted(got) || got[0] != 10*millisecond || got[len(got)-1] < 60*millisecond {
		t.Errorf("arrivals %v", got)
	}
	same := sendAll(l, make([]int, 50)...)
	if !slices.Equal(got, same) {
		t.Error("the same seed loses others")
	}
	// Losses leave the draws of the jitter alone.
	a, b := Link{Jitter: millisecond}, Link{Jitter: millisecond, Loss: 0.2, Timeout: time.Hour}
	pa, pb := a.pace(3), b.pace(3)
	for range 100 {
		if x, y := pa.delay(), pb.delay(); y%time.Hour != x {
			t.Fatalf("jitter %v and %v", x, y)
		}
	}
}
