// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
)

// tell makes the record whole and hands it on, once: to the span, the metrics,
// the recorder and the observers, in this order, on the goroutine that ended
// the call. No lock is held.
func (x *exchange) tell() {
	c := x.call
	x.trace.Freeze()
	var at trace.SpanContext
	ctx := x.ownContext()
	fenced(func() { at = trace.SpanContextFromContext(ctx) })
	c.trace = at.TraceID()
	if x.tries() != nil {
		x.lastAttempt()
	}
	m := x.config.metrics
	var sets *callSets
	var folded int64
	if x.span != nil || m != nil {
		sets = x.config.ended(c)
	}
	if x.span != nil {
		fenced(func() { folded = x.endSpan(sets) })
	}
	if m != nil {
		fenced(func() { m.record(ctx, sets, c, folded) })
		if o := x.config.objectives; o != nil {
			fenced(func() { m.judge(ctx, o, sets, c) })
		}
	}
	if log := x.config.log; log != nil {
		fenced(func() { log(x.config, ctx, c, at) })
	}
	if r := x.config.recorder; r != nil {
		r.add(c)
	}
	for _, f := range x.config.observers {
		fenced(func() { f(c) })
	}
	o, _ := x.ctx.parent.Value(observerKey{}).(*observerList)
	for ; o != nil; o = o.next {
		fenced(func() { o.f(c) })
	}
}

// fenced calls what others wrote, an observer or a part of an SDK: its panic
// goes to OpenTelemetry's error handler and no further. What was panicked with
// may hold content, so that its type is told and no more.
func fenced(f func()) {
	defer func() {
		if p := recover(); p != nil {
			defer func() { _ = recover() }() // the handler is the application's own
			otel.Handle(fmt.Errorf("tacho: an observer or telemetry provider panicked with a %T", p))
		}
	}()
	f()
}
