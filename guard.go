// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"fmt"
	"time"
)

// WithFirstTokenTimeout ends a stream that has brought no output, in whatever
// channel, so long after the call's start: RoundTrip or Read returns a
// *TimeoutError, the request is cancelled, and the call's outcome is Deadline.
// Attempts of WithRetries and the waits between count in; those that an SDK makes
// by itself are calls of their own, each with the whole limit, so switch them off
// (openai-go: option.WithMaxRetries(0)). It has no effect on calls that ask for no
// stream.
//
// By default, and with 0 or less, there is no such limit.
func WithFirstTokenTimeout(d time.Duration) Option {
	return optionFunc(func(c *config) { c.firstToken = max(0, d) })
}

// WithStallTimeout ends a stream whose next output does not come for so long,
// counted while the application waits for it in a Read: Read returns a
// *TimeoutError, the request is cancelled, and the call's outcome is Deadline.
// The first output is not meant; see WithFirstTokenTimeout.
//
// By default, and with 0 or less, there is no such limit.
func WithStallTimeout(d time.Duration) Option {
	return optionFunc(func(c *config) { c.stallEnd = max(0, d) })
}

// TimeoutError is the end of a stream by WithFirstTokenTimeout or
// WithStallTimeout. It is a context.DeadlineExceeded to errors.Is.
type TimeoutError struct {
	Stall bool          // by WithStallTimeout
	Limit time.Duration // as set
}

// Error says which limit passed.
func (e *TimeoutError) Error() string {
	if e.Stall {
		return fmt.Sprintf("tacho: the stream stalled for %v", e.Limit)
	}
	return fmt.Sprintf("tacho: no output within %v", e.Limit)
}

// Timeout reports that it is one, for who asks net.Error.
func (e *TimeoutError) Timeout() bool { return true }

// Unwrap returns context.DeadlineExceeded.
func (e *TimeoutError) Unwrap() error { return context.DeadlineExceeded }

// kind names it as Failure.Type does.
func (e *TimeoutError) kind() string {
	if e.Stall {
		return "stall_timeout"
	}
	return "first_token_timeout"
}

// guard ends a stream in time. One timer serves all events of it: it does not
// start again with each, but looks, when it fires, how long the last one is ago.
type guard struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer   // under the exchange's lock
	ended  *TimeoutError // under the exchange's lock; nil: not by this
}

// guardStream returns the context that the guard can end, if the call is to
// have one.
func (x *exchange) guardStream(ctx context.Context) context.Context {
	g := x.config
	if g.firstToken <= 0 && g.stallEnd <= 0 {
		return ctx
	}
	if x.extra == nil {
		x.extra = new(extra)
	}
	x.extra.guard = new(guard)
	ctx, x.extra.guard.cancel = context.WithCancelCause(ctx)
	return ctx
}

// guard is what watches over the stream, nil without a time-out.
func (x *exchange) guard() *guard {
	if x.extra == nil {
		return nil
	}
	return x.extra.guard
}

// startGuard begins to watch a stream that was asked for, or may have been.
func (x *exchange) startGuard(stream bool) {
	if x.guard() == nil || !stream {
		return
	}
	if d := x.config.firstToken; d > 0 {
		x.mu.Lock()
		x.guard().timer = time.AfterFunc(d-x.since(), x.watch)
		x.mu.Unlock()
	}
}

// watch runs when the timer fires.
func (x *exchange) watch() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.frozen || x.told || x.closed || x.ctx.parent.Err() != nil {
		return
	}
	now, g := x.since(), x.config
	if x.call.outputEvents == 0 {
		x.expire(now, g.firstToken-now, &TimeoutError{Limit: g.firstToken})
		return
	}
	if g.stallEnd <= 0 {
		return
	}
	// What has passed in Reads since the last output, and in that under way.
	left := g.stallEnd - (x.call.network - x.networkAtLast)
	if began := x.reading.Load(); began > 0 {
		left -= now - time.Duration(began-1)
	} else {
		left = g.stallEnd // nobody waits: look again when somebody may have for so long
	}
	x.expire(now, left, &TimeoutError{Stall: true, Limit: g.stallEnd})
}

// expire ends the stream if no time is left, else looks again when it is over.
func (x *exchange) expire(now, left time.Duration, e *TimeoutError) {
	if left > 0 {
		x.guard().timer.Reset(left)
		return
	}
	x.guard().ended = e
	x.wait(now)
	x.freeze(now)
	x.call.fail(x.fault(nil, Cancelled))
	x.guard().cancel(e)
}

// guardOutput looks after the stream from its first output on.
func (x *exchange) guardOutput() {
	if x.guard() == nil {
		return
	}
	switch d := x.config.stallEnd; {
	case d <= 0:
		x.stopGuard()
	case x.guard().timer == nil:
		x.guard().timer = time.AfterFunc(d, x.watch)
	default:
		x.guard().timer.Reset(d)
	}
}

// stopGuard stops the timer. The lock is held.
func (x *exchange) stopGuard() {
	if x.guard() != nil && x.guard().timer != nil {
		x.guard().timer.Stop()
	}
}

// guarded is the error of the guard, if it was the guard that ended the stream:
// what the base says of that may be anything, a clean end too.
func (x *exchange) guarded(err error) error {
	if err == nil || x.guard() == nil || x.guard().ended == nil {
		return err
	}
	return x.guard().ended
}
