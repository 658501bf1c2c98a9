// SPDX-License-Identifier: Apache-2.0

package tacho

// tell makes the record whole and hands it on, once: to the span, the metrics,
// the recorder and the observers, in this order, on the goroutine that ended
// the call. No lock is held.
func (x *exchange) tell() {
	c := x.call
	x.trace.Freeze()
	if x.span != nil {
		fenced(x.endSpan)
	}
	if m := x.config.metrics; m != nil {
		fenced(func() { m.record(x.ctx.parent, x.config, c) })
	}
	if r := x.config.recorder; r != nil {
		r.add(c)
	}
	for _, f := range x.config.observers {
		fenced(func() { f(c) })
	}
	for o := x.observers; o != nil; o = o.next {
		fenced(func() { o.f(c) })
	}
	x.observers = nil
}

// fenced calls what others wrote, an observer or a part of an SDK: its panic is
// its own affair, not the call's.
func fenced(f func()) {
	defer func() { _ = recover() }()
	f()
}
