// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho/sim"
)

// outcomes runs a server and returns what happened in the order of arrival.
func outcomes(t *testing.T, s sim.Serving, arrivals ...sim.Arrival) []sim.Outcome {
	t.Helper()
	got := slices.Collect(simulate(t, s, slices.Values(arrivals), 1))
	slices.SortFunc(got, func(a, b sim.Outcome) int { return a.Number - b.Number })
	return got
}

// told is an outcome in short: replica, wait, and the times of the tokens, or the
// refusal.
func told(o sim.Outcome) string {
	if o.Status != 200 {
		return fmt.Sprintf("%d at %v, retry after %v", o.Status, o.End, o.RetryAfter)
	}
	return fmt.Sprintf("on %d after %v: %v", o.Replica, o.Queue, o.Times)
}

func at(d time.Duration, prompt, output int) sim.Arrival {
	return sim.Arrival{At: d, Prompt: prompt, Output: output, Times: true}
}

// TestServingCases has cases that can be worked out by hand. A prompt token takes
// 1 ms, a decode step 10 ms.
func TestServingCases(t *testing.T) {
	t.Parallel()
	base := sim.Serving{Prefill: 1000, Step: 10 * ms}
	with := func(f func(*sim.Serving)) sim.Serving {
		s := base
		f(&s)
		return s
	}
	three := []sim.Arrival{at(0, 100, 3), at(50*ms, 200, 2), at(60*ms, 10, 1)}
	for _, tc := range []struct {
		name     string
		s        sim.Serving
		arrivals []sim.Arrival
		want     []string
	}{
		// The first prompt takes until 100, the second until 300, then a step of
		// two, 12 ms, ends the second request and lets in the third, whose prompt
		// goes first, until 322; the last step is of one, 11 ms.
		{"prefill first", with(func(s *sim.Serving) { s.PerSequence, s.MaxBatch = ms, 2 }), three,
			[]string{"on 0 after 0s: [100ms 312ms 333ms]", "on 0 after 50ms: [300ms 312ms]", "on 0 after 252ms: [322ms]"}},
		// The second prompt comes in two chunks of 100 ms, each with a step of one;
		// the third's 10 ms go with the last step.
		{"chunks", with(func(s *sim.Serving) { s.PerSequence, s.MaxBatch, s.Chunk = ms, 2, 100 }), three,
			[]string{"on 0 after 0s: [100ms 211ms 322ms]", "on 0 after 50ms: [322ms 343ms]", "on 0 after 262ms: [343ms]"}},
		// 30 + 20 tokens fill the chunk of 50; the rest of the second goes with
		// the first's step.
		{"two prompts in a chunk", with(func(s *sim.Serving) { s.Chunk = 50 }), []sim.Arrival{at(0, 50, 1), at(0, 30, 2), at(0, 40, 1)},
			[]string{"on 0 after 0s: [50ms]", "on 0 after 50ms: [100ms 130ms]", "on 0 after 50ms: [130ms]"}},
		// 100 × (1 + 100 ÷ 100) ms.
		{"knee", with(func(s *sim.Serving) { s.Knee = 100 }), []sim.Arrival{at(0, 100, 1)}, []string{"on 0 after 0s: [200ms]"}},
		// 50 × 1.5 and then 200 − 75 ms, with nothing to decode beside.
		{"knee in chunks", with(func(s *sim.Serving) { s.Knee, s.Chunk = 100, 50 }), []sim.Arrival{at(0, 100, 1), at(ms, 0, 2)},
			[]string{"on 0 after 0s: [200ms]", "on 0 after 199ms: [200ms 210ms]"}},
		// 1000 tokens of context cost 5 ms in a step: 10 + 5 × (100 + 1) ÷ 1000, then one token more.
		{"context", with(func(s *sim.Serving) { s.PerThousandKV = 5 * ms }), []sim.Arrival{at(0, 100, 3)},
			[]string{"on 0 after 0s: [100ms 110.505ms 121.015ms]"}},
		// Thinking until 125: the step that ends at 130 gives the first token.
		{"thinking", with(func(s *sim.Serving) { s.ReasoningTime, s.Reasoning = 25*ms, 7 }), []sim.Arrival{at(0, 100, 2)},
			[]string{"on 0 after 0s: [130ms 140ms]"}},
		// Twice as fast: prompt until 50, thinking until 65, the very end of a step.
		{"thinking to a step's end", with(func(s *sim.Serving) { s.ReasoningTime, s.Speeds = 30*ms, []float64{2} }), []sim.Arrival{at(0, 100, 2)},
			[]string{"on 0 after 0s: [65ms 70ms]"}},
		// 60 and 60 tokens do not fit into 100, and 15 wait behind; 101 never fit.
		{"KV budget", with(func(s *sim.Serving) { s.KV = 100 }), []sim.Arrival{at(0, 50, 10), at(ms, 50, 10), at(2*ms, 10, 1), at(3*ms, 100, 1)},
			[]string{"on 0 after 0s: [50ms 60ms 70ms 80ms 90ms 100ms 110ms 120ms 130ms 140ms]",
				"on 0 after 139ms: [190ms 210ms 220ms 230ms 240ms 250ms 260ms 270ms 280ms 290ms]",
				"on 0 after 188ms: [200ms]", "400 at 3ms, retry after 0s"}},
		{"queue", with(func(s *sim.Serving) { s.MaxBatch, s.Queue, s.Base = 1, 1, 5*ms }), []sim.Arrival{at(0, 100, 1), at(10*ms, 100, 1), at(20*ms, 1, 1)},
			[]string{"on 0 after 0s: [105ms]", "on 0 after 90ms: [205ms]", "503 at 25ms, retry after 1s"}},
		{"no queue", with(func(s *sim.Serving) { s.MaxBatch, s.Queue, s.RetryAfter = 1, -1, 3*time.Second }), []sim.Arrival{at(0, 100, 1), at(99*ms, 1, 1), at(100*ms, 1, 1)},
			[]string{"on 0 after 0s: [100ms]", "503 at 99ms, retry after 3s", "on 0 after 0s: [101ms]"}},
		// One a second, two at once.
		{"requests a minute", with(func(s *sim.Serving) { s.RequestsPerMinute, s.RequestBurst = 60, 2 }),
			[]sim.Arrival{at(0, 1, 1), at(0, 0, 1), at(0, 0, 1), at(400*ms, 0, 1), at(time.Second, 0, 1), at(time.Second, 0, 1)},
			[]string{"on 0 after 0s: [1ms]", "on 0 after 1ms: [1ms]", "429 at 0s, retry after 1s", "429 at 400ms, retry after 600ms",
				"on 0 after 0s: [1s]", "429 at 1s, retry after 1s"}},
		// A seventh of a minute, rounded up to a nanosecond.
		{"seven a minute", with(func(s *sim.Serving) { s.RequestsPerMinute, s.RequestBurst = 7, 1 }), []sim.Arrival{at(0, 0, 1), at(0, 0, 1), at(8_571_428_572, 0, 1)},
			[]string{"on 0 after 0s: [0s]", "429 at 0s, retry after 8.571428572s", "on 0 after 0s: [8.571428572s]"}},
		// 100 a second, 150 at once, 100 for each request; 200 never are there.
		{"tokens a minute", with(func(s *sim.Serving) { s.TokensPerMinute, s.TokenBurst = 6000, 150 }),
			[]sim.Arrival{at(0, 99, 1), at(100*ms, 99, 1), at(500*ms, 99, 1), at(500*ms, 199, 1)},
			[]string{"on 0 after 0s: [99ms]", "429 at 100ms, retry after 400ms", "on 0 after 0s: [599ms]", "429 at 500ms, retry after 0s"}},
		// Both idle: the fast one first. The third waits for whichever is free.
		{"shared queue", with(func(s *sim.Serving) { s.MaxBatch, s.Speeds = 1, []float64{1, 2} }), []sim.Arrival{at(0, 100, 1), at(0, 100, 1), at(0, 100, 1)},
			[]string{"on 1 after 0s: [50ms]", "on 0 after 0s: [100ms]", "on 1 after 50ms: [100ms]"}},
		{"round robin", with(func(s *sim.Serving) { s.MaxBatch, s.Speeds, s.Dispatch = 1, []float64{1, 2}, sim.RoundRobin }),
			[]sim.Arrival{at(0, 100, 1), at(0, 100, 1), at(60*ms, 100, 1), at(60*ms, 100, 1)},
			[]string{"on 0 after 0s: [100ms]", "on 1 after 0s: [50ms]", "on 0 after 40ms: [200ms]", "on 1 after 0s: [110ms]"}},
		{"least loaded", with(func(s *sim.Serving) { s.MaxBatch, s.Speeds, s.Dispatch = 1, []float64{1, 2}, sim.LeastLoaded }),
			[]sim.Arrival{at(0, 100, 1), at(0, 100, 1), at(60*ms, 100, 1), at(60*ms, 100, 1)},
			[]string{"on 0 after 0s: [100ms]", "on 1 after 0s: [50ms]", "on 1 after 0s: [110ms]", "on 0 after 40ms: [200ms]"}},
		// An embedding has no token and ends with its prefill.
		{"embedding", base, []sim.Arrival{at(0, 100, -1)}, []string{"on 0 after 0s: []"}},
		{"no time at all", with(func(s *sim.Serving) { s.Prefill, s.Step = -1, -1 }), []sim.Arrival{at(0, 100, 3)}, []string{"on 0 after 0s: [0s 0s 0s]"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, o := range outcomes(t, tc.s, tc.arrivals...) {
				got = append(got, told(o))
			}
			equal(t, "outcomes", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
		})
	}
}

// TestServingTokens checks counts of what is hidden, cut and coalesced.
func TestServingTokens(t *testing.T) {
	t.Parallel()
	o := outcomes(t, sim.Serving{ReasoningTime: ms, Reasoning: 7, Output: 3}, sim.Arrival{Prompt: 5})[0]
	equal(t, "output", o.Output, 10)
	equal(t, "reasoning", o.Reasoning, 7)

	// Four tokens in an event: the first comes with the fourth, or with the last.
	s := sim.Serving{Prefill: -1, Step: 10 * ms, TokensPerEvent: 4}
	for output, want := range map[int]time.Duration{2: 10 * ms, 4: 30 * ms, 9: 30 * ms} {
		o := outcomes(t, s, at(0, 5, output))[0]
		first, ok := o.TTFT()
		equal(t, "first", first, want)
		equal(t, "has first", ok, true)
		equal(t, "end", o.End, time.Duration(output-1)*10*ms)
	}
	_, ok := outcomes(t, s, at(0, 5, -1))[0].TTFT()
	equal(t, "an embedding has a first token", ok, false)
}

// TestServingPrefixCache has room for four blocks of 16 tokens, and calls far apart.
func TestServingPrefixCache(t *testing.T) {
	t.Parallel()
	s := sim.Serving{Prefill: 1000, PrefixCache: 64}
	var arrivals []sim.Arrival
	var want []string
	add := func(prefix string, shared, prompt, cached int) {
		arrivals = append(arrivals, sim.Arrival{At: time.Duration(len(arrivals)) * time.Second, Prompt: prompt, Output: 1, Prefix: prefix, PrefixTokens: shared})
		// What is cached need not be prefilled.
		want = append(want, fmt.Sprint(cached, time.Duration(prompt-cached)*ms))
	}
	add("a", 40, 40, 0)
	add("a", 40, 40, 32)
	add("a", 32, 32, 16) // of two whole blocks one is computed, for the first token
	add("a", 15, 40, 0)  // not a whole block in common, and two blocks more
	add("a", 40, 40, 32) // the cache holds four blocks
	add("b", 48, 48, 0)  // three blocks more: of a, the beginning is left
	add("a", 40, 40, 16)
	add("", 40, 64, 0) // nobody else's: all is forgotten
	add("a", 40, 40, 0)
	add("a", 16, 17, 16)
	var got []string
	for _, o := range outcomes(t, s, arrivals...) {
		ttft, _ := o.TTFT()
		got = append(got, fmt.Sprint(o.Cached, ttft))
	}
	equal(t, "cached tokens and first token", strings.Join(got, "\n"), strings.Join(want, "\n"))
}

// TestServingResponseCache has room for one answer.
func TestServingResponseCache(t *testing.T) {
	t.Parallel()
	call := func(at time.Duration, body string) sim.Arrival {
		return sim.Arrival{At: at, Prompt: 100, Output: 3, Body: body, Times: true}
	}
	s := sim.Serving{Base: ms, Prefill: 1000, Step: 10 * ms, ResponseCache: 1, RequestsPerMinute: 4}
	got := outcomes(t, s, call(0, "x"), call(50*ms, "x"), call(500*ms, "x"), call(600*ms, "y"), call(2*time.Second, "x"), call(3*time.Second, "x"))
	for i, want := range []string{
		"on 0 after 0s: [101ms 211ms 221ms] false",
		"on 0 after 50ms: [201ms 211ms 221ms] false", // the first has not ended
		"on -1 after 0s: [501ms 501ms 501ms] true",
		"on 0 after 0s: [701ms 711ms 721ms] false", // takes its place
		"on 0 after 0s: [2.101s 2.111s 2.121s] false",
		"on -1 after 0s: [3.001s 3.001s 3.001s] true", // the limit of four has not been asked
	} {
		equal(t, "outcome", fmt.Sprint(told(got[i]), " ", got[i].Hit), want)
	}
}

func TestServingScaled(t *testing.T) {
	t.Parallel()
	s := sim.Serving{
		Base: ms, Prefill: 16000, Knee: 32000, Chunk: 512, Step: 10 * ms, PerSequence: 100 * time.Microsecond, PerThousandKV: ms,
		MaxBatch: 100, KV: 100_000, Queue: 7, Output: 161, TokensPerEvent: 8, RequestsPerMinute: 60, TokensPerMinute: 60_000, TokenBurst: 100,
		PrefixCache: 6400, ResponseCache: 3,
	}
	// c = (161 ÷ 16 − 1) ÷ 160 = 0.0566: a batch of 6.
	equal(t, "text", s.Scaled(16).String(), "serving sim-model: base 1ms, prefill 1000 tokens/s with knee 2000 (constant) in chunks of 32,"+
		" step 10ms + 1.765517ms a sequence + 282.482759ms a thousand tokens (constant), batch 6, KV 354 tokens, queue of 7 (retry after 1s)\n"+
		"  output mean 10.0625 tokens (constant), 1 in an event, 60 requests a minute (burst 60), 3750 tokens a minute (burst 6),"+
		" prefix cache of 400 tokens in blocks of 1, cache of 3 answers, replicas of speed [1]")
	equal(t, "by one", s.Scaled(1).String(), s.String())
	equal(t, "by none", s.Scaled(0).String(), s.String())
	equal(t, "without times", sim.Serving{Prefill: -1, Step: -1}.Scaled(4).String(), "serving sim-model: base 0s, prefill none first,"+
		" step 0s + 0s a sequence (constant), batch 16, queue without bound\n  output mean 32 tokens (constant), 1 in an event, replicas of speed [1]")
}
