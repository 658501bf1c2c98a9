// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"context"
	"net"
	"net/http/httptrace"
	"testing"
	"time"
)

// valued is a context that answers as a call's does.
type valued struct {
	context.Context
	t *Trace
}

func (v valued) Value(key any) any { return v.t.Value(v.Context, key) }

type otherKey struct{}

// TestValue: package net and net/http find the hooks without a context that has
// them, whichever asks first, and who traces already is asked as well.
func TestValue(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	keys := NewKeys()
	dial := func(t *testing.T, ctx context.Context) {
		t.Helper()
		c, err := new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	for _, name := range []string{"package net asks first", "again", "net/http asks first"} {
		var tr Trace
		var r Result
		parent := context.WithValue(t.Context(), otherKey{}, 7)
		ctx := valued{tr.Attach(parent, keys, time.Now(), nil, &r), &tr}
		if ctx.Context != parent {
			t.Errorf("%s: the hooks hang on the context", name)
		}
		if name == "net/http asks first" {
			keys = NewKeys()
			tr.keys = keys
		} else {
			dial(t, ctx)
		}
		if httptrace.ContextClientTrace(ctx) != &tr.hooks.client {
			t.Errorf("%s: net/http finds no hooks", name)
		}
		dial(t, ctx)
		if ctx.Value(otherKey{}) != 7 || ctx.Value("none") != nil {
			t.Errorf("%s: other values are lost", name)
		}
		if p := tr.pending[Connect]; !p.any || p.open > 0 {
			t.Errorf("%s: no connecting was seen", name)
		}
	}
	t.Run("another trace", func(t *testing.T) {
		var tr Trace
		var r Result
		connects := 0
		parent := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{ConnectStart: func(_, _ string) { connects++ }})
		ctx := valued{tr.Attach(parent, NewKeys(), time.Now(), nil, &r), &tr}
		c, err := new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		if connects != 1 || !tr.pending[Connect].any {
			t.Errorf("%d connections told to the other, seen %v", connects, tr.pending[Connect].any)
		}
	})
}
