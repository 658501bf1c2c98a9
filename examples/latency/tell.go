// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/loads"
	"github.com/tacho-go/tacho/lab/report"
	"github.com/tacho-go/tacho/load"
)

// measured is what a run left: the calls of all places, without warm-ups.
type measured struct {
	s       settings
	places  []place
	began   time.Time
	results []*load.Result
	all     tacho.Snapshot
}

// report tells it.
func (m measured) report() *report.Report {
	r := &report.Report{Program: "latency", Title: "Latency by label", Start: m.began, End: time.Now(),
		Subject: "Calls at a steady rate from each place, streams and plain calls side by side and never mixed."}
	m.parameters(r)
	m.warnings(r)
	by := m.s.names
	// Quantiles are of the actual start; both starts have a table of their own.
	r.Add(report.Latency{By: by, Figures: []tacho.Figure{tacho.TTFT, tacho.TTLT, tacho.Duration, tacho.TPOT, tacho.Gap, tacho.TTFB}}.Sections(m.all)...)
	add := func(s report.Section) {
		if s.Table != nil && len(s.Table.Rows) > 0 || s.Chart != nil || s.Text != "" {
			r.Add(s)
		}
	}
	add(m.starts())
	add(m.kinds())
	add(m.tokens())
	add(m.sla())
	add(m.tails())
	if c := (report.Latency{By: by}).Chart(m.all, tacho.TTFT, true); c != nil && len(c.Series) > 0 {
		add(report.Section{Heading: "First tokens", Chart: c})
	}
	if len(m.s.flags.Objectives) > 0 {
		r.Add(loads.Objectives(m.all, m.s.flags.Objectives))
	}
	return r
}

func (m measured) parameters(r *report.Report) {
	s := m.s
	r.Param("load", fmt.Sprintf("%g calls a second from each place and of each kind, %s arrivals; %v of warm-up, %v measured", s.rate, s.flags.Arrivals, s.flags.Warmup, s.flags.Duration))
	r.Param("call", fmt.Sprintf("%d prompt tokens, unique to each call, max_tokens %d", s.prompt, s.maxTokens))
	r.Param("seed", fmt.Sprint(s.flags.Seed))
	if p := m.places[0]; p.serving != "" {
		r.Param("endpoint", "the built-in simulation, for each place one: "+p.serving)
	}
	for _, p := range m.places {
		what := p.shown
		if p.what != "" {
			what = p.what
		}
		r.Param(cmp.Or(strings.Join(pairs(p.labels), ", "), "endpoint"), what)
	}
	if slices.ContainsFunc(m.places, func(p place) bool { return p.what != "" }) {
		r.Param("simulated", "the ways are emulations in this process: they show how a report responds to known delays, and say nothing of a network")
	}
}

// warnings are those of the runs.
func (m measured) warnings(r *report.Report) {
	for i, res := range m.results {
		r.Incomplete = r.Incomplete || res.Incomplete != ""
		own := res.Health.Warnings()
		for _, w := range res.Warnings() {
			switch {
			case !slices.Contains(own, w) && (len(m.places[0].labels) > 0 || m.s.only == "both"):
				r.Warn(m.where(i) + ": " + w)
			case !slices.Contains(own, w) || i == 0: // of the process, in which all are
				r.Warn(w)
			}
		}
	}
}

// pairs are labels as NAME=VALUE.
func pairs(labels []string) (list []string) {
	for i := 0; i+1 < len(labels); i += 2 {
		list = append(list, labels[i]+"="+labels[i+1])
	}
	return list
}

// label begins the rows of a table with the place's labels.
func (m measured) label(columns ...report.Column) *report.Table {
	t := report.NewTable()
	for _, n := range m.s.names {
		t.Columns = append(t.Columns, report.Column{Name: n, Kind: report.Text})
	}
	t.Columns = append(t.Columns, columns...)
	return t
}

// row begins a row with the labels of a place.
func (m measured) row(p place) []report.Cell {
	row := make([]report.Cell, len(m.s.names))
	if m.s.names[0] == "model" {
		row[0] = report.S(m.s.target.Model)
	}
	for i := 0; i+1 < len(p.labels); i += 2 {
		row[slices.Index(m.s.names, p.labels[i])] = report.S(p.labels[i+1])
	}
	return row
}

// each calls f with the calls of each place, and of all of them.
func (m measured) each(f func(row []report.Cell, s tacho.Snapshot)) {
	for _, p := range m.places {
		f(m.row(p), m.all.Where(p.labels...))
	}
	if len(m.places) > 1 {
		row := make([]report.Cell, len(m.s.names))
		row[0] = report.S("all")
		f(row, m.all)
	}
}

// mean is a mean, absent without values.
func mean(g tacho.Group, f tacho.Figure) report.Cell { return report.Opt(report.D)(g.Figure(f).Mean()) }

// kinds puts streams beside plain calls: the same answers, but first tokens.
func (m measured) kinds() report.Section {
	if m.s.only != "both" {
		return report.Section{}
	}
	ms := func(name string) report.Column { return report.Column{Name: name, Kind: report.Duration, Unit: "ms"} }
	t := m.label(report.Column{Name: "streams", Kind: report.Count}, ms("first token"), ms("whole answer"),
		report.Column{Name: "plain", Kind: report.Count}, ms("first byte"), ms("whole answer "))
	m.each(func(row []report.Cell, s tacho.Snapshot) {
		t.Row(append(row, report.N(s.Streams.Outcome(tacho.Complete)), mean(s.Streams, tacho.TTFT), mean(s.Streams, tacho.Duration),
			report.N(s.Plain.Outcome(tacho.Complete)), mean(s.Plain, tacho.TTFB), mean(s.Plain, tacho.Duration))...)
	})
	return report.Section{Heading: "Streams and plain calls side by side", Table: t, Notes: []string{
		"Whole answers are means of complete calls, first tokens of all that came to one. A stream shows its first token while the rest is made; a plain call's first byte comes with the whole answer."}}
}

// tokens tells first and last token apart.
func (m measured) tokens() report.Section {
	if m.all.Streams.Figure(tacho.TTFT).Count() == 0 {
		return report.Section{}
	}
	t := m.label(report.Column{Name: "first token", Kind: report.Duration, Unit: "ms"}, report.Column{Name: "last token", Kind: report.Duration, Unit: "ms"},
		report.Column{Name: "tokens", Kind: report.Rate, Unit: "/s"})
	m.each(func(row []report.Cell, s tacho.Snapshot) {
		rate := report.Absent()
		if tpot, ok := s.Streams.Figure(tacho.TPOT).Mean(); ok && tpot > 0 {
			rate = report.PerSecond(1 / tpot.Seconds())
		}
		t.Row(append(row, mean(s.Streams, tacho.TTFT), mean(s.Streams, tacho.TTLT), rate)...)
	})
	s := report.Section{Heading: "First and last token apart", Table: t,
		Notes: []string{"Means; tokens a second are 1 ÷ the mean time per token after the first (TPOT)."}}
	if len(m.s.from) == 0 {
		s.Notes = append(s.Notes, "Published of Llama3-8B, without a network named: 320 ms, 1850 ms, 42.1 tokens/s. There the last token's time is called TBT; here it is TTLT, and TBT is the time between tokens. "+
			"The simulated model has these figures for a single call; here its batch is shared, and the way comes on top.")
	}
	return s
}

// files are the histograms, and all that was counted of each place and kind.
func (m measured) files() []report.File {
	all := map[string]*load.Result{}
	for i, r := range m.results {
		all[m.where(i)] = r
	}
	return []report.File{report.Histograms("latency", m.all), loads.ResultFile(all)}
}

// where names the place and the kind of calls of a run.
func (m measured) where(i int) string {
	kinds := m.s.kinds()
	kind := "streams"
	if kinds[i%len(kinds)] {
		kind = "plain calls"
	}
	return strings.Join(append(pairs(m.places[i/len(kinds)].labels), kind), ", ")
}
