// SPDX-License-Identifier: Apache-2.0

// Models puts the same load on several models side by side and tells what each
// was offered, served and refused.
//
//	go run ./examples/models
//	go run ./examples/models -base-url https://api.openai.com/v1 -model gpt-4o,gpt-4o-mini -duration 5m
package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/cli"
	"github.com/tacho-go/tacho/examples/internal/loads"
	"github.com/tacho-go/tacho/examples/internal/term"
	"github.com/tacho-go/tacho/load"
	"github.com/tacho-go/tacho/sim"
)

func main() { cli.Main(run) }

// program makes its simulated servers by listen: on a port, in tests in memory.
type program struct {
	listen         func(...sim.Option) (*sim.Server, error)
	env            func(string) string
	stdout, stderr io.Writer
}

func run(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) int {
	p := program{listen: sim.Listen, env: env, stdout: stdout, stderr: stderr}
	return p.run(ctx, args)
}

// side is a model with its load.
type side struct {
	name   string
	shown  string // where it is
	what   string // of a simulated one: its parameters
	client *tacho.Client
	config load.Config
	result *load.Result
}

func (p *program) run(ctx context.Context, args []string) int {
	if len(args) > 0 && args[0] == "merge" {
		return p.merge(args[1:])
	}
	s, code, done := p.parse(args)
	if done {
		return code
	}
	sides, stop, err := p.sides(s)
	defer stop()
	if err != nil {
		fmt.Fprintf(p.stderr, "models: %v\n", err)
		return cli.Failed
	}
	var configs []load.Config
	for _, sd := range sides {
		configs = append(configs, sd.config)
	}
	began := time.Now()
	results, err := loads.Run(ctx, p.stderr, p.env, configs)
	if err != nil {
		return cli.Bad(p.stderr, "models", err)
	}
	for i := range sides {
		sides[i].result = results[i]
	}

	return p.finish(s, sides, began)
}

// finish tells what was measured.
func (p *program) finish(s settings, sides []*side, began time.Time) int {
	r := tell(s, sides, began)
	screen := term.ScreenOf(p.stdout, p.env)
	if err := r.WriteText(p.stdout, screen.Width); err != nil {
		fmt.Fprintf(p.stderr, "models: %v\n", err)
		return cli.Failed
	}
	if err := s.flags.Save(p.stdout, r, files(sides)...); err != nil {
		fmt.Fprintf(p.stderr, "models: -out: %v\n", err)
		return cli.Failed
	}
	return p.judge(s, sides)
}

// judge is the exit code: for calls of which none was served, a run that was
// stopped, or an objective that is broken.
func (p *program) judge(s settings, sides []*side) int {
	code := cli.OK
	for _, sd := range sides {
		if err := sd.result.Err(); err != nil {
			fmt.Fprintf(p.stderr, "models: %s: %v\n", sd.name, err)
			code = cli.Failed
		}
		if why := sd.result.Incomplete; why != "" && code == cli.OK {
			fmt.Fprintf(p.stderr, "models: %s\n", why)
			code = cli.Failed
		}
	}
	if code == cli.OK && s.broken(sides) {
		return cli.Broken
	}
	return code
}

// sides makes a client and a load for each model, and a server where there is none.
func (p *program) sides(s settings) (sides []*side, stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, f := range stops {
			f()
		}
	}
	for _, m := range s.models {
		sd := &side{name: m.name, shown: m.shown}
		rec := load.NewRecorder("model")
		opts := []tacho.ClientOption{tacho.WithRecorder(rec)}
		model, url := m.name, m.url
		if url == "" {
			srv, serving, err := p.simulate(m.name, s)
			if err != nil {
				return nil, stop, err
			}
			stops = append(stops, func() { _ = srv.Close() })
			url, sd.shown, sd.what = srv.URL(), "the built-in simulation", serving.String()
			opts = append(opts, tacho.WithBase(keeping(srv, s.atOnce())))
		} else {
			opts = append(opts, tacho.WithConcurrency(s.atOnce()))
		}
		if sd.client, err = tacho.NewClient(url, s.key, opts...); err != nil {
			return nil, stop, err
		}
		stops = append(stops, sd.client.CloseIdleConnections)
		chat := load.Chat{Client: sd.client, Model: model, Prompts: s.prompts, MaxTokens: s.maxTokens,
			Temperature: &s.temperature, TopP: &s.topP, Plain: s.plain, Timeout: s.flags.Timeout}
		sd.config = s.flags.Config(chat.Call, rec, s.stages()...)
		sd.config.StopSaturated, sd.config.Limits = s.stopSaturated, s.limits
		sides = append(sides, sd)
	}
	return sides, stop, nil
}
