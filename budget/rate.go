// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/internal/stat"
)

// tally counts what a rate is of: those that count for it, those that count
// against it, and those of which nobody knows. Series has 1 and 0 in the order of
// the calls, where there is one.
type tally struct {
	for_, against, open int64
	inside              int64 // of the open ones: in the bucket in which the limit lies
	series              []float64
}

func (t *tally) add(counts, known bool) {
	switch {
	case !known:
		t.open++
	case counts:
		t.for_++
		t.series = append(t.series, 1)
	default:
		t.against++
		t.series = append(t.series, 0)
	}
}

// rate judges a share.
func (j *judge) rate(calls []*tacho.Call, g tacho.Group) {
	res, b := j.res, j.b
	var t tally
	switch {
	case j.snapshot != nil && b.kind == goodput:
		res.Why = "goodput needs single calls, which a snapshot has not"
		return
	case j.snapshot != nil:
		t = tallyGroup(b, g)
	default:
		t = tallyCalls(b, calls)
	}
	n := t.for_ + t.against + t.open
	if res.N, res.Unknown = n, t.open; n == 0 {
		res.Why = "no calls"
		return
	}
	if j.estimated && j.few(n) {
		return
	}
	low, high := float64(t.for_)/float64(n), float64(t.for_+t.open)/float64(n)
	if t.open == 0 {
		j.value(low)
	}
	if !j.estimated {
		if j.between(low, high); res.Verdict == Undecided {
			res.Why = "values that are not known exactly could decide it either way"
			if j.snapshot != nil && t.inside == t.open {
				res.Why = insideBucket
			}
		}
		return
	}
	res.Effective = float64(n)
	if k := len(t.series); k > 0 {
		res.Effective = effective(t.series) / float64(k) * float64(n)
	}
	at := func(n int64, k float64) (float64, float64) {
		l, _ := rateInterval(low, float64(n), k, j.confidence)
		_, h := rateInterval(high, float64(n), k, j.confidence)
		return l, h
	}
	l, h := at(n, res.Effective)
	if j.between(l, h); res.Verdict == Undecided {
		res.More = j.more(n, func(m int64) Verdict {
			l, h := at(m, res.Effective/float64(n)*float64(m))
			return verdict(b, l, h)
		})
	}
}

// rateInterval is the score interval of a share of n values that are worth fewer
// independent ones.
func rateInterval(share, n, effective, confidence float64) (low, high float64) {
	z := stat.NormalQuantile((1 + confidence) / 2)
	if effective < n {
		// What they are worth is itself an estimate, from √n blocks of √n values
		// that overlap, which have 1.5 times the degrees of freedom of as many apart.
		z = stat.StudentQuantile((1+confidence)/2, 1.5*(math.Sqrt(n)-1))
	}
	return stat.WilsonAt(share*effective, effective, z)
}

func tallyCalls(b Budget, calls []*tacho.Call) (t tally) {
	for _, c := range calls {
		status, _ := c.Status()
		switch o := c.Outcome(); b.kind {
		case errorRate:
			if o != tacho.Cancelled && o != tacho.ClosedEarly && o != tacho.Dropped {
				t.add(o.Bad(), true)
			}
		case tooMany:
			t.add(status == 429, true)
		case share:
			if s, ok := spanOf(c, b.limits[0].Figure); ok {
				within, known := s.within(b.limits[0].AtMost)
				t.add(within, known)
			}
		case goodput:
			t.add(good(c, b.limits))
		}
	}
	return t
}

func tallyGroup(b Budget, g tacho.Group) (t tally) {
	switch b.kind {
	case errorRate:
		for o := tacho.Complete; o < tacho.Dropped; o++ {
			switch n := g.Outcome(o); {
			case o.Bad():
				t.for_ += n
			case o != tacho.Cancelled && o != tacho.ClosedEarly:
				t.against += n
			}
		}
	case tooMany:
		t.for_ = g.TooMany()
		t.against = g.Calls() - t.for_
	case share:
		l := b.limits[0]
		for b := range g.Figure(l.Figure).Buckets() {
			switch {
			case b.High <= l.AtMost:
				t.for_ += b.Count
			case b.Low > l.AtMost:
				t.against += b.Count
			default:
				t.open += b.Count // the limit lies inside the bucket
				t.inside += b.Count
			}
		}
		if top, ok := g.Figure(l.Figure).Max(); ok && top <= l.AtMost {
			t.for_, t.open, t.inside = t.for_+t.open, 0, 0
		}
		if _, beyond := g.Figure(l.Figure).OutOfRange(); l.AtMost >= time.Hour {
			t.for_, t.open = t.for_-min(beyond, t.for_), t.open+min(beyond, t.for_)
		}
		if bounded(l.Figure) {
			// Nobody knows which of them they are.
			upper := g.Upper()
			good, bad := min(upper, t.for_), min(upper, t.against)
			t.for_, t.against, t.open = t.for_-good, t.against-bad, t.open+good+bad
		}
		if censored(l.Figure) {
			t.open += g.Outcome(tacho.Deadline)
		}
	}
	return t
}

// within reports whether a value is within a limit, if that is known.
func (s span) within(limit time.Duration) (within, known bool) {
	switch l := limit.Seconds(); {
	case s.high <= l:
		return true, true
	case s.low > l:
		return false, true
	}
	return false, false
}

// good reports whether a call met every limit, if that is known. A failed call
// did not; one that was cut off or cancelled did not if it was past a limit
// already. A figure that a complete call has not limits nothing.
func good(c *tacho.Call, limits []Limit) (met, known bool) {
	if c.Outcome().Bad() {
		return false, true
	}
	known = c.Outcome() == tacho.Complete
	for _, l := range limits {
		d, has := c.Figure(l.Figure)
		first := l.Figure == tacho.TTFC || l.Figure == tacho.TTFT || l.Figure == tacho.TTFO
		switch {
		case has && inBound(c, l.Figure), l.Figure == tacho.TPOT && c.Buffered():
			known = false
		case has && d > l.AtMost:
			return false, true
		case !has && c.Outcome() != tacho.Complete && first:
			// It waited in vain for so long.
			if end, ok := c.Duration(); ok && end > l.AtMost {
				return false, true
			}
		}
	}
	return known, known
}

func goodCalls(calls []*tacho.Call, limits []Limit) (met, not, open int64) {
	for _, c := range calls {
		switch ok, known := good(c, limits); {
		case !known:
			open++
		case ok:
			met++
		default:
			not++
		}
	}
	return met, not, open
}

// SLA returns the quantile that an objective over a share of the calls means,
// and how many calls decide it: 99.9 % of calls within a limit is the P99.9, and
// 10 ÷ (1 − share) calls, some 10,000, have ten above it. A share that is not
// above 0 and below 1 has neither.
func SLA(share float64) (q float64, calls int64, ok bool) {
	if !(share > 0 && share < 1) {
		return 0, 0, false
	}
	return share, tacho.Needed(share), true
}

// ErrorBudget is what an objective leaves to be bad.
type ErrorBudget struct {
	// Allowed is the share of calls that may be bad.
	Allowed float64
	// Bad of N calls were.
	Bad, N int64
}

// Spent returns what a budget over a share, such as share(ttft <= 500ms) >= 99.9%
// or errors <= 1%, allows and what a snapshot's calls have used of it. It is
// absent for another kind of budget, for one that allows nothing, and without
// calls. Calls of which nobody knows count as bad.
func (b Budget) Spent(s tacho.Snapshot) (ErrorBudget, bool) {
	g, mixed := ObservedSnapshot(s).group(b)
	if mixed || b.kind != errorRate && b.kind != tooMany && b.kind != share {
		return ErrorBudget{}, false
	}
	t := tallyGroup(b, g)
	e := ErrorBudget{Allowed: b.bound, Bad: t.for_ + t.open, N: t.for_ + t.against + t.open}
	if !b.op.upper() {
		e.Allowed, e.Bad = 1-b.bound, t.against+t.open
	}
	return e, e.N > 0 && e.Allowed > 0 && e.Allowed <= 1
}

// Remaining returns the share of the budget that is left: 1 when no call was
// bad, below 0 when more were than may be.
func (e ErrorBudget) Remaining() float64 { return 1 - e.Burn() }

// Burn returns how fast the budget is used: 1 uses it up in just its period, 2 in
// half of it.
func (e ErrorBudget) Burn() float64 { return float64(e.Bad) / float64(e.N) / e.Allowed }

// Burning reports whether a budget is used at more than the given rate in a long
// window and in a short one: the first says that it matters, the second that it
// goes on (Google, The Site Reliability Workbook, chapter 5). It is absent where
// Spent is, for either window.
func (b Budget) Burning(long, short tacho.Snapshot, rate float64) (burning, ok bool) {
	l, lok := b.Spent(long)
	s, sok := b.Spent(short)
	if !lok || !sok || math.IsNaN(rate) {
		return false, false
	}
	return l.Burn() > rate && s.Burn() > rate, true
}
