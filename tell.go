// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"fmt"
	"strings"

	"github.com/tacho-go/tacho/internal/conv"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
)

// tell makes the record whole and hands it on, once: to the span, the metrics,
// the events, the recorder and the observers, in this order, on the goroutine that ended
// the call. No lock is held.
func (x *exchange) tell() {
	c := x.call
	x.trace.Freeze(x.direct && x.extra == nil && strings.HasPrefix(c.proto, "HTTP/1"))
	c.hideKey(x.key)
	var at trace.SpanContext
	ctx := x.ownContext()
	fenced(func() { at = trace.SpanContextFromContext(ctx) })
	c.trace = at.TraceID()
	if x.tries() != nil {
		x.config.attempts.last(x)
	}
	if t := x.tap(); t != nil {
		fenced(func() { t.end(c) })
		x.forgetHeard()
	}
	m := x.config.metrics
	var sets *callSets
	var folded int64
	if x.captures() {
		x.tellContent(ctx)
	}
	events := x.config.logger != nil && (c.Content() != nil || c.outcome.Bad())
	if x.span != nil || m != nil || events {
		sets = x.config.ended(c)
	}
	if x.span != nil {
		fenced(func() { folded = x.endSpan(sets) })
	}
	if m != nil {
		x.httpEnd(ctx, sets)
		fenced(func() { m.record(ctx, sets, c, folded) })
		for k := range x.config.objectives {
			fenced(func() { m.judge(ctx, x.config.objectives, k, sets, c) })
		}
	}
	if events {
		fenced(func() { x.config.tellEvents(ctx, c, sets) })
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

// forgetHeard lets go of what was kept to be counted.
func (x *exchange) forgetHeard() {
	f := &x.call.facts
	if f.Captured == nil {
		return
	}
	if f.Captured.Hear = nil; x.captures() {
		return
	}
	f.Captured = nil
	for i := range f.Calls {
		f.Calls[i].Kept = nil
	}
}

// httpEnd records the request that the call ended with, unless it ended in a pause
// behind that.
func (x *exchange) httpEnd(ctx context.Context, s *callSets) {
	if t := x.tries(); t != nil && t.over || x.config.optIn&conv.HTTP == 0 {
		return
	}
	x.httpLevel(ctx, -1)
	if last, ok := x.call.OfAttempt(Duration); ok {
		fenced(func() { x.config.metrics.observe(ctx, conv.HTTPDuration, inSeconds(last), &s.http) })
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
