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

// The finding that the run of both sides reproduces, and its weak points.
const (
	published = "Published: a report (in Chinese) on the same model called from a host and from a VM on it made 10 calls a side, " +
		"all host calls before all VM calls. It finds, in words only: the host's delays are closer together; " +
		"the VM's mean is slightly higher and its deviation larger."
	design = "What that design cannot show: ten calls cannot show a difference in deviation, and it gives no interval; " +
		"with all host calls first, a change over time looks like a difference between the sides. The blocks above take turns."
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
	if !r.measured() {
		return // the machine explains no figure, and would hide the failure
	}
	printMachine(w, r)
	if len(r.Summary) == 2 {
		fmt.Fprintf(w, "\n%s\n%s\n", term.Wrap(published, lineWidth, "", "  "), term.Wrap(design, lineWidth, "", "  "))
	}
}

// calls tells a number of calls.
func calls(n int64) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", n)
}

// printCounts says how many calls are in the figures and which are not.
func printCounts(w io.Writer, s Side) {
	fmt.Fprintf(w, "\n%s: %s in the figures; left out: %d cold", s.Side, calls(s.Measured), s.Cold)
	if s.Redialled > 0 {
		fmt.Fprintf(w, ", %d that had to connect anew", s.Redialled)
	}
	if s.OtherKind > 0 {
		fmt.Fprintf(w, ", %d not answered in the kind asked for", s.OtherKind)
	}
	failed := 0
	for _, f := range s.Failures {
		failed += f.Count
	}
	fmt.Fprintf(w, "; not complete: %d\n", failed)
	for _, f := range s.Failures {
		fmt.Fprintf(w, "  %d × %s\n", f.Count, f.reason())
	}
	if s.Cached > 0 {
		fmt.Fprintf(w, "  The endpoint's cache held a part of the prompt, which is always the same: %s.\n", calls(int64(s.Cached)))
	}
}

// reason tells a failure without its number.
func (f Failure) reason() string {
	text := f.Outcome
	if f.Status != 0 {
		text += fmt.Sprintf(", status %d", f.Status)
	}
	if f.Type != "" {
		text += ", type " + f.Type
	}
	if f.Code != "" && f.Code != f.Type {
		text += ", code " + f.Code
	}
	return text
}

// printStats prints the figures, the sides of each one below the other, in one
// unit.
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
		label, scale := name, scaleOf(name, sides, of)
		for _, side := range sides {
			for _, s := range of(side) {
				if s.Figure == name {
					deviation := term.Absent
					if s.StdDev != nil {
						deviation = scale.Duration(s.StdDev.Duration())
					}
					row(label, side.Side, fmt.Sprint(s.N), scale.Duration(s.Mean.Duration()), deviation,
						scale.Duration(s.Min.Duration()), scale.Duration(s.Max.Duration()))
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

// scaleOf returns the scale of a figure's rows: the unit of its largest mean, as
// one outlier must not take the others' digits.
func scaleOf(name string, sides []Side, of func(Side) []Stats) term.Scale {
	top, all := time.Duration(0), []time.Duration{}
	for _, side := range sides {
		for _, s := range of(side) {
			if s.Figure != name {
				continue
			}
			top = max(top, s.Mean.Duration())
			all = append(all, s.Mean.Duration(), s.Min.Duration(), s.Max.Duration())
			if s.StdDev != nil {
				all = append(all, s.StdDev.Duration())
			}
		}
	}
	return term.ScaleOf(top, all...)
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
		mean, low, high := d.Mean.Duration(), d.Min.Duration(), d.Max.Duration()
		// The mean may be near 0 where the pairs are not.
		scale := term.ScaleOf(max(low.Abs(), high.Abs()), mean, low, high)
		t.Row(d.Figure, scale.Signed(mean), scale.Signed(low), scale.Signed(high))
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
	if text, ok := r.stalled(); ok {
		fmt.Fprintln(w, term.Wrap("NOTE: this "+strings.TrimPrefix(text, "This "), lineWidth, "  ", "  "))
	}
}

// stalled says that the machine did not hold still, where it did not.
func (r *Report) stalled() (string, bool) {
	p99, ok := r.Stall.P99()
	share, ok2 := r.Stall.LongShare()
	return fmt.Sprintf("This machine stalled during the run: 1 sleep in 100 was late by %s or more, "+
		"and %.1f %% of the run passed in stalls above %v. The delays, their deviation most of all, are not the endpoint's alone.",
		strings.TrimSpace(term.Duration(p99)), 100*share, machine.LongStall), ok && p99 > still || ok2 && share > stallShare
}
