// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"iter"
	"time"
)

// Arrival is a request to a Serving in virtual time.
type Arrival struct {
	At     time.Duration // from the start; one before its predecessor counts as at the same time
	Prompt int           // tokens; below 0 counts as 0
	Output int           // answer tokens without reasoning; 0: drawn; negative: none, as for an embedding
	Limit  int           // of the answer's tokens, reasoning included; 0: none

	Prefix       string // the first PrefixTokens of the prompt are shared by all arrivals with this Prefix
	PrefixTokens int    // at most Prompt; the rest of the prompt is like no other
	Body         string // arrivals with the same Body are the same request to the response cache; "": like no other
	Times        bool   // keep the time of every token in the Outcome
}

// Outcome is how a request to a Serving ended.
type Outcome struct {
	Number  int // of the arrival, from 0
	Status  int // 200; 400: never fits; 429: rate limit; 503: queue full
	Replica int // that answered; -1: none did
	At      time.Duration
	Queue   time.Duration   // from the server (Base after At) to the start of the prefill; 0 unless Status is 200
	First   time.Duration   // from the start to the first event with tokens, if Output is not 0
	End     time.Duration   // from the start to the last token or the refusal
	Times   []time.Duration // from the start to each token, if Arrival.Times asks for it

	Prompt     int           // tokens
	Output     int           // answer tokens, reasoning included
	Reasoning  int           // of the output
	Cached     int           // of the prompt, found in the prefix cache
	Hit        bool          // answered by the response cache
	RetryAfter time.Duration // of a refusal; 0: none
}

// TTFT is the time from the arrival to the first event with tokens, if there is one.
func (o Outcome) TTFT() (time.Duration, bool) {
	if o.Status != statusOK || o.Output == 0 {
		return 0, false
	}
	return o.First - o.At, true
}

// Simulate runs the server in virtual time for the arrivals and yields their
// outcomes in the order in which they end. The k-th arrival (from 0) is answered
// as the k-th request to an endpoint with WithServing and WithSeed(seed): at the
// same offsets. Arrivals are pulled as they are needed, and only requests in
// flight are kept. The result may be ranged over several times if arrivals can.
// It fails on a bad configuration.
func (s Serving) Simulate(arrivals iter.Seq[Arrival], seed uint64) (iter.Seq[Outcome], error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return func(yield func(Outcome) bool) {
		sm := simulation{e: newEngine(s, seed)}
		sm.e.ended = func(q *request) { sm.ended = append(sm.ended, q) }
		number := uint64(0)
		for a := range arrivals {
			at := max(a.At, sm.e.now)
			if !sm.run(at, yield) {
				return
			}
			q := sm.request(a)
			q.number, q.at = number, at
			number++
			sm.e.arrive(q)
		}
		sm.run(never, yield)
	}, nil
}

// simulation runs an engine and uses its requests again.
type simulation struct {
	e     *engine
	ended []*request
	spare []*request

	unique uint64 // of the last block that no other prompt has
}

// run lets pass all events up to the time and yields what ended in them. It
// reports whether more is wanted.
func (sm *simulation) run(until time.Duration, yield func(Outcome) bool) bool {
	for {
		for _, q := range sm.ended {
			if !yield(sm.outcome(q)) {
				return false
			}
			sm.spare = append(sm.spare, q)
		}
		sm.ended = sm.ended[:0]
		at := sm.e.next()
		if at > until || at == never {
			return true
		}
		sm.e.advance(at)
	}
}

func (sm *simulation) request(a Arrival) *request {
	var q *request
	if n := len(sm.spare); n > 0 {
		q, sm.spare = sm.spare[n-1], sm.spare[:n-1]
	} else {
		q = new(request)
	}
	*q = request{
		prompt: min(max(a.Prompt, 0), maxPrompt), output: min(a.Output, maxOutput), limit: a.Limit, body: a.Body, keep: a.Times, blocks: q.blocks[:0],
	}
	if p := sm.e.s.PrefixCache; p > 0 {
		block, h := sm.e.s.PrefixBlock, hashString(a.Prefix)
		// Ends are counted from 1, so that no block is like one of another length.
		for end := block; end <= q.prompt; end += block {
			if own := a.Prefix == "" || end > a.PrefixTokens; own {
				sm.unique++
				h = mix(sm.unique, uint64(end))
			} else {
				h = mix(h, uint64(end))
			}
			q.blocks = append(q.blocks, h)
		}
	}
	return q
}

func (sm *simulation) outcome(q *request) Outcome {
	o := Outcome{
		Number: int(q.number), Status: q.status, Replica: -1, At: q.at, End: q.end, Prompt: q.prompt, Hit: q.hit, RetryAfter: q.wait,
	}
	if q.replica != nil {
		o.Replica = q.replica.index
	}
	if q.status == statusOK {
		o.Queue, o.First, o.Times = q.start-q.due, q.first, q.times
		o.Output, o.Reasoning, o.Cached = q.places*(q.output+q.reasoning), q.places*q.reasoning, q.cached
	}
	return o
}
