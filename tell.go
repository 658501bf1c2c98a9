// SPDX-License-Identifier: Apache-2.0

package tacho

// tell makes the record whole and hands it on, once: to the span, the metrics,
// the recorder and the observers, in this order, on the goroutine that ended
// the call. No lock is held.
func (x *exchange) tell() {
	c := x.call
	x.trace.Freeze()
	c.phases = *x.trace.Result()
	if x.span != nil {
		fenced(x.endSpan)
	}
	if m := x.config.metrics; m != nil {
		fenced(func() { m.record(x.spanCtx, c) })
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

// other stands for a value from the wire that is not let into telemetry.
const other = "_OTHER"

// bounded lets a value from the wire into telemetry if it is made of
// [A-Za-z0-9_.:/-] and at most 64 bytes long.
func bounded(s string) string {
	if len(s) > 64 {
		return other
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9',
			c == '_', c == '.', c == ':', c == '/', c == '-':
		default:
			return other
		}
	}
	return s
}
