// SPDX-License-Identifier: Apache-2.0

package wire

// The plain answers of one server are alike as the events of a stream are: the
// same members in the same order. The shape of the last one is kept without its
// values: runs of literal bytes, holes between them, and what the literal part
// comes to. An answer that has the shape costs a comparison a run, and the
// reading of the values that matter; any other is read token by token.

const (
	maxShape = 2048 // literal bytes
	maxHeld  = 4096 // bytes of an answer that comes in pieces
)

// shape does not change once it is shared.
type shape struct {
	_           [0]func() // none is like another
	api         API
	channels    Channel
	inputTokens bool
	cacheInput  bool
	finish      Finish
	model       Name
	tier        string
	print       *Detail
	nholes      uint8
	holes       [maxHoles]hole // start: where it is in literal
	literal     string
}

// writeShaped takes a piece of a plain answer that may have the shape. As long as
// it may, the pieces are kept, up to a bound; and so are those of one that is to
// be learnt.
func (d *Decoder) writeShaped(p []byte) {
	c, m := d.common, &d.memo
	if !m.learn {
		all := p
		if len(m.pattern) > 0 {
			m.pattern = append(m.pattern, p...)
			all, p = m.pattern, nil
		}
		more := false
		if s := c.shape.Load(); s != nil && s.api == d.api {
			var fits bool
			if fits, more = d.fitsShape(s, all); fits {
				if c.missed.Load() != 0 {
					c.missed.Store(0)
				}
				d.shaped = false
				return
			}
		}
		if !more {
			// Answers that are never alike are not learnt one by one.
			n := c.missed.Add(1)
			m.learn, m.nholes = n&(n-1) == 0, 0
			more = m.learn
		}
		if !more || len(all) > maxHeld {
			m.learn = false
			d.Flush()
			d.feed(p)
			return
		}
	}
	if m.pattern = append(m.pattern, p...); len(m.pattern) > maxHeld {
		m.learn = false
		d.Flush()
	}
}

// Flush reads what was kept until more of it is there. A document that breaks off
// without an End is told as far as it came only after it.
func (d *Decoder) Flush() {
	d.memoGiveUp()
	if !d.shaped {
		return
	}
	m := &d.memo
	d.feed(m.pattern)
	if m.learn && d.m.st == mDone {
		d.learnShape(m.pattern)
	}
	d.shaped, m.learn = false, false
}

// fitsShape compares the begin of an answer with the shape, and takes its values
// if that is all of one that fits; more is set if it may become one.
func (d *Decoder) fitsShape(s *shape, p []byte) (fits, more bool) {
	var parts [maxHoles]part
	at, from, chars := 0, 0, int64(0)
	for i := range s.holes[:s.nholes] {
		h := &s.holes[i]
		seg := s.literal[from:h.start]
		if len(p)-at <= len(seg) {
			return false, string(p[at:]) == seg[:len(p)-at]
		}
		if string(p[at:at+len(seg)]) != seg {
			return false, false
		}
		at += len(seg)
		from = int(h.start)
		parts[i].start = int32(at)
		end, n := d.fitsHole(p, at, h)
		if end < 0 || h.slot == sID && !plain(p[at:end]) {
			return false, end == notYet
		}
		at, chars = end, chars+n
		parts[i].end = int32(at)
	}
	if seg := s.literal[from:]; len(p)-at < len(seg) {
		return false, string(p[at:]) == seg[:len(p)-at]
	} else if string(p[at:]) != seg {
		return false, false
	}
	f := d.facts
	for i := range s.holes[:s.nholes] {
		v := p[parts[i].start:parts[i].end]
		switch h := &s.holes[i]; {
		case h.slot == sID:
			d.short(sID, v)
		case h.slot >= uFirst && h.slot <= uLast:
			d.scalar(h.slot, v[:min(len(v), maxLit)])
		}
	}
	f.Model, f.Tier, f.inputTokens, f.cacheInput = s.model, s.tier, s.inputTokens, s.cacheInput
	f.one[0] = s.finish
	f.Finish = f.one[:]
	if f.Detail == nil {
		f.Detail = s.print
	} else if s.print != nil {
		f.Detail.Fingerprint = s.print.Fingerprint
	}
	if s.channels&Content != 0 {
		f.TextChars = chars
	} else {
		f.ReasoningChars = chars
	}
	d.ev.Channels = s.channels
	d.m.st = mDone
	return true, false
}

// numberHole notes a number or word.
func (d *Decoder) numberHole(start, end int, s slot, c byte) {
	number := c == '-' || c >= '0' && c <= '9'
	if d.shaped && number && s >= uFirst && s <= uLast || s == none && (number || !d.shaped) {
		d.addHole(start, end, s, 0)
	}
}

// learnShape makes the shape of the answer that was just read, all of p, the one
// that the next are compared with, if it can tell all that is to be told of them.
func (d *Decoder) learnShape(p []byte) {
	f, m := d.facts, &d.memo
	if d.fault || d.err.Present || len(f.Finish) != 1 || d.choices != 1 || len(f.Calls) > 0 || d.timing != nil ||
		d.ev.Channels != 0 && d.ev.Channels != Content && d.ev.Channels != Reasoning {
		return
	}
	s := &shape{api: d.api, channels: d.ev.Channels, inputTokens: f.inputTokens, cacheInput: f.cacheInput,
		finish: f.Finish[0], model: f.Model, tier: f.Tier, nholes: m.nholes, holes: m.holes}
	if f.Detail != nil && f.Detail.Fingerprint != "" {
		s.print = d.common.of([]byte(f.Detail.Fingerprint))
	}
	at, size, texts, chars := 0, 0, 0, f.TextChars+f.ReasoningChars
	literal := make([]byte, len(p))
	for i := range s.holes[:s.nholes] {
		h := &s.holes[i]
		value := p[h.start:h.end]
		switch {
		case h.flags&holeText != 0:
			texts++
			chars -= d.countText(value)
		case h.slot >= uFirst && h.slot <= uLast && h.flags&holeString != 0:
			return // a count in quotes, or what stands in its place
		case h.slot == sID:
			texts += 4
			if !plain(value) {
				return
			}
		}
		size += copy(literal[size:], p[at:h.start])
		at = int(h.end)
		h.start = uint16(size)
	}
	size += copy(literal[size:], p[at:])
	if size <= maxShape && texts&3 <= 1 && texts>>2 <= 1 && chars == 0 {
		s.literal = string(literal[:size])
		d.common.shape.Store(s)
	}
}
