// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/lab/report"
)

// sla tells which quantile an objective over a share of the calls means, how
// many calls decide it, and what these calls say.
func (m measured) sla() report.Section {
	g, figure, what := m.all.Streams, tacho.TTFT, "time to first token"
	if g.Figure(figure).Count() == 0 {
		g, figure, what = m.all.Plain, tacho.Duration, "duration"
	}
	h := g.Figure(figure)
	t := report.NewTable(report.Column{Name: "share of calls", Kind: report.Text}, report.Column{Name: "quantile", Kind: report.Text},
		report.Column{Name: "calls to decide", Kind: report.Count}, report.Column{Name: "calls here", Kind: report.Count},
		report.Column{Name: "value", Kind: report.Duration, Unit: "ms"}, report.Column{Name: "published as", Kind: report.Text})
	for _, one := range []struct {
		share     float64
		published string
	}{{0.99, ""}, {0.999, "P99 ≤ 200 ms"}, {0.9999, "P99 ≤ 500 ms"}} {
		q, calls, _ := budget.SLA(one.share)
		value := report.Absent("too few calls to say")
		if h.Count() >= calls {
			value = report.Opt(report.D)(h.Quantile(q))
		}
		t.Row(report.S(fmt.Sprintf("%g %%", 100*one.share)), report.S(fmt.Sprintf("p%g", 100*q)), report.N(calls), report.N(h.Count()), value, report.S(one.published))
	}
	return report.Section{Heading: "What an SLA takes", Table: t, Notes: []string{
		"Values are of the " + what + ". A share of 99.9 % of calls within a limit is the P99.9, and 99.99 % the P99.99: the published map names the P99 for both, which is 99 %.",
		"To decide takes 10 ÷ (1 − share) calls, so that ten lie above."}}
}

// tails are the reasons to take quantiles with care, by place.
func (m measured) tails() report.Section {
	t := m.label(report.Column{Name: "calls", Kind: report.Text}, report.Column{Name: "figure", Kind: report.Text}, report.Column{Name: "note", Kind: report.Text})
	limits := tacho.NoteLimits{Tail: m.s.tail}
	for _, r := range m.results {
		if d, ok := r.Health.Stalls.Max(); ok {
			limits.Stall = max(limits.Stall, d.Round(100*time.Microsecond))
		}
	}
	stalled := 0
	m.each(func(row []report.Cell, s tacho.Snapshot) {
		for _, k := range []struct {
			name    string
			g       tacho.Group
			figures []tacho.Figure
		}{{"streams", s.Streams, []tacho.Figure{tacho.TTFT, tacho.Gap, tacho.Duration}}, {"plain", s.Plain, []tacho.Figure{tacho.Duration}}} {
			if k.g.Calls() == 0 {
				continue
			}
			for _, f := range k.figures {
				for _, n := range k.g.Notes(f, 0.99, limits) {
					if n.Kind == tacho.Stalled {
						stalled++ // of the machine, in which all places are: told once
						continue
					}
					t.Row(append(append([]report.Cell(nil), row...), report.S(k.name), report.S(f.String()), report.S("p99: "+n.String()))...)
				}
			}
		}
	})
	out := report.Section{Heading: "Notes on the tails", Table: t}
	if stalled > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("This machine held up timers by %v at most, a tenth or more of %d of the P99 here: some of these tails may be its own.", limits.Stall, stalled))
	}
	out.Notes = append(out.Notes,
		"A short window makes one spike the P99; calls of all places together hide one place's trouble; a P99.9 far above the P99 is a sign of contention. Histograms keep all of it without keeping the calls.")
	return out
}
