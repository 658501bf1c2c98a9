// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Merge returns the result of several generators that each had a segment of one
// schedule: all counts and histograms are those of one generator that had the
// whole. Results of other stages or another seed, or of a segment that is there
// already or of another division, are an error.
func (r *Result) Merge(o *Result) (*Result, error) {
	switch {
	case r.Seed != o.Seed:
		return nil, fmt.Errorf("load: the seeds differ, %d and %d: these are two schedules", r.Seed, o.Seed)
	case len(r.Segments) == 0 || len(o.Segments) == 0:
		return nil, errors.New("load: a result is not of a segment: it has the whole schedule already")
	case len(r.Stages) != len(o.Stages):
		return nil, fmt.Errorf("load: there are %d stages and %d: these are two schedules, or one was stopped", len(r.Stages), len(o.Stages))
	}
	out := &Result{Start: r.Start, Seed: r.Seed, Incomplete: r.Incomplete}
	if o.Start.Before(r.Start) {
		out.Start = o.Start
	}
	if out.Incomplete == "" {
		out.Incomplete = o.Incomplete
	}
	out.Segments = append(append(out.Segments, r.Segments...), o.Segments...)
	if _, err := segmentsOf(out.Segments); err != nil {
		return nil, err
	}
	slices.SortFunc(out.Segments, func(a, b string) int {
		x, _ := ParseSegment(a)
		y, _ := ParseSegment(b)
		return cmp.Compare(x.I, y.I)
	})
	for i := range r.Stages {
		a, b := &r.Stages[i], &o.Stages[i]
		if a.Name != b.Name || a.Open != b.Open {
			return nil, fmt.Errorf("load: stage %d is %q and %q: these are two schedules", i+1, a.Name, b.Name)
		}
		out.Stages = append(out.Stages, a.merge(b))
	}
	out.Health = r.Health.merge(o.Health)
	return out, nil
}

func (s *StageResult) merge(o *StageResult) StageResult {
	out, other := *s, *o
	out.fill()
	other.fill()
	s, o = new(out), &other
	out.Start = s.Start
	if o.Start.Before(s.Start) {
		out.Start = o.Start
	}
	out.Window = max(s.Window, o.Window)
	out.Whole = s.Whole && o.Whole
	out.Counts.add(&o.Counts)
	out.Flow = s.Flow.plus(o.Flow)
	out.Saturated = s.Saturated || o.Saturated
	errs := map[string]*ErrorCount{}
	for _, list := range [][]ErrorCount{s.Errors, o.Errors} {
		for _, e := range list {
			if have := errs[e.What]; have != nil {
				have.Count += e.Count
				continue
			}
			errs[e.What] = new(e)
		}
	}
	out.Errors = sortedErrors(errs)
	out.Delay = s.Delay.Clone()
	out.Delay.Merge(o.Delay)
	out.Streams, out.Plain = new(Latencies), new(Latencies)
	for _, from := range []*StageResult{s, o} {
		out.Streams.merge(from.Streams)
		out.Plain.merge(from.Plain)
	}
	out.Snapshot = s.Snapshot.Merge(o.Snapshot)
	return out
}

// merge keeps the worse of the CPU shares: one generator that is short of time
// is enough.
func (h Health) merge(o Health) Health {
	out := Health{CPU: h.CPU, Stalls: orEmpty(h.Stalls).Clone(), Rows: h.Rows}
	if o.CPU != nil && (h.CPU == nil || *o.CPU > *h.CPU) {
		out.CPU = o.CPU
	}
	out.Stalls.Merge(orEmpty(o.Stalls))
	if out.Rows == "" {
		out.Rows = o.Rows
	}
	return out
}
