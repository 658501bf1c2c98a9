// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"slices"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/internal/stat"
)

// order gives the values of a figure by rank, counted from 1. Values that are
// known between two ends only are at the low end to one question and at the high
// end to the other.
type order interface {
	count() int64
	unknown() int64         // values that are not known exactly
	low(rank int64) float64 // at least this
	high(rank int64) float64
}

// sorted is the order of single values.
type sorted struct {
	lows, highs []float64
	open        int64
}

func newSorted(spans []span) *sorted {
	s := &sorted{make([]float64, len(spans)), make([]float64, len(spans)), 0}
	for i, x := range spans {
		s.lows[i], s.highs[i] = x.low, x.high
		if x.low != x.high {
			s.open++
		}
	}
	slices.Sort(s.lows)
	slices.Sort(s.highs)
	return s
}

func (s *sorted) count() int64            { return int64(len(s.lows)) }
func (s *sorted) unknown() int64          { return s.open }
func (s *sorted) low(rank int64) float64  { return s.lows[rank-1] }
func (s *sorted) high(rank int64) float64 { return s.highs[rank-1] }

// counted is the order of a histogram, of whose values so many are upper
// bounds, nobody knows which, beside calls that a deadline ended, which are not
// in it.
type counted struct {
	h         *tacho.Histogram
	n         int64
	upper     int64
	beyond    int64 // above the histogram's range
	deadlines int64
}

func (c *counted) count() int64   { return c.n + c.deadlines }
func (c *counted) unknown() int64 { return c.upper + c.deadlines + c.beyond }

func (c *counted) low(rank int64) float64 {
	if rank -= c.upper + c.deadlines; rank < 1 {
		return 0
	}
	return c.at(rank).Low.Seconds()
}

func (c *counted) high(rank int64) float64 {
	if rank += c.upper; rank > c.n-c.beyond {
		return math.Inf(1)
	}
	top, _ := c.h.Max()
	return min(c.at(rank).High, top).Seconds()
}

// at returns the bucket of a rank.
func (c *counted) at(rank int64) (b tacho.Bucket[time.Duration]) {
	var seen int64
	for b = range c.h.Buckets() {
		if seen += b.Count; seen >= rank {
			break
		}
	}
	return b
}

// nearestRank is ⌈q·n⌉, as tacho's histograms have it.
func nearestRank(q float64, n int64) int64 {
	r := q * float64(n)
	if near := math.Round(r); math.Abs(r-near) <= 1e-12*near {
		r = near
	}
	return min(max(1, int64(math.Ceil(r))), n)
}

// ends returns the ranks between which the q-quantile lies, when n values count
// as so many independent ones; 0 where that end does not exist.
func ends(n int64, q, effective, confidence float64) (l, u int64) {
	if effective >= float64(n) {
		return stat.Ranks(n, q, confidence)
	}
	m := int64(effective)
	l, u = stat.Ranks(m, q, confidence)
	scale := float64(n) / float64(m)
	if l > 0 {
		l = max(1, int64(math.Floor(float64(l)*scale)))
	}
	if u > 0 {
		u = min(n, int64(math.Ceil(float64(u)*scale)))
	}
	return l, u
}
