// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/chat"
	"github.com/tacho-go/tacho/examples/internal/cli"
	"github.com/tacho-go/tacho/examples/internal/record"
	"github.com/tacho-go/tacho/examples/internal/term"
)

// head prints what is going to be measured.
func (p *program) head(endpoint, model string, s settings, simulation []string) {
	printHead(p.stdout, &Report{Endpoint: endpoint, Model: model, Prompt: s.ask.Prompt, MaxTokens: s.ask.MaxTokens, Stream: !s.ask.Plain, Simulation: simulation})
}

// margin stands before what goes on from a line of the head.
const margin = "             "

func printHead(w io.Writer, r *Report) {
	kind := "plain"
	if r.Stream {
		kind = "streams"
	}
	fmt.Fprintf(w, "vmhost: %s\n", r.Endpoint)
	for _, l := range r.Simulation {
		fmt.Fprintln(w, term.Wrap(l, lineWidth, "  simulated  ", margin))
	}
	fmt.Fprintln(w, term.Wrap(fmt.Sprintf("model %s, %s, max_tokens %d, prompt %q", r.Model, kind, r.MaxTokens, r.Prompt), lineWidth, "  calls      ", margin))
}

// callTable returns what prints each call as a line as it comes.
func (p *program) callTable(stream bool) func(i int, r chat.Result) {
	figures := []tacho.Figure{tacho.TTFB, tacho.Duration}
	if stream {
		figures = []tacho.Figure{tacho.TTFB, tacho.TTFT, tacho.TTLT, tacho.Duration}
	}
	fmt.Fprintf(p.stdout, "\n%4s", "call")
	for _, f := range figures {
		fmt.Fprintf(p.stdout, "  %10s", f)
	}
	fmt.Fprintln(p.stdout)
	return func(i int, r chat.Result) {
		name := strconv.Itoa(i)
		if i == 0 {
			name = "cold"
		}
		fmt.Fprintf(p.stdout, "%4s", name)
		for _, f := range figures {
			fmt.Fprintf(p.stdout, "  %s", term.Right(figure(r.Call, f), 10))
		}
		fmt.Fprintln(p.stdout, note(i, r))
	}
}

func figure(c *tacho.Call, f tacho.Figure) string {
	if c == nil {
		return term.Absent
	}
	d, ok := c.Figure(f)
	if !ok {
		return term.Absent
	}
	return term.Duration(d)
}

// note says what is particular about a call.
func note(i int, r chat.Result) string {
	if r.Call == nil {
		return "  not measured"
	}
	if o := r.Call.Outcome(); o != tacho.Complete {
		return "  " + o.String()
	}
	if reused, known := r.Call.Reused(); i > 0 && known && !reused {
		return "  connected anew, left out"
	}
	return ""
}

// cell prints a call of a block as a number in its line.
func (p *program) cell(i int, r chat.Result) {
	text := "lost"
	if r.Call != nil {
		text = r.Call.Outcome().String()
		if d, ok := r.Call.Duration(); ok && r.Call.Outcome() == tacho.Complete {
			text = term.Millis(d)
		}
	}
	fmt.Fprint(p.stdout, " ", term.Right(text, 6))
	if i == 0 {
		fmt.Fprint(p.stdout, " ")
	}
}

// finish prints the report, writes it, and returns the exit code.
func (p *program) finish(r *Report, blocks []block, out *os.File) int {
	printReport(p.stdout, r)
	seen := map[string]bool{}
	for _, b := range blocks {
		for _, res := range b.results {
			if res.Err == nil || r.Incomplete && res.Call != nil && res.Call.Outcome() == tacho.Cancelled {
				continue
			}
			text := strings.TrimSpace(res.Err.Error() + "\n        " + res.Advice())
			if !seen[text] {
				seen[text] = true
				fmt.Fprintf(p.stderr, "vmhost: %s\n", text)
			}
		}
	}
	code := cli.OK
	if !r.ok() {
		code = cli.Failed
	}
	switch {
	case out == nil:
	case len(r.Calls) == 0:
		discard(out)
	default:
		if err := errors.Join(r.write(out), out.Close()); err != nil {
			fmt.Fprintf(p.stderr, "vmhost: -out: %v; the report follows on standard output\n", err)
			_ = r.write(p.stdout)
			return cli.Failed
		}
		fmt.Fprintf(p.stdout, "\nWritten to %s\n", out.Name())
	}
	return code
}

// show prints a file.
func (p *program) show(name string) int {
	r, err := readReport(name)
	if err != nil {
		return cli.Bad(p.stderr, "vmhost show", err)
	}
	printHead(p.stdout, r)
	fmt.Fprintf(p.stdout, "  measured   %s to %s by tacho %s\n", r.Started.Format(time.RFC3339), r.Ended.Format(time.RFC3339), r.Version)
	printCalls(p.stdout, r)
	printReport(p.stdout, r)
	return cli.OK
}

// printCalls prints the calls of a file, block by block.
func printCalls(w io.Writer, r *Report) {
	last := ""
	for _, raw := range r.Calls {
		var c record.Record
		if err := json.Unmarshal(raw, &c); err != nil {
			continue
		}
		if c.Labels["block"] != last {
			last = c.Labels["block"]
			fmt.Fprintf(w, "\nblock %s, %s, duration of each call, the cold one first, ms:\n ", last, c.Labels["side"])
		}
		text := c.Outcome
		if c.Duration != nil && c.Outcome == tacho.Complete.String() {
			text = term.Millis(c.Duration.Duration())
		}
		fmt.Fprint(w, " ", term.Right(text, 6))
	}
	fmt.Fprintln(w)
}
