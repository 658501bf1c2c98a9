// SPDX-License-Identifier: Apache-2.0

package wire

// A stream's events are nearly all alike: the same document but for the text
// of its delta and a few members that no table names. The memo keeps one such
// event as a pattern, literal bytes with holes in it. An event that fits the
// pattern has the same effect but for the length of its text, so that two
// vectorised comparisons a hole take the place of reading it token by token.
// What does not fit is read in full and becomes the next pattern.

const (
	maxHoles   = 20
	maxPattern = 768
	// maxMisses in a row, and the stream is taken to have no pattern.
	maxMisses = 16
	// After so many fits a hole that never varied is closed: what is in it
	// counts as literal, until an event has something else there.
	tryFits = 4
)

// hole is a value in the pattern that may differ: the inside of a string, or
// a number that no table names.
type hole struct {
	start, end uint16
	slot       slot
	flags      holeFlags
}

type holeFlags uint8

const (
	holeText   holeFlags = 1 << iota // generated text
	holeString                       // in quotes
	holeFull                         // a text that was not empty
	holeVaries                       // it differed from the pattern's in an event that fitted
)

type memo struct {
	off     bool // no pattern for this decoder
	learn   bool // the event being read may become the pattern
	valid   bool
	misses  uint8
	fitted  uint8
	nholes  uint8
	counter int8 // the hole whose length counts, -1 for none
	ev      Event
	hit     bool   // the event being read fitted
	chars   int64  // code points of its text, until its End counts them
	next    uint8  // the first hole that is still open
	from    uint16 // so much of the pattern the event being read begins with; 0: none of it, or unknown
	inside  bool   // the first open hole has a part of its value, up to from
	pattern []byte
	frame   []byte // what stood before the data of the last event that fitted
	holes   [maxHoles]hole
}

// memoStart is called with the first piece of an event; it reports whether the
// piece fits the pattern: as the whole event, which then has had its effect, or
// as the begin of one.
func (d *Decoder) memoStart(p []byte) bool {
	m := &d.memo
	m.learn, m.hit, m.from = false, false, 0
	if m.off {
		return false
	}
	if m.valid && d.fits(p, 0, 0) {
		return true
	}
	// An event that is read in full may say something else than the pattern, in
	// places that are no holes: what fits the pattern would not take that back.
	was := m.valid
	m.valid = false
	// Only what ends as a document does can be a whole one.
	if len(p) > maxPattern || p[len(p)-1] != '}' {
		return false
	}
	if was {
		if m.misses++; m.misses == maxMisses {
			m.off = true
			return false
		}
	}
	m.learn, m.nholes = true, 0
	return false
}

// fitted is the effect of an event that fits the pattern.
func (d *Decoder) fitted(chars int64) {
	m := &d.memo
	m.misses, m.hit, m.from = 0, true, 0
	if m.fitted <= tryFits {
		if m.fitted++; m.fitted == tryFits {
			m.closeHoles()
		}
	}
	d.ev = m.ev
	d.m.st = mDone
	if d.api == Responses {
		m.chars = chars
		return
	}
	m.count(d.facts, chars)
}

// count counts the text of events that fit.
//
//go:noinline
func (m *memo) count(f *Facts, chars int64) {
	switch {
	case m.counter < 0:
	case m.ev.Channels&Content != 0:
		f.TextChars += chars
	default:
		f.ReasoningChars += chars
	}
}

// closeHoles leaves out the holes that never varied.
func (m *memo) closeHoles() {
	n := uint8(0)
	for i := range m.holes[:m.nholes] {
		if h := m.holes[i]; h.flags&(holeText|holeVaries) != 0 {
			if int(m.counter) == i {
				m.counter = int8(n)
			}
			m.holes[n] = h
			n++
		}
	}
	m.nholes = n
}

// part is where a value stands in a piece.
type part struct{ start, end int32 }

// fits compares a piece of an event with the pattern, from its first open hole
// and from a place before that on. A piece that ends between two holes waits for
// the next one: the pattern takes over the values of the holes before, so that it
// begins as the event does.
func (d *Decoder) fits(p []byte, next, from int) bool {
	m := &d.memo
	if d.errs&errMarked != 0 {
		return false // by its event's name an error: what it says of that is to be read
	}
	var parts [maxHoles]part
	at, chars := 0, int64(0)
	for i := next; i < int(m.nholes); i++ {
		h := &m.holes[i]
		seg := m.pattern[from:h.start]
		if len(p)-at <= len(seg) {
			return string(p[at:]) == string(seg[:len(p)-at]) && m.wait(p, &parts, next, i, from+len(p)-at)
		}
		if string(p[at:at+len(seg)]) != string(seg) {
			return false
		}
		at += len(seg)
		from = int(h.end)
		parts[i].start = int32(at)
		end, n := d.fitsHole(p, at, h)
		if end == notYet && h.flags&holeString != 0 {
			parts[i].end = int32(len(p))
			if !m.wait(p, &parts, next, i+1, from) {
				return false
			}
			m.next, m.inside = uint8(i), true
			return true
		}
		if end < 0 {
			return false
		}
		if at = end; i == int(m.counter) {
			chars = n
		}
		parts[i].end = int32(at)
		if m.fitted < tryFits && h.flags&holeText == 0 {
			m.compare(h, p[parts[i].start:at])
		}
	}
	if rest := m.pattern[from:]; len(p)-at < len(rest) {
		return string(p[at:]) == string(rest[:len(p)-at]) && m.wait(p, &parts, next, int(m.nholes), from+len(p)-at)
	} else if string(p[at:]) != string(rest) {
		return false
	}
	if m.counter >= 0 && int(m.counter) < next {
		h := &m.holes[m.counter]
		chars = d.countText(m.pattern[h.start:h.end])
	}
	d.fitted(chars)
	return true
}

// compare notes whether a value differs from the pattern's.
func (m *memo) compare(h *hole, v []byte) {
	if string(v) != string(m.pattern[h.start:h.end]) {
		h.flags |= holeVaries
	}
}

// addHole notes a value of the event that is being read.
func (d *Decoder) addHole(start, end int, s slot, flags holeFlags) {
	m := &d.memo
	if m.nholes == maxHoles {
		m.learn = false
		return
	}
	if end > start {
		flags |= holeFull
	}
	m.holes[m.nholes] = hole{start: uint16(start), end: uint16(end), slot: s, flags: flags}
	m.nholes++
}

// memoLearn makes the event that was just read the pattern.
func (d *Decoder) memoLearn() {
	m := &d.memo
	m.counter = -1
	for i := range m.holes[:m.nholes] {
		h := &m.holes[i]
		if h.flags&holeText == 0 || h.flags&holeFull == 0 || !d.counts(h.slot) {
			continue
		}
		if m.counter >= 0 {
			return // two texts that count
		}
		m.counter = int8(i)
	}
	m.valid, m.ev, m.fitted = true, d.ev, 0
}

// repeats reports whether the event's effect, but for its text, is the same
// however often it is told.
func (d *Decoder) repeats() bool {
	if d.ev.Channels == 0 || d.ev.Terminal || d.fault || d.err.Present {
		return false
	}
	if d.api == Responses {
		return !d.resp.done && d.resp.kind != evItemAdded
	}
	for i := range d.tools {
		if !d.tools[i].call.HasIndex {
			return false
		}
	}
	c := d.ev.Channels &^ summary
	return c&(c-1) == 0 && d.choices == 1 && d.choice.message.seen == (d.api == Completions)
}

// counts reports whether a text in this place is the one that was counted.
func (d *Decoder) counts(s slot) bool {
	if d.api == Responses {
		return s == rDelta && d.ev.Channels&(Content|Reasoning) != 0
	}
	if d.choice.index != 0 {
		return false
	}
	switch s {
	case cContent, cText:
		return d.ev.Channels&Content != 0
	case cReason0, cReason1, cReason2, cThought:
		o := &d.choice.delta
		if !o.seen {
			o = &d.choice.message
		}
		return d.ev.Channels&Reasoning != 0 && int(s-cReason0) == o.source()
	}
	return false
}
