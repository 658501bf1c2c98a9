// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"time"

	"github.com/tacho-go/tacho/examples/internal/record"
	"github.com/tacho-go/tacho/examples/internal/term"
)

// phase is a row of the waterfall. ok says that the call had it.
type phase struct {
	name       string
	start, end time.Duration
	ok         bool
	colour     int
}

// SGR colours: the network's phases, the server's, the tokens'.
const (
	cyan   = 36
	yellow = 33
	green  = 32
)

// phases lays the parts of a call out in time.
func phases(r *record.Record) []phase {
	rows := connecting(r)
	add := func(name string, from, to *record.Seconds) {
		p := phase{name: name, colour: green, ok: from != nil && to != nil}
		if p.ok {
			p.start, p.end = from.Duration(), to.Duration()
		}
		rows = append(rows, p)
	}
	if !r.Stream {
		add("body", r.TTFB, r.Duration)
		return rows
	}
	add("first token", r.TTFB, r.TTFT)
	add("last token", r.TTFT, r.TTLT)
	// Without a token the rest of the stream stands in one row.
	from := r.TTFB
	if r.TTLT != nil {
		from = r.TTLT
	}
	add("end", from, r.Duration)
	return rows
}

// connecting lays out the phases up to the first byte. The record has their
// lengths; they follow one another up to TTFB, so they are laid from there
// backwards, or from the start on where no answer came.
func connecting(r *record.Record) []phase {
	rows := []phase{{name: "dns"}, {name: "connect"}, {name: "tls"}, {name: "send"}, {name: "wait"}}
	lengths := []*record.Seconds{r.Phases.DNS, r.Phases.Connect, r.Phases.TLS, r.Phases.Send, r.Phases.Wait}
	sum := time.Duration(0)
	for _, l := range lengths {
		if l != nil {
			sum += l.Duration()
		}
	}
	at := time.Duration(0)
	if r.TTFB != nil && r.Phases.Wait != nil {
		at = max(0, r.TTFB.Duration()-sum)
	}
	for i, l := range lengths {
		rows[i].colour = cyan
		if i == len(lengths)-1 {
			rows[i].colour = yellow
		}
		if l == nil {
			continue
		}
		rows[i].ok, rows[i].start, rows[i].end = true, at, at+l.Duration()
		at = rows[i].end
	}
	return rows
}

// printWaterfall draws the rows on the width of the screen.
func printWaterfall(w io.Writer, s term.Screen, rows []phase) {
	const names, figures = 11, 10
	total := time.Duration(0)
	for _, p := range rows {
		total = max(total, p.end)
	}
	width := max(10, s.Width-names-2*(figures+2)-3)
	fmt.Fprintf(w, "%-*s  %*s  %*s\n", names, "", figures, "from", figures, "time")
	for _, p := range rows {
		start, length, bar := term.Absent, term.Absent, ""
		if p.ok {
			start, length = term.Duration(p.start), term.Duration(p.end-p.start)
			bar = "  " + s.Paint(p.colour, term.Bar(p.start, p.end, total, width))
		}
		fmt.Fprintf(w, "%-*s  %s  %s%s\n", names, p.name, term.Right(start, figures), term.Right(length, figures), bar)
	}
}
