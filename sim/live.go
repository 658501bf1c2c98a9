// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"sync"
	"time"
)

// live drives an engine by the clock. A timer wakes it at the engine's next event;
// however late that is, the engine computes with the time of the event, so that
// delays do not add up. The timer runs only while requests are alive. It is safe
// for concurrent use.
type live struct {
	mu    sync.Mutex
	e     *engine
	start time.Time
	timer *time.Timer
}

func newLive(s Serving, seed uint64) *live {
	l := &live{e: newEngine(s, seed), start: time.Now()}
	l.e.meter = newMeter()
	l.e.changed = func(q *request) {
		select {
		case q.wake <- struct{}{}:
		default:
			// The handler has not yet seen the signal before.
		}
	}
	return l
}

// tick lets happen what is due.
func (l *live) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.e.advance(time.Since(l.start))
	l.arm()
}

// arm sets the timer to the next event. The caller holds mu.
func (l *live) arm() {
	at := l.e.next()
	switch {
	case at == never:
		if l.timer != nil {
			l.timer.Stop()
		}
	case l.timer == nil:
		l.timer = time.AfterFunc(time.Until(l.start.Add(at)), l.tick)
	default:
		l.timer.Reset(time.Until(l.start.Add(at)))
	}
}

// arrive hands a request to the engine and returns the number of tokens of its
// first event, at least 1.
func (l *live) arrive(q *request) int {
	q.wake = make(chan struct{}, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	q.at = time.Since(l.start)
	l.e.arrive(q)
	l.arm()
	return max(1, min(l.e.s.TokensPerEvent, q.output))
}

// leave is called when the handler returns: a request that has not ended is
// cancelled.
func (l *live) leave(q *request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.e.cancel(q, time.Since(l.start))
	l.arm()
}

// progress is what a handler sees of its request.
type progress struct {
	sent   int // tokens of a choice
	status int // of a request that has ended, else 0
}

// await waits until the request has sent at least so many tokens or has ended.
// When ctx ends before, it aborts the answer.
func (l *live) await(ctx context.Context, q *request, sent int) progress {
	for {
		l.mu.Lock()
		p := progress{q.sent, q.status}
		l.mu.Unlock()
		if p.status != 0 || p.sent >= sent {
			return p
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			abort()
		}
	}
}
