// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/lab/report"
)

// page tells the report by tables and a picture, for a reader who has no
// terminal at hand.
func (r *Report) page() *report.Report {
	kind := "plain"
	if r.Stream {
		kind = "streams"
	}
	out := &report.Report{
		Program: r.Program, Version: r.Version, Title: "vmhost: one prompt over a kept connection", Incomplete: r.Incomplete,
		Subject: "Calls of one short prompt to " + r.Endpoint + ", the first of each connection left out.",
		Start:   r.Started, End: r.Ended,
	}
	out.Param("endpoint", r.Endpoint)
	for _, s := range r.Simulation {
		out.Param("simulated", s)
	}
	out.Param("model", r.Model)
	out.Param("calls", fmt.Sprintf("%d on a connection beside the cold one, %s", r.CallsABlock, kind))
	out.Param("max_tokens", fmt.Sprint(r.MaxTokens))
	out.Param("prompt", r.Prompt)
	if text, ok := r.stalled(); ok && r.measured() {
		out.Warn(text)
	}
	out.Add(report.Section{Heading: "Calls", Table: r.countTable()})
	if chart := r.course(); len(chart.Series) > 0 {
		out.Add(report.Section{Heading: "Duration of each call", Chart: chart, Notes: []string{"Complete calls in their order. The cold ones and those that connected anew are left out."}})
	}
	out.Add(statsSection("Calls on a kept connection", r.Summary, func(s Side) []Stats { return s.Figures }),
		statsSection("Cold calls, one a block, left out above", r.Summary, func(s Side) []Stats { return s.ColdStats }))
	if len(r.Differences) > 0 && len(r.Summary) == 2 {
		out.Add(r.differenceSection())
	}
	if !r.measured() {
		return out
	}
	about := report.Section{Heading: "This machine", Notes: append(r.Fingerprint.Lines(), r.Steal.String(), r.Stall.String())}
	if r.Loopback {
		about.Text = "The calls cross its loopback interface, not the network named below."
	}
	out.Add(about)
	if len(r.Summary) == 2 {
		out.Add(report.Section{Heading: "What was published", Text: published, Notes: []string{design}})
	}
	return out
}

// countTable says which calls are in the figures and which are not.
func (r *Report) countTable() *report.Table {
	count := func(name string) report.Column { return report.Column{Name: name, Kind: report.Count} }
	t := report.NewTable(report.Column{Name: "side", Kind: report.Text}, count("in the figures"), count("cold"), count("connected anew"), count("of another kind"),
		count("from a cache"), count("not complete"), report.Column{Name: "why not", Kind: report.Text})
	for _, s := range r.Summary {
		failed, why := 0, ""
		for _, f := range s.Failures {
			failed += f.Count
			if why != "" {
				why += "; "
			}
			why += fmt.Sprintf("%d × %s", f.Count, f.reason())
		}
		t.Row(report.S(s.Side), report.N(s.Measured), report.N(s.Cold), report.N(s.Redialled), report.N(s.OtherKind), report.N(s.Cached), report.N(failed), report.S(why))
	}
	return t
}

// course draws the durations of the calls in the figures, side by side.
func (r *Report) course() *report.Lines {
	l := &report.Lines{Title: "Duration", X: report.Axis{Name: "call", Kind: report.Count}, Y: report.Axis{Name: "duration", Kind: report.Duration}}
	for _, s := range r.Summary {
		l.Series = append(l.Series, report.LineSeries{Name: s.Side})
	}
	for _, raw := range r.Calls {
		var c struct {
			Labels   map[string]string `json:"labels"`
			Outcome  string            `json:"outcome"`
			Duration *Seconds          `json:"duration"`
			Conn     struct {
				Reused bool `json:"reused"`
			} `json:"conn"`
		}
		if json.Unmarshal(raw, &c) != nil || c.Duration == nil || c.Outcome != tacho.Complete.String() || c.Labels["call"] == "0" || !c.Conn.Reused {
			continue
		}
		for i := range l.Series {
			if s := &l.Series[i]; s.Name == c.Labels["side"] {
				s.Points = append(s.Points, report.Point{X: float64(len(s.Points) + 1), Y: float64(*c.Duration)})
			}
		}
	}
	return l
}

// seconds is the cell of a figure.
func seconds(s Seconds) report.Cell { return report.D(s.Duration()) }

func statsSection(heading string, sides []Side, of func(Side) []Stats) report.Section {
	time := func(name string) report.Column { return report.Column{Name: name, Kind: report.Duration} }
	t := report.NewTable(report.Column{Name: "figure", Kind: report.Text}, report.Column{Name: "side", Kind: report.Text}, report.Column{Name: "n", Kind: report.Count},
		time("mean"), time("deviation"), time("smallest"), time("largest"))
	s := report.Section{Heading: heading, Table: t}
	for _, name := range figureOrder(sides, of) {
		for _, side := range sides {
			for _, one := range of(side) {
				if one.Figure != name {
					continue
				}
				deviation := report.Cell{}
				if one.StdDev != nil {
					deviation = seconds(*one.StdDev)
				}
				t.Row(report.S(name), report.S(side.Side), report.N(one.N), seconds(one.Mean), deviation, seconds(one.Min), seconds(one.Max))
			}
		}
		if name == tacho.TPOT.String() {
			s.Notes = append(s.Notes, "tpot: one token is assumed in the first event.")
		}
	}
	return s
}

func (r *Report) differenceSection() report.Section {
	time := func(name string) report.Column {
		return report.Column{Name: name, Kind: report.Duration, Signed: true}
	}
	t := report.NewTable(report.Column{Name: "figure", Kind: report.Text}, report.Column{Name: "pairs", Kind: report.Count}, time("mean"), time("smallest"), time("largest"))
	for _, d := range r.Differences {
		t.Row(report.S(d.Figure), report.N(len(d.Pairs)), seconds(d.Mean), seconds(d.Min), seconds(d.Max))
	}
	return report.Section{Heading: r.Summary[1].Side + " − " + r.Summary[0].Side, Text: "The difference of the means of neighbouring blocks. " + r.Known, Table: t}
}

// writePage writes the page to a file that was reserved; nil is none.
func (r *Report) writePage(f *os.File) error {
	if f == nil {
		return nil
	}
	return errors.Join(f.Close(), report.WriteFile(f.Name(), true, r.page().WriteHTML))
}
