// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"
)

// Serving is a model of an inference server under load: requests share its time,
// wait for each other and are refused. WithServing puts it behind the HTTP API;
// Simulate runs it in virtual time without HTTP. Both are the same engine and
// give the same times to the nanosecond. A zero field is off or means the default
// that is given.
//
// A request reaches the server Base after its arrival. There the rate limits are
// asked first (429), then a dispatcher picks a replica, then the request takes
// its places in the replica's batch and its tokens of the KV budget, or waits for
// both in order of arrival, or is refused when the queue is full (503). It
// reserves prompt and whole answer when it is admitted, so that nothing is
// preempted; one that would never fit is refused with status 400. No one
// overtakes: behind a request that does not fit, smaller ones wait too.
//
// A replica works in iterations. What is admitted during one joins at its end.
//
//	prefill of n prompt tokens   n ÷ Prefill × (1 + n ÷ Knee) × draw of PrefillSpread
//	decode step of b sequences   (Step + b × PerSequence + context ÷ 1000 × PerThousandKV) × draw of StepSpread
//
// both ÷ the replica's speed; context is the number of tokens, prompts and
// answers, of the sequences in the step. Without Chunk, prefill goes first: an
// iteration is the prefill of one prompt, in order of admission, or if none is
// due, a decode step for all others. With Chunk, an iteration is a decode step and
// up to Chunk prompt tokens of the prompts that are due, its time the sum of both
// (the piece from token a to b takes what b takes less what a takes; without
// anything to decode there is no step). The end of a prompt's prefill gives the
// first token, each decode step one more.
//
// With ReasoningTime a request thinks after its prefill, keeping its place: steps
// are computed and nothing is sent until that time is over; the first token comes
// with the first decode step that ends then or later. The Reasoning tokens are
// reported as reasoning tokens, a part of the output tokens; they are a count
// and take no steps of their own. A step with a thinking sequence takes at least
// 1 µs.
//
// A request with n choices is n sequences of one length, in step, after one
// prefill. An embedding is a prefill without tokens.
type Serving struct {
	Name string        // of the model, in metrics; default "sim-model"
	Base time.Duration // from arrival to the server; refusals and cached answers take it too

	Prefill       float64 // prompt tokens a second; default 8000, negative: prefill takes no time
	Knee          float64 // prompt tokens at which the superlinear part equals the linear one; 0: none
	PrefillSpread Spread  // one draw for each request
	Chunk         int     // prompt tokens of an iteration beside the decode step; 0: prefill first

	Step          time.Duration // decode step; default 20 ms, negative: no time
	PerSequence   time.Duration // and for each sequence in it
	PerThousandKV time.Duration // and for each thousand tokens of context
	StepSpread    Spread        // one draw for each iteration with a decode step

	MaxBatch   int           // sequences of a replica at a time; default 64
	KV         int           // tokens, prompts and answers, of a replica at a time; 0: no bound
	Queue      int           // requests that may wait in one queue; 0: no bound, negative: none
	RetryAfter time.Duration // Retry-After of a 503; default 1 s

	Output          float64       // mean number of answer tokens without the reasoning; default 128, at least 1 is drawn
	OutputSpread    Spread        //
	TokensPerEvent  int           // tokens in one event of a stream, sent at the time of the last of them; default 1
	Reasoning       float64       // mean number of hidden tokens before the answer
	ReasoningTime   time.Duration // mean time of thinking; ÷ the replica's speed
	ReasoningSpread Spread        // one draw for each request, of both

	RequestsPerMinute int // token bucket, full at the start; 0: no limit
	RequestBurst      int // size of the bucket; default RequestsPerMinute
	TokensPerMinute   int // of prompts and answers, answers counted in advance; 0: no limit
	TokenBurst        int // size of the bucket; default TokensPerMinute

	PrefixCache   int // tokens of prompts that a replica remembers, apart from KV; 0: off
	PrefixBlock   int // tokens of a block; only whole blocks of a prompt's beginning are found; default 16
	ResponseCache int // answers that are remembered and sent for the same request body; 0: off

	Speeds   []float64 // one replica for each; empty: one of speed 1
	Dispatch Dispatch  // which replica a request goes to
}

// Dispatch is how requests are spread over replicas.
type Dispatch int

const (
	// SharedQueue has one queue for all replicas: a request goes to the replica
	// with room that has the fewest sequences (of equals the fastest, then the
	// first), or waits until any replica has room.
	SharedQueue Dispatch = iota
	// RoundRobin gives each replica its turn, and each has a queue of its own.
	RoundRobin
	// LeastLoaded takes the replica with the fewest requests, waiting ones
	// included, the first of equals; each has a queue of its own.
	LeastLoaded
)

func (d Dispatch) String() string {
	switch d {
	case SharedQueue:
		return "shared queue"
	case RoundRobin:
		return "round robin"
	case LeastLoaded:
		return "least loaded"
	}
	return fmt.Sprintf("Dispatch(%d)", int(d))
}

const (
	minuteNs     = int64(time.Minute)
	maxPerMinute = 150_000_000 // keeps the bucket's arithmetic in 64 bits
	maxTokens    = 100_000_000 // of a budget
	maxPrompt    = 10_000_000
	maxReplicas  = 1024
	longest      = time.Hour // of one configured time
)

// withDefaults resolves all fields, so that zero is off in what it returns.
func (s Serving) withDefaults() Serving {
	if s.Name == "" {
		s.Name = defaultModelName
	}
	s.Prefill = pick(s.Prefill, 8000)
	s.Step = pick(s.Step, 20*time.Millisecond)
	s.MaxBatch = pick(s.MaxBatch, 64)
	s.RetryAfter = pick(s.RetryAfter, time.Second)
	s.Output = pick(s.Output, 128)
	s.TokensPerEvent = pick(s.TokensPerEvent, 1)
	s.RequestBurst = pick(s.RequestBurst, s.RequestsPerMinute)
	s.TokenBurst = pick(s.TokenBurst, s.TokensPerMinute)
	s.PrefixBlock = pick(s.PrefixBlock, 16)
	if len(s.Speeds) == 0 {
		s.Speeds = []float64{1}
	}
	return s
}

func (s Serving) check() error {
	for _, f := range []struct {
		name     string
		v        float64
		negative bool // has a meaning
		most     float64
	}{
		{"Prefill", s.Prefill, true, 1e12}, {"Knee", s.Knee, false, 1e12}, {"Output", s.Output, false, maxOutput},
		{"Reasoning", s.Reasoning, false, maxOutput},
		{"Base", float64(s.Base), false, float64(longest)}, {"Step", float64(s.Step), true, float64(longest)},
		{"PerSequence", float64(s.PerSequence), false, float64(longest)},
		{"PerThousandKV", float64(s.PerThousandKV), false, float64(longest)},
		{"RetryAfter", float64(s.RetryAfter), false, float64(24 * longest)},
		{"ReasoningTime", float64(s.ReasoningTime), false, float64(longest)},
		{"Chunk", float64(s.Chunk), false, maxPrompt}, {"MaxBatch", float64(s.MaxBatch), false, 1e6},
		{"KV", float64(s.KV), false, maxTokens}, {"Queue", float64(s.Queue), true, 1e9},
		{"TokensPerEvent", float64(s.TokensPerEvent), false, maxOutput},
		{"RequestsPerMinute", float64(s.RequestsPerMinute), false, maxPerMinute}, {"RequestBurst", float64(s.RequestBurst), false, maxPerMinute},
		{"TokensPerMinute", float64(s.TokensPerMinute), false, maxPerMinute}, {"TokenBurst", float64(s.TokenBurst), false, maxPerMinute},
		{"PrefixCache", float64(s.PrefixCache), false, maxTokens}, {"PrefixBlock", float64(s.PrefixBlock), false, maxPrompt},
		{"ResponseCache", float64(s.ResponseCache), false, 1e6},
	} {
		switch {
		case math.IsNaN(f.v) || f.v > f.most:
			return fmt.Errorf("sim: Serving.%s is %g, not a number up to %g", f.name, f.v, f.most)
		case f.v < 0 && !f.negative:
			return fmt.Errorf("sim: Serving.%s is negative: %g", f.name, f.v)
		}
	}
	for _, f := range []struct {
		name string
		s    Spread
	}{
		{"PrefillSpread", s.PrefillSpread}, {"StepSpread", s.StepSpread}, {"OutputSpread", s.OutputSpread}, {"ReasoningSpread", s.ReasoningSpread},
	} {
		if err := f.s.check(f.name); err != nil {
			return err
		}
	}
	for i, v := range s.Speeds {
		if !(v >= 1e-6 && v <= 1e6) {
			return fmt.Errorf("sim: Serving.Speeds[%d] is %g, not 0.000001 to 1000000", i, v)
		}
	}
	return s.checkPairs()
}

// checkPairs finds fields that need, or cannot go with, another one.
func (s Serving) checkPairs() error {
	switch {
	case len(s.Speeds) > maxReplicas:
		return fmt.Errorf("sim: Serving.Speeds has %d replicas, more than %d", len(s.Speeds), maxReplicas)
	case s.Dispatch < SharedQueue || s.Dispatch > LeastLoaded:
		return fmt.Errorf("sim: Serving.Dispatch %d is unknown", int(s.Dispatch))
	case s.Knee > 0 && s.Prefill < 0:
		return errors.New("sim: Serving.Knee needs a Prefill that takes time")
	case s.ReasoningTime > 1_000_000*max(s.withDefaults().Step, leastStep):
		return fmt.Errorf("sim: Serving.ReasoningTime of %v is over a million steps of %v", s.ReasoningTime, s.withDefaults().Step)
	case s.Reasoning > 0 && s.ReasoningTime == 0:
		return errors.New("sim: Serving.Reasoning needs ReasoningTime")
	case s.ReasoningSpread != (Spread{}) && s.ReasoningTime == 0:
		return errors.New("sim: Serving.ReasoningSpread needs ReasoningTime")
	case s.RequestBurst > 0 && s.RequestsPerMinute == 0:
		return errors.New("sim: Serving.RequestBurst needs RequestsPerMinute")
	case s.TokenBurst > 0 && s.TokensPerMinute == 0:
		return errors.New("sim: Serving.TokenBurst needs TokensPerMinute")
	case s.PrefixBlock > 0 && s.PrefixCache == 0:
		return errors.New("sim: Serving.PrefixBlock needs PrefixCache")
	case s.PrefixCache > 0 && s.PrefixCache < s.withDefaults().PrefixBlock:
		return fmt.Errorf("sim: Serving.PrefixCache of %d tokens holds no block of %d", s.PrefixCache, s.withDefaults().PrefixBlock)
	case s.RetryAfter > 0 && s.Queue == 0:
		return errors.New("sim: Serving.RetryAfter needs Queue: without a bound nothing is refused with 503")
	}
	return nil
}

// queue is the number of requests that may wait in one queue; negative: without
// a bound.
func (s Serving) queue() int {
	switch {
	case s.Queue == 0:
		return -1
	case s.Queue < 0:
		return 0
	}
	return s.Queue
}

// The statuses of an Outcome.
const (
	statusOK         = http.StatusOK
	statusTooLarge   = http.StatusBadRequest
	statusLimited    = http.StatusTooManyRequests
	statusOverloaded = http.StatusServiceUnavailable
)
