// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// collected runs the collector until done was closed by a cleanup.
func collected(done <-chan struct{}) {
	for {
		runtime.GC()
		select {
		case <-done:
			return
		default:
			runtime.Gosched() // the test's timeout tells of what is never collected
		}
	}
}

// TestKeptCallKeepsTheRecordOnly keeps calls, as a tracker does, and waits
// until what else hung on their requests is collected: a value of the context,
// and the body.
func TestKeptCallKeepsTheRecordOnly(t *testing.T) { //nolint:paralleltest // runs the collector again and again
	srv := sim.New(t, sim.WithScript(sim.Script{Steps: []sim.Step{sim.Role(0), sim.Text(0, "a"), sim.Finish(0, "stop"), sim.Done()}}))
	base := srv.Transport()
	defer base.CloseIdleConnections()
	type key struct{}
	for name, use := range map[string]func(*http.Response, context.CancelFunc){
		"read": func(r *http.Response, _ context.CancelFunc) { readAll(r) },
		"closed early": func(r *http.Response, _ context.CancelFunc) {
			io.ReadFull(r.Body, make([]byte, 10))
			r.Body.Close()
		},
		"cancelled": func(r *http.Response, cancel context.CancelFunc) { cancel(); readAll(r) },
	} {
		done := make(chan struct{}, 2)
		kept := func() *tacho.Call {
			value := &[1024]byte{1}
			runtime.AddCleanup(value, func(int) { done <- struct{}{} }, 0)
			body := bytes.NewReader([]byte(chatStream))
			runtime.AddCleanup(body, func(int) { done <- struct{}{} }, 0)
			ctx, tr := tacho.Track(context.WithValue(context.Background(), key{}, value))
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, "POST", srv.URL()+chatPath, struct{ io.Reader }{body})
			if err != nil {
				t.Fatal(err)
			}
			resp, err := quiet(base).RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			use(resp, cancel)
			for {
				if c, ok := tr.Call(); ok {
					return c
				}
				runtime.Gosched()
			}
		}()
		for srv.OpenConns() > 0 {
			base.CloseIdleConnections()
			runtime.Gosched()
		}
		collected(done)
		collected(done)
		if kept.API() != "chat_completions" {
			t.Errorf("%s: %v", name, kept.API())
		}
	}
}

// TestDroppedAfterEvents leaves an iteration and drops the response: the tap
// must not keep the body through what it tells the iterator.
func TestDroppedAfterEvents(t *testing.T) { //nolint:paralleltest // runs the collector again and again
	srv := sim.New(t, sim.WithScript(sim.Script{Steps: []sim.Step{sim.Role(0), sim.Text(0, "a"), sim.Hang()}}))
	base := srv.Transport()
	told := make(chan tacho.Outcome, 2)
	func() {
		ctx := tacho.ContextWithObserver(t.Context(), func(c *tacho.Call) { told <- c.Outcome() })
		resp, err := quiet(base).RoundTrip(newRequest(ctx, t, srv.URL()+chatPath, chatStream))
		if err != nil {
			t.Fatal(err)
		}
		for range tacho.Events(resp) {
			break
		}
	}()
	for {
		runtime.GC()
		select {
		case o := <-told:
			if o != tacho.Dropped {
				t.Errorf("outcome %v", o)
			}
			return
		default:
			runtime.Gosched()
		}
	}
}

// TestParentContextDoesNotGrow makes calls under one long-lived context: what
// they register there goes with them.
func TestParentContextDoesNotGrow(t *testing.T) { //nolint:paralleltest // runs the collector again and again
	parent, cancel := context.WithCancel(context.Background())
	defer cancel()
	const calls = 300
	type key struct{}
	rt := quiet(roundTripper(func(*http.Request) (*http.Response, error) { return answer(chatAnswer), nil }))
	gone := make(chan struct{}, calls)
	for range calls {
		func() {
			value := &[64]byte{1}
			runtime.AddCleanup(value, func(int) { gone <- struct{}{} }, 0)
			// A body without GetBody might be a stream's, so the context is
			// watched; and this one is neither read nor closed.
			req, _ := http.NewRequestWithContext(context.WithValue(parent, key{}, value), "POST", hostURL, struct{ io.Reader }{strings.NewReader(chatPlain)})
			if _, err := rt.RoundTrip(req); err != nil {
				t.Fatal(err)
			}
		}()
	}
	for range calls {
		collected(gone)
	}
}

// TestContextAfterTheEnd holds the context that a base may have kept: it never
// has an error without being done.
func TestContextAfterTheEnd(t *testing.T) {
	t.Parallel()
	var inner context.Context
	rt := quiet(roundTripper(func(r *http.Request) (*http.Response, error) {
		inner = r.Context()
		return (&stub{body: []byte("data: [DONE]\n\n")}).RoundTrip(r)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := rt.RoundTrip(newRequest(ctx, t, hostURL, chatStream))
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
	cancel()
	if inner.Err() != nil {
		<-inner.Done()
	}
	derived, stop := context.WithTimeout(inner, time.Hour)
	stop()
	<-derived.Done()
}
