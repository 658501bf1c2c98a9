// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/tacho-go/tacho/examples/internal/chat"
	"github.com/tacho-go/tacho/sim"
)

// The simulated answer: a reasoning model behind a network with every phase.
const (
	simLookup    = 6 * time.Millisecond
	simHeaders   = 90 * time.Millisecond
	simFirst     = 60 * time.Millisecond
	simGap       = 18 * time.Millisecond
	simSpread    = 0.6 // σ of the logarithm of a gap
	simTokens    = 60
	simReasoning = 10
	simSeed      = 1
)

var simLink = sim.Link{Delay: 7 * time.Millisecond, Jitter: 300 * time.Microsecond, Seed: simSeed}

// simulate starts an endpoint that answers as asked, and tells its parameters.
func simulate(listen func(...sim.Option) (*sim.Server, error), ask chat.Request) (*sim.Server, string, error) {
	script := answer(min(simTokens, ask.MaxTokens))
	srv, err := listen(sim.WithScript(script), sim.WithTLS(), sim.WithLookupDelay(simLookup), sim.WithLink(simLink))
	what := fmt.Sprintf("name lookup %v, TLS; headers after %v, first token %v later, then gaps with mean %v (lognormal, σ %v, seed %d); "+
		"%d reasoning tokens of at most %d; %v", simLookup, simHeaders, simFirst, simGap, simSpread, simSeed, simReasoning, simTokens, simLink)
	return srv, what, err
}

// answer is a script of n tokens, the first ones reasoning.
func answer(n int) sim.Script {
	r := rand.New(rand.NewPCG(simSeed, 0))
	words := []string{"a ", "needle ", "that ", "tells ", "turns ", "a ", "minute "}
	steps := []sim.Step{sim.Role(0)}
	total := time.Duration(0)
	for i := range n {
		step := sim.Text(0, words[i%len(words)])
		if i < simReasoning {
			step = sim.Reasoning(0, "hm ")
		}
		gap := time.Duration(0) // the first token comes with the role
		if i > 0 {
			// exp(−σ²/2) makes simGap the mean, not the median.
			gap = time.Duration(float64(simGap) * math.Exp(simSpread*r.NormFloat64()-simSpread*simSpread/2))
		}
		steps = append(steps, step.After(gap))
		total += gap
	}
	reason := "stop"
	if n < simTokens {
		reason = "length"
	}
	steps = append(steps, sim.Finish(0, reason).After(0), sim.Done().After(0))
	return sim.Script{
		HeaderDelay: simHeaders, FirstDelay: simFirst, BodyDelay: simFirst + total, Steps: steps,
		UsageShape: sim.UsageOnLastChunk,
		RateLimit: sim.RateLimit{
			LimitRequests: 500, RemainingRequests: 499, ResetRequests: 120 * time.Millisecond,
			LimitTokens: 30_000, RemainingTokens: 29_912, ResetTokens: 176 * time.Millisecond,
		},
	}
}
