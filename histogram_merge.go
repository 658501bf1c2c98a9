// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"maps"
	"sync/atomic"
)

// Histograms put together, copied and emptied.

// Merge adds what o counts. With the same digits nothing is lost; of one with
// other digits, each value counts as the highest of its bucket.
func (h *HistogramOf[T]) Merge(o *HistogramOf[T]) {
	if o == nil {
		return
	}
	if o == h {
		o = o.Clone()
	}
	mag, same := h.mag(), h.extra == o.extra
	o.visit(func(i uint, n int64) bool {
		if !same {
			_, top := bounds(i, o.mag())
			i = indexOf(min(top, maxTracked), mag)
		}
		h.addTo(i, n)
		return true
	})
	h.sums[0].Add(o.total())
	h.loses(o.lostDigits() + uint(max(0, int(h.extra)-int(o.extra))))
	h.low.Add(o.low.Load())
	h.high.Add(o.high.Load())
	if low, high := o.min.Load(), o.max.Load(); low > 0 {
		h.extremes(low-1, high-1)
	}
}

// lostDigits returns how many binary digits fewer than the layout's its values
// have, because they were counted in coarser buckets.
func (h *HistogramOf[T]) lostDigits() uint {
	lost := h.lost.Load()
	if h.coarse.Load() != nil {
		lost = max(lost, coarseBits)
	}
	return uint(lost)
}

func (h *HistogramOf[T]) loses(digits uint) {
	for old := h.lost.Load(); int32(digits) > old && !h.lost.CompareAndSwap(old, int32(digits)); old = h.lost.Load() {
	}
}

// Clone returns a copy.
func (h *HistogramOf[T]) Clone() *HistogramOf[T] {
	c := &HistogramOf[T]{extra: h.extra, maxPages: h.maxPages}
	if s := h.spilled.Load(); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.spilled.Store(&spill{n: maps.Clone(s.n)})
	}
	words := 1 << (h.mag() - 3)
	for i := range h.dir {
		if page := h.dir[i].Load(); page != nil {
			copied := make([]atomic.Uint32, words)
			for k := range copied {
				copied[k].Store(counterAt(page, uint(2*k)).word.Load())
			}
			c.dir[i].Store(&copied[0])
			c.pages.Add(1)
		}
	}
	if coarse := h.coarse.Load(); coarse != nil {
		copied := new([coarseSize / 2]atomic.Uint32)
		for k := range copied {
			copied[k].Store(coarse[k].Load())
		}
		c.coarse.Store(copied)
	}
	c.sums[0].Store(h.total())
	for to, from := range map[*atomic.Int64]*atomic.Int64{&c.low: &h.low, &c.high: &h.high, &c.min: &h.min, &c.max: &h.max} {
		to.Store(from.Load())
	}
	c.lost.Store(h.lost.Load())
	return c
}

// Reset forgets all values. What is recorded meanwhile is kept in part.
func (h *HistogramOf[T]) Reset() {
	for i := range h.dir {
		h.dir[i].Store(nil)
	}
	h.coarse.Store(nil)
	h.spilled.Store(nil)
	h.pages.Store(0)
	h.lost.Store(0)
	for i := range h.sums {
		h.sums[i].Store(0)
	}
	for _, v := range []*atomic.Int64{&h.low, &h.high, &h.min, &h.max} {
		v.Store(0)
	}
}
