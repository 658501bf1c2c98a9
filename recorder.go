// SPDX-License-Identifier: Apache-2.0

package tacho

import "sync/atomic"

// Recorder keeps a histogram for each figure of the calls that end, streams
// and plain calls apart. The zero Recorder is ready; it is safe for concurrent
// use. Give it to a Transport with WithRecorder, or add calls with Observe.
//
// Latencies are those of complete calls. TTFC, TTFT, TTFO and gaps are taken
// from calls closed early, cut or cancelled as well, if they came that far; gaps
// are recorded as they happen, whatever the call comes to. A call that asked
// for a stream and got no answer, or a refusal, counts among the streams. A
// redirect (3xx) is an exchange without an answer: it is in no figure and no count.
type Recorder struct {
	streams, plain group
}

// group holds the series of streams or of plain calls.
type group struct {
	figures  [numFigures]Histogram
	outcomes [Dropped + 1]atomic.Int64
}

// NewRecorder returns an empty Recorder.
func NewRecorder() *Recorder { return new(Recorder) }

func (r *Recorder) group(c *Call) *group {
	if c.stream || c.req.Stream && (c.status < 200 || c.status >= 300) {
		return &r.streams
	}
	return &r.plain
}

// gaps returns where the gaps of a stream go while they happen.
func (r *Recorder) gaps(c *Call) *Histogram { return &r.group(c).figures[Gap] }

// Observe adds a call that no transport with this recorder has added. Its gaps
// are not added: of those a record keeps the moments only.
func (r *Recorder) Observe(c *Call) { r.add(c) }

// add adds a call that has ended; its gaps are there already.
func (r *Recorder) add(c *Call) {
	if c.status >= 300 && c.status < 400 {
		return
	}
	g := r.group(c)
	if int(c.outcome) < len(g.outcomes) {
		g.outcomes[c.outcome].Add(1)
	}
	for f := range numFigures {
		if !c.stream && f.ofStreams() || !c.enters(f) {
			continue
		}
		if d, ok := c.Figure(f); ok {
			g.figures[f].Record(d)
		}
	}
}

// enters reports whether the call counts in the quantiles of a figure.
func (c *Call) enters(f Figure) bool {
	switch c.outcome {
	case Complete:
		return true
	case ClosedEarly, Cut, Cancelled:
		return f == TTFC || f == TTFT || f == TTFO
	}
	return false
}

// Snapshot is what a Recorder holds: the calls that were streams, and the rest.
type Snapshot struct{ Streams, Plain Group }

// Group gives the figures of a kind of calls.
type Group struct{ g *group }

// Total returns all that was recorded since the recorder was made. It follows
// the recorder: what is recorded later shows in it.
func (r *Recorder) Total() Snapshot {
	return Snapshot{Group{&r.streams}, Group{&r.plain}}
}

// Figure returns the histogram of a figure; it must not be recorded into. Calls
// that failed are not in it: look at ErrorRate beside it, or a service whose
// slow calls run into a time-out shows fast ones only.
func (g Group) Figure(f Figure) *Histogram {
	if g.g == nil || f >= numFigures {
		return new(Histogram)
	}
	return &g.g.figures[f]
}

// Outcome returns how many calls ended so.
func (g Group) Outcome(o Outcome) int64 {
	if g.g == nil || int(o) >= len(g.g.outcomes) {
		return 0
	}
	return g.g.outcomes[o].Load()
}

// Calls returns how many calls ended.
func (g Group) Calls() (n int64) {
	for o := Complete; o <= Dropped; o++ {
		n += g.Outcome(o)
	}
	return n
}

// ErrorRate returns failed ÷ (all − cancelled − closed early − dropped),
// absent when nothing is left to divide by.
func (g Group) ErrorRate() (float64, bool) {
	var bad, all int64
	for o := Complete; o <= Dropped; o++ {
		n := g.Outcome(o)
		if o.Bad() {
			bad += n
		}
		if o != Cancelled && o != ClosedEarly && o != Dropped {
			all += n
		}
	}
	if all == 0 {
		return 0, false
	}
	return float64(bad) / float64(all), true
}
