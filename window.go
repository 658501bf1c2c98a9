// SPDX-License-Identifier: Apache-2.0

package tacho

import "time"

// Windows: what a series gained in each, packed.

// rotate ends the window under way if it is over at a time since the recorder's
// epoch. Who finds another at it waits, or after an idle time a burst of calls
// would count in the window before that.
func (s *series) rotate(now time.Duration) {
	if int64(now) < s.due.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn(now)
}

// turn is rotate under the lock.
func (s *series) turn(now time.Duration) {
	length := int64(s.recorder.config.window)
	next := int64(now) / length
	if next <= s.current {
		return
	}
	w := window{number: s.current, mag: magnitude}
	empty := true
	for i := range s.groups {
		if g := s.groups[i].Load(); g != nil {
			if w.groups[i] = g.gained(true); w.groups[i] != nil {
				empty = false
				s.bytes += w.groups[i].size()
			}
		}
	}
	if !empty {
		s.past = append(s.past, w)
	}
	s.current = next
	s.due.Store((next + 1) * length)
	// One more than asked for: the begin of a snapshot lies inside a window.
	for len(s.past) > 0 && s.past[0].number < next-int64(s.recorder.config.windows) {
		s.drop()
	}
	s.thin()
}

// thin takes precision from old windows until all fit, and drops the oldest when
// that does not do.
func (s *series) thin() {
	for _, step := range [...]struct{ from, to uint }{{magnitude, 7}, {7, 4}} {
		for i := range s.past {
			if s.bytes <= maxPast {
				return
			}
			w := &s.past[i]
			if w.mag != step.from {
				continue
			}
			s.bytes -= w.size()
			for _, g := range w.groups {
				for f := range g.all() {
					g.figures[f].counts = coarser(g.figures[f].counts, step.from, step.to)
				}
			}
			w.mag = step.to
			s.bytes += w.size()
		}
	}
	for len(s.past) > 0 && s.bytes > maxPast {
		s.drop()
	}
}

// drop forgets the oldest window.
func (s *series) drop() {
	s.bytes -= s.past[0].size()
	s.past[0] = window{}
	s.past = s.past[1:]
}

func (w *window) size() (n int) {
	for _, g := range w.groups {
		if g != nil {
			n += g.size()
		}
	}
	return n
}

// all is the number of figures, 0 of nil.
func (g *groupState) all() int {
	if g == nil {
		return 0
	}
	return len(g.figures)
}

func (g *groupState) size() (n int) {
	for i := range g.figures {
		n += cap(g.figures[i].counts)
	}
	return n
}

// gained returns what a group holds beyond its state before, nil when that is
// nothing. With next, the state is brought up to now. The lock is held.
func (g *group) gained(next bool) *groupState {
	d := new(groupState)
	any := false
	for f := range g.figures {
		h := g.figures[f].Load()
		if h == nil {
			continue
		}
		sum := h.total()
		before := &g.before.figures[f]
		gain, now := h.packSince(before.counts, next)
		// A value may be counted in one window and its part of the sum come in the
		// next, where nothing else does: it is kept, or the sum of all falls short.
		if len(gain) > 0 || sum != before.sum {
			any = true
			d.figures[f] = packed{gain, sum - before.sum}
		}
		if next {
			*before = packed{now, sum}
		}
	}
	for i := range g.counters {
		n := g.counters[i].Load()
		d.counters[i] = n - g.before.counters[i]
		any = any || d.counters[i] != 0
		if next {
			g.before.counters[i] = n
		}
	}
	if !any {
		return nil
	}
	return d
}

// cursor reads packed counts, bucket by bucket.
type cursor struct {
	rest []byte
	next uint // the bucket after the last one read
}

// read returns the next bucket that is not empty; ok is false behind the last.
func (c *cursor) read() (i uint, n int64, ok bool) {
	for len(c.rest) > 0 {
		v, rest, err := readZigZag(c.rest)
		if err != nil {
			break
		}
		c.rest = rest
		if v < 0 {
			c.next += uint(-v)
			continue
		}
		c.next++
		if v > 0 {
			return c.next - 1, v, true
		}
	}
	c.rest = nil
	return 0, 0, false
}

// packer writes packed counts, in ascending order of their buckets.
type packer struct {
	b    []byte
	next uint
}

func (p *packer) write(i uint, n int64) {
	switch gap := int64(i - p.next); {
	case gap == 1:
		p.b = appendZigZag(p.b, 0)
	case gap > 1:
		p.b = appendZigZag(p.b, -gap)
	}
	p.b = appendZigZag(p.b, n)
	p.next = i + 1
}

// packSince returns the counts beyond those before and, with all, all of them.
func (h *HistogramOf[T]) packSince(before []byte, all bool) (gain, now []byte) {
	old := cursor{rest: before}
	at, had, ok := old.read()
	var diff, whole packer
	h.visit(func(i uint, n int64) bool {
		for ok && at < i {
			at, had, ok = old.read()
		}
		if all {
			whole.write(i, n)
		}
		if ok && at == i {
			n -= had
		}
		if n > 0 {
			diff.write(i, n)
		}
		return true
	})
	return clip(diff.b), clip(whole.b)
}

// clip lets go of room that growing has left.
func clip(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return append(make([]byte, 0, len(b)), b...)
}

// coarser packs counts of a layout in one of fewer digits.
func coarser(b []byte, from, to uint) []byte {
	c, p := cursor{rest: b}, packer{}
	last, sum := uint(0), int64(0)
	for {
		i, n, ok := c.read()
		if !ok {
			break
		}
		low, _ := bounds(i, from)
		if at := indexOf(low, to); at != last && sum > 0 {
			p.write(last, sum)
			last, sum = at, 0
		} else {
			last = at
		}
		sum += n
	}
	if sum > 0 {
		p.write(last, sum)
	}
	return clip(p.b)
}

// unpack adds packed counts of a layout.
func (h *HistogramOf[T]) unpack(p packed, mag uint) {
	sum := h.total()
	h.loses(h.mag() - mag)
	if h.addCounts(p.counts, layout{mag: mag}) == nil {
		h.setTotal(sum + p.sum) // which is exact
	}
}
