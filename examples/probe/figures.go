// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/chat"
	"github.com/tacho-go/tacho/examples/internal/term"
)

// printFigures prints what the waterfall does not show, a line for each
// subject.
func printFigures(w io.Writer, s term.Screen, r chat.Result) {
	c := r.Call
	line := func(name, text string) {
		fmt.Fprintln(w, term.Wrap(text, s.Width, fmt.Sprintf("%-11s  ", name), strings.Repeat(" ", 13)))
	}
	fmt.Fprintln(w)
	if c.Streaming() {
		line("times", fmt.Sprintf("ttfb %s, ttfc %s, ttft %s, ttfo %s, ttlt %s, duration %s",
			dur(c.TTFB()), dur(c.TTFC()), dur(c.TTFT()), dur(c.TTFO()), dur(c.TTLT()), dur(c.Duration())))
		if c.Upper() {
			line("", "ttft is an upper bound: the bytes may have come earlier than they were read")
		}
		if c.Buffered() {
			line("", "buffered: the output came in one burst, so that the times between tokens say nothing")
		}
		line("tokens", tokens(c))
		line("gaps", gaps(c))
		// The record has the moments of the gaps; each gap the events tell.
		if spark := term.Sparkline(between(r.Outs), s.Width-13); spark != "" {
			fmt.Fprintf(w, "%13s%s\n", "", s.Paint(green, spark))
		}
	} else {
		line("times", fmt.Sprintf("ttfb %s, duration %s", dur(c.TTFB()), dur(c.Duration())))
	}
	u := c.Usage()
	line("usage", fmt.Sprintf("input %s, output %s, of it reasoning %s; from cache %s",
		reported(u.Input), reported(u.Output), reported(u.Reasoning), reported(u.CacheRead)))
	line("rate limits", rateLimits(c))
	line("connection", connection(c))
	line("outcome", outcome(r))
}

// tokens tells the rate of the tokens. Tokens of an event that were not counted
// are assumed to be one, and the figure says so.
func tokens(c *tacho.Call) string {
	t, ok := c.TPOT()
	tpot := dur(t.Value, ok)
	if ok && t.Assumed {
		tpot += " (assumed: one token in the first event)"
	}
	rate := term.Absent
	if v, ok := c.TokensPerSecond(); ok {
		rate = fmt.Sprintf("%.1f", v)
	}
	text := fmt.Sprintf("tpot %s, tokens a second %s, streamed %s", tpot, rate, num(c.StreamedTokens()))
	if channel := c.FirstChannel(); channel != "" {
		text += ", first channel " + channel
	}
	return text
}

func gaps(c *tacho.Call) string {
	g, ok := c.Gaps()
	if !ok {
		return term.Absent
	}
	text := fmt.Sprintf("%d, min %s, mean %s, max %s", g.Count, dur(g.Min, true), dur(g.Mean, true), dur(g.Max, true))
	if g.HasStdDev {
		text += ", deviation " + dur(g.StdDev, true)
	}
	return text
}

// between returns the times between successive events.
func between(outs []time.Duration) (gaps []time.Duration) {
	for i := 1; i < len(outs); i++ {
		gaps = append(gaps, outs[i]-outs[i-1])
	}
	return gaps
}

func connection(c *tacho.Call) string {
	conn, ok := c.Conn()
	kind := term.Absent
	switch {
	case ok && conn.Reused:
		kind = "reused"
	case ok:
		kind = "new"
	}
	rtt := dur(conn.RTT, conn.HasTCP)
	if conn.HasTCP {
		rtt += " ± " + dur(conn.RTTVar, true)
	}
	return fmt.Sprintf("%s, %s, remote %s, rtt %s, retransmits %s",
		kind, text(conn.Protocol), text(conn.Remote), rtt, num(conn.Retransmits, conn.HasTCP))
}

func outcome(r chat.Result) string {
	c := r.Call
	out := c.Outcome().String()
	if r.OtherKind() {
		out += ", but not of the kind asked for"
	}
	if status, ok := c.Status(); ok {
		out += fmt.Sprintf(", status %d", status)
	}
	for _, reason := range c.FinishReasons() {
		if reason != "" {
			out += ", finish " + reason
		}
	}
	if f, ok := c.Failure(); ok {
		out += fmt.Sprintf(", error type %s, code %s", text(f.Type), text(f.Code))
		if f.MidStream {
			out += ", in the middle of the stream"
		}
	}
	if model := c.ResponseModel(); model != "" {
		out += ", model " + model
	}
	return out
}

func dur(d time.Duration, ok bool) string { return strings.TrimSpace(term.Optional(d, ok)) }

func num(n int64, ok bool) string {
	if !ok {
		return term.Absent
	}
	return fmt.Sprint(n)
}

func reported(t tacho.Tokens) string { return num(t.N, t.Reported) }

func text(s string) string { return cmp.Or(s, term.Absent) }
