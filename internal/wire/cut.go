// SPDX-License-Identifier: Apache-2.0

package wire

// An event that a Read cuts fits the pattern as far as it came, and is waited for: the
// pattern takes over what it has of the values, so that it begins as the event does.

// memoGoOn is called with the further pieces of an event, and reports the same.
func (d *Decoder) memoGoOn(p []byte) bool {
	m := &d.memo
	m.learn, m.hit = false, false
	if m.from == 0 {
		return false
	}
	end := 0
	if m.inside {
		if end = d.goOnInside(p); end < 0 {
			return true
		}
	}
	if end == 0 && m.inside || !d.fits(p[end:], int(m.next), int(m.from)) {
		d.memoGiveUp()
		d.feed(p[end:])
	}
	return true
}

// goOnInside completes the value of a hole that a piece has cut. It returns where it
// ends in p, 0 if it does not fit, and a negative number if it is still not complete.
func (d *Decoder) goOnInside(p []byte) int {
	m := &d.memo
	h := &m.holes[m.next]
	d.m.esc = backslashes(m.pattern[h.start:h.end])&1 == 1
	end, done := d.m.stringEnd(p, 0)
	d.m.esc = false
	n := len(m.pattern)
	if n+end > maxPattern || done && h.flags&holeText != 0 && (int(h.end)+end > int(h.start)) != (h.flags&holeFull != 0) {
		return 0
	}
	m.pattern = append(m.pattern, p[:end]...)
	copy(m.pattern[int(h.end)+end:], m.pattern[h.end:n])
	copy(m.pattern[h.end:], p[:end])
	m.moved(int(m.next), end)
	if m.from = h.end; !done {
		return -1
	}
	m.inside = false
	m.next++
	return end
}

// wait keeps what has fitted, up to a place in the pattern before a hole: the
// values of the holes that p had, from the first on. It reports whether it can.
func (m *memo) wait(p []byte, parts *[maxHoles]part, first, hole, place int) bool {
	if m.fitted < tryFits || place == 0 {
		return false
	}
	for i := first; i < hole; i++ {
		h := &m.holes[i]
		v := p[parts[i].start:parts[i].end]
		more := len(v) - int(h.end-h.start)
		if len(m.pattern)+more > maxPattern {
			return false
		}
		n := len(m.pattern)
		m.pattern = append(m.pattern, v...)
		copy(m.pattern[int(h.end)+more:], m.pattern[h.end:n])
		m.pattern = m.pattern[:n+more]
		copy(m.pattern[h.start:], v)
		m.moved(i, more)
		place += more
	}
	m.next, m.from = uint8(hole), uint16(place)
	return true
}

// moved makes a hole longer, and moves those behind it.
//
//go:noinline
func (m *memo) moved(hole, more int) {
	m.holes[hole].end += uint16(more)
	for j := hole + 1; j < int(m.nholes); j++ {
		m.holes[j].start += uint16(more)
		m.holes[j].end += uint16(more)
	}
}

// memoGiveUp reads token by token what has fitted so far: the pattern has it.
func (d *Decoder) memoGiveUp() {
	if m := &d.memo; m.from > 0 {
		from := m.from
		m.from, m.valid, m.inside = 0, false, false
		d.feed(m.pattern[:from])
	}
}
