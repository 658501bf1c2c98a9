// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/examples/internal/loads"
	"github.com/tacho-go/tacho/lab/report"
	"github.com/tacho-go/tacho/load"
)

// tell makes the report.
func tell(s settings, sides []*side, began time.Time) *report.Report {
	r := &report.Report{Program: "models", Title: "Models under the same load", Start: began, End: time.Now(),
		Subject: "The same calls to each model, side by side: at a rate (open loop), and by a number of callers (closed loop)."}
	if s.merged {
		r.End = s.ended
		r.Param("call, stages", "as the generators had them: see their reports")
		for _, sd := range sides {
			r.Param(sd.name, fmt.Sprintf("%s, seed %d", sd.shown, sd.result.Seed))
		}
	} else {
		parameters(r, s, sides)
	}
	for i, sd := range sides {
		own := sd.result.Health.Warnings()
		for _, w := range sd.result.Warnings() {
			switch {
			case !slices.Contains(own, w):
				r.Warn(sd.name + ": " + w)
			case i == 0: // of the process, in which all are
				r.Warn(w)
			}
		}
		r.Incomplete = r.Incomplete || sd.result.Incomplete != ""
	}
	add := func(list ...report.Section) {
		for _, one := range list {
			if one.Table == nil && one.Chart == nil || one.Table == nil || len(one.Table.Rows) > 0 {
				r.Add(one)
			}
		}
	}
	add(open(s, sides))
	if s.simulated {
		add(published(sides))
	}
	add(closed(s, sides), latencies(sides, tacho.TTFT), latencies(sides, tacho.Duration), flows(sides), reasons(sides), charts(sides))
	for _, sd := range sides {
		if len(sd.result.Stages) > 0 {
			v := loads.Objectives(recorded(sd), objectives(s))
			v.Heading = "Objectives: " + sd.name
			r.Add(v)
		}
	}
	if s.simulated {
		r.Add(audit())
	}
	return r
}

// objectives are those of -slo, or what a reader may want to know.
func objectives(s settings) []budget.Budget {
	if len(s.flags.Objectives) > 0 {
		return s.flags.Objectives
	}
	return []budget.Budget{budget.MustParse("ttft p99 <= 5s"), budget.MustParse("ttft p99.9 <= 10s"), budget.MustParse("errors <= 1%")}
}

func parameters(r *report.Report, s settings, sides []*side) {
	r.Param("prompt", fmt.Sprint(s.prompts))
	r.Param("call", fmt.Sprintf("max_tokens %d, temperature %g, top_p %g, stream %v", s.maxTokens, s.temperature, s.topP, !s.plain))
	r.Param("stage", fmt.Sprintf("%v of warm-up, %v measured; %s arrivals", s.flags.Warmup, s.flags.Duration, s.flags.Arrivals))
	if s.think > 0 {
		r.Param("callers", fmt.Sprintf("think for %v between two calls", s.think))
	}
	r.Param("seed", fmt.Sprint(s.flags.Seed))
	for _, l := range s.limits {
		r.Param("good", fmt.Sprintf("%v ≤ %v, from the intended start", l.Figure, l.AtMost))
	}
	if s.flags.Segment.N > 1 {
		r.Param("segment", s.flags.Segment.String())
	}
	if s.simulated && s.scale > 1 {
		r.Param("scale", fmt.Sprintf("prompts and answers are %d times shorter than those of the published report, and the servers' batches and budgets smaller by as much", s.scale))
	}
	for _, sd := range sides {
		r.Param(sd.name, sd.shown)
		if sd.what != "" {
			r.Param("", sd.what)
		}
	}
}

// each calls f for each stage with its model's name.
func each(sides []*side, want func(*load.StageResult) bool, f func(name string, s *load.StageResult)) {
	if len(sides) == 0 {
		return
	}
	most := 0
	for _, sd := range sides {
		most = max(most, len(sd.result.Stages))
	}
	for i := range most {
		for _, sd := range sides {
			if i < len(sd.result.Stages) && want(&sd.result.Stages[i]) {
				f(sd.name, &sd.result.Stages[i])
			}
		}
	}
}

// share is a count ÷ the calls started.
func share(n, of int64) report.Cell {
	if of == 0 {
		return report.Absent()
	}
	return report.Part(float64(n) / float64(of))
}

func mean(s *load.StageResult, f tacho.Figure) report.Cell {
	g := s.Snapshot.Streams
	if g.Calls() == 0 {
		g = s.Snapshot.Plain
	}
	return report.Opt(report.D)(g.Figure(f).Mean())
}

// good adds the goodput where there are limits for it.
func good(t *report.Table, s settings) *report.Table {
	if len(s.limits) > 0 {
		t.Columns = append(t.Columns, report.Column{Name: "good", Kind: report.Rate}, report.Column{Name: "good share", Kind: report.Share})
	}
	return t
}

func goodput(s *load.StageResult) []report.Cell {
	return []report.Cell{report.Opt(report.PerSecond)(s.Goodput()), report.Opt(report.Part)(s.GoodShare())}
}

func isOpen(s *load.StageResult) bool { return s.Open }

// open tells what was offered, served and refused at each rate.
func open(s settings, sides []*side) report.Section {
	t := good(report.NewTable(report.Column{Name: "load", Kind: report.Text}, report.Column{Name: "model", Kind: report.Text},
		report.Column{Name: "offered", Kind: report.Rate}, report.Column{Name: "served", Kind: report.Rate},
		report.Column{Name: "429", Kind: report.Share}, report.Column{Name: "503", Kind: report.Share}, report.Column{Name: "failed", Kind: report.Share},
		report.Column{Name: "TTFT mean", Kind: report.Duration, Unit: "ms"},
		report.Column{Name: "output", Kind: report.Rate, Unit: "tokens/s"}, report.Column{Name: "output÷input", Kind: report.Ratio}), s)
	each(sides, isOpen, func(name string, s *load.StageResult) {
		t.Row(append([]report.Cell{report.S(s.Name), report.S(name), report.Opt(report.PerSecond)(s.OfferedRate()), report.Opt(report.PerSecond)(s.ServedRate()),
			share(s.TooMany, s.Started), share(s.Unavailable, s.Started), share(s.Failed, s.Started),
			mean(s, tacho.TTFT), report.Opt(report.PerSecond)(s.OutputRate()), report.Opt(report.Number)(s.OutputPerInput())}, goodput(s)...)...)
	})
	return report.Section{Heading: "At a rate (open loop)", Table: t, Notes: []string{
		"Offered and refused are of the calls whose intended start lies in the measured time; served, tokens of those that ended in it. Means are from the calls' start, of all that came to a first token."}}
}

// closed tells the same of callers, with the bound on what they can get.
func closed(s settings, sides []*side) report.Section {
	t := good(report.NewTable(report.Column{Name: "load", Kind: report.Text}, report.Column{Name: "model", Kind: report.Text},
		report.Column{Name: "served", Kind: report.Rate}, report.Column{Name: "bound", Kind: report.Rate},
		report.Column{Name: "429", Kind: report.Share}, report.Column{Name: "503", Kind: report.Share}, report.Column{Name: "failed", Kind: report.Share},
		report.Column{Name: "TTFT mean", Kind: report.Duration, Unit: "ms"},
		report.Column{Name: "output", Kind: report.Rate, Unit: "tokens/s"}, report.Column{Name: "output÷input", Kind: report.Ratio}), s)
	known := map[string]*ceiling{}
	for _, sd := range sides {
		known[sd.name] = ceilingOf(sd)
	}
	each(sides, func(s *load.StageResult) bool { return !s.Open && s.Name != "unloaded" }, func(name string, s *load.StageResult) {
		c := known[name]
		x, _ := s.ServedRate()
		most, ok := load.Bound(s.Workers, c.unloaded, s.Think, c.capacity)
		bound := report.Opt(report.PerSecond)(most, ok)
		if ok && x > 1.05*most {
			bound = bound.Note("More was served: calls of the stage before ended in this one, or it is too short for its calls.")
		}
		t.Row(append([]report.Cell{report.S(s.Name), report.S(name), report.Opt(report.PerSecond)(s.ServedRate()), bound,
			share(s.TooMany, s.Started), share(s.Unavailable, s.Started), share(s.Failed, s.Started),
			mean(s, tacho.TTFT), report.Opt(report.PerSecond)(s.OutputRate()), report.Opt(report.Number)(s.OutputPerInput())}, goodput(s)...)...)
	})
	notes := []string{"Bound: X ≤ min(N ÷ (W₀ + Z), capacity). W₀ is the mean duration with one caller, Z the think time, capacity the most that was served a second in any stage."}
	for _, sd := range sides {
		if c := known[sd.name]; c.unloaded > 0 {
			notes = append(notes, fmt.Sprintf("%s: W₀ %v, capacity %.1f/s.", sd.name, c.unloaded.Round(time.Millisecond), c.capacity))
		}
	}
	return report.Section{Heading: "By a number of callers (closed loop)", Table: t, Notes: notes}
}

// ceiling is what bounds a model's throughput.
type ceiling struct {
	unloaded time.Duration
	capacity float64
}

func ceilingOf(sd *side) *ceiling {
	c := new(ceiling)
	for i := range sd.result.Stages {
		s := &sd.result.Stages[i]
		if s.Name == "unloaded" {
			l, _ := s.Kind()
			c.unloaded, _ = l.Duration.Mean()
		}
		if x, ok := s.ServedRate(); ok {
			c.capacity = max(c.capacity, x)
		}
	}
	return c
}

// tenth rounds to tenths what is large enough for them.
func tenth(v float64) report.Cell {
	if v >= 10 {
		v = math.Round(v*10) / 10
	}
	return report.Number(v)
}

// flows tells Little's law beside the measurement.
func flows(sides []*side) report.Section {
	t := report.NewTable(report.Column{Name: "load", Kind: report.Text}, report.Column{Name: "model", Kind: report.Text},
		report.Column{Name: "in flight N", Kind: report.Ratio}, report.Column{Name: "ended X", Kind: report.Rate},
		report.Column{Name: "in flight for W", Kind: report.Duration, Unit: "ms"}, report.Column{Name: "X×W", Kind: report.Ratio},
		report.Column{Name: "N÷(X×W)−1", Kind: report.Share, Signed: true}, report.Column{Name: "most", Kind: report.Count},
		report.Column{Name: "delay p99", Kind: report.Duration, Unit: "ms"},
		report.Column{Name: "dialled", Kind: report.Count}, report.Column{Name: "reused", Kind: report.Count})
	each(sides, all, func(name string, s *load.StageResult) {
		x, ok := s.Flow.Rate()
		w, _ := s.Flow.Stay()
		product := report.Absent()
		if ok {
			product = tenth(x * w.Seconds())
		}
		difference := report.Absent()
		if d, ok := s.Flow.Difference(); ok {
			difference = report.Part(math.Round(d*1000) / 1000)
			if steady, _ := s.Flow.Steady(); !steady {
				difference = difference.Note("Above 5 %: the stage is too short for its calls, or not steady.")
			}
		}
		delay := report.Absent("too few calls")
		if s.Delay.Count() >= tacho.Needed(0.99) {
			delay = report.Opt(report.D)(s.Delay.Quantile(0.99))
		}
		t.Row(report.S(s.Name), report.S(name), report.Opt(tenth)(s.Flow.InFlight()), report.Opt(report.PerSecond)(s.Flow.Rate()),
			report.Opt(report.D)(s.Flow.Stay()), product, difference, report.N(s.Flow.Most), delay, report.N(s.Opened), report.N(s.Reused))
	})
	return report.Section{Heading: "Little's law, and the generator", Table: t, Notes: []string{health(sides),
		"N is the integral of the calls in flight ÷ time; X and W are of all calls that ended, refused ones too. Delay is actual − intended start. Dialled and reused are the connections of its calls."}}
}

// health tells how the generator itself fared.
func health(sides []*side) string {
	h := sides[0].result.Health
	text := "The process, all models' calls and any simulated server in it:"
	if h.CPU != nil {
		text += fmt.Sprintf(" %.0f %% of its CPUs;", 100**h.CPU)
	}
	if p99, ok := h.Stalls.Quantile(0.99); ok {
		most, _ := h.Stalls.Max()
		text += fmt.Sprintf(" sleeps of 10 ms overshot by %v (P99), %v at most.", p99.Round(10*time.Microsecond), most.Round(10*time.Microsecond))
	}
	return text
}
