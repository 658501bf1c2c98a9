// SPDX-License-Identifier: Apache-2.0

package compat_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/openai/openai-go/v3/option"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

const (
	series = 20                    // calls in sequence
	tail   = 20 * time.Millisecond // from [DONE] to the terminating chunk
)

// setting is how an application calls openai-go v3.
type setting struct {
	name       string
	server     []sim.Option
	tacho      []tacho.Option
	timeout    time.Duration // of the http.Client
	opts       []option.RequestOption
	cancel     bool // each call has a context that it cancels when it returns
	middleware bool // tacho is the SDK's middleware, not the transport
	backToBack bool // the next call does not wait for the drain
	bare, with int  // reused connections among the calls but the first
}

var settings = []setting{
	{name: "as it comes", with: series - 1},
	{name: "defer cancel", cancel: true, with: series - 1},
	{name: "WithRequestTimeout", opts: []option.RequestOption{option.WithRequestTimeout(time.Minute)}, with: series - 1},
	{name: "Client.Timeout", timeout: time.Minute, with: series - 1},
	{name: "middleware", middleware: true, with: series - 1},
	{name: "middleware, cancel and both time-outs", middleware: true, cancel: true, timeout: time.Minute,
		opts: []option.RequestOption{option.WithRequestTimeout(time.Minute)}, with: series - 1},
	{name: "TLS", server: []sim.Option{sim.WithTLS()}, cancel: true, with: series - 1},
	// It is the drain that does it.
	{name: "without drain", tacho: []tacho.Option{tacho.WithoutDrain()}},
	// HTTP/2 has nothing to drain: a connection serves the next call at once.
	{name: "HTTP2", server: []sim.Option{sim.WithHTTP2()}, cancel: true, backToBack: true, bare: series - 1, with: series - 1},
	{name: "HTTP2, without drain", server: []sim.Option{sim.WithHTTP2()}, tacho: []tacho.Option{tacho.WithoutDrain()},
		cancel: true, backToBack: true, bare: series - 1, with: series - 1},
}

// TestReuse makes twenty streamed chat completions in sequence through
// openai-go v3, which closes a body at [DONE]. Over HTTP/1.1 the terminating
// chunk comes later, so that a bare client loses the connection each time;
// with tacho each call after the drain of the one before it reuses it. (A Go
// whose Close drains by itself makes the bare client better: golang/go#77370.)
func TestReuse(t *testing.T) {
	t.Parallel()
	for _, s := range settings {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			t.Run("in memory", func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T) {
					for _, measured := range []bool{false, true} {
						s.check(t, sim.New(t, s.serverOptions()...), measured, true)
					}
				})
			})
			t.Run("loopback", func(t *testing.T) {
				t.Parallel()
				for _, measured := range []bool{false, true} {
					srv, err := sim.Listen(s.serverOptions()...)
					if err != nil {
						t.Fatal(err)
					}
					defer srv.Close()
					s.check(t, srv, measured, false)
				}
			})
		})
	}
}

func (s *setting) serverOptions() []sim.Option {
	return append([]sim.Option{sim.WithScript(sim.Script{Text: "to be or not", TailDelay: tail})}, s.server...)
}

// check runs the series. The numbers are exact in memory only. On a port, a
// client that the machine holds up for as long as the tail finds it there and
// reuses the connection by chance, and a drain that is held up for 250 ms gives
// up: there most must be reused with tacho, and bare is logged.
func (s *setting) check(t *testing.T, srv *sim.Server, measured, exact bool) {
	t.Helper()
	want, who := s.bare, "bare"
	if measured {
		want, who = s.with, "with tacho"
	}
	conns, calls := s.run(t, srv, measured)
	t.Logf("%s: reused %d of %d", who, conns.again, series-1)
	switch {
	case exact:
		equal(t, who+": reused connections", conns.again, want)
	case conns.again < want-want/4:
		t.Errorf("%s: reused connections is %d, want most of %d", who, conns.again, want)
	}
	equal(t, who+": requests", conns.got, series)
	equal(t, who+": accepted connections", srv.Accepted(), series-conns.again)
	if !measured {
		return
	}
	equal(t, "calls", len(calls), series)
	equal(t, "calls that say reused", reused(calls), conns.again)
	for i, c := range calls {
		if c.Outcome() != tacho.Complete {
			t.Errorf("call %d: outcome %v", i, c.Outcome())
		}
	}
}

func (s *setting) run(t *testing.T, srv *sim.Server, measured bool) (*connections, []*tacho.Call) {
	t.Helper()
	base := srv.Transport()
	defer base.CloseIdleConnections()
	tr := tacho.NewTransport(base, s.tacho...)
	c := &http.Client{Transport: base, Timeout: s.timeout}
	opts := s.opts
	switch {
	case !measured:
	case s.middleware:
		opts = append(opts[:len(opts):len(opts)], option.WithMiddleware(tr.Middleware))
	default:
		c.Transport = tr
	}
	client := newV3(srv, c, opts...)

	var conns connections
	ctx, tracker := tacho.Track(conns.trace(t.Context()))
	call := func() error {
		ctx := ctx
		if s.cancel {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
		}
		return chatV3(ctx, client, true)
	}
	for range series {
		if err := call(); err != nil {
			t.Fatal(err)
		}
		if s.backToBack {
			continue
		}
		if err := tr.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return &conns, tracker.Calls()
}

// TestBackToBack documents what a call gets that does not wait for the drain.
// While the last call's connection is drained, the next one dials, or takes one
// that was drained before: streams longer than the tail take turns on two
// connections, and only streams without any length need one each.
func TestBackToBack(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name          string
		stream, pause time.Duration // of a call, and after it
		drainless     bool
		reused        int
	}{
		{"streams of no length", 0, 0, false, 0},
		{"streams a little longer than half the tail", tail/2 + 1, 0, false, series - 3},
		{"streams longer than the tail", 2 * tail, 0, false, series - 2},
		{"streams longer than the tail, without drain", 2 * tail, 0, true, 0},
		{"a pause longer than the tail", 0, tail + 1, false, series - 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				srv := sim.New(t, sim.WithScript(sim.Script{FirstDelay: tc.stream, TailDelay: tail}))
				base := srv.Transport()
				defer base.CloseIdleConnections()
				var opts []tacho.Option
				if tc.drainless {
					opts = append(opts, tacho.WithoutDrain())
				}
				tr := tacho.NewTransport(base, opts...)
				client := newV3(srv, &http.Client{Transport: tr})
				ctx, tracker := tacho.Track(t.Context())
				for range series {
					if err := chatV3(ctx, client, true); err != nil {
						t.Fatal(err)
					}
					time.Sleep(tc.pause) // the bubble's time
				}
				equal(t, "reused connections", reused(tracker.Calls()), tc.reused)
				equal(t, "accepted connections", srv.Accepted(), series-tc.reused)
				if err := tr.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
