// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/tacho-go/tacho/lab/machine"
	"github.com/tacho-go/tacho/sim"
)

// model answers with as many tokens as a call asks for, so that the length of
// the answers adds nothing to the delays' deviation.
var model = sim.Model{Base: 20 * time.Millisecond, PerToken: time.Millisecond, Output: 100_000, OutputSpread: -1}

// calibration is how long sleeps are measured before a run of both sides.
const calibration = 200 * time.Millisecond

// simulate starts a simulated endpoint.
func (p *program) simulate(opts ...sim.Option) (*sim.Server, error) {
	// The same seed gives the k-th call of each side the same service times.
	srv, err := p.listen(append(opts, sim.WithModel(model), sim.WithSeed(1), sim.WithTLS())...)
	if err != nil {
		return nil, fmt.Errorf("the simulated endpoint cannot start: %w", err)
	}
	return srv, nil
}

// bothSimulated tells the parameters of both sides.
func bothSimulated(srv *sim.Server, link sim.Link) []string {
	return []string{
		"endpoint: " + srv.String(),
		"host: this process, straight to the endpoint",
		"VM: this process, to the same endpoint through an emulated virtual network card: " + link.String(),
		"The card is an emulation in this process, and no virtual machine runs. The k-th call of both sides has the same service times.",
	}
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
