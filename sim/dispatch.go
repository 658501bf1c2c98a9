// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"time"
)

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
