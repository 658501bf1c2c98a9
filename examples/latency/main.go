// SPDX-License-Identifier: Apache-2.0

// Latency measures an endpoint from several places and tells the quantiles by
// label: what an SLA needs, what a tail hides, streams beside plain calls, first
// and last token apart.
//
//	go run ./examples/latency
//	go run ./examples/latency -base-url https://api.openai.com/v1 -model gpt-4o-mini -label region=eu
package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
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

func (p *program) run(ctx context.Context, args []string) int {
	s, code, done := p.parse(args)
	if done {
		return code
	}
	places, stop, err := p.places(s)
	defer stop()
	if err != nil {
		fmt.Fprintf(p.stderr, "latency: %v\n", err)
		return cli.Failed
	}
	var configs []load.Config
	var recorders []*tacho.Recorder // of the places: the kinds of calls are stages of one
	for _, pl := range places {
		rec := load.NewRecorder(s.names...)
		recorders = append(recorders, rec)
		client, err := tacho.NewClient(pl.url, s.target.Key, append(pl.options, tacho.WithRecorder(rec))...)
		if err != nil {
			return cli.Bad(p.stderr, "latency", err)
		}
		defer client.CloseIdleConnections()
		for _, plain := range s.kinds() {
			configs = append(configs, s.config(client, rec, pl.labels, plain, len(configs)))
		}
	}
	began := time.Now()
	results, err := loads.Run(ctx, p.stderr, p.env, configs)
	if err != nil {
		return cli.Bad(p.stderr, "latency", err)
	}
	m := measured{s: s, places: places, began: began, results: results}
	for _, rec := range recorders {
		m.all = m.all.Merge(rec.Total().Where("warmup", ""))
	}
	r := m.report()
	if err := r.WriteText(p.stdout, term.ScreenOf(p.stdout, p.env).Width); err != nil {
		fmt.Fprintf(p.stderr, "latency: %v\n", err)
		return cli.Failed
	}
	if err := s.flags.Save(p.stdout, r, m.files()...); err != nil {
		fmt.Fprintf(p.stderr, "latency: -out: %v\n", err)
		return cli.Failed
	}
	return p.code(s, m)
}

// code is the exit code.
func (p *program) code(s settings, m measured) int {
	var err error
	for _, r := range m.results {
		if err = r.Err(); err == nil {
			break
		}
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "latency: %v\n", err)
		return cli.Failed
	}
	for _, r := range m.results {
		if r.Incomplete != "" {
			fmt.Fprintf(p.stderr, "latency: %s\n", r.Incomplete)
			return cli.Failed
		}
	}
	if len(s.flags.Objectives) > 0 && budget.ObservedSnapshot(m.all).AllowUndecided().Report(s.flags.Objectives...).Failed() {
		return cli.Broken
	}
	return cli.OK
}

// config is the load of one place and kind of call.
func (s settings) config(client *tacho.Client, rec *tacho.Recorder, labels []string, plain bool, number int) load.Config {
	chat := load.Chat{Client: client, Model: s.target.Model, Prompts: load.Synthetic(s.prompt/5, s.prompt-s.prompt/5), MaxTokens: s.maxTokens,
		Plain: plain, Timeout: s.flags.Timeout}
	name := "streams"
	if plain {
		name = "plain"
	}
	call := func(ctx context.Context, j load.Job) error {
		return chat.Call(tacho.ContextWithLabels(ctx, labels...), j)
	}
	c := s.flags.Config(call, rec, s.flags.Open(s.rate).Named(name))
	c.Seed += uint64(number) // places have arrivals and prompts of their own
	return c
}
