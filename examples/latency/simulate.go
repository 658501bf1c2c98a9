// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/lab/report"
	"github.com/tacho-go/tacho/sim"
)

// preset is the simulated model.
const preset = "llama3-8b-a100"

const replicas = 32

// place is where calls come from.
type place struct {
	labels  []string
	url     string
	what    string // of a simulated one: its network
	serving string // of a simulated one: its server
	shown   string
	options []tacho.ClientOption
}

// way is a way to the endpoint.
type way struct {
	region, device string
	link           sim.Link
}

// ways are the simulated ways to the endpoint: two regions, and a device whose network
// has jitter of its own.
func ways() []way {
	const ms = time.Millisecond
	return []way{
		{"eu", "desktop", sim.Link{Delay: 4 * ms, Jitter: 200 * time.Microsecond, Seed: 1}},
		{"eu", "phone", sim.Link{Delay: 25 * ms, Jitter: 15 * ms, Seed: 2}},
		{"us", "desktop", sim.Link{Delay: 45 * ms, Jitter: ms, Seed: 3}},
		{"us", "phone", sim.Link{Delay: 70 * ms, Jitter: 15 * ms, Seed: 4}},
	}
}

// places are those of the flags, or the simulated ones: a server each, so that
// what differs is the way to it.
func (p *program) places(s settings) (list []place, stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, f := range stops {
			f()
		}
	}
	for _, f := range s.from {
		list = append(list, place{labels: f.labels, url: f.url, shown: report.CleanURL(f.url), options: []tacho.ClientOption{tacho.WithConcurrency(256)}})
	}
	if len(list) > 0 {
		return list, stop, nil
	}
	serving, err := sim.Preset(preset)
	if err != nil {
		return nil, stop, err
	}
	// Enough of them that calls hardly wait for each other: here the way matters.
	for range replicas {
		serving.Speeds = append(serving.Speeds, 1)
	}
	for i, w := range ways() {
		srv, err := p.listen(sim.WithServing(serving), sim.WithSeed(s.flags.Seed+uint64(i)), sim.WithLink(w.link))
		if err != nil {
			return nil, stop, fmt.Errorf("the simulated endpoint cannot start: %w", err)
		}
		stops = append(stops, func() { _ = srv.Close() })
		list = append(list, place{labels: []string{"region", w.region, "device", w.device}, url: srv.URL(), shown: "the built-in simulation",
			what: w.link.String(), serving: serving.String(), options: []tacho.ClientOption{tacho.WithBase(srv.Transport())}})
	}
	return list, stop, nil
}
