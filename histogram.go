// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// A log-linear layout: 2^subBits equal buckets for each power of two. A value
// is off its bucket's highest value by at most 2^-subBits of itself, 0.8 %.
const (
	subBits    = 7
	subCount   = 1 << subBits
	maxBits    = 42 // 2^42 ns = 73 minutes
	pageCount  = maxBits - subBits + 1
	maxTracked = time.Duration(1)<<maxBits - 1
)

// Histogram counts durations in log-linear buckets. The zero value is empty
// and ready. It is safe for concurrent use and takes no lock: pages of 1 KiB
// are made when a value first falls into their power of two.
//
// Quantiles are exact to 1/128 of the value, and never below it. Values above
// 73 minutes count as 73 minutes, negative ones as 0.
type Histogram struct {
	pages    [pageCount]atomic.Pointer[[subCount]atomic.Int64]
	sum      atomic.Int64
	squares  atomicFloat
	min, max atomic.Int64 // stored + 1, so that 0 is none
}

// Record counts a duration.
func (h *Histogram) Record(d time.Duration) {
	d = min(max(d, 0), maxTracked)
	page, sub := bucketOf(d)
	p := h.pages[page].Load()
	if p == nil {
		h.pages[page].CompareAndSwap(nil, new([subCount]atomic.Int64))
		p = h.pages[page].Load()
	}
	p[sub].Add(1)
	h.sum.Add(int64(d))
	h.squares.add(float64(d) * float64(d))
	for v := int64(d) + 1; ; {
		old := h.max.Load()
		if v <= old || h.max.CompareAndSwap(old, v) {
			break
		}
	}
	for v := int64(d) + 1; ; {
		old := h.min.Load()
		if old != 0 && v >= old || h.min.CompareAndSwap(old, v) {
			break
		}
	}
}

// bucketOf returns the page and place of a value. Page 0 holds the values
// below 2^subBits as they are; page p those of p+subBits bits.
func bucketOf(d time.Duration) (page, sub int) {
	if d < subCount {
		return 0, int(d)
	}
	page = bits.Len64(uint64(d)) - subBits
	return page, int(d>>(page-1)) - subCount
}

// highest returns the highest value that a bucket counts.
func highest(page, sub int) time.Duration {
	if page == 0 {
		return time.Duration(sub)
	}
	return time.Duration(sub+subCount+1)<<(page-1) - 1
}

// Count returns the number of values.
func (h *Histogram) Count() int64 {
	var n int64
	h.each(func(_ time.Duration, k int64) bool { n += k; return true })
	return n
}

// each calls f with the buckets that are not empty, in ascending order.
func (h *Histogram) each(f func(high time.Duration, n int64) bool) {
	for page := range h.pages {
		p := h.pages[page].Load()
		if p == nil {
			continue
		}
		for sub := range p {
			if n := p[sub].Load(); n > 0 && !f(highest(page, sub), n) {
				return
			}
		}
	}
}

// Quantile returns the q-quantile by nearest rank: the smallest value that at
// least q of all do not exceed, as the highest value of its bucket and never
// above Max. It is absent when nothing was recorded or q is not in [0, 1].
func (h *Histogram) Quantile(q float64) (d time.Duration, ok bool) {
	n := h.Count()
	if n == 0 || !(q >= 0 && q <= 1) {
		return 0, false
	}
	rank := max(1, int64(math.Ceil(q*float64(n))))
	var seen int64
	h.each(func(high time.Duration, k int64) bool {
		d = high
		seen += k
		return seen < rank
	})
	if top, ok := h.Max(); ok {
		d = min(d, top)
	}
	return d, true
}

// Min returns the smallest value, absent when there is none.
func (h *Histogram) Min() (time.Duration, bool) {
	v := h.min.Load()
	return time.Duration(max(v-1, 0)), v != 0
}

// Max returns the largest value, absent when there is none.
func (h *Histogram) Max() (time.Duration, bool) {
	v := h.max.Load()
	return time.Duration(max(v-1, 0)), v != 0
}

// Mean returns the mean, absent when there is no value.
func (h *Histogram) Mean() (time.Duration, bool) {
	n := h.Count()
	if n == 0 {
		return 0, false
	}
	return time.Duration(math.Round(float64(h.sum.Load()) / float64(n))), true
}

// StdDev returns the sample deviation, absent with fewer than two values.
func (h *Histogram) StdDev() (time.Duration, bool) {
	n := float64(h.Count())
	if n < 2 {
		return 0, false
	}
	mean := float64(h.sum.Load()) / n
	v := (h.squares.load() - n*mean*mean) / (n - 1)
	return time.Duration(math.Round(math.Sqrt(max(0, v)))), true
}

// atomicFloat is a float64 that is added to without a lock.
type atomicFloat struct{ bits atomic.Uint64 }

func (f *atomicFloat) add(v float64) {
	for {
		old := f.bits.Load()
		if f.bits.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+v)) {
			return
		}
	}
}

func (f *atomicFloat) load() float64 { return math.Float64frombits(f.bits.Load()) }
