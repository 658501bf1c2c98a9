// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// TestGuards ends streams that do not go on, and no others.
func TestGuards(t *testing.T) {
	t.Parallel()
	first := tacho.WithFirstTokenTimeout(200 * ms)
	stall := tacho.WithStallTimeout(300 * ms)
	const second = 1000 * ms
	for _, tc := range []struct {
		name    string
		opts    []tacho.Option
		sim     []sim.Option
		path    string
		body    string
		script  sim.Script
		away    time.Duration // of the application, after its first Read
		want    *tacho.TimeoutError
		at      time.Duration // of the end
		outcome tacho.Outcome
	}{
		{"the first token in time", []tacho.Option{first}, nil, chatPath, chatStream, sim.Script{HeaderDelay: 100 * ms, Steps: []sim.Step{sim.Text(0, "a").After(99 * ms), sim.Text(0, "b").After(5 * second), sim.Finish(0, "stop"), sim.Done()}}, 0, nil, 5199 * ms, tacho.Complete},
		{"no headers", []tacho.Option{first}, nil, chatPath, chatStream, sim.Script{HeaderDelay: second, Text: "a"}, 0, &tacho.TimeoutError{Limit: 200 * ms}, 200 * ms, tacho.Deadline},
		{"no headers, TLS and HTTP/2", []tacho.Option{first}, []sim.Option{sim.WithTLS(), sim.WithHTTP2()}, chatPath, chatStream, sim.Script{HeaderDelay: second, Text: "a"}, 0, &tacho.TimeoutError{Limit: 200 * ms}, 200 * ms, tacho.Deadline},
		{"a role and no token", []tacho.Option{first, stall}, nil, chatPath, chatStream, sim.Script{Steps: []sim.Step{sim.Role(0), sim.KeepAlive().After(100 * ms), sim.KeepAlive().After(100 * ms), sim.Text(0, "a").After(second), sim.Done()}}, 0, &tacho.TimeoutError{Limit: 200 * ms}, 200 * ms, tacho.Deadline},
		{"a role and no token, HTTP/2", []tacho.Option{first}, []sim.Option{sim.WithTLS(), sim.WithHTTP2()}, chatPath, chatStream, sim.Script{Steps: []sim.Step{sim.Role(0), sim.Text(0, "a").After(second), sim.Done()}}, 0, &tacho.TimeoutError{Limit: 200 * ms}, 200 * ms, tacho.Deadline},
		{"reasoning is a token", []tacho.Option{first}, nil, chatPath, chatStream, sim.Script{Steps: []sim.Step{sim.Reasoning(0, "hm"), sim.Text(0, "a").After(second), sim.Finish(0, "stop"), sim.Done()}}, 0, nil, second, tacho.Complete},
		{"a stall", []tacho.Option{first, stall}, nil, chatPath, chatStream, sim.Script{Steps: []sim.Step{sim.Text(0, "a").After(50 * ms), sim.Text(0, "b").After(299 * ms), sim.KeepAlive().After(200 * ms), sim.Text(0, "c").After(second), sim.Done()}}, 0, &tacho.TimeoutError{Stall: true, Limit: 300 * ms}, 649 * ms, tacho.Deadline},
		{"a stall alone, before the first token", []tacho.Option{stall}, nil, chatPath, chatStream, sim.Script{HeaderDelay: second, Steps: []sim.Step{sim.Text(0, "a").After(second), sim.Text(0, "b").After(second), sim.Done()}}, 0, &tacho.TimeoutError{Stall: true, Limit: 300 * ms}, 2300 * ms, tacho.Deadline},
		{"the end does not come", []tacho.Option{stall}, nil, chatPath, chatStream, sim.Script{Steps: []sim.Step{sim.Text(0, "a"), sim.Done().After(second)}}, 0, &tacho.TimeoutError{Stall: true, Limit: 300 * ms}, 300 * ms, tacho.Deadline},
		{"the application is away", []tacho.Option{first, stall}, nil, chatPath, chatStream, sim.Script{Steps: []sim.Step{sim.Text(0, "a"), sim.Text(0, "b").After(100 * ms), sim.Finish(0, "stop"), sim.Done()}}, 5 * second, nil, 5 * second, tacho.Complete},
		{"away, and then a wait that is short enough", []tacho.Option{stall}, nil, chatPath, chatStream, sim.Script{Steps: []sim.Step{sim.Text(0, "a"), sim.Text(0, "b").After(1299 * ms), sim.Finish(0, "stop"), sim.Done()}}, second, nil, 1299 * ms, tacho.Complete},
		{"away, and then a wait that is too long", []tacho.Option{stall}, nil, chatPath, chatStream, sim.Script{Steps: []sim.Step{sim.Text(0, "a"), sim.Text(0, "b").After(2 * second), sim.Done()}}, second, &tacho.TimeoutError{Stall: true, Limit: 300 * ms}, 1300 * ms, tacho.Deadline},
		{"a plain call takes its time", []tacho.Option{first, stall}, nil, chatPath, chatPlain, sim.Script{HeaderDelay: second, BodyDelay: second, Text: "a"}, 0, nil, 2 * second, tacho.Complete},
		{"a refusal takes its time", []tacho.Option{first, stall}, nil, chatPath, chatStream, sim.Script{Status: 500, BodyDelay: second}, 0, nil, second, tacho.Failed},
		{"Responses", []tacho.Option{first}, nil, responsesPath, responsesStream, sim.Script{FirstDelay: second, Text: "a"}, 0, &tacho.TimeoutError{Limit: 200 * ms}, 200 * ms, tacho.Deadline},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, tc.sim, tc.opts...)
				r.srv.Play(tc.script)
				ctx, tr := tacho.Track(t.Context())
				resp, err := r.tr.RoundTrip(r.request(ctx, tc.path, tc.body))
				if err == nil {
					var n int
					buf := make([]byte, 4096)
					if n, err = resp.Body.Read(buf); n > 0 && err == nil {
						time.Sleep(tc.away)
						_, err = io.Copy(io.Discard, resp.Body)
					}
					resp.Body.Close()
				}
				if err == io.EOF {
					err = nil
				}
				var got *tacho.TimeoutError
				if errors.As(err, &got); (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
					t.Errorf("error %v, want %v", err, tc.want)
				}
				if tc.want != nil && (!errors.Is(err, context.DeadlineExceeded) || !got.Timeout()) {
					t.Errorf("%v is no deadline", err)
				}
				c := one(t, tr)
				if d, _ := c.Duration(); d != tc.at || c.Outcome() != tc.outcome {
					t.Errorf("%v after %v, want %v after %v", c.Outcome(), d, tc.outcome, tc.at)
				}
				if f, _ := c.Failure(); tc.want != nil && (f.Type == "stall_timeout") != tc.want.Stall || tc.want != nil && !tc.want.Stall && f.Type != "first_token_timeout" {
					t.Errorf("failure %+v", f)
				}
			})
		})
	}
}

// TestGuardCaller leaves the ends by the caller's own context what they are.
func TestGuardCaller(t *testing.T) {
	t.Parallel()
	cause := errors.New("the user left")
	for name, tc := range map[string]struct {
		end     func(context.Context) (context.Context, context.CancelFunc)
		want    error
		outcome tacho.Outcome
	}{
		"cancelled": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(100*ms, func() { cancel(cause) })
			return ctx, func() { cancel(nil) }
		}, cause, tacho.Cancelled},
		"deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 100*ms)
		}, context.DeadlineExceeded, tacho.Deadline},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil, tacho.WithFirstTokenTimeout(200*ms), tacho.WithStallTimeout(200*ms))
				r.srv.Play(sim.Script{HeaderDelay: time.Hour, Text: "a"})
				ctx, tr := tacho.Track(t.Context())
				ctx, cancel := tc.end(ctx)
				defer cancel()
				_, err := r.tr.RoundTrip(r.request(ctx, chatPath, chatStream))
				if err != tc.want {
					t.Errorf("error %v, want %v", err, tc.want)
				}
				if c := one(t, tr); c.Outcome() != tc.outcome {
					t.Errorf("outcome %v, want %v", c.Outcome(), tc.outcome)
				}
			})
		})
	}
}

// TestGuardReuse keeps the connection of a guarded stream for the next call.
func TestGuardReuse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, tacho.WithFirstTokenTimeout(200*ms), tacho.WithStallTimeout(200*ms))
		for i := range 3 {
			r.srv.Play(sim.Script{Text: "a b", TailDelay: 20 * ms})
			c := r.do(chatPath, chatStream, func(resp *http.Response) {
				for ev, err := range tacho.Events(resp) {
					if err != nil {
						t.Fatal(err)
					}
					if ev.Done {
						break
					}
				}
				resp.Body.Close()
			})
			if err := r.tr.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			if reused, ok := c.Reused(); !ok || reused != (i > 0) {
				t.Errorf("call %d: reused %v", i+1, reused)
			}
		}
	})
}

// tied is a body whose last bytes come at the very moment of the limit.
type tied struct{ reads int }

func (b *tied) Read(p []byte) (int, error) {
	switch b.reads++; b.reads {
	case 1:
		return copy(p, chunkOf("a")), nil
	case 2:
		time.Sleep(50 * ms)
		return copy(p, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"), nil
	}
	return 0, io.EOF
}

func (*tied) Close() error { return nil }

// TestGuardTies tells the same to the application and to the record, whoever is
// first.
func TestGuardTies(t *testing.T) {
	t.Parallel()
	for range 300 {
		synctest.Test(t, func(t *testing.T) {
			rt := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: &tied{}}, nil
			}), tacho.WithStallTimeout(50*ms), tacho.WithoutTracing(), tacho.WithoutMetrics())
			ctx, tr := tacho.Track(t.Context())
			resp, err := rt.RoundTrip(newRequest(ctx, t, hostURL, chatStream))
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
			synctest.Wait()
			if c := one(t, tr); (err != nil) != (c.Outcome() == tacho.Deadline) || err == nil && c.Outcome() != tacho.Complete {
				t.Errorf("error %v, outcome %v", err, c.Outcome())
			}
		})
	}
}
