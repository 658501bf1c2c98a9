// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"context"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
)

// Keys knows the keys under which httptrace keeps hooks in a context, which are
// not exported: a context with hooks tells them from others, and those that were
// asked for are remembered. It is safe for concurrent use.
type Keys struct {
	some        context.Context
	client, net atomic.Pointer[any]
	free        sync.Pool // of hooks
}

// NewKeys returns Keys.
func NewKeys() *Keys {
	return &Keys{some: httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{DNSStart: func(httptrace.DNSStartInfo) {}})}
}

// Value returns the hooks for a key of httptrace, else what ctx has, which Attach
// returned. Those of package net, which asks for them when it dials, are put
// together only then: a call on a kept connection needs none.
func (t *Trace) Value(ctx context.Context, key any) any {
	k := t.keys
	if k == nil {
		return ctx.Value(key)
	}
	client, net := k.client.Load(), k.net.Load()
	if client != nil && *client == key {
		return t.client()
	}
	if net == nil || *net != key {
		if v := ctx.Value(key); v != nil || client != nil && net != nil {
			return v
		}
		switch k.some.Value(key).(type) {
		case nil:
			return nil
		case *httptrace.ClientTrace:
			keep(&k.client, key)
			return t.client()
		}
		keep(&k.net, key)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if client := t.client(); t.net == nil && client != nil {
		t.net = httptrace.WithClientTrace(context.Background(), client)
	}
	if t.net == nil {
		return nil
	}
	return t.net.Value(key)
}

// client returns the hooks, nil when they may serve another trace by now.
func (t *Trace) client() *httptrace.ClientTrace {
	if t.hooks.trace.Load() != t {
		return nil
	}
	return &t.hooks.client
}

// keep keeps a key apart from Value's own, which stays off the heap thereby.
func keep(at *atomic.Pointer[any], key any) { at.Store(&key) }
