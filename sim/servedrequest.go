// SPDX-License-Identifier: Apache-2.0

package sim

import "time"

type reqState uint8

const (
	stateTransit reqState = iota
	stateWaiting
	stateAdmitted
	stateEnded
	stateCancelled
)

// request is one request in an engine. What stands first is set by the caller,
// number and at too.
type request struct {
	number uint64
	at     time.Duration
	prompt int
	output int // tokens of a choice, without reasoning; 0: drawn; negative: none
	limit  int // of output and reasoning; 0: none
	places int // choices
	body   string
	blocks []uint64
	keep   bool // the times of tokens

	reasoning int
	cut       bool // by the limit
	factor    float64
	think     time.Duration

	state     reqState
	replica   *replica // with a queue of its own, or that admitted it
	kv        int      // tokens, prompt and all answers
	queued    bool     // in the replica's prompts
	begun     bool     // its prefill
	cached    int
	prefilled int  // tokens found in the cache, prefilled or in this iteration
	joined    bool // the batch
	counted   int  // in the replica's context
	thinking  bool
	until     time.Duration // of the thinking
	sent      int           // tokens of a choice

	due    time.Duration // at the server
	start  time.Duration // of the prefill
	first  time.Duration // event
	last   time.Duration // token
	end    time.Duration
	times  []time.Duration
	status int
	hit    bool
	of     uint64        // the number of the request that was answered so before; its own otherwise
	wait   time.Duration // of a refusal
	why    string        // of a refusal
	limits [2]limitState // requests and tokens, when it was let in or refused

	wake chan struct{} // of the HTTP handler
}
