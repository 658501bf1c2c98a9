// SPDX-License-Identifier: Apache-2.0

package compat_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// TestRetries shows the attempts of openai-go v3 as exchanges of their own.
func TestRetries(t *testing.T) {
	t.Parallel()
	busy := sim.Script{Status: http.StatusServiceUnavailable, RetryAfter: 3 * time.Millisecond, ErrorCode: "busy"}
	for _, way := range []string{"transport", "middleware"} {
		for _, tc := range []struct {
			name     string
			stream   bool
			scripts  []sim.Script
			opts     []option.RequestOption
			outcomes []tacho.Outcome
			status   int // of the error, if there is one
		}{
			{"stream", true, []sim.Script{busy, busy, {}}, nil,
				[]tacho.Outcome{tacho.Failed, tacho.Failed, tacho.Complete}, 0},
			{"plain", false, []sim.Script{busy, busy, {}}, nil,
				[]tacho.Outcome{tacho.Failed, tacho.Failed, tacho.Complete}, 0},
			{"in vain", true, []sim.Script{busy, busy, busy, {}}, nil,
				[]tacho.Outcome{tacho.Failed, tacho.Failed, tacho.Failed}, http.StatusServiceUnavailable},
			{"without retries", true, []sim.Script{busy, {}}, []option.RequestOption{option.WithMaxRetries(0)},
				[]tacho.Outcome{tacho.Failed}, http.StatusServiceUnavailable},
			{"connection lost", true, []sim.Script{{Abort: true}, {}}, nil,
				[]tacho.Outcome{tacho.Failed, tacho.Complete}, 0},
		} {
			t.Run(way+"/"+tc.name, func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T) {
					srv := sim.New(t)
					srv.Play(tc.scripts...)
					client, tr := measuredV3(t, srv, way, tc.opts...)
					ctx, tracker := tacho.Track(t.Context())
					err := chatV3(ctx, client, tc.stream)
					if err := tr.Wait(ctx); err != nil {
						t.Fatal(err)
					}
					var api *openai.Error
					switch {
					case tc.status == 0 && err != nil:
						t.Error(err)
					case tc.status != 0 && (!errors.As(err, &api) || api.StatusCode != tc.status || api.Code != "busy"):
						t.Errorf("error %v, want a %d", err, tc.status)
					}
					calls := tracker.Calls()
					if got := outcomes(calls); !slices.Equal(got, tc.outcomes) {
						t.Errorf("outcomes %v, want %v", got, tc.outcomes)
					}
					for i, c := range calls {
						equal(t, "attempt", c.Attempt(), i+1)
						if c.Outcome() != tacho.Failed {
							continue
						}
						// The SDK closes the body of an attempt that it
						// repeats unread, and reads that of the last.
						want := tacho.Failure{}
						if tc.status != 0 && i == len(calls)-1 {
							want = tacho.Failure{Type: "server_error", Code: "busy"}
						}
						if status, got := c.Status(); got {
							equal(t, "status", status, http.StatusServiceUnavailable)
						} else {
							want = tacho.Failure{Type: "connection"}
						}
						f, _ := c.Failure()
						equal(t, "failure", f, want)
					}
					equal(t, "requests", len(srv.Requests()), len(tc.outcomes))
				})
			})
		}
	}
}

// measuredV3 returns a client with tacho in the given place, which may be both.
func measuredV3(t *testing.T, srv *sim.Server, way string, opts ...option.RequestOption) (openai.Client, *tacho.Transport) {
	t.Helper()
	base := srv.Transport()
	t.Cleanup(base.CloseIdleConnections)
	tr := tacho.NewTransport(base, tacho.WithProvider("the transport"))
	c := &http.Client{Transport: base}
	if way != "middleware" {
		c.Transport = tr
	}
	if way != "transport" {
		tr = tacho.NewTransport(nil, tacho.WithProvider("the middleware"))
		opts = append(opts[:len(opts):len(opts)], option.WithMiddleware(tr.Middleware))
	}
	return newV3(srv, c, opts...), tr
}

// TestTold shows that each call is told once, however tacho is installed, and
// that it is there when the SDK's call is over.
func TestTold(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		way, provider string
	}{
		{"transport", "the transport"},
		{"middleware", "the middleware"},
		{"both", "the middleware"}, // the outermost measures
	} {
		for _, stream := range []bool{false, true} {
			name := tc.way + "/plain"
			if stream {
				name = tc.way + "/stream"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T) {
					srv := sim.New(t, sim.WithScript(sim.Script{Text: "to be or not", HeaderDelay: 100 * time.Millisecond,
						FirstDelay: 50 * time.Millisecond, Gap: 10 * time.Millisecond, BodyDelay: 70 * time.Millisecond, TailDelay: tail}))
					client, tr := measuredV3(t, srv, tc.way)
					told := 0
					ctx := tacho.ContextWithLabels(t.Context(), "region", "eu", "tier", "free")
					ctx = tacho.ContextWithObserver(ctx, func(*tacho.Call) { told++ })
					ctx, tracker := tacho.Track(tacho.ContextWithLabels(ctx, "tier", "paid"))
					if err := chatV3(ctx, client, stream); err != nil {
						t.Fatal(err)
					}
					c, ok := tracker.Call() // without a wait
					if !ok {
						t.Fatal("no call")
					}
					if err := tr.Wait(ctx); err != nil {
						t.Fatal(err)
					}
					equal(t, "calls", len(tracker.Calls()), 1)
					equal(t, "told", told, 1)
					equal(t, "provider", c.Provider(), tc.provider)
					equal(t, "streaming", c.Streaming(), stream)
					equal(t, "outcome", c.Outcome(), tacho.Complete)
					equal(t, "attempt", c.Attempt(), 1)
					equal(t, "model", c.RequestModel(), "m")
					if want := []tacho.Label{{Name: "region", Value: "eu"}, {Name: "tier", Value: "paid"}}; !slices.Equal(c.Labels(), want) {
						t.Errorf("labels %v, want %v", c.Labels(), want)
					}
					want := map[tacho.Figure]time.Duration{tacho.TTFB: 100 * time.Millisecond, tacho.Duration: 170 * time.Millisecond}
					if stream {
						want = map[tacho.Figure]time.Duration{
							tacho.TTFB: 100 * time.Millisecond,
							tacho.TTFC: 150 * time.Millisecond, // the role
							tacho.TTFT: 160 * time.Millisecond,
							tacho.TTFO: 160 * time.Millisecond,
							tacho.TTLT: 190 * time.Millisecond,
							// finish and [DONE] follow
							tacho.Duration: 210 * time.Millisecond,
						}
					}
					for _, f := range []tacho.Figure{tacho.TTFB, tacho.TTFC, tacho.TTFT, tacho.TTFO, tacho.TTLT, tacho.Duration} {
						d, ok := c.Figure(f)
						w, exists := want[f]
						equal(t, f.String(), d, w)
						equal(t, f.String()+" exists", ok, exists)
					}
				})
			})
		}
	}
}

// TestEnds shows the outcomes of streams that openai-go v3 does not read to
// their end, and that its errors are those it has without tacho.
func TestEnds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		steps   []sim.Step
		opts    []option.RequestOption
		stop    func(context.CancelFunc) // after the first event
		outcome tacho.Outcome
	}{
		{"closed", []sim.Step{sim.Text(0, "a"), sim.Hang()}, nil, nil, tacho.ClosedEarly},
		{"cancelled", []sim.Step{sim.Text(0, "a"), sim.Hang()}, nil, func(cancel context.CancelFunc) { cancel() }, tacho.Cancelled},
		{"request time-out", []sim.Step{sim.Text(0, "a"), sim.Hang()},
			[]option.RequestOption{option.WithRequestTimeout(time.Hour)}, func(context.CancelFunc) {}, tacho.Deadline},
		{"cut", []sim.Step{sim.Text(0, "a"), sim.Cut()}, nil, func(context.CancelFunc) {}, tacho.Cut},
		{"no end", []sim.Step{sim.Text(0, "a")}, nil, func(context.CancelFunc) {}, tacho.Cut},
		{"finish, no [DONE]", []sim.Step{sim.Text(0, "a"), sim.Finish(0, "stop")}, nil, func(context.CancelFunc) {}, tacho.Complete},
		{"server's error", []sim.Step{sim.Text(0, "a"), sim.Error("overloaded", "server_error", "too many"), sim.Done()}, nil,
			func(context.CancelFunc) {}, tacho.StreamError},
	} {
		for _, way := range []string{"transport", "middleware"} {
			t.Run(way+"/"+tc.name, func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T) {
					seen := make(map[bool]string)
					for _, measured := range []bool{false, true} {
						srv := sim.New(t, sim.WithScript(sim.Script{Steps: tc.steps}))
						client := newV3(srv, srv.Client(), tc.opts...)
						if measured {
							client, _ = measuredV3(t, srv, way, tc.opts...)
						}
						tctx, tracker := tacho.Track(t.Context())
						ctx, cancel := context.WithCancel(tctx)
						defer cancel()
						s := client.Chat.Completions.NewStreaming(ctx, chatParams())
						if !s.Next() {
							t.Fatal(s.Err())
						}
						if tc.stop != nil {
							tc.stop(cancel)
							for s.Next() {
							}
						}
						seen[measured] = describe(s.Err()) + "; close: " + describe(s.Close())
						if measured {
							// The end of a context is told on a goroutine of its own.
							time.Sleep(time.Nanosecond)
							equal(t, "outcome", only(t, tracker).Outcome(), tc.outcome)
						}
					}
					equal(t, "with tacho, the error", seen[true], seen[false])
				})
			})
		}
	}
}
