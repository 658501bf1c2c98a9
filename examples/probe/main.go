// SPDX-License-Identifier: Apache-2.0

// Probe makes one call and draws it as a waterfall: what httpstat is for HTTP.
//
//	go run ./examples/probe
//	go run ./examples/probe -base-url https://api.openai.com/v1 -model gpt-4o-mini
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/chat"
	"github.com/tacho-go/tacho/examples/internal/cli"
	"github.com/tacho-go/tacho/examples/internal/record"
	"github.com/tacho-go/tacho/examples/internal/term"
	"github.com/tacho-go/tacho/sim"
)

const usage = `probe makes one call to an OpenAI-compatible endpoint and draws where its time went:
name lookup, connecting, TLS, first byte, first token, last token, each gap between.

  export OPENAI_API_KEY=…
  probe -base-url https://api.openai.com/v1 -model gpt-4o-mini
  probe -base-url http://127.0.0.1:8080 -model llama -prompt "Count to ten." -json

Without an endpoint it calls a built-in simulation.

Exit code: 0 the call was complete; 1 it was not (what there is of it is printed);
2 a bad command line.
`

// settings are what the flags say.
type settings struct {
	target cli.TargetFlags
	ask    chat.Request
	json   bool
}

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
	fs := flag.NewFlagSet("probe", flag.ContinueOnError)
	var s settings
	s.target.Add(fs)
	fs.IntVar(&s.ask.MaxTokens, "max-tokens", 64, "the `number` of tokens that the answer may have")
	fs.StringVar(&s.ask.Prompt, "prompt", "Say in one sentence what a tachometer shows.", "the `text` to send")
	fs.BoolVar(&s.ask.Plain, "no-stream", false, "make a plain call in place of a stream")
	fs.DurationVar(&s.ask.Timeout, "timeout", 2*time.Minute, "the longest `time` of the call")
	fs.BoolVar(&s.json, "json", false, "print the record as JSON and nothing else")
	if code, done := cli.Parse(fs, args, usage, p.stdout, p.stderr); done {
		return code
	}
	target, note, err := s.target.Target(p.env)
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return cli.Bad(p.stderr, "probe", err)
	}
	if note != "" {
		fmt.Fprintln(p.stderr, "probe: "+note)
	}
	return p.probe(ctx, s, target)
}

func (s *settings) check() error {
	switch {
	case s.ask.MaxTokens < 1:
		return fmt.Errorf("-max-tokens %d: give 1 or more", s.ask.MaxTokens)
	case s.ask.Prompt == "":
		return errors.New("-prompt is empty: give a text, or leave it out")
	case s.ask.Timeout <= 0:
		return fmt.Errorf("-timeout %v: give a time such as 60s", s.ask.Timeout)
	}
	return nil
}

// probe makes the call and prints it.
func (p *program) probe(ctx context.Context, s settings, t cli.Target) int {
	c, title := chat.New(t, nil), t.Shown()
	var simulation string
	if t.URL == nil {
		srv, what, err := simulate(p.listen, s.ask)
		if err == nil {
			defer srv.Close()
			t.URL, err = url.Parse(srv.URL())
		}
		if err != nil {
			fmt.Fprintf(p.stderr, "probe: the simulated endpoint cannot start: %v\n", err)
			return cli.Failed
		}
		if t.Model == "" {
			t.Model = "sim"
		}
		c, title, simulation = chat.New(t, srv.Transport()), "the built-in simulation", what
	}
	defer c.Close()
	stop := term.Progress(p.stderr, p.env, "waiting for the answer of "+title)
	r := c.Call(ctx, s.ask)
	stop()
	code := cli.OK
	if r.Err != nil || r.Call == nil || r.Call.Outcome() != tacho.Complete {
		code = cli.Failed
	}
	if r.Call != nil {
		if err := p.print(s, title, t.Model, simulation, r, ctx.Err() != nil); err != nil {
			fmt.Fprintf(p.stderr, "probe: the record cannot be printed: %v\n", err)
			return cli.Failed
		}
	}
	if r.Err != nil {
		fmt.Fprintf(p.stderr, "probe: %s\n", strings.TrimSpace(r.Err.Error()+"\n       "+r.Advice()))
	}
	return code
}

func (p *program) print(s settings, title, model, simulation string, r chat.Result, stopped bool) error {
	rec, raw, err := record.Read(r.Call)
	if err != nil {
		return err
	}
	if s.json {
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			return err
		}
		_, err := fmt.Fprintln(p.stdout, b.String())
		return err
	}
	w := p.stdout
	screen := term.ScreenOf(w, p.env)
	kind := "stream"
	if s.ask.Plain {
		kind = "plain call"
	}
	fmt.Fprintf(w, "probe: %s, model %s, %s\n", title, model, kind)
	if simulation != "" {
		fmt.Fprintln(w, term.Wrap(simulation, screen.Width, "  simulated: ", "             "))
	}
	if stopped {
		fmt.Fprintln(w, "INCOMPLETE: stopped before the end")
	}
	fmt.Fprintln(w)
	printWaterfall(w, screen, phases(&rec))
	fmt.Fprintln(w)
	printFigures(w, screen, &rec, r)
	return nil
}
