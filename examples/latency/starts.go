// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/lab/report"
	"github.com/tacho-go/tacho/load"
)

// starts tells of each place what the schedule wanted and what came of it, and
// the same latency from the intended and from the actual start of the calls.
func (m measured) starts() report.Section {
	q := m.highest()
	name := fmt.Sprintf("p%g", 100*q)
	ms := func(name string) report.Column { return report.Column{Name: name, Kind: report.Duration, Unit: "ms"} }
	count := func(name string) report.Column { return report.Column{Name: name, Kind: report.Count} }
	t := m.label(report.Column{Name: "kind", Kind: report.Text}, count("offered"), count("missed"), count("not started"), count("served"), count("refused"), count("failed"),
		ms("delay max"), ms("mean, intended"), ms("mean, actual"), ms(name+", intended"), ms(name+", actual"))
	for i, res := range m.results {
		for j := range res.Stages {
			s := &res.Stages[j]
			l, actual, kind := m.starting(i, s)
			intended := report.Absent("too few calls")
			if d, atLeast, ok := l.Quantile(q); ok && l.Count() >= tacho.Needed(q) {
				if intended = report.D(d); atLeast {
					intended = intended.AtLeast()
				}
			}
			from := report.Absent("too few calls")
			if actual.Count() >= tacho.Needed(q) {
				from = report.Opt(report.D)(actual.Quantile(q))
			}
			t.Row(append(m.row(m.places[i/len(m.s.kinds())]), report.S(kind), report.N(s.Offered), report.N(s.Missed), report.N(s.NotStarted),
				report.N(s.Served), report.N(s.Refused()), report.N(s.Failed),
				report.Opt(report.D)(s.Delay.Max()), report.Opt(report.D)(l.Mean()), report.Opt(report.D)(actual.Mean()), intended, from)...)
		}
	}
	return report.Section{Heading: "From the intended and from the actual start", Table: t, Notes: []string{
		"Of streams the time to first token, of plain calls the duration. The delay is actual − intended start: a user waits for both, so that the intended start is what counts where calls began late.",
		"What was missed or not started has no latency at all: a high share of it makes every other figure look better than it was."}}
}

// starting are a stage's latencies from the intended and from the actual start.
func (m measured) starting(i int, s *load.StageResult) (intended *load.Latency, actual *tacho.Histogram, kind string) {
	if kinds := m.s.kinds(); kinds[i%len(kinds)] {
		return &s.Plain.Duration, s.Snapshot.Plain.Figure(tacho.Duration), "plain"
	}
	return &s.Streams.TTFT, s.Snapshot.Streams.Figure(tacho.TTFT), "streams"
}

// highest is the highest quantile that the calls of a place decide, of those that
// reports have; the median if none.
func (m measured) highest() float64 {
	most := int64(0)
	for i, res := range m.results {
		for j := range res.Stages {
			l, _, _ := m.starting(i, &res.Stages[j])
			most = max(most, l.Count())
		}
	}
	for _, q := range []float64{0.999, 0.99, 0.9} {
		if most >= tacho.Needed(q) {
			return q
		}
	}
	return 0.5
}
