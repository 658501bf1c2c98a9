// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tacho-go/tacho/sim"
)

func TestServingErrors(t *testing.T) {
	t.Parallel()
	spread := func(name string, cv float64) sim.Serving {
		return sim.Serving{OutputSpread: sim.Spread{Name: name, CV: cv}}
	}
	for _, tc := range []struct {
		s    sim.Serving
		want string
	}{
		{sim.Serving{}, ""},
		{sim.Serving{Prefill: -1, Step: -1, Queue: -1}, ""},
		{sim.Serving{Prefill: math.NaN()}, "sim: Serving.Prefill is NaN, not a number up to 1e+12"},
		{sim.Serving{Knee: -1}, "sim: Serving.Knee is negative: -1"},
		{sim.Serving{Base: 2 * time.Hour}, "sim: Serving.Base is 7.2e+12, not a number up to 3.6e+12"},
		{sim.Serving{TokensPerMinute: 200_000_000}, "sim: Serving.TokensPerMinute is 2e+08, not a number up to 1.5e+08"},
		{sim.Serving{Speeds: []float64{1, 0}}, "sim: Serving.Speeds[1] is 0, not 0.000001 to 1000000"},
		{sim.Serving{Speeds: make([]float64, 0)}, ""},
		{sim.Serving{Speeds: slices.Repeat([]float64{1}, 1025)}, "sim: Serving.Speeds has 1025 replicas, more than 1024"},
		{sim.Serving{Dispatch: 3}, "sim: Serving.Dispatch 3 is unknown"},
		{sim.Serving{Knee: 100, Prefill: -1}, "sim: Serving.Knee needs a Prefill that takes time"},
		{sim.Serving{Reasoning: 100}, "sim: Serving.Reasoning needs ReasoningTime"},
		{sim.Serving{ReasoningSpread: sim.Spread{Name: "exponential"}}, "sim: Serving.ReasoningSpread needs ReasoningTime"},
		{sim.Serving{ReasoningTime: time.Minute, Step: 2}, "sim: Serving.ReasoningTime of 1m0s is over a million steps of 2ns"},
		{sim.Serving{RequestBurst: 1}, "sim: Serving.RequestBurst needs RequestsPerMinute"},
		{sim.Serving{TokenBurst: 1}, "sim: Serving.TokenBurst needs TokensPerMinute"},
		{sim.Serving{PrefixBlock: 1}, "sim: Serving.PrefixBlock needs PrefixCache"},
		{sim.Serving{PrefixCache: 15}, "sim: Serving.PrefixCache of 15 tokens holds no block of 16"},
		{sim.Serving{RetryAfter: 1}, "sim: Serving.RetryAfter needs Queue: without a bound nothing is refused with 503"},
		{spread("normal", 1), `sim: Serving.OutputSpread: "normal" with CV 1: the names are constant, exponential, lognormal, gamma, uniform`},
		{spread("", 0.1), `sim: Serving.OutputSpread: "" with CV 0.1: a constant has CV 0; name a distribution`},
		{spread("exponential", 2), `sim: Serving.OutputSpread: "exponential" with CV 2: an exponential distribution has CV 1`},
		{spread("gamma", 0), `sim: Serving.OutputSpread: "gamma" with CV 0: the CV must be above 0 and at most 10`},
		{spread("lognormal", math.NaN()), `sim: Serving.OutputSpread: "lognormal" with CV NaN: the CV must be above 0 and at most 10`},
		{spread("uniform", 0.6), `sim: Serving.OutputSpread: "uniform" with CV 0.6: the CV must be above 0 and at most 0.577, lest the lower end be negative`},
	} {
		text := func(err error) string {
			if err == nil {
				return ""
			}
			return err.Error()
		}
		_, err := tc.s.Simulate(slices.Values([]sim.Arrival(nil)), 1)
		equal(t, "Simulate", text(err), tc.want)
		if tc.want == "" {
			continue
		}
		_, err = sim.Listen(sim.WithServing(tc.s))
		equal(t, "Listen", text(err), tc.want)
	}
	for _, other := range []sim.Option{sim.WithModel(sim.Model{}), sim.WithScript(sim.Script{})} {
		if _, err := sim.Listen(other, sim.WithServing(sim.Serving{})); err == nil {
			t.Error("two models are no error")
		}
	}
}

func TestServingString(t *testing.T) {
	t.Parallel()
	equal(t, "zero", sim.Serving{}.String(), "serving sim-model: base 0s, prefill 8000 tokens/s (constant) first, step 20ms + 0s a sequence (constant),"+
		" batch 64, queue without bound\n  output mean 128 tokens (constant), 1 in an event, replicas of speed [1]")
	equal(t, "all", busy().String(), "serving sim-model: base 30ms, prefill 20000 tokens/s with knee 4000 (gamma, CV 0.5) first,"+
		" step 8ms + 1ms a sequence + 300µs a thousand tokens (lognormal, CV 0.3), batch 4, KV 3000 tokens, queue of 3 (retry after 1s)\n"+
		"  output mean 12 tokens (exponential), 1 in an event, thinks 20ms for 5 tokens (uniform, CV 0.4), 2700 requests a minute (burst 10),"+
		" 1200000 tokens a minute (burst 15000), prefix cache of 4000 tokens in blocks of 16, replicas of speed [1 0.5], least loaded")
	equal(t, "dispatch", sim.SharedQueue.String()+", "+sim.RoundRobin.String()+", "+sim.Dispatch(7).String(), "shared queue, round robin, Dispatch(7)")
}

// TestSimulateAgain ranges twice over the same simulation, and stops early.
func TestSimulateAgain(t *testing.T) {
	t.Parallel()
	outcomes := simulate(t, busy(), poisson(300, 50, sim.Arrival{Prompt: 200}, 1), 2)
	one, two := slices.Collect(outcomes), slices.Collect(outcomes)
	if len(one) != 300 || !slices.EqualFunc(one, two, func(a, b sim.Outcome) bool { return a.Number == b.Number && a.End == b.End && a.Output == b.Output }) {
		t.Errorf("%d and %d outcomes differ", len(one), len(two))
	}
	for i := 1; i < len(one); i++ {
		if one[i].End < one[i-1].End {
			t.Fatal("not in the order of ends")
		}
	}
	n := 0
	for range outcomes {
		if n++; n == 10 {
			break
		}
	}
	// An arrival before its predecessor counts as at the same time.
	late := slices.Collect(simulate(t, sim.Serving{Prefill: -1, Step: -1}, slices.Values([]sim.Arrival{{At: ms}, {At: 0, Prompt: -1}}), 1))
	equal(t, "time", late[1].At, ms)
}

// BenchmarkSimulate takes a request with one token through a queue.
func BenchmarkSimulate(b *testing.B) {
	s := sim.Serving{Prefill: 1000, MaxBatch: 1}
	b.ReportAllocs()
	for range simulate(b, s, poisson(b.N, 8, sim.Arrival{Prompt: 100, Output: 1}, 7), 8) {
	}
}
