// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strconv"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/chat"
	"github.com/tacho-go/tacho/examples/internal/cli"
	"github.com/tacho-go/tacho/lab/machine"
)

// block is a cold call and the calls after it on the same connection: the unit
// that is compared.
type block struct {
	side    string
	results []chat.Result // the cold call first
}

// measureBlock makes the calls of a block, one after the other, and tells each.
// It ends early with ctx, and after a call whose failure the next would share.
func measureBlock(ctx context.Context, c *chat.Client, s settings, side string, number int, tell func(i int, r chat.Result)) block {
	b := block{side: side}
	for i := range 1 + s.calls {
		if ctx.Err() != nil {
			break
		}
		// The labels stand in each call's record, which so says where it belongs.
		r := c.Call(tacho.ContextWithLabels(ctx, "side", side, "block", strconv.Itoa(number), "call", strconv.Itoa(i)), s.ask)
		b.results = append(b.results, r)
		tell(i, r)
		if r.Hopeless() {
			break
		}
	}
	return b
}

// newReport returns the report of a run that is going to be measured.
func newReport(s settings, t cli.Target, simulation []string) *Report {
	return &Report{
		Program: "vmhost", Version: tacho.Version,
		Endpoint: t.Shown, Simulation: simulation, Model: t.Model,
		Prompt: s.ask.Prompt, MaxTokens: s.ask.MaxTokens, Stream: !s.ask.Plain, CallsABlock: s.calls,
	}
}

// measure runs f beside the meters of the machine and puts into the report what
// both found.
func (r *Report) measure(ctx context.Context, f func() []block) []block {
	r.Fingerprint, r.Started = machine.Read(ctx), time.Now()
	steal, stall := machine.StartSteal(), machine.StartStall(0)
	blocks := f()
	r.Steal, r.Stall = steal.Stop(), stall.Stop()
	r.Ended = time.Now()
	r.Incomplete = ctx.Err() != nil
	r.add(blocks)
	return blocks
}
