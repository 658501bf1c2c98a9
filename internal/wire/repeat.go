// SPDX-License-Identifier: Apache-2.0

package wire

// maxFrame bounds what may stand before an event's data.
const maxFrame = 96

// Frame notes how an event that fitted the pattern stands in its bytes, whose only
// piece of data is doc: the next are looked for so, if all that is behind doc is an
// empty line. To be called before End.
func (d *Decoder) Frame(event, doc []byte) {
	m := &d.memo
	before := len(event) - len(doc) - 2
	if !m.hit || m.fitted < tryFits || d.errs&errMarked != 0 || before < 0 || before > maxFrame || len(doc) == 0 ||
		&event[before] != &doc[0] || string(event[before+len(doc):]) != "\n\n" {
		return
	}
	m.frame = append(m.frame[:0], event[:before]...)
}

// Repeats takes the events that p begins with, as far as they are whole, have the
// frame and an empty line behind, and fit the pattern. It returns their bytes and
// number. They have had their effect, which is that of End's Event for each: Channels.
// It is to be called between Begin and Write, at the start of an event.
func (d *Decoder) Repeats(p []byte) (used, events int) {
	m := &d.memo
	if !m.valid || m.fitted < tryFits || len(m.frame) == 0 {
		return 0, 0
	}
	chars := int64(0)
	for {
		n, more := d.repeat(p[used:])
		if n == 0 {
			break
		}
		used, chars = used+n, chars+more
		events++
	}
	if events > 0 {
		m.misses = 0
		m.count(d.facts, chars)
	}
	return used, events
}

// Repeated is the event that Repeats took.
func (d *Decoder) Repeated() Event { return d.memo.ev }

// repeat returns the length of the event that p begins with, and the code points of
// its text; 0 if it is not whole or another one.
func (d *Decoder) repeat(p []byte) (used int, chars int64) {
	m := &d.memo
	at, from := len(m.frame), 0
	if len(p) < at || string(p[:at]) != string(m.frame) {
		return 0, 0
	}
	for i := range m.holes[:m.nholes] {
		h := &m.holes[i]
		seg := m.pattern[from:h.start]
		if len(p)-at < len(seg) || string(p[at:at+len(seg)]) != string(seg) {
			return 0, 0
		}
		at += len(seg)
		from = int(h.end)
		end, n := d.fitsHole(p, at, h)
		if end < 0 {
			return 0, 0
		}
		if at = end; i == int(m.counter) {
			chars = n
		}
	}
	rest := m.pattern[from:]
	end := at + len(rest)
	if len(p) < end+2 || string(p[at:end]) != string(rest) || p[end] != '\n' || p[end+1] != '\n' {
		return 0, 0
	}
	return end + 2, chars
}
