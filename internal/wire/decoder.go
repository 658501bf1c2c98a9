// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"math"
	"strconv"
)

// Decoder reads one response, or with NewRequest one request. The zero value
// is of no use; it is not safe for concurrent use.
type Decoder struct {
	api     API
	stream  bool
	fault   bool
	began   bool // a byte of the current document was read
	discard bool
	shaped  bool // it may have the shape of the answer before

	m    machine
	memo memo
	ev   Event

	facts *Facts
	req   *Request
	kept  *captured // nil without capture

	choice choiceScratch
	resp   responsesScratch
	tool   toolScratch
	tools  []toolScratch // of the choice being read
	timing *timingName   // being read; nil until a group of timings is
	group  slot
	err    Error // of the document being read

	choices int32 // begun in the document

	common *Common // nil: each answer has its own

	errs    errFlags
	payload bool   // the document has what an answer has
	usage0  uint16 // the counts of the document that are not 0
}

// Init makes d ready for a response of the API whose facts go to f, in which there
// are none yet but those of its header. A stream's events are told apart by Begin
// and End; a plain body is one document. Capture keeps the content in f.Captured,
// whose limits hold if there is one.
func (d *Decoder) Init(api API, stream, capture bool, f *Facts) {
	d.reset()
	d.api, d.stream, d.facts = api, stream, f
	if capture {
		if f.Captured == nil {
			f.Captured = NewCaptured(0, 0)
		}
		d.kept = &captured{part: f.Captured.scratch()}
	}
	d.memo.off = !stream || capture
	if stream && cap(d.memo.pattern) > maxPattern {
		d.memo.pattern = nil // it has room for a plain answer
	}
	d.shaped = !stream && !capture && d.common != nil && (api == ChatCompletions || api == Completions)
	d.Begin()
}

// reset makes d as new, but for the room that it has for tokens and a pattern.
func (d *Decoder) reset() {
	tok, pattern, frame := d.m.tok[:0], d.memo.pattern[:0], d.memo.frame[:0]
	*d = Decoder{common: d.common}
	d.m.tok, d.memo.pattern, d.memo.frame = tok, pattern, frame
}

// Release lets go of what d was reading, before it is kept for another use.
func (d *Decoder) Release() {
	d.facts, d.req, d.kept, d.tools = nil, nil, nil, nil
	if len(d.memo.pattern) > 0 {
		clear(d.memo.pattern[:cap(d.memo.pattern)]) // it has an event's text
		clear(d.memo.frame[:cap(d.memo.frame)])     // and this may have its id
	}
	d.tool, d.err = toolScratch{}, Error{}
	if cap(d.m.tok) > 2*maxToken {
		d.m.tok = nil // it grew under capture
	}
}

// Discard keeps what comes from now on out of the facts: the response has
// ended, and what follows, but for the "[DONE]" mark, is none of it.
func (d *Decoder) Discard() {
	if !d.discard {
		d.discard = true
		d.facts = new(Facts)
		if d.kept != nil {
			d.facts.Captured = NewCaptured(d.kept.part, d.kept.part)
		}
	}
}

// Begin starts a document: an event's data, or a plain body.
func (d *Decoder) Begin() {
	d.m.reset()
	d.m.slot = root
	d.memo.from, d.memo.hit, d.memo.inside, d.memo.chars = 0, false, false, 0
	d.ev = Event{}
	d.fault, d.began = false, false
	d.err, d.errs, d.payload, d.usage0 = Error{}, 0, false, 0
	d.choices = 0
	if d.api >= Responses {
		d.resp.begin()
	}
	if d.kept != nil {
		d.beginKept()
	}
}

// Write feeds the next bytes of the document. It keeps none of them.
func (d *Decoder) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	first := !d.began
	d.began = true
	if d.shaped {
		d.writeShaped(p)
		return len(p), nil
	}
	if first && d.memoStart(p) || !first && d.memoGoOn(p) {
		return len(p), nil
	}
	d.feed(p)
	if d.kept != nil {
		d.feedRaw(p, len(p))
		d.kept.raw.from = 0
	}
	if d.memo.learn = d.memo.learn && d.m.st == mDone; d.memo.learn {
		d.memo.pattern = append(d.memo.pattern[:0], p...)
	}
	return len(p), nil
}

// End ends the document and says what it was.
func (d *Decoder) End() Event {
	if d.api == Responses {
		d.memo.count(d.facts, d.memo.chars) // its texts count at the end of their event, as in endResponses
	}
	if d.memo.hit {
		return d.ev
	}
	d.Flush() // for good: a further document adds to the facts of the first
	m := &d.m
	switch {
	case m.st == mDone:
	case m.st == mRaw && d.stream && IsDone(m.lit[:m.nlit]):
		d.ev.Done = true
		return d.ev
	default:
		// Broken off or no JSON: what was complete in it counts.
		d.fault = true
		for m.nstack > 0 {
			d.pop()
		}
	}
	switch {
	case d.api == Responses:
		d.endResponses()
	case d.api > Responses && d.stream:
		d.endTranscript()
	}
	if d.err.Present {
		d.ev.Error = true
		if !d.facts.Error.Present {
			d.facts.Error = d.err
			if d.kept != nil {
				d.facts.Captured.Message = bytes.Clone(d.kept.message)
			}
		}
	}
	if d.fault {
		d.ev.Fault = true
		d.facts.Faults++
	}
	d.facts.Streamed |= d.ev.Channels
	if d.ev.Channels&Reasoning != 0 {
		if d.ev.Summary() {
			d.facts.Summaries = true
		} else {
			d.facts.RawReasoning = true
		}
	}
	if d.memo.learn && d.repeats() {
		d.memoLearn()
	}
	return d.ev
}

// Whole reports whether the document has come to its end.
func (d *Decoder) Whole() bool {
	d.Flush()
	return d.m.st == mDone
}

// Empty reports whether the document had no bytes at all.
func (d *Decoder) Empty() bool { return !d.began }

// IsDone reports whether an event's data, white space before it left out, is
// the "[DONE]" mark.
func IsDone(b []byte) bool { return len(b) >= 6 && string(b[:6]) == "[DONE]" }

// short takes a complete short string.
func (d *Decoder) short(s slot, b []byte) {
	f := d.facts
	switch s {
	case sID:
		if len(b) > 0 {
			f.ID.Set(b)
		}
	case sModel:
		if len(b) > 0 {
			f.Model.Set(b)
		}
	case sTier:
		f.Tier = intern(b, f.Tier)
	case sFingerprint:
		d.setFingerprint(b)
	case eType, eCode, eStatus, eObject, eMessage, eOther, sError, sDetail:
		d.errorText(s, b)
	case cFinish:
		d.choice.finish = intern(b[:min(len(b), maxReason)], d.choice.finish)
	case tID, tName:
		d.toolText(s, b)
	case tItemID:
		if d.tool.call.Key == 0 && len(b) > 0 {
			d.tool.call.Key = hash(b)
		}
	default:
		switch {
		case s >= qFirst && s <= qLast:
			d.requestText(s, b)
		case s >= rFirst && s <= rLast:
			d.responsesText(s, b)
		}
	}
}

// scalar takes a number, true, false or null.
func (d *Decoder) scalar(s slot, b []byte) {
	if s == qStreamOptions {
		d.req.StreamOptions = true
	}
	if b[0] == 'n' {
		return // null says nothing, and never takes back what was said
	}
	switch {
	case s >= uFirst && s <= uLast:
		d.setCount(s, b)
	case s == cIndex:
		if n, ok := integer(b); ok && n >= 0 && n < 1<<20 {
			d.choice.index = int32(n)
		}
	case s == tIndex:
		if n, ok := integer(b); ok && n >= 0 && n < 1<<20 {
			d.tool.call.Index, d.tool.call.HasIndex = int32(n), true
		}
	case s >= eFirst && s <= eLast:
		d.errorScalar(s, b)
	case s == gValue:
		d.noteTiming(b)
	case s >= qFirst && s <= qLast:
		d.requestScalar(s, b)
	case s >= rFirst && s <= rLast:
		d.responsesScalar(s, b)
	}
}

// integer reads a JSON number that is a whole one: a float without a fraction
// is, what does not fit is not.
func integer(b []byte) (int64, bool) {
	var n int64
	for i, c := range b {
		if c < '0' || c > '9' || i == 18 {
			if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
				return n, true
			}
			f, err := strconv.ParseFloat(string(b), 64)
			if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
				return 0, false
			}
			return int64(f), true
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(b) > 0
}

func number(b []byte) (float64, bool) {
	f, err := strconv.ParseFloat(string(b), 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}
