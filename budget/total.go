// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"math"

	"github.com/tacho-go/tacho"
)

// Budgets over sums, rates of time and the longest stall.

// total judges sums and rates over time, of which no interval is known.
func (j *judge) total(calls []*tacho.Call, g tacho.Group) {
	res, b := j.res, j.b
	res.N = int64(len(calls))
	span := window(calls)
	if j.snapshot != nil {
		res.N, span = g.Calls(), j.snapshot.End.Sub(j.snapshot.Start)
	}
	if res.N == 0 {
		res.Why = "no calls"
		return
	}
	switch b.kind {
	case longestStall:
		j.stall(calls, g)
		return
	case goodputRate:
		if j.snapshot != nil {
			res.Why = "goodput needs single calls, which a snapshot has not"
			return
		}
		good, _, open := goodCalls(calls, b.limits)
		res.Unknown = open
		if span > 0 {
			j.between(float64(good)/span.Seconds(), float64(good+open)/span.Seconds())
		}
		if open == 0 && span > 0 {
			j.value(float64(good) / span.Seconds())
		}
	default:
		in, out, missing := tokens(calls, b.kind)
		if j.snapshot != nil {
			in, out, _, _, _ = g.Tokens()
			missing = max(0, g.Outcome(tacho.Complete)-g.Reported())
		}
		v := float64(out)
		switch b.kind {
		case inputTokens:
			v = float64(in)
		case throughput:
			v = float64(out) / span.Seconds()
		}
		res.Unknown = missing
		switch {
		case b.kind == throughput && span <= 0:
		case missing > 0: // it is that at least
			if j.between(v, math.Inf(1)); res.Verdict == Undecided {
				res.Why = fmt.Sprintf("%d complete calls reported no tokens", missing)
			}
		default:
			j.value(v)
			j.between(v, v)
		}
	}
	if span <= 0 && (b.kind == throughput || b.kind == goodputRate) {
		res.Why = "no time has passed"
	}
	if j.estimated && res.Verdict != Undecided {
		res.Verdict, res.Why = Undecided, "no interval is known of it: read it as Observed"
	}
}

func (j *judge) stall(calls []*tacho.Call, g tacho.Group) {
	var o order = newSorted(stalls(calls))
	if j.snapshot != nil {
		c := &counted{h: g.Figure(tacho.Gap), deadlines: g.Outcome(tacho.Deadline)}
		_, c.beyond = c.h.OutOfRange()
		c.n = c.h.Count()
		o = c
	}
	if j.res.Unknown = o.unknown(); o.count() == 0 {
		j.res.Why = "no stream has a gap"
		return
	}
	if j.max(o); j.res.Verdict == Undecided && j.res.Why == "" {
		j.res.Why = "a deadline ended a stream in a gap"
		if o.unknown() == 0 {
			j.res.Why = insideBucket
		}
	}
}

// stalls returns the longest gap of each call. A deadline ends a stream in one.
func stalls(calls []*tacho.Call) (all []span) {
	for _, c := range calls {
		g, ok := c.Gaps()
		s := span{g.Max.Seconds(), g.Max.Seconds()}
		last, some := c.TTLT()
		if end, known := c.Duration(); c.Outcome() == tacho.Deadline && some && known {
			s, ok = span{max(s.low, (end - last).Seconds()), math.Inf(1)}, true
		}
		if ok {
			all = append(all, s)
		}
	}
	return all
}

// tokens sums what the calls reported, and counts the complete ones that did not.
func tokens(calls []*tacho.Call, k kind) (in, out, missing int64) {
	for _, c := range calls {
		u := c.Usage()
		in += u.Input.N
		out += u.Output.N
		reported := u.Output.Reported
		if k == inputTokens {
			reported = u.Input.Reported
		}
		if c.Outcome() == tacho.Complete && !reported {
			missing++
		}
	}
	return in, out, missing
}
