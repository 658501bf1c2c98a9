// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// randomServing draws a configuration in which requests get in each other's way.
func randomServing(r *rand.Rand) Serving {
	spread := func() Spread {
		return []Spread{{}, {Name: "exponential"}, {"lognormal", 0.5}, {"gamma", 2}, {"uniform", 0.3}}[r.IntN(5)]
	}
	maybe := func(n int) int { return r.IntN(2) * (1 + r.IntN(n)) }
	s := Serving{
		Base: time.Duration(maybe(50)) * time.Millisecond, Prefill: float64(100 + r.IntN(10_000)), Knee: float64(maybe(1000)), PrefillSpread: spread(),
		Chunk: maybe(100), Step: time.Duration(r.IntN(20)-1) * time.Millisecond, PerSequence: time.Duration(maybe(1000)) * time.Microsecond,
		PerThousandKV: time.Duration(maybe(10)) * time.Millisecond, StepSpread: spread(),
		MaxBatch: 1 + r.IntN(6), KV: maybe(500), Queue: r.IntN(6) - 1,
		Output: 1 + 20*r.Float64(), OutputSpread: spread(), TokensPerEvent: maybe(5),
		RequestsPerMinute: maybe(6000), TokensPerMinute: maybe(600_000), PrefixCache: 16 * maybe(20), ResponseCache: maybe(3),
		Dispatch: Dispatch(r.IntN(3)),
	}
	if r.IntN(2) == 0 {
		s.ReasoningTime, s.Reasoning, s.ReasoningSpread = time.Duration(1+r.IntN(100))*time.Millisecond, 20*r.Float64(), spread()
	}
	for range r.IntN(4) {
		s.Speeds = append(s.Speeds, 0.2+2*r.Float64())
	}
	return s
}

// plan is a request of a test and when it is given up.
type plan struct {
	a      Arrival
	choice int
	cancel time.Duration // never: not
}

func randomPlans(r *rand.Rand, n int) []plan {
	var plans []plan
	at := time.Duration(0)
	for range n {
		at += time.Duration(r.IntN(30)) * time.Millisecond
		p := plan{choice: 1, cancel: never, a: Arrival{
			At: at, Prompt: r.IntN(150), Output: max(0, r.IntN(40)-20), Limit: max(0, r.IntN(60)-30), Times: true,
			Prefix: string(rune('a' + r.IntN(3))), PrefixTokens: r.IntN(150), Body: []string{"", "", "x", "y"}[r.IntN(4)],
		}}
		if r.IntN(10) == 0 {
			p.a.Output = -1
		}
		if r.IntN(8) == 0 {
			p.choice = 2
		}
		if r.IntN(5) == 0 {
			p.cancel = at + time.Duration(r.IntN(200))*time.Millisecond
		}
		plans = append(plans, p)
	}
	return plans
}

// runPlans plays the plans. With often, the engine is woken at each of its events and in
// between, else only by arrivals and cancellations.
func runPlans(t *testing.T, s Serving, seed uint64, plans []plan, often bool) []string {
	sm := simulation{e: newEngine(s, seed)}
	e := sm.e
	e.meter = newMeter()
	ends := map[*request]int{}
	e.ended = func(q *request) { ends[q]++ }
	requests := make([]*request, len(plans))
	type action struct {
		at time.Duration
		do func()
	}
	var actions []action
	for i, p := range plans {
		q := sm.request(p.a)
		q.number, q.at, q.places = uint64(i), p.a.At, p.choice
		requests[i] = q
		actions = append(actions, action{p.a.At, func() { e.arrive(q) }})
		if p.cancel != never {
			actions = append(actions, action{p.cancel, func() { e.cancel(q, p.cancel) }})
		}
	}
	slices.SortStableFunc(actions, func(a, b action) int { return int(a.at - b.at) })
	for _, a := range actions {
		for at := e.next(); often && at < a.at; at = e.next() {
			e.advance((e.now + at) / 2)
			e.advance(at)
			checkEngine(t, e, false)
		}
		a.do()
		checkEngine(t, e, false)
	}
	for i := 0; e.next() != never; i++ {
		e.advance(e.next())
		checkEngine(t, e, false)
		if i > 1_000_000 {
			t.Fatal("no end")
		}
	}
	checkEngine(t, e, true)
	var told []string
	for i, q := range requests {
		if want := map[bool]int{true: 0, false: 1}[q.state == stateCancelled]; ends[q] != want {
			t.Fatalf("request %d in state %d ended %d times", i, q.state, ends[q])
		}
		checkRequest(t, &e.s, q)
		told = append(told, fmt.Sprintf("%d: state %d, %+v", i, q.state, sm.outcome(q)))
	}
	checkOrder(t, e, requests)
	if n := e.meter.finished[0] + e.meter.finished[1] + e.meter.finished[2] + e.meter.hits + e.meter.refused[400] +
		e.meter.refused[429] + e.meter.refused[503]; n != len(plans) {
		t.Fatalf("%d of %d requests are counted", n, len(plans))
	}
	return told
}

// checkEngine compares what replicas count with what they hold.
func checkEngine(t *testing.T, e *engine, empty bool) {
	t.Helper()
	queues := []*fifo{&e.shared}
	for _, r := range e.replicas {
		queues = append(queues, &r.queue)
		places, kv, context := 0, 0, 0
		for _, q := range r.batch {
			if q.state != stateAdmitted {
				t.Fatalf("a request in state %d is in the batch", q.state)
			}
			places += q.places
			kv += q.kv
			context += q.prompt + q.places*q.sent
		}
		switch {
		case r.places > e.s.MaxBatch || places > r.places:
			t.Fatalf("%d places, %d of them in the batch, are more than %d", r.places, places, e.s.MaxBatch)
		case e.s.KV > 0 && r.kv > e.s.KV || kv > r.kv:
			t.Fatalf("%d tokens, %d of them in the batch, are more than %d", r.kv, kv, e.s.KV)
		case context != r.context:
			t.Fatalf("context is %d, counted as %d", context, r.context)
		case !r.busy && (len(r.batch) > 0 || r.prompts.n > 0):
			t.Fatal("a replica with requests is idle")
		case empty && (r.places != 0 || r.kv != 0 || r.context != 0 || r.running != 0 || r.requests != 0 || r.prompts.n != 0):
			t.Fatalf("left in a replica: %+v", r)
		}
	}
	for _, f := range queues {
		if limit := e.s.queue(); limit >= 0 && f.n > limit || f.n < 0 || empty && f.n != 0 {
			t.Fatalf("%d wait", f.n)
		}
		if q := f.first(); q != nil {
			for _, r := range e.replicas {
				if q.replica != nil && q.replica != r {
					continue
				}
				if r.fits(q) {
					t.Fatal("a request waits that fits")
				}
				if i := slices.IndexFunc(r.batch, func(b *request) bool { return b.number > q.number }); i >= 0 {
					t.Fatalf("request %d has overtaken request %d", r.batch[i].number, q.number)
				}
			}
		}
	}
	if empty && (e.live != 0 || e.transit.n != 0) {
		t.Fatalf("%d are alive, %d on the way", e.live, e.transit.n)
	}
}

// checkRequest looks at the times and counts of one request.
func checkRequest(t *testing.T, s *Serving, q *request) {
	t.Helper()
	if q.state != stateEnded || q.status != statusOK {
		return
	}
	for i, at := range q.times {
		if at < q.start || i > 0 && at < q.times[i-1] {
			t.Fatalf("start %v, tokens at %v", q.start, q.times)
		}
	}
	switch {
	case q.start < q.due || q.due != q.at+s.Base || q.end < q.start:
		t.Fatalf("at %v, due %v, start %v, end %v", q.at, q.due, q.start, q.end)
	case len(q.times) != q.output || q.sent != q.output:
		t.Fatalf("%d times of %d tokens, %d sent", len(q.times), q.output, q.sent)
	case q.output > 0 && (q.end != q.times[q.output-1] || q.first != q.times[min(s.TokensPerEvent, q.output)-1]):
		t.Fatalf("first %v, end %v, tokens at %v", q.first, q.end, q.times)
	case !q.hit && q.cached >= max(q.prompt, 1):
		t.Fatalf("%d of %d tokens are cached", q.cached, q.prompt)
	case !q.hit && q.limit > 0 && q.output+q.reasoning > q.limit:
		t.Fatalf("%d + %d tokens, limit %d", q.output, q.reasoning, q.limit)
	}
}

// checkOrder finds one that was overtaken in its replica, where prefills begin in
// the order of arrival.
func checkOrder(t *testing.T, e *engine, requests []*request) {
	t.Helper()
	last := map[*replica]*request{}
	for _, q := range requests {
		if q.hit || !q.begun {
			continue
		}
		if p := last[q.replica]; p != nil && p.start > q.start {
			t.Fatalf("request %d begins at %v, after request %d at %v", p.number, p.start, q.number, q.start)
		}
		last[q.replica] = q
	}
}

// FuzzEngine plays random requests to random servers: nothing is lost, bounds
// hold, no one is overtaken, and when the engine is woken changes nothing.
func FuzzEngine(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed, uint8(60))
	}
	f.Add(uint64(268), uint8(60)) // thinks while steps take no time
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		r := rand.New(rand.NewPCG(seed, 9))
		s, plans := randomServing(r), randomPlans(r, int(n))
		if s.RetryAfter > 0 && s.Queue == 0 {
			s.RetryAfter = 0
		}
		if err := s.check(); err != nil {
			t.Fatal(err)
		}
		late, often := runPlans(t, s, seed, plans, false), runPlans(t, s, seed, plans, true)
		for i := range late {
			if late[i] != often[i] {
				t.Fatalf("woken late:\n%s\nwoken often:\n%s", late[i], often[i])
			}
		}
	})
}
