// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/tacho-go/tacho/sim"
)

// The models: one that answers at once, and one that reasons before.
const (
	talker  = "talker-1"
	thinker = "thinker-1"
)

// regions have an endpoint each.
var regions = []string{"eu", "us"}

// What is slow, and what a stall is: a tail sampler keeps what the first says.
const (
	slow  = 500 * time.Millisecond
	stall = 200 * time.Millisecond
)

// turn is one call of the plan: what is asked, and how the endpoint answers.
type turn struct {
	model   string
	scripts []sim.Script  // one for each attempt
	pause   time.Duration // of the reader, in the midst of the answer
}

// plan returns the k-th call in a region. Of 20 calls one each is refused once,
// fails, is cut, fails in its stream, is slow, stalls, and is read with a pause.
func plan(region, k int) turn {
	r := rand.New(rand.NewPCG(uint64(region), uint64(k)))
	t := turn{model: talker}
	usage := &sim.UsageCounts{InputTokens: 100 + k%7, OutputTokens: 12, CachedTokens: 64}
	s := sim.Script{
		Text: strings.TrimSpace(strings.Repeat("word ", 12)), Usage: usage, Gap: 2 * time.Millisecond,
		HeaderDelay: time.Duration(30e6 * math.Exp(0.5*r.NormFloat64())),
		RateLimit:   sim.RateLimit{LimitRequests: 1000, RemainingRequests: 1000 - k%50, LimitTokens: 100_000, RemainingTokens: 100_000 - 100*(k%50)},
	}
	if k%3 == 2 {
		t.model = thinker
		s.Reasoning = strings.TrimSpace(strings.Repeat("thought ", 20))
		usage.OutputTokens, usage.ReasoningTokens = 32, 20
	}
	refused := sim.Script{Status: http.StatusTooManyRequests, ErrorCode: "rate_limit_exceeded", RetryAfter: 10 * time.Millisecond}
	broken := sim.Script{Status: http.StatusServiceUnavailable, ErrorCode: "overloaded", RetryAfter: 5 * time.Millisecond}
	t.scripts = []sim.Script{s}
	switch k % 20 {
	case 1:
		t.scripts = []sim.Script{refused, s}
	case 4:
		t.scripts = []sim.Script{broken, broken, broken}
	case 7:
		t.scripts[0] = with(s, sim.Role(0), sim.Text(0, "a"), sim.Text(0, " b"), sim.Cut())
	case 10:
		t.scripts[0] = with(s, sim.Role(0), sim.Text(0, "a"), sim.Text(0, " b"), sim.Error("server_error", "server_error", "The model failed."))
	case 13:
		t.scripts[0].HeaderDelay += slow
	case 16:
		t.scripts[0] = with(s, sim.Role(0), sim.Text(0, "a"), sim.Text(0, " b").After(stall+100*time.Millisecond),
			sim.Text(0, " c"), sim.Finish(0, "stop"), sim.Usage(*usage), sim.Done())
	case 19:
		t.pause = stall / 2
	}
	return t
}

// with is a script of these steps, at the same delays.
func with(s sim.Script, steps ...sim.Step) sim.Script {
	return sim.Script{Steps: steps, HeaderDelay: s.HeaderDelay, Gap: s.Gap, RateLimit: s.RateLimit}
}
