// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"iter"
	"math"
	"sync/atomic"

	"github.com/tacho-go/tacho/internal/stat"
)

// What a histogram says of its values. While others record, each method sees
// some of what they do; what was recorded before it is called is in it.

// visit calls f with the buckets that are not empty, in ascending order.
func (h *HistogramOf[T]) visit(f func(i uint, n int64) bool) {
	var spilled map[uint]int64
	if s := h.spilled.Load(); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		spilled = s.n
	}
	size := uint(1) << (h.mag() - 2)
	coarse := h.coarse.Load()
	for d := range h.dir {
		page := h.dir[d].Load()
		if page == nil && coarse == nil && spilled == nil {
			continue
		}
		for k := range size {
			i := uint(d)*size + k
			var n int64
			if page != nil {
				n = counterAt(page, k).load()
			}
			if coarse != nil && i&(1<<coarseBits-1) == 1<<coarseBits-1 && i>>coarseBits < coarseSize {
				n += counterAt(&coarse[0], i>>coarseBits).load()
			}
			if n += spilled[i]; n > 0 && !f(i, n) {
				return
			}
		}
	}
}

// Bucket is one bucket of a histogram: the values from Low to High.
type Bucket[T ~int64] struct {
	Low, High T
	Count     int64
}

// Buckets returns the buckets that are not empty, in ascending order.
func (h *HistogramOf[T]) Buckets() iter.Seq[Bucket[T]] {
	return func(yield func(Bucket[T]) bool) {
		// All are taken before the first is handed out: yield may use h itself.
		var all []Bucket[T]
		h.visit(func(i uint, n int64) bool {
			low, high := bounds(i, h.mag())
			all = append(all, Bucket[T]{T(low), T(high), n})
			return true
		})
		for _, b := range all {
			if !yield(b) {
				return
			}
		}
	}
}

// Count returns the number of values.
func (h *HistogramOf[T]) Count() (n int64) {
	h.visit(func(_ uint, k int64) bool { n += k; return true })
	return n
}

// OutOfRange returns how many values were below 0 and above 3.6e12, which is 1
// hour. They count as 0 and as that.
func (h *HistogramOf[T]) OutOfRange() (below, above int64) { return h.low.Load(), h.high.Load() }

// Min returns the least value, exactly; absent when there is none.
func (h *HistogramOf[T]) Min() (T, bool) { return extreme[T](&h.min) }

// Max returns the greatest value, exactly; absent when there is none.
func (h *HistogramOf[T]) Max() (T, bool) { return extreme[T](&h.max) }

func extreme[T ~int64](at *atomic.Int64) (T, bool) {
	v := at.Load()
	return T(max(v-1, 0)), v != 0
}

// Mean returns the mean, absent when there is no value. It is exact as long as
// the sum of the values is below 2^63, for durations 292 years.
func (h *HistogramOf[T]) Mean() (T, bool) {
	n, mean := h.mean()
	return T(math.Round(mean)), n > 0
}

// mean returns the number of values and their mean.
func (h *HistogramOf[T]) mean() (n int64, mean float64) {
	var rough float64
	mag := h.mag()
	h.visit(func(i uint, k int64) bool {
		low, high := bounds(i, mag)
		n += k
		rough += float64(k) * (float64(low) + float64(high)) / 2
		return true
	})
	if n == 0 {
		return 0, 0
	}
	rough /= float64(n)
	mean = float64(h.total()) / float64(n)
	if width := rough / float64(uint(1)<<max(0, mag-h.lostDigits())); math.Abs(mean-rough) > width+1 {
		return n, rough // the sum has gone over, or others record
	}
	return n, mean
}

// Moments returns the number of values, their mean and their sample deviation,
// which is that of StdDev. The mean is of no use without a value, the deviation
// with fewer than two.
func (h *HistogramOf[T]) Moments() (n int64, mean, deviation float64) {
	n, mean = h.mean()
	if n < 2 {
		return n, mean, 0
	}
	return n, mean, h.deviation()
}

// StdDev returns the sample deviation, absent with fewer than two values. It is
// that of the middles of the buckets, so that it is off by at most half the
// width of a bucket.
func (h *HistogramOf[T]) StdDev() (T, bool) {
	if h.Count() < 2 {
		return 0, false
	}
	return T(math.Round(h.deviation())), true
}

func (h *HistogramOf[T]) deviation() float64 {
	var n, mean, squares float64 // by B. P. Welford's recurrence (1962), a bucket at a time
	mag := h.mag()
	h.visit(func(i uint, count int64) bool {
		low, high := bounds(i, mag)
		k, v := float64(count), (float64(low)+float64(high))/2
		n += k
		d := v - mean
		mean += d * k / n
		squares += k * d * (v - mean)
		return true
	})
	return math.Sqrt(squares / (n - 1))
}

// Quantile returns the q-quantile by nearest rank: the least value that at
// least q of all do not exceed, as the highest value of its bucket and never
// above Max. It is absent when nothing was recorded or q is not in [0, 1].
func (h *HistogramOf[T]) Quantile(q float64) (T, bool) {
	n := h.Count()
	if n == 0 || !(q >= 0 && q <= 1) {
		return 0, false
	}
	return h.ranked(nearestRank(q, n)), true
}

// nearestRank is ⌈q·n⌉, at least 1; a product that a float makes a hair more
// than a whole number is that number.
func nearestRank(q float64, n int64) int64 {
	r := q * float64(n)
	if near := math.Round(r); math.Abs(r-near) <= 1e-12*near {
		r = near
	}
	return min(max(1, int64(math.Ceil(r))), n)
}

// ranked returns the value of a rank, which counts from 1.
func (h *HistogramOf[T]) ranked(rank int64) (v T) {
	var seen int64
	h.visit(func(i uint, k int64) bool {
		_, high := bounds(i, h.mag())
		v = T(high)
		seen += k
		return seen < rank
	})
	if top, ok := h.Max(); ok {
		v = min(v, top)
	}
	if low, ok := h.Min(); ok && rank <= 1 {
		v = low // the least of all is known exactly
	}
	return v
}

// QuantileInterval returns the order statistics between which the q-quantile of
// what the values are drawn from lies with at least the given confidence, 0.95
// for 95 %, whatever its distribution, if they are independent: low as the lowest
// value of its bucket, high as the highest. An end that so few values do not have
// is absent (ok is false for it).
func (h *HistogramOf[T]) QuantileInterval(q, confidence float64) (low, high T, lowOK, highOK bool) {
	l, u := stat.Ranks(h.Count(), q, confidence)
	if l > 0 {
		low = h.ranked(l)
		at, _ := bounds(indexOf(int64(low), h.mag()), h.mag())
		low = T(at)
		if least, ok := h.Min(); ok {
			low = max(low, least)
		}
	}
	if u > 0 {
		high = h.ranked(u)
	}
	return low, high, l > 0, u > 0
}

// CountAbove returns how many values are above v and not in its bucket.
func (h *HistogramOf[T]) CountAbove(v T) (n int64) {
	at := indexOf(min(max(int64(v), 0), maxTracked), h.mag())
	h.visit(func(i uint, k int64) bool {
		if i > at || v < 0 {
			n += k
		}
		return true
	})
	return n
}
