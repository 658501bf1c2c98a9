// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"context"
	"net/http/httptrace"
	"testing"
	"time"
)

// exchange plays one on a kept connection that has told of all.
func exchange(ctx context.Context, info httptrace.GotConnInfo) *httptrace.ClientTrace {
	h := httptrace.ContextClientTrace(ctx)
	h.GotConn(info)
	h.WroteRequest(httptrace.WroteRequestInfo{})
	h.GotFirstResponseByte()
	return h
}

var kept = httptrace.GotConnInfo{Reused: true, WasIdle: true}

// TestHooksServeAgain: the hooks of an exchange that can have no late ones serve
// the next, which alone hears from them.
func TestHooksServeAgain(t *testing.T) {
	t.Parallel()
	keys := NewKeys()
	var first *httptrace.ClientTrace
	for range 1000 { // a pool may lose what it is given
		var a, b Trace
		var ra, rb Result
		ctx := valued{a.Attach(t.Context(), keys, time.Now(), nil, &ra), &a}
		first = exchange(ctx, kept)
		a.Freeze(true)
		first.GotFirstResponseByte()
		if httptrace.ContextClientTrace(ctx) != nil {
			t.Fatal("an exchange that is over has hooks")
		}
		was := ra
		next := valued{b.Attach(t.Context(), keys, time.Now(), nil, &rb), &b}
		second := httptrace.ContextClientTrace(next)
		exchange(next, kept)
		b.Freeze(false)
		if ra != was || rb.Conns != 1 || rb.FirstByte < 0 {
			t.Fatalf("the first found %+v, then %+v; the second %+v", was, ra, rb)
		}
		if first == second {
			return
		}
	}
	t.Fatal("no hooks served again")
}

// TestHooksGivenUp has the exchanges of which a hook may come late.
func TestHooksGivenUp(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(t *testing.T, ctx context.Context){
		"a new connection":         func(_ *testing.T, ctx context.Context) { exchange(ctx, httptrace.GotConnInfo{}) },
		"one that another dialled": func(_ *testing.T, ctx context.Context) { exchange(ctx, httptrace.GotConnInfo{Reused: true}) },
		"two connections": func(_ *testing.T, ctx context.Context) {
			exchange(ctx, kept)
			exchange(ctx, kept)
		},
		"a request that is not written": func(_ *testing.T, ctx context.Context) {
			h := httptrace.ContextClientTrace(ctx)
			h.GotConn(kept)
			h.GotFirstResponseByte()
		},
		"no answer": func(_ *testing.T, ctx context.Context) {
			h := httptrace.ContextClientTrace(ctx)
			h.GotConn(kept)
			h.WroteRequest(httptrace.WroteRequestInfo{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys := NewKeys()
			var tr Trace
			var r Result
			ctx := valued{tr.Attach(t.Context(), keys, time.Now(), nil, &r), &tr}
			play(t, ctx)
			tr.Freeze(true)
			if keys.free.Get() != nil {
				t.Error("its hooks serve again")
			}
		})
	}
	t.Run("hooks of another beside", func(t *testing.T) {
		t.Parallel()
		keys := NewKeys()
		var tr Trace
		var r Result
		told := 0
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { told++ }})
		ctx = tr.Attach(ctx, keys, time.Now(), nil, &r)
		exchange(ctx, kept)
		tr.Freeze(true)
		if keys.free.Get() != nil || told != 1 {
			t.Errorf("its hooks serve again; the other was told %d times", told)
		}
	})
}
