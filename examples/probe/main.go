// SPDX-License-Identifier: Apache-2.0

// Probe makes one call and draws it as a waterfall: what httpstat is for HTTP.
//
//	go run ./examples/probe
//	go run ./examples/probe -base-url https://api.openai.com/v1 -model gpt-4o-mini
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/chat"
	"github.com/tacho-go/tacho/examples/internal/cli"
	"github.com/tacho-go/tacho/examples/internal/term"
	"github.com/tacho-go/tacho/sim"
)

func main() { cli.Main(run) }

// program makes its simulated server by listen: on a port, in tests in memory.
type program struct {
	listen         func(...sim.Option) (*sim.Server, error)
	env            func(string) string
	stdout, stderr io.Writer
}

func run(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) int {
	p := program{listen: sim.Listen, env: env, stdout: stdout, stderr: stderr}
	return p.run(ctx, args)
}

func (p *program) run(ctx context.Context, args []string) int {
	s, code, done := p.parse(args)
	if done {
		return code
	}
	target, simulation := s.target, ""
	if target.URL == "" {
		srv, what, err := simulate(p.listen, s.ask)
		if err != nil {
			fmt.Fprintf(p.stderr, "probe: the simulated endpoint cannot start: %v\n", err)
			return cli.Failed
		}
		defer srv.Close()
		target, simulation = target.Simulated(srv), what
	}

	// This line measures: each call of the client leaves a record, a *tacho.Call.
	client, err := tacho.NewClient(target.URL, target.Key, target.Options...)
	if err != nil {
		return cli.Bad(p.stderr, "probe", err)
	}
	c := chat.New(client, target)
	defer c.Close()

	stop := term.Progress(p.stderr, p.env, "waiting for the answer of "+target.Shown)
	r := c.Call(ctx, s.ask)
	stop()

	switch {
	case r.Call == nil:
	case s.json:
		if err := printJSON(p.stdout, r.Call); err != nil {
			fmt.Fprintf(p.stderr, "probe: the record cannot be printed: %v\n", err)
			return cli.Failed
		}
	default:
		screen := term.ScreenOf(p.stdout, p.env)
		printHead(p.stdout, screen, s, target, simulation, ctx.Err() != nil)
		printWaterfall(p.stdout, screen, phases(r.Call))
		printFigures(p.stdout, screen, r)
	}
	if r.Err != nil {
		fmt.Fprintf(p.stderr, "probe: %s\n", strings.TrimSpace(r.Err.Error()+"\n       "+r.Advice()))
	}
	if r.Err != nil || r.Call.Outcome() != tacho.Complete {
		return cli.Failed
	}
	return cli.OK
}

// printJSON prints the record as JSON, which a Call writes by itself.
func printJSON(w io.Writer, c *tacho.Call) error {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", b)
	return err
}

// printHead says what was called.
func printHead(w io.Writer, screen term.Screen, s settings, t cli.Target, simulation string, stopped bool) {
	kind := "stream"
	if s.ask.Plain {
		kind = "plain call"
	}
	fmt.Fprintf(w, "probe: %s, model %s, %s\n", t.Shown, t.Model, kind)
	if simulation != "" {
		fmt.Fprintln(w, term.Wrap(simulation, screen.Width, "  simulated: ", "             "))
	}
	if stopped {
		fmt.Fprintln(w, "INCOMPLETE: stopped before the end")
	}
}
