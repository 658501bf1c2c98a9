// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/term"
)

// phase is a row of the waterfall. ok says that the call had it, open that it
// had not come to its end when the call did.
type phase struct {
	name       string
	start, end time.Duration
	ok, open   bool
	colour     int
}

// SGR colours: the network's phases, the server's, the tokens'.
const (
	cyan   = 36
	yellow = 33
	green  = 32
)

// phases lays the parts of a call out in time.
func phases(c *tacho.Call) []phase {
	rows := connecting(c)
	// add adds what lies between two figures that count from the call's start.
	add := func(name string, from, to tacho.Figure) {
		start, ok := c.Figure(from)
		end, ok2 := c.Figure(to)
		rows = append(rows, phase{name: name, start: start, end: end, ok: ok && ok2, colour: green})
	}
	if !c.Streaming() {
		add("body", tacho.TTFB, tacho.Duration)
		return rows
	}
	add("first token", tacho.TTFB, tacho.TTFT)
	add("last token", tacho.TTFT, tacho.TTLT)
	if _, ok := c.TTLT(); ok {
		add("end", tacho.TTLT, tacho.Duration)
	} else {
		// Without a token the rest of the stream stands in one row.
		add("end", tacho.TTFB, tacho.Duration)
	}
	return rows
}

// sendRow is the row of the first phase that is not the connection's.
const sendRow = 3

// connecting lays out the phases up to the first byte. The record has their
// lengths; they follow one another up to TTFB, so they are laid from there
// backwards, or from the start on where no answer came.
func connecting(c *tacho.Call) []phase {
	figures := [...]tacho.Figure{tacho.DNS, tacho.Connect, tacho.TLS, sendRow: tacho.Send, tacho.Wait}
	sum := time.Duration(0)
	for _, f := range figures {
		d, _ := c.Figure(f)
		sum += d
	}
	at := time.Duration(0)
	if _, waited := c.Figure(tacho.Wait); waited {
		ttfb, _ := c.TTFB()
		at = max(0, ttfb-sum)
	}
	var rows []phase
	for _, f := range figures {
		colour := cyan
		if f == tacho.Wait {
			colour = yellow
		}
		d, ok := c.Figure(f)
		rows = append(rows, phase{name: f.String(), start: at, end: at + d, ok: ok, colour: colour})
		at += d
	}
	if _, answered := c.TTFB(); !answered {
		leaveOpen(c, rows)
	}
	return rows
}

// leaveOpen draws the phase that was under way, of a call that ended before its
// first byte, up to the call's end.
func leaveOpen(c *tacho.Call, rows []phase) {
	duration, ok := c.Duration()
	last := len(rows) - 1
	for last >= 0 && !rows[last].ok {
		last--
	}
	_, connected := c.Conn()
	switch {
	case !ok || last < 0 && !connected:
		return // nothing is known of it
	case !connected:
		// The record has the phases before a connection as far as they went.
	default:
		// What comes after a connection is sending, then waiting.
		last = min(max(last+1, sendRow), len(rows)-1)
	}
	p := &rows[last]
	p.end, p.ok, p.open = max(p.start, duration), true, true
}

const notFinished = " not finished"

// printWaterfall draws the rows on the width of the screen.
func printWaterfall(w io.Writer, s term.Screen, rows []phase) {
	const names, figures = 11, 10
	total, mark := time.Duration(0), 0
	for _, p := range rows {
		if p.ok {
			total = max(total, p.end)
		}
		if p.open {
			mark = term.Width(notFinished)
		}
	}
	width := max(10, s.Width-names-2*(figures+2)-3-mark)
	fmt.Fprintf(w, "\n%-*s  %*s  %*s\n", names, "", figures, "from", figures, "time")
	for _, p := range rows {
		start, length, bar := term.Optional(p.start, p.ok), term.Optional(p.end-p.start, p.ok), ""
		if p.ok {
			bar = "  " + s.Paint(p.colour, term.Bar(p.start, p.end, total, width))
		}
		if p.open {
			bar += notFinished
		}
		fmt.Fprintf(w, "%-*s  %s  %s%s\n", names, p.name, term.Right(start, figures), term.Right(length, figures), bar)
	}
}
