// SPDX-License-Identifier: Apache-2.0

package load

import (
	"encoding/json"
	"math"
	"time"

	"github.com/tacho-go/tacho"
)

// Latency is a figure of complete calls, beside the calls that were cut off
// before they had it: by a deadline, or by the end of the run. Of those it is
// known that it would have been longer (right-censored). The zero Latency is
// empty. It must not be changed.
type Latency struct {
	known, censored tacho.Histogram
}

// Known returns the histogram of the calls that have the figure.
func (l *Latency) Known() *tacho.Histogram { return &l.known }

// Censored returns the histogram of the times at which the others were cut off.
func (l *Latency) Censored() *tacho.Histogram { return &l.censored }

// Count returns how many calls the quantiles are of, censored ones included.
func (l *Latency) Count() int64 { return l.known.Count() + l.censored.Count() }

// Quantile returns the q-quantile, the nearest rank of all calls. When the calls
// that were cut off keep it from being known, atLeast is true and it is the least
// that it can be. It is absent without calls, and told of however few there are:
// with fewer than tacho.Needed(q) it depends on one or two of them.
func (l *Latency) Quantile(q float64) (d time.Duration, atLeast, ok bool) {
	n := l.Count()
	if n == 0 || !(q >= 0 && q <= 1) {
		return 0, false, false
	}
	if l.censored.Count() == 0 {
		d, ok = l.known.Quantile(q)
		return d, false, ok
	}
	all := l.known.Clone()
	all.Merge(&l.censored)
	least, _ := all.Quantile(q)
	// With the others at infinity, the same rank among those that are known.
	rank := max(1, math.Ceil(q*float64(n)-1e-9))
	if known := float64(l.known.Count()); rank <= known {
		// The middle of the rank's share, or a rounded product would be the next rank.
		if most, _ := l.known.Quantile((rank - 0.5) / known); most <= least {
			return most, false, true
		}
	}
	return least, true, true
}

// Mean returns the mean of the calls that have the figure; of others, none is
// left out unless Censored has some.
func (l *Latency) Mean() (time.Duration, bool) { return l.known.Mean() }

func (l *Latency) merge(o *Latency) {
	l.known.Merge(&o.known)
	l.censored.Merge(&o.censored)
}

type latencyJSON struct {
	Count    int64            `json:"count"`
	Cut      int64            `json:"censored,omitempty"`
	Mean     *float64         `json:"mean,omitempty"`
	P50      *float64         `json:"p50,omitempty"`
	P90      *float64         `json:"p90,omitempty"`
	P99      *float64         `json:"p99,omitempty"`
	P999     *float64         `json:"p99.9,omitempty"`
	AtLeast  []string         `json:"at_least,omitempty"` // the quantiles that are bounds from below
	Known    *tacho.Histogram `json:"hdr,omitempty"`
	Censored *tacho.Histogram `json:"censored_hdr,omitempty"`
}

// MarshalJSON writes a summary in seconds beside the histograms in HdrHistogram's
// encoding.
func (l *Latency) MarshalJSON() ([]byte, error) {
	out := latencyJSON{Count: l.Count(), Cut: l.censored.Count()}
	if m, ok := l.Mean(); ok {
		out.Mean = new(m.Seconds())
	}
	for _, q := range []struct {
		q    float64
		name string
		to   **float64
	}{{0.5, "p50", &out.P50}, {0.9, "p90", &out.P90}, {0.99, "p99", &out.P99}, {0.999, "p99.9", &out.P999}} {
		d, atLeast, ok := l.Quantile(q.q)
		if !ok {
			continue
		}
		*q.to = new(d.Seconds())
		if atLeast {
			out.AtLeast = append(out.AtLeast, q.name)
		}
	}
	if l.known.Count() > 0 {
		out.Known = &l.known
	}
	if l.censored.Count() > 0 {
		out.Censored = &l.censored
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes. Counts come back as they were, the
// mean and the extremes as the buckets have them.
func (l *Latency) UnmarshalJSON(b []byte) error {
	in := latencyJSON{Known: &l.known, Censored: &l.censored}
	l.known.Reset()
	l.censored.Reset()
	return json.Unmarshal(b, &in)
}

// Latencies are those of the calls of one kind, streams or plain.
type Latencies struct {
	TTFT     Latency `json:"ttft"` // this and the next two of streams alone
	TTFO     Latency `json:"ttfo"`
	TTLT     Latency `json:"ttlt"`
	Duration Latency `json:"duration"`
}

func (l *Latencies) figures() [4]*Latency {
	return [...]*Latency{&l.TTFT, &l.TTFO, &l.TTLT, &l.Duration}
}

// latencyFigures are the figures of Latencies, in the order of its fields.
var latencyFigures = [...]tacho.Figure{tacho.TTFT, tacho.TTFO, tacho.TTLT, tacho.Duration}

func (l *Latencies) merge(o *Latencies) {
	theirs := o.figures()
	for i, f := range l.figures() {
		f.merge(theirs[i])
	}
}

// add takes a call that started so long after its intended start. A call that
// was cut off before it had a figure is known to have taken longer than that.
func (l *Latencies) add(c *tacho.Call, delay time.Duration, cut bool) {
	lasted, _ := c.Duration()
	o := c.Outcome()
	for i, f := range l.figures() {
		figure := latencyFigures[i]
		if !c.Streaming() && !(cut && c.StreamRequested()) && figure != tacho.Duration {
			continue
		}
		d, ok := c.Figure(figure)
		if figure == tacho.Duration {
			ok = o == tacho.Complete
		}
		early := figure == tacho.TTFT || figure == tacho.TTFO
		switch {
		case ok && (o == tacho.Complete || early && (o == tacho.ClosedEarly || o == tacho.Cut || o == tacho.Cancelled || cut)):
			f.known.Record(d + delay)
		case cut:
			f.censored.Record(lasted + delay)
		}
	}
}
