// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/loads"
	"github.com/tacho-go/tacho/lab/report"
	"github.com/tacho-go/tacho/load"
)

// latencies tells the quantiles of a figure from the intended start, with what is
// known of calls that were cut off, and beside them mean and highest quantile from
// the actual start. A quantile that no stage has calls enough for
// has no column.
func latencies(sides []*side, f tacho.Figure) report.Section {
	most := int64(0)
	each(sides, all, func(_ string, s *load.StageResult) { most = max(most, of(s, f).Count()) })
	columns := []report.Column{{Name: "load", Kind: report.Text}, {Name: "model", Kind: report.Text}, {Name: "calls", Kind: report.Count},
		{Name: "mean", Kind: report.Duration, Unit: "ms"}}
	var told []float64
	var notes []string
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
		name := fmt.Sprintf("p%g", 100*q)
		if most < tacho.Needed(q) {
			notes = append(notes, fmt.Sprintf("%s takes %d calls of a stage: there are no more than %d.", name, tacho.Needed(q), most))
			continue
		}
		told = append(told, q)
		columns = append(columns, report.Column{Name: name, Kind: report.Duration, Unit: "ms"})
	}
	highest := 0.0
	columns = append(columns, report.Column{Name: "mean, actual", Kind: report.Duration, Unit: "ms"})
	if len(told) > 0 {
		highest = told[len(told)-1]
		columns = append(columns, report.Column{Name: fmt.Sprintf("p%g, actual", 100*highest), Kind: report.Duration, Unit: "ms"})
	}
	t := report.NewTable(columns...)
	each(sides, all, func(name string, s *load.StageResult) {
		l := of(s, f)
		row := []report.Cell{report.S(s.Name), report.S(name), report.N(l.Count()), report.Opt(report.D)(l.Mean())}
		for _, q := range told {
			row = append(row, quantile(l, q))
		}
		h := actual(s, f)
		row = append(row, report.Opt(report.D)(h.Mean()))
		switch {
		case len(told) > 0 && h.Count() < tacho.Needed(highest):
			row = append(row, tooFew(highest))
		case len(told) > 0:
			row = append(row, report.Opt(report.D)(h.Quantile(highest)))
		}
		if l.Count() > 0 {
			t.Row(row...)
		}
	})
	what := "Time to first token"
	if f == tacho.Duration {
		what = "Duration"
	}
	notes = append(notes, "Actual is the same from the actual start of the calls: lower where calls began late.")
	return report.Section{Heading: what + " from the intended start, and from the actual one", Table: t, Notes: notes}
}

func all(*load.StageResult) bool { return true }

// of is a figure of a stage.
func of(s *load.StageResult, f tacho.Figure) *load.Latency {
	l, _ := s.Kind()
	if f == tacho.TTFT {
		return &l.TTFT
	}
	return &l.Duration
}

// actual is a figure of a stage from the actual start of its calls.
func actual(s *load.StageResult, f tacho.Figure) *tacho.Histogram {
	if _, streams := s.Kind(); streams {
		return s.Snapshot.Streams.Figure(f)
	}
	return s.Snapshot.Plain.Figure(f)
}

// tooFew stands for a quantile that the calls do not decide.
func tooFew(q float64) report.Cell {
	return report.Absent(fmt.Sprintf("p%g takes %d calls", q*100, tacho.Needed(q)))
}

// quantile is a quantile of enough calls.
func quantile(l *load.Latency, q float64) report.Cell {
	d, atLeast, ok := l.Quantile(q)
	switch {
	case !ok:
		return report.Absent()
	case l.Count() < tacho.Needed(q):
		return tooFew(q)
	case atLeast:
		return report.D(d).AtLeast()
	}
	return report.D(d)
}

// charts shows the distributions of the first tokens of the last open stage that
// all models have.
func charts(sides []*side) report.Section {
	c := &report.Quantiles{Title: "Time to first token, calls of all stages, from their start"}
	for _, sd := range sides {
		h := new(tacho.Histogram)
		for i := range sd.result.Stages {
			h.Merge(sd.result.Stages[i].Snapshot.Streams.Figure(tacho.TTFT))
		}
		if h.Count() > 0 {
			c.Series = append(c.Series, report.QuantileSeries{Name: sd.name, Histogram: h})
		}
	}
	if len(c.Series) == 0 {
		return report.Section{}
	}
	return report.Section{Heading: "First tokens", Chart: c}
}

// reasons tells why calls came to nothing.
func reasons(sides []*side) report.Section {
	t := report.NewTable(report.Column{Name: "model", Kind: report.Text}, report.Column{Name: "load", Kind: report.Text},
		report.Column{Name: "what", Kind: report.Text}, report.Column{Name: "calls", Kind: report.Count})
	notes := map[string]bool{}
	var advice []string
	for _, sd := range sides {
		for i := range sd.result.Stages {
			for _, e := range sd.result.Stages[i].Errors {
				t.Row(report.S(sd.name), report.S(sd.result.Stages[i].Name), report.S(e.What), report.N(e.Count))
				if e.Advice != "" && !notes[e.Advice] {
					notes[e.Advice] = true
					advice = append(advice, e.Advice)
				}
			}
		}
	}
	if len(t.Rows) == 0 {
		return report.Section{}
	}
	return report.Section{Heading: "Calls that were not served", Table: t, Notes: advice}
}

// files are the histograms of all stages.
func files(sides []*side) (list []report.File) {
	for _, sd := range sides {
		list = append(list, report.Histograms(sd.name, recorded(sd)))
	}
	all := map[string]*load.Result{}
	for _, sd := range sides {
		all[sd.name] = sd.result
	}
	return append(list, loads.ResultFile(all))
}
