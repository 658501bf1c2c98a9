// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
)

type (
	exchangeKey struct{}
	observerKey struct{}
	labelsKey   struct{}

	attributesKey   struct{}
	conversationKey struct{}
)

// exchangeFrom returns the exchange that an outer layer has begun, if any.
func exchangeFrom(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// observerList holds a context's observers, innermost first.
type observerList struct {
	f    func(*Call)
	next *observerList
}

// ContextWithObserver returns a context whose calls are told to f when they
// end, besides the observers of the transport and those already in ctx. What
// WithObserver says of f holds here too.
func ContextWithObserver(ctx context.Context, f func(*Call)) context.Context {
	if f == nil {
		return ctx
	}
	next, _ := ctx.Value(observerKey{}).(*observerList)
	return context.WithValue(ctx, observerKey{}, &observerList{f, next})
}

// Label is a name and a value that the caller gives to calls.
type Label struct{ Name, Value string }

// ContextWithLabels returns a context whose calls carry the labels, given as
// names and values in turn, besides those already in ctx; a name given again
// takes the new value. A name without a value has the empty one. Labels are in
// the record, and on the metrics those of WithMetricLabels; spans do not have them.
func ContextWithLabels(ctx context.Context, namesAndValues ...string) context.Context {
	old, _ := ctx.Value(labelsKey{}).([]Label)
	labels := append([]Label(nil), old...)
next:
	for i := 0; i < len(namesAndValues); i += 2 {
		l := Label{Name: namesAndValues[i]}
		if i+1 < len(namesAndValues) {
			l.Value = namesAndValues[i+1]
		}
		for j := range labels {
			if labels[j].Name == l.Name {
				labels[j] = l
				continue next
			}
		}
		labels = append(labels, l)
	}
	if len(labels) == 0 {
		return ctx
	}
	return context.WithValue(ctx, labelsKey{}, labels)
}

// ContextWithConversation returns a context whose calls belong to a conversation:
// its id is in their records and spans (gen_ai.conversation.id). On spans it is
// told if it is made of [A-Za-z0-9_.:/-] and at most 64 bytes long.
func ContextWithConversation(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, conversationKey{}, id)
}

// ContextWithAttributes returns a context whose calls' spans have the attributes
// from their beginning, so that samplers see them, besides those already in ctx.
// They are told as they are: keep content out of them.
func ContextWithAttributes(ctx context.Context, attrs ...attribute.KeyValue) context.Context {
	old, _ := ctx.Value(attributesKey{}).([]attribute.KeyValue)
	return context.WithValue(ctx, attributesKey{}, append(old[:len(old):len(old)], attrs...))
}

// Tracker collects the calls made under one context. It is safe for
// concurrent use.
type Tracker struct {
	mu    sync.Mutex
	calls []*Call
}

// Track returns a context and the tracker of the calls made under it. A call
// is in the tracker once it has ended: for a stream, when it was read to its
// last event or closed. A call that ended with its context while nobody read is
// told a moment later, on a goroutine of its own; Transport.Wait awaits that.
func Track(ctx context.Context) (context.Context, *Tracker) {
	tr := &Tracker{}
	return ContextWithObserver(ctx, tr.add), tr
}

func (tr *Tracker) add(c *Call) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.calls = append(tr.calls, c)
}

// Call returns the call that ended last, and false when none has ended.
func (tr *Tracker) Call() (*Call, bool) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if len(tr.calls) == 0 {
		return nil, false
	}
	return tr.calls[len(tr.calls)-1], true
}

// Calls returns the calls that have ended, in the order of their ends. Each
// attempt of a client that retries by itself is one.
func (tr *Tracker) Calls() []*Call {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return append([]*Call(nil), tr.calls...)
}

const (
	attached int32 = iota
	cancelled
	detached
)

// callContext is the context of a request. It carries the exchange, so that
// inner layers find it, and it can be detached from the caller's context, so
// that the rest of a finished stream can be read after the caller is done.
//
// While attached it behaves as its parent does: it has the parent's deadline,
// values, error and cause, and contexts derived from it are told by the
// parent through AfterFunc, with no goroutine between.
type callContext struct {
	parent context.Context
	x      *exchange
	// done is closed when the parent ends first; nil when the context cannot
	// be detached, and the parent's own channel serves.
	done  chan struct{}
	state atomic.Int32
}

func (c *callContext) Deadline() (time.Time, bool) { return c.parent.Deadline() }

func (c *callContext) Done() <-chan struct{} {
	if c.done != nil {
		return c.done
	}
	return c.parent.Done()
}

// Err never lags behind the parent's: package context takes a done context
// without an error for a fault of its own.
func (c *callContext) Err() error {
	if c.state.Load() == detached {
		return nil
	}
	return c.parent.Err()
}

func (c *callContext) Value(key any) any {
	if _, ok := key.(exchangeKey); ok {
		return c.x
	}
	if t := c.x.tries(); t != nil {
		if values := t.values.Load(); values != nil {
			return c.x.trace.Value(*values, key)
		}
	}
	return c.x.trace.Value(c.parent, key)
}

// AfterFunc is found by package context, which calls it for derived contexts.
func (c *callContext) AfterFunc(f func()) (stop func() bool) {
	if c.done == nil {
		return context.AfterFunc(c.parent, f)
	}
	return context.AfterFunc(c.parent, func() {
		if c.cancel() {
			f()
		}
	})
}

// cancel notes that the parent has ended, unless it was detached before.
func (c *callContext) cancel() bool {
	return c.state.CompareAndSwap(attached, cancelled) || c.state.Load() == cancelled
}

// detach cuts the context from its parent, and reports whether the parent has
// not ended before. One that cannot be cut goes on with its parent.
func (c *callContext) detach() bool {
	if c.parent.Err() != nil {
		return false
	}
	return c.done == nil || c.state.CompareAndSwap(attached, detached)
}
