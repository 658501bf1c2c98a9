// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/chat"
	"github.com/tacho-go/tacho/examples/internal/term"
)

// margin stands before what goes on from a line of the head.
const margin = "             "

// printHead prints what is going to be measured, or was.
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
	return term.Optional(c.Figure(f))
}

// note says what is particular about a call.
func note(i int, r chat.Result) string {
	if r.Call == nil {
		return "  not measured"
	}
	if o := r.Call.Outcome(); o != tacho.Complete {
		return "  " + o.String()
	}
	if r.OtherKind() {
		return "  of another kind, left out"
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

// complain says, once each, why calls failed. Calls that Ctrl-C ended did not.
func (p *program) complain(r *Report, blocks []block) {
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
}
