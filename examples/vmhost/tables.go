// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/term"
	"github.com/tacho-go/tacho/lab/machine"
)

// still is the overshoot of short sleeps above which a machine counts as
// stalled: its delays are then not those of the endpoint alone.
const still = 10 * time.Millisecond

// stallShare is the share of the run in long stalls above which it counts as
// stalled too: a stall of 300 ms is one late sleep among thousands.
const stallShare = 0.01

const lineWidth = 80

// published is the finding that this program reproduces, audit its weak points.
const (
	published = "Published (one data centre, 10 calls a side, in words only): the host's delays are closer together; " +
		"the VM's mean is slightly higher and its deviation larger."
	audit = "Audit: ten calls cannot show a difference in deviation; no interval is given; " +
		"all host calls before all VM calls confounds the side with the time of day."
)

func printReport(w io.Writer, r *Report) {
	if r.Incomplete {
		fmt.Fprint(w, "\nINCOMPLETE: stopped before the end; the figures are of the calls made so far.\n")
	}
	for _, s := range r.Summary {
		printCounts(w, s)
	}
	if len(r.Summary) == 0 {
		fmt.Fprint(w, "\nNo call was made: there are no figures.\n")
	}
	printStats(w, "Calls on a kept connection", r.Summary, func(s Side) []Stats { return s.Figures })
	printStats(w, "Cold calls, one a block, left out above", r.Summary, func(s Side) []Stats { return s.ColdStats })
	printDifferences(w, r)
	printMachine(w, r)
	if !slices.ContainsFunc(r.Summary, func(s Side) bool { return s.Measured > 0 }) {
		return
	}
	fmt.Fprintf(w, "\n%s\n%s\n", term.Wrap(published, lineWidth, "", "  "), term.Wrap(audit, lineWidth, "", "  "))
}

// printCounts says how many calls are in the figures and which are not.
func printCounts(w io.Writer, s Side) {
	fmt.Fprintf(w, "\n%s: %d calls in the figures; left out: %d cold", s.Side, s.Measured, s.Cold)
	if s.Redialled > 0 {
		fmt.Fprintf(w, ", %d that had to connect anew", s.Redialled)
	}
	if s.OtherKind > 0 {
		fmt.Fprintf(w, ", %d not answered in the kind asked for (try with or without -no-stream)", s.OtherKind)
	}
	failed := 0
	for _, f := range s.Failures {
		failed += f.Count
	}
	fmt.Fprintf(w, "; not complete: %d\n", failed)
	for _, f := range s.Failures {
		fmt.Fprintf(w, "  %d × %s", f.Count, f.Outcome)
		if f.Status != 0 {
			fmt.Fprintf(w, ", status %d", f.Status)
		}
		if f.Type != "" {
			fmt.Fprintf(w, ", type %s", f.Type)
		}
		if f.Code != "" && f.Code != f.Type {
			fmt.Fprintf(w, ", code %s", f.Code)
		}
		fmt.Fprintln(w)
	}
	if s.Cached > 0 {
		fmt.Fprintf(w, "  %d calls read a part of the prompt from the endpoint's cache, as the prompt is always the same.\n", s.Cached)
	}
}

// printStats prints the figures, the sides of each one below the other.
func printStats(w io.Writer, title string, sides []Side, of func(Side) []Stats) {
	t := term.Table{Texts: 2}
	row := func(name, side string, figures ...string) {
		if len(sides) == 1 {
			t.Texts = 1
			t.Row(append([]string{name}, figures...)...)
			return
		}
		t.Row(append([]string{name, side}, figures...)...)
	}
	row("figure", "side", "n", "mean", "deviation", "smallest", "largest")
	rows := 0
	names := figureOrder(sides, of)
	for _, name := range names {
		label := name
		for _, side := range sides {
			for _, s := range of(side) {
				if s.Figure == name {
					row(label, side.Side, fmt.Sprint(s.N), dur(s.Mean), optional(s.StdDev), dur(s.Min), dur(s.Max))
					label = ""
					rows++
				}
			}
		}
	}
	if rows == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	t.Write(w)
	if slices.Contains(names, tacho.TPOT.String()) {
		fmt.Fprintln(w, "tpot: one token is assumed in the first event.")
	}
}

func figureOrder(sides []Side, of func(Side) []Stats) (names []string) {
	seen := map[string]bool{}
	for _, side := range sides {
		for _, s := range of(side) {
			if !seen[s.Figure] {
				seen[s.Figure] = true
				names = append(names, s.Figure)
			}
		}
	}
	return names
}

func printDifferences(w io.Writer, r *Report) {
	if len(r.Differences) == 0 || len(r.Summary) != 2 {
		return
	}
	pairs := len(r.Differences[0].Pairs)
	fmt.Fprintf(w, "\n%s − %s, the difference of the means of neighbouring blocks; pairs: %d\n", r.Summary[1].Side, r.Summary[0].Side, pairs)
	t := term.Table{Texts: 1}
	t.Row("figure", "mean", "smallest", "largest")
	for _, d := range r.Differences {
		t.Row(d.Figure, term.Signed(d.Mean.Duration()), term.Signed(d.Min.Duration()), term.Signed(d.Max.Duration()))
	}
	t.Write(w)
	if r.Known != "" {
		fmt.Fprintln(w, term.Wrap(r.Known, lineWidth, "", ""))
	}
}

func printMachine(w io.Writer, r *Report) {
	fmt.Fprintln(w, "\nThis machine")
	if r.Loopback {
		fmt.Fprintln(w, "  The calls cross its loopback interface, not the network named below.")
	}
	for _, l := range append(r.Fingerprint.Lines(), r.Steal.String(), r.Stall.String()) {
		fmt.Fprintln(w, term.Wrap(l, lineWidth, "  ", "      "))
	}
	p99, ok := r.Stall.P99()
	share, ok2 := r.Stall.LongShare()
	if ok && p99 > still || ok2 && share > stallShare {
		fmt.Fprintln(w, term.Wrap(fmt.Sprintf("NOTE: this machine stalled during the run: 1 sleep in 100 was late by %s or more, "+
			"and %.1f %% of the run passed in stalls above %v. The delays, their deviation most of all, are not the endpoint's alone.",
			strings.TrimSpace(term.Duration(p99)), 100*share, machine.LongStall), lineWidth, "  ", "  "))
	}
}

func dur(s Seconds) string { return term.Duration(s.Duration()) }

func optional(s *Seconds) string {
	if s == nil {
		return term.Absent
	}
	return dur(*s)
}
