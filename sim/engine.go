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

// receive decides about a request that has reached the server.
func (e *engine) receive(q *request, now time.Duration) {
	if e.answers != nil && q.body != "" {
		if a, ok := e.answers.get(q.body); ok {
			q.hit, q.of, q.output, q.reasoning, q.cached, q.places, q.cut = true, a.of, a.output, a.reasoning, a.cached, a.places, a.cut
			q.start, q.first, q.last, q.sent = now, now, now, q.output
			if q.keep {
				for range q.output {
					q.times = append(q.times, now)
				}
			}
			e.finish(q, statusOK, now)
			return
		}
	}
	if q.places > e.s.MaxBatch || e.s.KV > 0 && q.kv > e.s.KV {
		q.why = "never fits"
		e.finish(q, statusTooLarge, now)
		return
	}
	limited := e.limited(q, now)
	q.limits = [2]limitState{e.requests.state(now), e.tokens.state(now)}
	if limited {
		e.finish(q, statusLimited, now)
		return
	}
	e.dispatch(q, now)
}

// limited reports whether a bucket lacks what the request wants; else it is taken.
func (e *engine) limited(q *request, now time.Duration) bool {
	limited := false
	for _, l := range []struct {
		b *bucket
		n int
	}{{e.requests, 1}, {e.tokens, q.kv}} {
		if l.b == nil {
			continue
		}
		w := l.b.wait(l.n, now)
		if w != 0 && q.wait >= 0 {
			if !limited {
				q.why = l.b.whatLimit
			}
			limited = true
			if q.wait = max(q.wait, w); w < 0 {
				q.wait = w
			}
		}
	}
	if limited {
		q.wait = max(q.wait, 0)
		return true
	}
	if e.requests != nil {
		e.requests.take(1)
	}
	if e.tokens != nil {
		e.tokens.take(q.kv)
	}
	return false
}

// dispatch admits the request, lets it wait, or refuses it.
func (e *engine) dispatch(q *request, now time.Duration) {
	queue, r := &e.shared, (*replica)(nil)
	switch e.s.Dispatch {
	case SharedQueue:
		r = e.room(q)
	case RoundRobin:
		r = e.replicas[e.turn%len(e.replicas)]
		e.turn++
		queue = &r.queue
	case LeastLoaded:
		r = slices.MinFunc(e.replicas, func(a, b *replica) int { return a.requests - b.requests })
		queue = &r.queue
	}
	if e.s.Dispatch != SharedQueue {
		q.replica = r
	}
	if queue.n == 0 && r != nil && r.fits(q) {
		r.requests++
		r.admit(q, now)
		return
	}
	if limit := e.s.queue(); limit >= 0 && queue.n >= limit {
		q.replica = nil
		q.why, q.wait = "queue", e.s.RetryAfter
		e.finish(q, statusOverloaded, now)
		return
	}
	if e.s.Dispatch != SharedQueue {
		r.requests++
	}
	q.state = stateWaiting
	queue.push(q)
}

// room finds the replica with room for a request, or nil.
func (e *engine) room(q *request) *replica {
	var best *replica
	for _, r := range e.replicas {
		if r.fits(q) && (best == nil || r.places < best.places || r.places == best.places && r.speed > best.speed) {
			best = r
		}
	}
	return best
}

// refill admits waiting requests after r got room.
func (e *engine) refill(r *replica, now time.Duration) {
	if e.s.Dispatch == SharedQueue {
		for {
			q := e.shared.first()
			if q == nil {
				return
			}
			r := e.room(q)
			if r == nil {
				return
			}
			e.shared.pop()
			r.requests++
			r.admit(q, now)
		}
	}
	for {
		q := r.queue.first()
		if q == nil || !r.fits(q) {
			return
		}
		r.queue.pop()
		r.admit(q, now)
	}
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
