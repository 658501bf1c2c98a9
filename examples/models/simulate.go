// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tacho-go/tacho/sim"
)

// presets are the models of the published report, in its order.
var presets = [...]string{"gpt4-2024", "gpt4turbo-2024", "o1preview-2024"}

// simulate starts a server that imitates a model.
func (p *program) simulate(name string, s settings) (*sim.Server, sim.Serving, error) {
	serving, err := sim.Preset(name)
	if err != nil {
		return nil, serving, fmt.Errorf("-model: %s; with -base-url, or as NAME=URL, it is an endpoint's", strings.TrimPrefix(err.Error(), "sim: "))
	}
	serving = serving.Scaled(s.scale)
	srv, err := p.listen(sim.WithServing(serving), sim.WithSeed(s.flags.Seed))
	if err != nil {
		return nil, serving, fmt.Errorf("the simulated endpoint cannot start: %w", err)
	}
	return srv, serving, nil
}

// keeping is a transport to a server that keeps as many connections as calls are
// made at a time.
func keeping(srv *sim.Server, n int) *http.Transport {
	t := srv.Transport()
	t.MaxIdleConnsPerHost = n
	return t
}
