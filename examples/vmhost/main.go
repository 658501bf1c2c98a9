// SPDX-License-Identifier: Apache-2.0

// Vmhost measures ten calls of one short prompt from this machine, so that a
// host and a virtual machine on it can be told apart.
//
//	go run ./examples/vmhost                          both sides, simulated
//	go run ./examples/vmhost run -base-url URL -model NAME -out vm.json
//	go run ./examples/vmhost show vm.json
//	go run ./examples/vmhost show -html vm.html vm.json
//
// With an endpoint a run measures one side. Two files are not compared yet.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/examples/internal/chat"
	"github.com/tacho-go/tacho/examples/internal/cli"
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
	command := ""
	if len(args) > 0 && len(args[0]) > 0 && args[0][0] != '-' {
		command, args = args[0], args[1:]
	}
	switch command {
	case "", "run":
		return p.measure(ctx, command, args)
	case "show":
		fs := flag.NewFlagSet("vmhost show", flag.ContinueOnError)
		page := fs.String("html", "", htmlUsage)
		if code, done := cli.Parse(fs, args, usage, p.stdout, p.stderr, "FILE"); done {
			return code
		}
		return p.show(fs.Arg(0), *page)
	case "help":
		_, _ = io.WriteString(p.stdout, usage)
		return cli.OK
	}
	return cli.Bad(p.stderr, "vmhost", fmt.Errorf("%q is no command: there are run and show", command))
}

// measure measures both sides, or this machine alone.
func (p *program) measure(ctx context.Context, command string, args []string) int {
	s, code, done := p.parse(command, args)
	if done {
		return code
	}
	measure := p.one
	if s.both {
		measure = p.both
	}
	r, blocks, err := measure(ctx, s)
	if err != nil {
		fmt.Fprintf(p.stderr, "vmhost: %v\n", err)
		discard(s.out)
		discard(s.page)
		return cli.Failed
	}
	printReport(p.stdout, r)
	code = p.save(r, s.out, s.page)
	p.complain(r, blocks)
	if !p.judge(s.slos, blocks) {
		return cli.Broken
	}
	return code
}

// judge prints the verdicts on objectives: on the calls that were made, and on
// what they say of others. It reports whether the calls break none of them.
func (p *program) judge(slos []budget.Budget, blocks []block) bool {
	if len(slos) == 0 {
		return true
	}
	var warm []*tacho.Call
	for _, b := range blocks {
		for i, r := range b.results {
			if i > 0 && r.Call != nil {
				warm = append(warm, r.Call)
			}
		}
	}
	observed := budget.Observed(warm).AllowUndecided().Report(slos...)
	fmt.Fprintf(p.stdout, "\n%s\n\nWhat they say of calls to come: %s\n", observed, budget.Estimated(warm).AllowUndecided().Report(slos...).Verdicts())
	return !observed.Failed()
}

// connect returns a client of the target.
func connect(t cli.Target) (*chat.Client, error) {
	// This line measures: each call of the client leaves a record, a *tacho.Call.
	client, err := tacho.NewClient(t.URL, t.Key, t.Options...)
	if err != nil {
		return nil, err
	}
	return chat.New(client, t), nil
}
