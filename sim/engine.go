// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// engine is the state machine of a Serving. It has no clock: its caller says what
// time it is, in time since the start, and asks when something happens next. What
// it computes depends on the arrivals, cancellations and the seed alone, not on
// how often or how late it is called. It is not safe for concurrent use.
type engine struct {
	s        Serving // defaults resolved
	now      time.Duration
	live     int  // requests that have not ended
	transit  fifo // on the way to the server
	shared   fifo // waiting for any replica
	replicas []*replica
	turn     int // of RoundRobin
	requests *bucket
	tokens   *bucket
	answers  *lru[string, answer]
	meter    *meter           // nil: nothing is counted
	changed  func(*request)   // a token was emitted or the request ended; may be nil
	ended    func(o *request) // the request ended; may be nil

	source *rand.PCG
	draws  *rand.Rand
	seed   uint64
}

// The draws of requests, of replicas and of words are apart from each other.
const (
	stepStream = 0xbf58476d1ce4e5b9
	wordStream = 0x94d049bb133111eb
)

// answer is what the response cache remembers.
type answer struct {
	of                                uint64
	output, reasoning, cached, places int
	cut                               bool
}

func newEngine(s Serving, seed uint64) *engine {
	s = s.withDefaults()
	e := &engine{s: s, seed: seed, source: rand.NewPCG(0, 0)}
	e.draws = rand.New(e.source)
	e.requests = newBucket("requests", s.RequestsPerMinute, s.RequestBurst)
	e.tokens = newBucket("tokens", s.TokensPerMinute, s.TokenBurst)
	if s.ResponseCache > 0 {
		e.answers = newLRU[string, answer](s.ResponseCache)
	}
	for i, speed := range s.Speeds {
		e.replicas = append(e.replicas, &replica{
			e: e, index: i, speed: speed,
			draws:    rand.New(rand.NewPCG(seed^stepStream, uint64(i))),
			prefixes: newPrefixCache(s.PrefixCache, s.PrefixBlock),
		})
	}
	return e
}

// never is after all events.
const never = time.Duration(math.MaxInt64)

// next is the time of the next event, or never. Events without a request that
// is alive are not worth a wake-up.
func (e *engine) next() time.Duration {
	if e.live == 0 {
		return never
	}
	_, at := e.nextEvent()
	return at
}

// nextEvent returns the replica whose iteration ends next, or nil if a request
// reaches the server before. At the same time, iterations go first, in the
// replicas' order.
func (e *engine) nextEvent() (*replica, time.Duration) {
	var next *replica
	at := never
	for _, r := range e.replicas {
		if r.busy && r.end < at {
			next, at = r, r.end
		}
	}
	if q := e.transit.first(); q != nil && q.due < at {
		return nil, q.due
	}
	return next, at
}

// advance lets happen all that happens up to now, and at now.
func (e *engine) advance(now time.Duration) {
	for {
		r, at := e.nextEvent()
		if at > now || at == never {
			break
		}
		e.now = at
		if r != nil {
			r.finish(at)
			continue
		}
		q := e.transit.first()
		e.transit.pop()
		e.receive(q, at)
	}
	if now > e.now && now != never {
		e.now = now
	}
}

// arrive takes a request at the time q.at.
func (e *engine) arrive(q *request) {
	q.at = max(q.at, e.now)
	e.advance(q.at)
	e.live++
	q.of = q.number
	e.draw(q)
	q.due = q.at + e.s.Base
	if e.s.Base > 0 {
		q.state = stateTransit
		e.transit.push(q)
		return
	}
	e.receive(q, q.at)
}

// draw decides what a request takes and gives.
func (e *engine) draw(q *request) {
	e.source.Seed(e.seed, q.number)
	r, s := e.draws, &e.s
	q.factor = s.PrefillSpread.draw(r)
	q.places = max(q.places, 1)
	if q.output == 0 {
		q.output = max(1, whole(r, s.Output*s.OutputSpread.draw(r)))
	}
	if q.output < 0 {
		q.output, q.kv = 0, q.prompt
		return
	}
	if s.ReasoningTime > 0 {
		f := s.ReasoningSpread.draw(r)
		q.think = time.Duration(math.Round(min(f*float64(s.ReasoningTime), float64(24*longest))))
		q.reasoning = whole(r, f*s.Reasoning)
	}
	if q.limit > 0 && q.output+q.reasoning > q.limit {
		q.cut = true
		q.reasoning = min(q.reasoning, q.limit-1)
		q.output = q.limit - q.reasoning
	}
	q.kv = q.prompt + q.places*(q.output+q.reasoning)
}

// whole rounds at random, so that the mean is kept.
func whole(r *rand.Rand, x float64) int {
	return int(math.Floor(min(x, maxOutput) + r.Float64()))
}

// finish ends a request, whose places are free by now.
func (e *engine) finish(q *request, status int, now time.Duration) {
	q.state, q.status, q.end = stateEnded, status, now
	e.live--
	if status == statusOK && !q.hit && e.answers != nil && q.body != "" {
		e.answers.put(q.body, answer{q.number, q.output, q.reasoning, q.cached, q.places, q.cut})
	}
	if e.meter != nil {
		e.meter.end(q)
	}
	if e.changed != nil {
		e.changed(q)
	}
	if e.ended != nil {
		e.ended(q)
	}
}

// cancel takes out a request at the time now, unless it has ended. The iteration
// that it is part of keeps its length.
func (e *engine) cancel(q *request, now time.Duration) {
	e.advance(max(now, e.now))
	was := q.state
	if was == stateEnded || was == stateCancelled {
		return
	}
	q.state = stateCancelled
	e.live--
	if e.meter != nil {
		e.meter.cancel()
	}
	switch was {
	case stateTransit:
		e.transit.n--
	case stateWaiting:
		if q.replica == nil {
			e.shared.n--
		} else {
			q.replica.queue.n--
			q.replica.requests--
		}
		e.refill(q.replica, e.now)
	case stateAdmitted:
		r := q.replica
		r.release(q)
		if i := slices.Index(r.batch, q); i >= 0 {
			r.batch = slices.Delete(r.batch, i, i+1)
		}
		e.refill(r, e.now)
	}
}
