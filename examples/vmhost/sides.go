// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/tacho-go/tacho/examples/internal/chat"
	"github.com/tacho-go/tacho/examples/internal/cli"
	"github.com/tacho-go/tacho/examples/internal/term"
	"github.com/tacho-go/tacho/lab/machine"
	"github.com/tacho-go/tacho/sim"
)

// The names of the sides.
const (
	thisSide = "this machine"
	hostSide = "host"
	vmSide   = "VM"
)

// model answers with as many tokens as a call asks for, so that the length of
// the answers adds nothing to the delays' deviation.
var model = sim.Model{Base: 20 * time.Millisecond, PerToken: time.Millisecond, Output: 100_000, OutputSpread: -1}

const (
	simModel    = "sim"
	calibration = 200 * time.Millisecond
)

// simulate starts a simulated endpoint and returns the client of it.
func (p *program) simulate(t cli.Target, opts ...sim.Option) (*sim.Server, *chat.Client, error) {
	// The same seed gives the k-th call of each side the same service times.
	srv, err := p.listen(append(opts, sim.WithModel(model), sim.WithSeed(1), sim.WithTLS())...)
	if err != nil {
		return nil, nil, err
	}
	if t.URL, err = url.Parse(srv.URL()); err != nil {
		return nil, nil, err
	}
	return srv, chat.New(t, srv.Transport()), nil
}

// one measures this machine against an endpoint, or against the simulation.
func (p *program) one(ctx context.Context, s settings, t cli.Target, out *os.File) int {
	c, endpoint := chat.New(t, nil), t.Shown()
	var simulation []string
	if t.URL == nil {
		if t.Model == "" {
			t.Model = simModel
		}
		srv, client, err := p.simulate(t)
		if err != nil {
			return p.noServer(err, out)
		}
		defer srv.Close()
		c, endpoint = client, "the built-in simulation"
		simulation = []string{"endpoint: " + srv.String()}
	}
	defer c.Close()
	p.head(endpoint, t.Model, s, simulation)
	r, blocks := watch(ctx, s, t.Model, func() []block {
		table := p.callTable(!s.ask.Plain)
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
	r.Endpoint, r.Simulation = endpoint, simulation
	return p.finish(r, blocks, out)
}

// both measures both sides on the simulation, in turns.
func (p *program) both(ctx context.Context, s settings, t cli.Target, out *os.File) int {
	if t.Model == "" {
		t.Model = simModel
	}
	host, hostClient, err := p.simulate(t)
	if err != nil {
		return p.noServer(err, out)
	}
	defer host.Close()
	vm, vmClient, err := p.simulate(t, sim.WithLink(s.link))
	if err != nil {
		return p.noServer(err, out)
	}
	defer vm.Close()
	simulation := []string{
		"endpoint: " + host.String(),
		"host: this process, straight to the endpoint",
		"VM: this process, to the same endpoint through an emulated virtual network card: " + s.link.String(),
		"The card is an emulation in this process, and no virtual machine runs. The k-th call of both sides has the same service times.",
	}
	order := strings.Repeat(" A B B A", s.blocks/4)
	p.head("the built-in simulation", t.Model, s, simulation)
	fmt.Fprintln(p.stdout, term.Wrap(fmt.Sprintf("%s (A host, B VM); a block: 1 cold call, left out, then %d on its connection", order[1:], s.calls), lineWidth, "  order      ", margin))
	fmt.Fprintln(p.stdout)
	fmt.Fprintf(p.stdout, "%-5s  %-4s  %6s  duration of each call, ms\n", "block", "side", "cold")
	known := expected(ctx, s.link)
	stop := func() {}
	if !term.ScreenOf(p.stdout, p.env).Terminal { // else the lines that grow are the progress
		stop = term.Progress(p.stderr, p.env, "measuring both sides")
	}
	r, blocks := watch(ctx, s, t.Model, func() (blocks []block) {
		for i, letter := range strings.Fields(order) {
			if ctx.Err() != nil {
				break
			}
			side, c := hostSide, hostClient
			if letter == "B" {
				side, c = vmSide, vmClient
			}
			// A block begins with a connection of its own.
			c.Close()
			fmt.Fprintf(p.stdout, "%5d  %-4s", i+1, side)
			blocks = append(blocks, measureBlock(ctx, c, s, side, i+1, p.cell))
			fmt.Fprintln(p.stdout)
		}
		return blocks
	})
	stop()
	r.Endpoint, r.Simulation = "the built-in simulation", simulation
	r.Known = known
	return p.finish(r, blocks, out)
}

// expected says what the card adds by its parameters, and what that comes to
// with this machine's timers: the card's delays are sleeps, and a sleep ends
// late, on an idle Linux by up to a millisecond.
func expected(ctx context.Context, l sim.Link) string {
	way := l.Delay + l.Jitter
	if way == 0 {
		return "Known: the emulated card adds no delay; what differs is chance and this machine."
	}
	text := fmt.Sprintf("Known: by its parameters the emulated card adds 2 × (%v + %v) = %v to ttfb in the mean.", l.Delay, l.Jitter, 2*way)
	meter := machine.StartStall(way)
	select {
	case <-time.After(calibration):
	case <-ctx.Done():
	}
	late, ok := meter.Stop().P50()
	if !ok {
		return text
	}
	return text + fmt.Sprintf(" A sleep of %v takes %v here (median), which makes it about %v. The rest is chance and this machine.",
		way, (way+late).Round(10*time.Microsecond), 2*(way+late).Round(10*time.Microsecond))
}

func (p *program) noServer(err error, out *os.File) int {
	fmt.Fprintf(p.stderr, "vmhost: the simulated endpoint cannot start: %v\n", err)
	discard(out)
	return cli.Failed
}

// discard takes away a file that was reserved for nothing.
func discard(f *os.File) {
	if f != nil {
		f.Close()
		_ = os.Remove(f.Name())
	}
}
