// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tacho-go/tacho"
)

// errCut ends the calls that a run leaves behind.
var errCut = errors.New("load: the run is over")

// Run puts the load on and returns what came of it. When ctx ends it starts
// nothing more, cuts off what is under way, and returns a result that says so.
// The error is that of a bad configuration alone: that calls fail is in the
// result, and in Result.Err.
//
// No goroutine outlives it, provided that Call returns when its context ends.
func Run(ctx context.Context, config Config) (*Result, error) {
	c, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &runner{config: c, recorder: c.Recorder, rows: newRows(c.Rows)}
	if r.recorder == nil {
		r.recorder, r.observe = NewRecorder(), true
	} else if err := c.unused(); err != nil {
		return nil, err
	}
	if c.MaxInFlight > 0 {
		r.room = make(chan struct{}, c.MaxInFlight)
	}
	return r.run(ctx), nil
}

// runner is a run under way.
type runner struct {
	config   Config
	recorder *tacho.Recorder
	observe  bool // nobody else tells the recorder
	rows     *rows
	room     chan struct{}

	start  time.Time
	stages []*stageTally
	flow   flow

	calls    sync.WaitGroup
	stopped  atomic.Pointer[string] // why nothing more starts
	stop     context.CancelCauseFunc
	overAt   atomic.Int64 // since start, plus 1: when the last call could start
	told     atomic.Bool  // a transport has told of a call
	cutAt    atomic.Int64 // since start, plus 1: when calls under way were cut off
	all      totals
	progress sync.WaitGroup
}

// totals count all calls, for progress.
type totals struct{ started, served, refused, failed atomic.Int64 }

func (r *runner) run(ctx context.Context) *Result {
	health := startHealth()
	r.start = time.Now()
	open, stop := context.WithCancelCause(ctx) // while calls may start
	r.stop = stop
	defer stop(nil)
	// Calls outlive the schedule, and carry the labels of their stage.
	under, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	r.begin(under)

	quit := make(chan struct{})
	r.progress.Go(func() { r.watch(quit) })

	// The calls of open stages have goroutines of their own, which r.open starts;
	// those of a worker are made on its own.
	var schedule sync.WaitGroup
	schedule.Go(func() { r.open(open) })
	r.startWorkers(open, &schedule)
	r.wait(open, r.total())
	stopped := r.over()
	r.flow.close(stopped)
	// Who waits for room or thinks waits in vain.
	stop(errCut)
	done := make(chan struct{})
	go func() {
		schedule.Wait()
		r.calls.Wait()
		close(done)
	}()
	interrupted := r.drain(ctx, cut, done)
	close(quit)
	r.progress.Wait()
	return r.result(ctx, stopped, interrupted, health.stop())
}

// over returns when the schedule ended or was stopped, which is when the first to
// see it asks.
func (r *runner) over() time.Duration {
	r.overAt.CompareAndSwap(0, int64(time.Since(r.start))+1)
	return time.Duration(r.overAt.Load() - 1)
}

// begin makes the tallies of the stages.
func (r *runner) begin(under context.Context) {
	from := time.Duration(0)
	for _, s := range r.config.Stages {
		measured := tacho.ContextWithLabels(under, labelStage, s.Name)
		t := &stageTally{
			stage: s, from: from + s.Warmup, to: from + s.length(),
			measured: measured,
			warmup:   tacho.ContextWithLabels(measured, labelWarmup, "true"),
		}
		from = t.to
		r.stages = append(r.stages, t)
		r.flow.windows = append(r.flow.windows, window{from: t.from, to: t.to})
	}
}

func (r *runner) total() time.Duration { return r.stages[len(r.stages)-1].to }

// wait waits until a time since the start, and reports false when ctx ends first.
func (r *runner) wait(ctx context.Context, until time.Duration) bool {
	left := until - time.Since(r.start)
	if left <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// drain waits for the calls under way, and cuts off those that take too long. It
// reports whether ctx ended while there were some.
func (r *runner) drain(ctx context.Context, cut context.CancelCauseFunc, done <-chan struct{}) (interrupted bool) {
	if r.config.Drain > 0 && ctx.Err() == nil {
		t := time.NewTimer(r.config.Drain)
		defer t.Stop()
		select {
		case <-done:
		case <-t.C:
		case <-ctx.Done():
			interrupted = true
		}
	}
	r.cutAt.Store(int64(time.Since(r.start)) + 1)
	cut(errCut)
	<-done
	return interrupted
}

// open starts the arrivals of the open stages. An arrival that finds no room
// waits for it, and so do those behind it. What was due when the run is over is
// started if the schedule was played to its end and the generator alone is a
// little behind; else it is counted as what kept it.
func (r *runner) open(ctx context.Context) {
	waited := time.Duration(-1) // until when the last one waited for room
	for a := range arrivals(r.config.Stages, r.config.Seed) {
		if !r.config.Segment.has(a.index) {
			continue
		}
		t := r.stages[a.stage]
		over := !r.wait(ctx, a.at)
		if over && a.at >= r.over() {
			return
		}
		stopped := over && r.over() < r.total()
		late := time.Since(r.start)-a.at > r.config.Tolerance && a.at > waited && !r.config.CatchUp
		switch {
		case stopped && r.room == nil, !stopped && late:
			t.count(a.at, func(t *stageTally) { t.Offered++; t.Missed++ })
			continue
		case stopped, over && a.at <= waited, !r.enter(ctx, &waited):
			t.count(a.at, func(t *stageTally) { t.Offered++; t.NotStarted++ })
			continue
		}
		t.count(a.at, func(t *stageTally) { t.Offered++ })
		j := Job{Stage: t.stage.Name, Index: a.index, Worker: -1, Seed: r.config.Seed, Intended: r.start.Add(a.at), Request: a.request}
		r.calls.Go(func() {
			if r.room != nil {
				defer func() { <-r.room }()
			}
			r.do(t, j, a.at)
		})
	}
}

// enter takes room for a call, and waits for it until ctx ends. If it had to, it
// sets until when.
func (r *runner) enter(ctx context.Context, waited *time.Duration) bool {
	if r.room == nil {
		return true
	}
	select {
	case r.room <- struct{}{}:
		return true
	default:
	}
	select {
	case r.room <- struct{}{}:
		*waited = time.Since(r.start)
		return true
	case <-ctx.Done():
		*waited = time.Since(r.start)
		return false
	}
}

// startWorkers starts the workers of all closed stages.
func (r *runner) startWorkers(ctx context.Context, schedule *sync.WaitGroup) {
	most := 0
	for _, s := range r.config.Stages {
		most = max(most, s.Workers, s.EndWorkers)
	}
	for w := range most {
		if r.config.Segment.has(int64(w)) {
			schedule.Go(func() { r.work(ctx, w) })
		}
	}
}

// work makes the calls of a worker, while the stage under way has it.
func (r *runner) work(ctx context.Context, worker int) {
	next := time.Duration(0) // when it wants the next call
	for calls := int64(0); ; {
		n, stage, change, ok := workersAt(r.config.Stages, max(next, time.Since(r.start)), worker)
		if !ok {
			return
		}
		if worker >= n {
			next = change
			if !r.wait(ctx, change) {
				return
			}
			continue
		}
		if !r.wait(ctx, next) {
			return
		}
		t := r.stages[stage]
		t.count(next, func(t *stageTally) { t.Offered++ })
		j := Job{Stage: t.stage.Name, Index: calls, Worker: worker, Seed: r.config.Seed, Intended: r.start.Add(next)}
		calls++
		served := r.do(t, j, next)
		next = time.Since(r.start) + t.stage.Think
		if !served {
			next += max(0, r.config.Pause)
		}
	}
}

// do makes a call and counts it, and reports whether it was served.
func (r *runner) do(t *stageTally, j Job, intended time.Duration) (served bool) {
	measured := intended >= t.from && intended < t.to
	ctx := t.measured
	if !measured {
		ctx = t.warmup
	}
	var seen watcher
	ctx = tacho.ContextWithObserver(ctx, seen.add)
	started := time.Since(r.start)
	r.flow.begin(started)
	r.all.started.Add(1)
	err := errExit // until Call has returned
	defer func() {
		ended := time.Since(r.start)
		r.flow.end(ended, started)
		call, calls := seen.last(err, r.told.Load() || ctx.Err() != nil)
		e := ending{job: j, err: err, call: call, calls: calls, intended: intended, started: started, ended: ended, measured: measured}
		if e.call != nil {
			r.told.Store(true)
		}
		if at := r.cutAt.Load(); at != 0 && int64(ended) >= at-1 && context.Cause(ctx) == errCut {
			e.cut = e.call == nil || e.call.Outcome() != tacho.Complete
		}
		r.settle(t, &e)
		served = e.class() == servedCall
	}()
	err = r.call(ctx, j)
	return false // the deferred function knows
}

// settle counts a call that has come to its end.
func (r *runner) settle(t *stageTally, e *ending) {
	if r.observe && e.call != nil {
		r.recorder.Observe(e.call)
	}
	r.all.add(e.class())
	t.add(e, &r.config)
	if w := r.stageAt(e.ended); w != nil && !e.cut {
		w.ended(e, r.config.Limits)
	}
	if e.measured {
		r.rows.write(e)
	}
}

// stageAt returns the stage in whose window, as far as it was played, a time lies,
// nil for none.
func (r *runner) stageAt(at time.Duration) *stageTally {
	if over := r.overAt.Load(); over != 0 && int64(at) >= over-1 {
		return nil
	}
	for _, t := range r.stages {
		if at >= t.from && at < t.to {
			return t
		}
	}
	return nil
}

func (t *totals) add(c class) {
	switch c {
	case servedCall:
		t.served.Add(1)
	case refusedCall:
		t.refused.Add(1)
	default:
		t.failed.Add(1)
	}
}
