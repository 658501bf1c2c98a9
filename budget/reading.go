// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tacho-go/tacho"
)

// Reading is the calls at hand and how they are taken. Make one by Observed,
// Estimated or their forms for snapshots; the zero Reading has no calls.
type Reading struct {
	calls      []*tacho.Call // in the order of their starts
	snapshot   *tacho.Snapshot
	estimated  bool
	confidence float64
	undecided  bool // is no failure
}

// Observed takes the calls for all there are: a quantile of them is what it is.
func Observed(calls []*tacho.Call) Reading {
	calls = slices.DeleteFunc(slices.Clone(calls), func(c *tacho.Call) bool { return c == nil })
	slices.SortStableFunc(calls, func(a, b *tacho.Call) int { return a.Start().Compare(b.Start()) })
	return Reading{calls: calls}
}

// ObservedSnapshot is Observed for what a recorder holds. What needs single calls,
// as goodput does, it leaves undecided.
func ObservedSnapshot(s tacho.Snapshot) Reading { return Reading{snapshot: &s} }

// Estimated takes the calls for a sample of what made them, and gives a verdict
// on that, with 95 % confidence. If calls that follow each other resemble each
// other, they count as fewer: see Result.Effective.
func Estimated(calls []*tacho.Call) Reading {
	r := Observed(calls)
	r.estimated, r.confidence = true, 0.95
	return r
}

// EstimatedSnapshot is Estimated for what a recorder holds. A snapshot has no
// order, so that its calls are taken for independent ones.
func EstimatedSnapshot(s tacho.Snapshot) Reading {
	return Reading{snapshot: &s, estimated: true, confidence: 0.95}
}

// Confidence returns an estimating reading with another confidence, from 0.5 to
// 0.9999. It panics at any other, and for a reading that estimates nothing.
func (r Reading) Confidence(c float64) Reading {
	if !(c >= 0.5 && c <= 0.9999) || !r.estimated {
		panic("budget: Confidence(" + strconv.FormatFloat(c, 'g', -1, 64) + "): it is 0.5 to 0.9999, of a reading made by Estimated")
	}
	r.confidence = c
	return r
}

// AllowUndecided returns a reading under which an undecided budget fails no test.
func (r Reading) AllowUndecided() Reading { r.undecided = true; return r }

// span is a value that is known, or known to lie between two.
type span struct{ low, high float64 }

var unknown = span{0, math.Inf(1)}

// isStream reports whether a call counts among the streams, as in a Recorder.
func isStream(c *tacho.Call) bool {
	status, _ := c.Status()
	return c.Streaming() || c.StreamRequested() && (status < 200 || status >= 300)
}

// ofStreams reports whether only streams have a figure.
func ofStreams(f tacho.Figure) bool {
	switch f {
	case tacho.TTFC, tacho.TTFT, tacho.TTFO, tacho.TTLT, tacho.Gap, tacho.TPOT:
		return true
	}
	return false
}

// onlyStreams reports whether a budget can be of streams alone.
func (b Budget) onlyStreams() bool {
	switch b.kind {
	case quantile, mean, maximum:
		return ofStreams(b.figure)
	case longestStall:
		return true
	}
	return slices.ContainsFunc(b.limits, func(l Limit) bool { return ofStreams(l.Figure) })
}

// mixes reports whether a budget must not be of streams and plain calls at once.
func (b Budget) mixes() bool {
	switch b.kind {
	case quantile, mean, maximum, share:
		return true
	}
	return false
}

// chosen returns the calls that a budget is of; mixed when it must choose a kind.
func (r Reading) chosen(b Budget) (calls []*tacho.Call, mixed bool) {
	var streams, plain int
	for _, c := range r.calls {
		if !b.covers(c) {
			continue
		}
		if isStream(c) {
			streams++
		} else {
			plain++
		}
		calls = append(calls, c)
	}
	return calls, b.mixes() && streams > 0 && plain > 0
}

// covers reports whether a call is among those that a budget is of.
func (b Budget) covers(c *tacho.Call) bool {
	stream := isStream(c)
	if b.stream != nil && stream != *b.stream || b.onlyStreams() && !stream || !hasLabels(c, b.labels) {
		return false
	}
	status, ok := c.Status()
	return !ok || status < 300 || status >= 400 // a redirect is an exchange without an answer
}

func hasLabels(c *tacho.Call, labels []tacho.Label) bool {
	for _, l := range labels {
		if c.Label(l.Name) != l.Value {
			return false
		}
	}
	return true
}

// group is chosen for a snapshot.
func (r Reading) group(b Budget) (g tacho.Group, mixed bool) {
	var pairs []string
	for _, l := range b.labels {
		pairs = append(pairs, l.Name, l.Value)
	}
	s := r.snapshot.Where(pairs...)
	stream := b.stream
	if b.onlyStreams() {
		if stream != nil && !*stream {
			return g, false
		}
		stream = ptr(true)
	}
	f := b.ranked()
	some := func(g tacho.Group) bool { return g.Calls() > 0 || g.Figure(f).Count() > 0 }
	switch {
	case stream == nil && b.mixes() && some(s.Streams) && some(s.Plain):
		return g, true
	case stream == nil:
		return s.Streams.Plus(s.Plain), false
	case *stream:
		return s.Streams, false
	}
	return s.Plain, false
}

// spanOf returns what is known of a figure of a call; ok is false when the call
// is in no quantile of it. A deadline that came before the figure leaves it "at
// least"; what rests on an upper bound is unknown.
func spanOf(c *tacho.Call, f tacho.Figure) (s span, ok bool) {
	d, has := c.Figure(f)
	first := f == tacho.TTFC || f == tacho.TTFT || f == tacho.TTFO
	switch c.Outcome() {
	case tacho.Complete:
	case tacho.ClosedEarly, tacho.Cut, tacho.Cancelled:
		has = has && first
	case tacho.Deadline:
		switch end, known := c.Duration(); {
		case f == tacho.TTLT || f == tacho.Duration || !has && (first || f == tacho.TTFB):
			if f == tacho.TTFB && !known {
				return span{}, false
			}
			return span{end.Seconds(), math.Inf(1)}, known
		case f == tacho.TPOT || f == tacho.NetworkWait || f == tacho.ConsumerWait:
			return span{}, false // of a whole call
		}
	default:
		return span{}, false
	}
	if !has {
		return span{}, false
	}
	if inBound(c, f) {
		return unknown, true
	}
	return span{d.Seconds(), d.Seconds()}, true
}

// inBound reports whether a figure rests on a first output that may have come
// earlier. TTFC and TTLT do when they are of the same Read.
func inBound(c *tacho.Call, f tacho.Figure) bool {
	if !c.Upper() {
		return false
	}
	switch f {
	case tacho.TTFT, tacho.TTFO, tacho.TPOT:
		return true
	case tacho.TTFC, tacho.TTLT:
		d, _ := c.Figure(f)
		ttft, _ := c.TTFT()
		return d == ttft
	}
	return false
}

// bounded reports whether upper bounds are among the values of a figure in a
// recorder, where nobody knows which they are.
func bounded(f tacho.Figure) bool {
	switch f {
	case tacho.TTFC, tacho.TTFT, tacho.TTFO, tacho.TPOT:
		return true
	}
	return false
}

// censored reports whether a deadline keeps a figure from being known.
func censored(f tacho.Figure) bool {
	switch f {
	case tacho.TTFB, tacho.TTFC, tacho.TTFT, tacho.TTFO, tacho.TTLT, tacho.Duration, tacho.Gap:
		return true
	}
	return false
}

// spansOf returns the spans of a figure, in the order of the calls.
func spansOf(calls []*tacho.Call, f tacho.Figure) (all []span) {
	for _, c := range calls {
		if s, ok := spanOf(c, f); ok {
			all = append(all, s)
		}
	}
	return all
}

// window returns the time from the start of the first call to the end of the last.
func window(calls []*tacho.Call) time.Duration {
	if len(calls) == 0 {
		return 0
	}
	var end time.Time
	for _, c := range calls {
		d, _ := c.Duration()
		if t := c.Start().Add(d); t.After(end) {
			end = t
		}
	}
	return end.Sub(calls[0].Start())
}
