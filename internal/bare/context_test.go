// SPDX-License-Identifier: Apache-2.0

package bare_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// TestEndedContext begins an exchange when its context has ended: the base
// sees that at once, and does not win a race against its notification.
func TestEndedContext(t *testing.T) {
	t.Parallel()
	for _, r := range requests {
		for _, e := range endings {
			t.Run(r.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					ctx, end := e.make(t.Context())
					defer end()
					if e.outcome == tacho.Cancelled {
						end()
					}
					<-ctx.Done()
					want := contextState(ctx)
					req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sim.invalid/v1/chat/completions", r.body())
					if err != nil {
						t.Fatal(err)
					}
					var got string
					tr := tacho.NewTransport(roundTrip(func(req *http.Request) (*http.Response, error) {
						got = contextState(req.Context())
						return nil, context.Cause(req.Context())
					}))
					if _, err := tr.RoundTrip(req); got != want || err != context.Cause(ctx) {
						t.Errorf("the base sees %s, want %s; error %v", got, want, err)
					}
				})
			})
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// contextState tells what can be seen of a context, and of one made from it.
func contextState(ctx context.Context) string {
	child, cancel := context.WithCancel(ctx)
	defer cancel()
	s := ""
	for _, c := range []context.Context{ctx, child} {
		select {
		case <-c.Done():
			s += "done, "
		default:
			s += "not done, "
		}
		_, deadline := c.Deadline()
		s += fmt.Sprintf("deadline %t, %v, %v; ", deadline, c.Err(), context.Cause(c))
	}
	return s
}

// TestDerivedContext derives contexts from that of a request, as net/http does
// once a call. Package context does so without a goroutine if the context says
// what it is derived from, or has a method AfterFunc.
func TestDerivedContext(t *testing.T) {
	t.Parallel()
	for _, r := range requests {
		for _, e := range endings {
			t.Run(r.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				ctx, end := e.make(t.Context())
				defer end()
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sim.invalid/v1/chat/completions", r.body())
				if err != nil {
					t.Fatal(err)
				}
				errStop := errors.New("stop")
				tr := tacho.NewTransport(roundTrip(func(req *http.Request) (*http.Response, error) {
					_, has := req.Context().(interface{ AfterFunc(func()) func() bool })
					if !has && req.Context().Done() != ctx.Done() {
						t.Error("a context derived from the request's takes a goroutine")
					}
					return nil, errStop
				}))
				if _, err := tr.RoundTrip(req); err != errStop {
					t.Error(err)
				}
			})
		}
	}
}

// TestClientTimeout lets http.Client's own time-out end the exchange. Over
// anything but a bare *http.Transport the client has two timers, one of them
// the context's; which one comes first, and so the text of the error, is
// chance, with tacho and with any other RoundTripper. What an application can
// ask of the error is the same in all cases, and so is the outcome.
func TestClientTimeout(t *testing.T) {
	t.Parallel()
	for _, proto := range []struct {
		name string
		opts []sim.Option
	}{{"HTTP1", nil}, {"HTTP2", []sim.Option{sim.WithHTTP2()}}} {
		for _, m := range moments {
			if m.before || m.between || m.closed {
				continue
			}
			t.Run(proto.name+"/"+m.name, func(t *testing.T) {
				t.Parallel()
				for range 20 { // chance, as above
					synctest.Test(t, func(t *testing.T) {
						srv := sim.New(t, append(append([]sim.Option{sim.WithScript(m.script)}, proto.opts...), m.opts...)...)
						base := srv.Transport()
						defer base.CloseIdleConnections()
						wrapped := struct{ http.RoundTripper }{base}
						_, bare := timeOut(t, srv, wrapped)
						calls, with := timeOut(t, srv, tacho.NewTransport(base))
						for _, err := range []error{bare, with} {
							var timeout interface{ Timeout() bool }
							if !errors.As(err, &timeout) || !timeout.Timeout() ||
								!errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
								t.Errorf("no time-out: %s", describe(err))
							}
						}
						want := tacho.Deadline
						if m.outcome != 0 {
							want = m.outcome
						}
						if len(calls) != 1 || calls[0].Outcome() != want {
							t.Errorf("told %v, want one call, %v; the error is %s", outcomes(calls), want, describe(with))
						}
					})
				}
			})
		}
	}
}

// timeOut returns the error that ends an exchange under a client's time-out.
func timeOut(t *testing.T, srv *sim.Server, rt http.RoundTripper) ([]*tacho.Call, error) {
	t.Helper()
	ctx, tracker := tacho.Track(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL()+"/chat/completions", strings.NewReader(streamRequest))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: rt, Timeout: time.Hour}).Do(req)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	synctest.Wait()
	return tracker.Calls(), err
}
