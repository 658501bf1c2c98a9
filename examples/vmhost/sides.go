// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tacho-go/tacho/examples/internal/chat"
	"github.com/tacho-go/tacho/examples/internal/term"
	"github.com/tacho-go/tacho/sim"
)

// The names of the sides.
const (
	thisSide = "this machine"
	hostSide = "host"
	vmSide   = "VM"
)

// one measures this machine against an endpoint, or against the simulation.
func (p *program) one(ctx context.Context, s settings) (*Report, []block, error) {
	t := s.target
	var simulation []string
	if t.URL == "" {
		srv, err := p.simulate()
		if err != nil {
			return nil, nil, err
		}
		defer srv.Close()
		t, simulation = t.Simulated(srv), []string{"endpoint: " + srv.String()}
	}
	c, err := connect(t)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	r := newReport(s, t, simulation)
	printHead(p.stdout, r)
	blocks := r.measure(ctx, func() []block {
		table := p.callTable(r.Stream)
		stop := term.Progress(p.stderr, p.env, "waiting for the cold call")
		b := measureBlock(ctx, c, s, thisSide, 1, func(i int, res chat.Result) {
			stop()
			table(i, res)
			if i < s.calls {
				stop = term.Progress(p.stderr, p.env, fmt.Sprintf("waiting for call %d of %d", i+1, s.calls))
			}
		})
		stop()
		return []block{b}
	})
	return r, blocks, nil
}

// both measures both sides on the simulation, in turns.
func (p *program) both(ctx context.Context, s settings) (*Report, []block, error) {
	hostServer, err := p.simulate()
	if err != nil {
		return nil, nil, err
	}
	defer hostServer.Close()
	vmServer, err := p.simulate(sim.WithLink(s.link))
	if err != nil {
		return nil, nil, err
	}
	defer vmServer.Close()
	host, err := connect(s.target.Simulated(hostServer))
	vm, err2 := connect(s.target.Simulated(vmServer))
	if err := errors.Join(err, err2); err != nil {
		return nil, nil, err
	}
	r := newReport(s, s.target.Simulated(hostServer), bothSimulated(hostServer, s.link))
	printHead(p.stdout, r)
	order := strings.Repeat(" A B B A", s.blocks/4)
	fmt.Fprintln(p.stdout, term.Wrap(fmt.Sprintf("%s (A host, B VM); a block: 1 cold call, left out, then %d on its connection", order[1:], s.calls), lineWidth, "  order      ", margin))
	fmt.Fprintln(p.stdout)
	fmt.Fprintf(p.stdout, "%-5s  %-4s  %6s  duration of each call, ms\n", "block", "side", "cold")
	r.Known = expected(ctx, s.link)
	stop := func() {}
	if !term.ScreenOf(p.stdout, p.env).Terminal { // else the lines that grow are the progress
		stop = term.Progress(p.stderr, p.env, "measuring both sides")
	}
	defer stop()
	blocks := r.measure(ctx, func() (blocks []block) {
		for i, letter := range strings.Fields(order) {
			if ctx.Err() != nil {
				break
			}
			side, c := hostSide, host
			if letter == "B" {
				side, c = vmSide, vm
			}
			// A block begins with a connection of its own.
			c.Close()
			fmt.Fprintf(p.stdout, "%5d  %-4s", i+1, side)
			blocks = append(blocks, measureBlock(ctx, c, s, side, i+1, p.cell))
			fmt.Fprintln(p.stdout)
		}
		return blocks
	})
	return r, blocks, nil
}
