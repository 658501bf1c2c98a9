// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"math"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/internal/stat"
)

// Verdict is what became of a budget.
type Verdict uint8

// The verdicts. The zero Verdict is Undecided.
const (
	Undecided Verdict = iota
	Met
	Broken
)

// String returns the verdict in a word.
func (v Verdict) String() string {
	switch v {
	case Met:
		return "met"
	case Broken:
		return "broken"
	}
	return "undecided"
}

// Result is a budget's verdict and what it rests on. Values are seconds, shares
// or counts, as the budget's bound is.
type Result struct {
	Budget  Budget
	Verdict Verdict
	// N is the number of values or calls, and Unknown how many of them are not
	// known exactly: upper bounds, and calls that a deadline ended before.
	N, Unknown int64
	// Value is what was observed; absent when that is not known.
	Value    float64
	HasValue bool
	// Low and High are the ends between which the measure lies: of an observation
	// with unknown values, or of an estimate. Each may be absent.
	Low, High       float64
	HasLow, HasHigh bool
	// Effective is how many independent values those are worth to an estimate.
	Effective float64
	// More is how many more such calls would decide; 0 when that is not known.
	More int64
	// Why says why there is no verdict.
	Why string
}

// Judge gives the verdict on a budget.
func (r Reading) Judge(b Budget) Result {
	res := Result{Budget: b}
	if b.kind == nothing {
		res.Why = "the zero Budget judges nothing"
		return res
	}
	var calls []*tacho.Call
	var g tacho.Group
	var mixed bool
	if r.snapshot != nil {
		g, mixed = r.group(b)
	} else {
		calls, mixed = r.chosen(b)
	}
	if n := r.overflow(b); n > 0 {
		res.Why = fmt.Sprintf("%d calls are in the recorder's overflow series, and nobody knows their labels: see tacho.WithMaxSeries", n)
		return res
	}
	if mixed {
		res.Why = `streams and plain calls are never mixed: add {stream="true"} or {stream="false"}`
		return res
	}
	j := judge{r, b, &res}
	switch b.kind {
	case quantile, mean, maximum:
		j.latency(calls, g)
	case errorRate, tooMany, share, goodput:
		j.rate(calls, g)
	default:
		j.total(calls, g)
	}
	if res.N == 0 {
		if why := r.unlabelled(b); why != "" {
			res.Why = why
		}
	}
	return res
}

// judge is one verdict in the making.
type judge struct {
	Reading
	b   Budget
	res *Result
}

// between gives the verdict on a measure that lies between two ends.
func (j *judge) between(low, high float64) {
	res, b := j.res, j.b
	if low > 0 || b.kind.rate() {
		res.Low, res.HasLow = low, true
	}
	if !math.IsInf(high, 0) {
		res.High, res.HasHigh = high, true
	}
	res.Verdict = verdict(b, low, high)
}

func verdict(b Budget, low, high float64) Verdict {
	lowHolds, highHolds := b.op.holds(low, b.bound), b.op.holds(high, b.bound)
	switch {
	case lowHolds && highHolds:
		return Met
	case !lowHolds && !highHolds:
		return Broken
	}
	return Undecided
}

// value notes what was observed.
func (j *judge) value(v float64) { j.res.Value, j.res.HasValue = v, true }

func (j *judge) latency(calls []*tacho.Call, g tacho.Group) {
	res, b := j.res, j.b
	var o order
	var series []float64 // in order, for the likeness of neighbours
	switch {
	case j.snapshot != nil:
		c := &counted{h: g.Figure(b.figure)}
		c.n = c.h.Count()
		if _, c.beyond = c.h.OutOfRange(); censored(b.figure) {
			c.deadlines = g.Outcome(tacho.Deadline)
		}
		if bounded(b.figure) {
			c.upper = min(g.Upper(), c.n)
		}
		o = c
	case b.figure == tacho.Gap && b.kind != maximum:
		res.Why = "a call keeps its longest gap and not all of them: judge a recorder's snapshot"
		return
	case b.figure == tacho.Gap:
		o = newSorted(stalls(calls))
	default:
		spans := spansOf(calls, b.figure)
		o = newSorted(spans)
		for _, s := range spans {
			series = append(series, min(s.high, max(s.low, 1e9)))
			if s.high == s.low {
				series[len(series)-1] = s.low
			}
		}
	}
	res.N, res.Unknown = o.count(), o.unknown()
	if res.N == 0 {
		res.Why = "no call has the figure"
		return
	}
	switch b.kind {
	case maximum:
		j.max(o)
	case mean:
		j.mean(o, g, series)
	default:
		j.quantile(o, series)
	}
	if res.Verdict == Undecided && res.Why == "" {
		switch {
		case res.Unknown > 0:
			res.Why = "values that are not known exactly could decide it either way"
		case j.snapshot != nil && !j.estimated:
			res.Why = insideBucket
		}
	}
}

// insideBucket is why a histogram leaves a verdict open.
const insideBucket = "the limit lies inside the bucket of the histogram in which the value is"

// few reports whether an estimate has too few values to show whether they
// depend on each other, and says so.
func (j *judge) few(n int64) bool {
	const enough = 50
	if n < enough {
		j.res.Why, j.res.More = fmt.Sprintf("fewer than %d calls do not show whether they resemble each other", enough), enough-n
	}
	return n < enough
}

// overflow returns how many calls of a snapshot a budget for some labels cannot
// see.
func (r Reading) overflow(b Budget) int64 {
	if r.snapshot == nil || len(b.labels) == 0 {
		return 0
	}
	s := r.snapshot.Where("overflow", "true")
	return s.Streams.Calls() + s.Plain.Calls()
}

func (j *judge) max(o order) {
	low, high := o.low(o.count()), o.high(o.count())
	if low == high {
		j.value(low)
	}
	j.between(low, high)
	// A sample shows that values are above a bound, never that none is.
	if none := j.res.Verdict == Met; j.estimated && j.res.Verdict != Undecided && none == j.b.op.upper() {
		j.res.Verdict, j.res.Why = Undecided, "no sample bounds the greatest value of what made it"
	}
}

func (j *judge) quantile(o order, series []float64) {
	res, b := j.res, j.b
	n := o.count()
	rank := nearestRank(b.q, n)
	low, high := o.low(rank), o.high(rank)
	if low == high || j.snapshot != nil && o.unknown() == 0 {
		j.value(high)
	}
	if !j.estimated {
		j.between(low, high)
		return
	}
	if j.few(n) {
		return
	}
	res.Effective = float64(n)
	if series != nil {
		res.Effective = effective(ranks(series))
	}
	at := func(n int64, effective float64) (low, high float64) {
		l, u := ends(n, b.q, effective, j.confidence)
		low, high = 0, math.Inf(1)
		// The ranks of n values, as a share, in those at hand.
		scale := float64(o.count()) / float64(n)
		if l > 0 {
			low = o.low(max(1, int64(math.Floor(float64(l)*scale))))
		}
		if u > 0 {
			high = o.high(min(o.count(), int64(math.Ceil(float64(u)*scale))))
		}
		return low, high
	}
	low, high = at(n, res.Effective)
	if j.between(low, high); res.Verdict == Undecided {
		res.More = j.more(n, func(m int64) Verdict {
			low, high := at(m, res.Effective/float64(n)*float64(m))
			return verdict(b, low, high)
		})
	}
}

// more returns how many values beyond n decide, if they are like those at hand.
func (j *judge) more(n int64, decide func(m int64) Verdict) int64 {
	const most = 1e9
	for m := float64(n) * 1.02; m < most; m = m*1.02 + 1 {
		if decide(int64(m)) != Undecided {
			return int64(m) - n
		}
	}
	return 0
}

func (j *judge) mean(o order, g tacho.Group, series []float64) {
	res, b := j.res, j.b
	n := float64(o.count())
	if o.unknown() > 0 {
		res.Why = "a mean needs every value"
		return
	}
	var m, deviation float64
	if j.snapshot != nil {
		d, _ := g.Figure(b.figure).Mean()
		s, _ := g.Figure(b.figure).StdDev()
		m, deviation = d.Seconds(), s.Seconds()
	} else {
		var v float64
		m, v = moments(series)
		deviation = math.Sqrt(v * n / max(1, n-1))
	}
	j.value(m)
	if !j.estimated {
		j.between(m, m)
		return
	}
	res.Effective = n
	if series != nil {
		res.Effective = effective(series)
	}
	if j.few(o.count()) {
		return
	}
	if res.Effective < 2 {
		res.Why = "the calls resemble each other too much for a mean's interval"
		return
	}
	at := func(k float64) (low, high float64) {
		half := stat.StudentQuantile((1+j.confidence)/2, k-1) * deviation / math.Sqrt(k)
		return m - half, m + half
	}
	low, high := at(res.Effective)
	if j.between(low, high); res.Verdict == Undecided {
		res.More = j.more(int64(n), func(k int64) Verdict {
			low, high := at(res.Effective / n * float64(k))
			return verdict(b, low, high)
		})
	}
}

// Duration returns a value of a budget over times as one.
func (r Result) duration(v float64) time.Duration { return seconds(v).Round(time.Microsecond) }
