// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tacho-go/tacho/examples/internal/chat"
	"github.com/tacho-go/tacho/examples/internal/record"
	"github.com/tacho-go/tacho/examples/internal/term"
)

// printFigures prints what the waterfall does not show, a line for each subject.
func printFigures(w io.Writer, s term.Screen, r *record.Record, res chat.Result) {
	line := func(name, text string) {
		fmt.Fprintln(w, term.Wrap(text, s.Width, fmt.Sprintf("%-11s  ", name), strings.Repeat(" ", 13)))
	}
	if r.Stream {
		line("times", fmt.Sprintf("ttfb %s, ttfc %s, ttft %s, ttfo %s, ttlt %s, duration %s",
			dur(r.TTFB), dur(r.TTFC), dur(r.TTFT), dur(r.TTFO), dur(r.TTLT), dur(r.Duration)))
		if r.Bound == "upper" {
			line("", "ttft is an upper bound: the bytes may have come earlier than they were read")
		}
		if r.Buffered {
			line("", "buffered: the output came in one burst, so that the times between tokens say nothing")
		}
		line("tokens", tokens(r, res))
		printGaps(w, s, r, res, line)
	} else {
		line("times", fmt.Sprintf("ttfb %s, duration %s", dur(r.TTFB), dur(r.Duration)))
	}
	u := r.Usage
	line("usage", fmt.Sprintf("input %s, output %s, of it reasoning %s; from cache %s", num(u.Input), num(u.Output), num(u.Reasoning), num(u.CacheRead)))
	line("rate limits", limits(&r.RateLimit))
	line("connection", connection(&r.Conn))
	line("outcome", outcome(r))
}

// tokens tells the rate of the tokens. Tokens of an event that were not counted
// are assumed to be one, and the figure says so.
func tokens(r *record.Record, res chat.Result) string {
	tpot := dur(r.TPOT)
	if t, ok := res.Call.TPOT(); ok && t.Assumed {
		tpot += " (assumed: one token in the first event)"
	}
	rate := term.Absent
	if r.TPS != nil {
		rate = fmt.Sprintf("%.1f", *r.TPS)
	}
	text := fmt.Sprintf("tpot %s, tokens a second %s, streamed %s", tpot, rate, num(r.Streamed))
	if r.FirstChannel != "" {
		text += ", first channel " + r.FirstChannel
	}
	return text
}

// printGaps prints the moments of the gaps, which the record has, and each gap,
// which the events tell.
func printGaps(w io.Writer, s term.Screen, r *record.Record, res chat.Result, line func(name, text string)) {
	if r.Gaps == nil {
		line("gaps", term.Absent)
		return
	}
	g := r.Gaps
	text := fmt.Sprintf("%d, min %s, mean %s, max %s", g.Count, dur(&g.Min), dur(&g.Mean), dur(&g.Max))
	if g.StdDev != nil {
		text += ", deviation " + dur(g.StdDev)
	}
	line("gaps", text)
	var gaps []time.Duration
	for i := 1; i < len(res.Outs); i++ {
		gaps = append(gaps, res.Outs[i]-res.Outs[i-1])
	}
	if spark := term.Sparkline(gaps, s.Width-13); spark != "" {
		fmt.Fprintf(w, "%13s%s\n", "", s.Paint(green, spark))
	}
}

func limits(l *record.RateLimit) string {
	if *l == (record.RateLimit{}) {
		return term.Absent
	}
	text := fmt.Sprintf("requests %s of %s, reset in %s; tokens %s of %s, reset in %s",
		num(l.RemainingRequests), num(l.LimitRequests), dur(l.ResetRequests),
		num(l.RemainingTokens), num(l.LimitTokens), dur(l.ResetTokens))
	if l.RetryAfter != nil {
		text += "; retry after " + dur(l.RetryAfter)
	}
	return text
}

func connection(c *record.Conn) string {
	kind := term.Absent
	if c.Reused != nil {
		kind = "new"
		if *c.Reused {
			kind = "reused"
		}
	}
	rtt := dur(c.RTT)
	if c.RTTVar != nil {
		rtt += " ± " + dur(c.RTTVar)
	}
	return fmt.Sprintf("%s, %s, remote %s, rtt %s, retransmits %s", kind, text(c.Protocol), text(c.Remote), rtt, num(c.Retransmits))
}

func outcome(r *record.Record) string {
	out := r.Outcome
	if r.Status != 0 {
		out += fmt.Sprintf(", status %d", r.Status)
	}
	for _, f := range r.FinishReasons {
		if f != nil {
			out += ", finish " + *f
		}
	}
	if e := r.Error; e != nil {
		out += fmt.Sprintf(", error type %s, code %s", text(e.Type), text(e.Code))
		if e.MidStream {
			out += ", in the middle of the stream"
		}
	}
	if r.ResponseModel != "" {
		out += ", model " + r.ResponseModel
	}
	return out
}

func dur(s *record.Seconds) string {
	if s == nil {
		return term.Absent
	}
	return strings.TrimSpace(term.Duration(s.Duration()))
}

func num(n *int64) string {
	if n == nil {
		return term.Absent
	}
	return fmt.Sprint(*n)
}

func text(s string) string {
	if s == "" {
		return term.Absent
	}
	return s
}
