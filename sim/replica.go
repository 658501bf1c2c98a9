// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// replica is one server of an engine: a batch and what waits for it.
type replica struct {
	e        *engine
	index    int
	speed    float64
	draws    *rand.Rand
	prefixes *prefixCache // nil: off

	queue    fifo // waiting for this replica alone
	requests int  // admitted ones, and those in queue
	running  int  // admitted requests
	places   int  // that they take
	kv       int  // tokens that they reserve

	prompts fifo       // admitted, with a part of the prompt not yet in an iteration
	batch   []*request // decoding or thinking
	context int        // tokens of those in batch

	busy  bool
	end   time.Duration // of the iteration
	step  bool          // it has a decode step
	parts []promptPart  // and these pieces of prompts
}

// promptPart is a piece of a prompt in an iteration.
type promptPart struct {
	q    *request
	last bool
}

func (r *replica) fits(q *request) bool {
	return r.places+q.places <= r.e.s.MaxBatch && (r.e.s.KV == 0 || r.kv+q.kv <= r.e.s.KV)
}

// admit reserves what the request takes; its prefill comes in its turn.
func (r *replica) admit(q *request, now time.Duration) {
	q.state, q.replica, q.queued = stateAdmitted, r, true
	r.places += q.places
	r.kv += q.kv
	r.running++
	r.prompts.push(q)
	if !r.busy {
		r.begin(now)
	}
}

// release gives back what admit reserved.
func (r *replica) release(q *request) {
	r.requests--
	r.running--
	r.places -= q.places
	r.kv -= q.kv
	r.context -= q.counted
	if q.queued {
		r.prompts.n--
	}
}

// leastStep bounds the number of steps that a thinking request takes part in.
const leastStep = time.Microsecond

// begin starts an iteration, if there is something to do.
func (r *replica) begin(now time.Duration) {
	s := &r.e.s
	took := r.takePrompts(now)
	r.step = len(r.batch) > 0 && (s.Chunk > 0 || len(r.parts) == 0)
	if r.step {
		n, least := 0, 0.0
		for _, q := range r.batch {
			n += q.places
			if q.thinking {
				least = float64(leastStep) * r.speed
			}
		}
		step := float64(s.Step) + float64(n)*float64(s.PerSequence) + float64(r.context)/1000*float64(s.PerThousandKV)
		took += max(least, step*s.StepSpread.draw(r.draws))
	}
	r.busy = r.step || len(r.parts) > 0
	r.end = now + time.Duration(math.Round(min(took/r.speed, float64(24*longest))))
}

// takePrompts chooses the pieces of prompts of an iteration that starts now and
// returns their time in nanoseconds at speed 1.
func (r *replica) takePrompts(now time.Duration) float64 {
	s := &r.e.s
	r.parts = r.parts[:0]
	took, left := 0.0, s.Chunk
	for q := r.prompts.first(); q != nil; q = r.prompts.first() {
		if !q.begun {
			r.open(q, now)
		}
		n := q.prompt - q.prefilled
		if s.Chunk > 0 {
			n = min(n, left)
			left -= n
		}
		took += (s.prefillTime(q.prefilled+n) - s.prefillTime(q.prefilled)) * q.factor
		q.prefilled += n
		last := q.prefilled == q.prompt
		r.parts = append(r.parts, promptPart{q, last})
		if last {
			q.queued = false
			r.prompts.pop()
		}
		if left <= 0 {
			break
		}
	}
	return took
}

// prefillTime is the time for a whole prompt in nanoseconds.
func (s *Serving) prefillTime(tokens int) float64 {
	if s.Prefill == 0 {
		return 0
	}
	n := float64(tokens)
	t := n / s.Prefill * float64(time.Second)
	if s.Knee > 0 {
		t *= 1 + n/s.Knee
	}
	return t
}

// open begins the prefill of a prompt with what the prefix cache has of it.
func (r *replica) open(q *request, now time.Duration) {
	q.begun, q.start = true, now
	if r.prefixes != nil {
		q.cached = r.prefixes.lookup(q.blocks, q.prompt)
		q.prefilled = q.cached
	}
	if m := r.e.meter; m != nil {
		m.open(q, r.prefixes != nil)
	}
}

// finish ends the iteration and starts the next.
func (r *replica) finish(now time.Duration) {
	if r.step {
		kept := r.batch[:0]
		for _, q := range r.batch {
			q.thinking = q.thinking && now < q.until
			if !q.thinking {
				r.emit(q, now)
			}
			if q.state != stateEnded {
				kept = append(kept, q)
			}
		}
		clear(r.batch[len(kept):])
		r.batch = kept
	}
	for _, p := range r.parts {
		if p.last && p.q.state == stateAdmitted {
			r.join(p.q, now)
		}
	}
	// While it is busy, what is admitted does not start an iteration of its own.
	r.e.refill(r, now)
	r.begin(now)
}

// join takes a request whose prefill is complete into the batch.
func (r *replica) join(q *request, now time.Duration) {
	if r.prefixes != nil {
		r.prefixes.touch(q.blocks)
	}
	if m := r.e.meter; m != nil {
		m.prefilled(q)
	}
	switch {
	case q.output == 0:
		r.release(q)
		r.e.finish(q, statusOK, now)
		return
	case q.think > 0:
		q.thinking = true
		q.until = now + time.Duration(math.Round(float64(q.think)/r.speed))
	default:
		r.emit(q, now)
		if q.state == stateEnded {
			return
		}
	}
	q.joined, q.counted = true, q.prompt+q.places*q.sent
	r.context += q.counted
	r.batch = append(r.batch, q)
}

// emit gives one token of each choice, and ends the request with the last.
func (r *replica) emit(q *request, now time.Duration) {
	q.sent++
	if m := r.e.meter; m != nil {
		m.token(q, now)
	}
	q.last = now
	if q.sent == min(r.e.s.TokensPerEvent, q.output) {
		q.first = now
	}
	if q.keep {
		q.times = append(q.times, now)
	}
	if q.joined {
		q.counted += q.places
		r.context += q.places
	}
	if q.sent == q.output {
		r.release(q)
		r.e.finish(q, statusOK, now)
		return
	}
	if r.e.changed != nil {
		r.e.changed(q)
	}
}
