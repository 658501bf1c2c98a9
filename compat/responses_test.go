// SPDX-License-Identifier: Apache-2.0

package compat_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

func responseParams() responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: "m",
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("to be or not to be")},
	}
}

// respondV3 asks for one response and returns the error.
func respondV3(ctx context.Context, c openai.Client, stream bool, opts ...option.RequestOption) error {
	if !stream {
		_, err := c.Responses.New(ctx, responseParams(), opts...)
		return err
	}
	return drainV3(c.Responses.NewStreaming(ctx, responseParams(), opts...))
}

// TestResponses streams responses, which end by an event of their own and no
// [DONE]: openai-go v3 reads on to the end of the body. Who stops at the event
// loses the connection without tacho.
func TestResponses(t *testing.T) {
	t.Parallel()
	steps := []sim.Step{sim.Role(0), sim.Reasoning(0, "hm"), sim.Text(0, "to "), sim.Text(0, "be"), sim.Usage(sim.UsageCounts{
		InputTokens: 9, OutputTokens: 3, ReasoningTokens: 1}), sim.Finish(0, "stop")}
	for _, tc := range []struct {
		name       string
		stop       bool // at response.completed
		bare, with int  // reused
	}{
		{"read to the end", false, series - 1, series - 1},
		{"closed at the terminal event", true, 0, series - 1},
	} {
		for _, measured := range []bool{false, true} {
			name, want := tc.name+"/bare", tc.bare
			if measured {
				name, want = tc.name+"/with tacho", tc.with
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T) {
					srv := sim.New(t, sim.WithScript(sim.Script{Steps: steps, HeaderDelay: time.Second, Gap: time.Millisecond, TailDelay: tail}))
					base := srv.Transport()
					defer base.CloseIdleConnections()
					tr := tacho.NewTransport(base)
					c := &http.Client{Transport: base}
					if measured {
						c.Transport = tr
					}
					client := newV3(srv, c)
					var conns connections
					ctx, tracker := tacho.Track(conns.trace(t.Context()))
					call := func() {
						ctx, cancel := context.WithCancel(ctx)
						defer cancel()
						s := client.Responses.NewStreaming(ctx, responseParams())
						defer s.Close()
						text := ""
						for s.Next() {
							e := s.Current()
							if e.Type == "response.output_text.delta" {
								text += e.Delta
							}
							if tc.stop && e.Type == "response.completed" {
								break
							}
						}
						if s.Err() != nil || text != "to be" {
							t.Fatalf("text %q, error %v", text, s.Err())
						}
					}
					for range series {
						call()
						if err := tr.Wait(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
					equal(t, "requests", conns.got, series)
					equal(t, "reused connections", conns.again, want)
					equal(t, "accepted connections", srv.Accepted(), series-want)
					if !measured {
						return
					}
					calls := tracker.Calls()
					equal(t, "calls", len(calls), series)
					equal(t, "calls that say reused", reused(calls), want)
					for _, c := range calls {
						equal(t, "api", c.API(), "responses")
						equal(t, "outcome", c.Outcome(), tacho.Complete)
						u := c.Usage()
						equal(t, "input tokens", u.Input.N, 9)
						equal(t, "output tokens", u.Output.N, 3)
						equal(t, "reasoning tokens", u.Reasoning.N, 1)
						for f, want := range map[tacho.Figure]time.Duration{
							tacho.TTFB: time.Second,
							tacho.TTFC: time.Second,
							tacho.TTFT: time.Second + 1*time.Millisecond,
							tacho.TTFO: time.Second + 2*time.Millisecond,
							tacho.TTLT: time.Second + 3*time.Millisecond,
							// the usage's step, then the terminal event
							tacho.Duration: time.Second + 5*time.Millisecond,
						} {
							d, ok := c.Figure(f)
							equal(t, f.String(), d, want)
							equal(t, f.String()+" exists", ok, true)
						}
					}
				})
			})
		}
	}
}
