// SPDX-License-Identifier: Apache-2.0

package wire

import "bytes"

// A stream's events are nearly all alike: the same document but for the text
// of its delta and a few members that no table names. The memo keeps one such
// event as a pattern, literal bytes with holes in it. An event that fits the
// pattern has the same effect but for the length of its text, so that two
// vectorised comparisons a hole take the place of reading it token by token.
// What does not fit is read in full and becomes the next pattern.

const (
	maxHoles   = 12
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
	text       bool // generated text
	str        bool
	full       bool // a text that was not empty
	varies     bool // it differed from the pattern's in an event that fitted
}

type memo struct {
	off     bool // no pattern for this decoder
	learn   bool // the event being read may become the pattern
	valid   bool
	misses  uint8
	fitted  uint8
	nholes  uint8
	counter int8 // the hole whose length counts, -1 for none
	ev      Event
	hit     bool // the event being read fitted
	pattern []byte
	holes   [maxHoles]hole
}

// memoStart is called with the first piece of an event; it reports whether the
// piece is the whole event and fits the pattern, which then has had its effect.
func (d *Decoder) memoStart(p []byte) bool {
	m := &d.memo
	m.learn, m.hit = false, false
	if m.off {
		return false
	}
	if m.valid {
		if chars, ok := d.fits(p); ok {
			m.misses, m.hit = 0, true
			if m.fitted <= tryFits {
				if m.fitted++; m.fitted == tryFits {
					m.closeHoles()
				}
			}
			d.ev = m.ev
			d.m.st = mDone
			if m.counter >= 0 {
				if m.ev.Channels&Content != 0 {
					d.facts.TextChars += chars
				} else {
					d.facts.ReasoningChars += chars
				}
			}
			return true
		}
	}
	// Only what ends as a document does can be a whole one. A piece of an event
	// that a Read has cut leaves the pattern as it is.
	if len(p) > maxPattern || p[len(p)-1] != '}' {
		return false
	}
	if m.valid {
		if m.misses++; m.misses == maxMisses {
			m.off = true
			return false
		}
	}
	m.valid, m.learn, m.nholes = false, true, 0
	return false
}

// closeHoles leaves out the holes that never varied.
func (m *memo) closeHoles() {
	n := uint8(0)
	for i := range m.holes[:m.nholes] {
		if h := m.holes[i]; h.text || h.varies {
			if int(m.counter) == i {
				m.counter = int8(n)
			}
			m.holes[n] = h
			n++
		}
	}
	m.nholes = n
}

// fits compares an event with the pattern, and returns the code points of the
// text that counts.
func (d *Decoder) fits(p []byte) (chars int64, ok bool) {
	m := &d.memo
	at, from := 0, 0 // in the event, in the pattern
	for i := range m.holes[:m.nholes] {
		h := &m.holes[i]
		seg := m.pattern[from:h.start]
		if len(p)-at < len(seg) || string(p[at:at+len(seg)]) != string(seg) {
			return 0, false
		}
		at += len(seg)
		from = int(h.end)
		if !h.str {
			n := litEnd(p[at:])
			if n == 0 || p[at] == '{' || p[at] == '[' {
				return 0, false
			}
			if m.fitted < tryFits {
				m.compare(h, p[at:at+n])
			}
			at += n
			continue
		}
		q := bytes.IndexByte(p[at:], '"')
		if q < 0 {
			return 0, false
		}
		plain := h.text && q <= maxPlain && isASCII(p[at:at+q])
		if !plain && (q > 0 && p[at+q-1] == '\\' || h.text && bytes.IndexByte(p[at:at+q], '\\') >= 0) {
			end, done := d.m.stringEnd(p, at)
			if !done {
				d.m.esc = false
				return 0, false
			}
			q = end - at
		}
		if h.text {
			if q > 0 != h.full {
				return 0, false
			}
			switch {
			case i != int(m.counter):
			case plain:
				chars = int64(q)
			default:
				d.m.chars = 0
				d.text(p[at:at+q], true, nil, 0)
				chars = d.m.chars
			}
		} else if m.fitted < tryFits {
			m.compare(h, p[at:at+q])
		}
		at += q
	}
	return chars, string(p[at:]) == string(m.pattern[from:])
}

// maxPlain bounds the texts that are looked at byte by byte, as most are: for a
// few of them that is cheaper than a call of what is made for many.
const maxPlain = 32

// isASCII reports whether a text has neither escapes nor more than ASCII.
func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 || c == '\\' {
			return false
		}
	}
	return true
}

// compare notes whether a value differs from the pattern's.
func (m *memo) compare(h *hole, v []byte) {
	h.varies = h.varies || string(v) != string(m.pattern[h.start:h.end])
}

// addHole notes a value of the event that is being read.
func (d *Decoder) addHole(start, end int, s slot, text, str bool) {
	m := &d.memo
	if m.nholes == maxHoles {
		m.learn = false
		return
	}
	m.holes[m.nholes] = hole{start: uint16(start), end: uint16(end), slot: s, text: text, str: str, full: end > start}
	m.nholes++
}

// memoLearn makes the event that was just read the pattern.
func (d *Decoder) memoLearn() {
	m := &d.memo
	m.counter = -1
	for i := range m.holes[:m.nholes] {
		h := &m.holes[i]
		if !h.text || !h.full || !d.counts(h.slot) {
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
