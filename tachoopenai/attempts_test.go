// SPDX-License-Identifier: Apache-2.0

package tachoopenai_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
	"github.com/tacho-go/tacho/tachoopenai"
)

// TestAttempts refuses a call and then answers it: one call, two attempts.
func TestAttempts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		call   func(context.Context, openai.Client) error
		api    string
		stream bool
		ttft   time.Duration // from the last attempt's start
		total  time.Duration // of the last attempt
	}{
		{"chat", func(ctx context.Context, c openai.Client) error { return chat(ctx, c, false) }, "chat_completions", false, 0, 30 * ms},
		{"chat, streamed", func(ctx context.Context, c openai.Client) error { return chat(ctx, c, true) }, "chat_completions", true, 40 * ms, 55 * ms},
		{"responses", func(ctx context.Context, c openai.Client) error { return respond(ctx, c, false) }, "responses", false, 0, 30 * ms},
		{"responses, streamed", func(ctx context.Context, c openai.Client) error { return respond(ctx, c, true) }, "responses", true, 40 * ms, 50 * ms},
		{"embeddings", func(ctx context.Context, c openai.Client) error {
			_, err := c.Embeddings.New(ctx, embedding)
			return err
		}, "embeddings", false, 0, 30 * ms},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				srv := sim.New(t)
				last := answer
				if tc.api == "embeddings" {
					last = sim.Script{HeaderDelay: 30 * ms}
				}
				srv.Play(refusal(), last)
				c := tachoopenai.NewClient(sdk(srv, quiet(tacho.RetryPolicy{}))...)
				ctx, tr := tacho.Track(t.Context())
				if err := tc.call(ctx, c.Client); err != nil {
					t.Fatal(err)
				}
				if err := c.Transport().Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				call := only(t, tr)
				equal(t, "api", call.API(), tc.api)
				equal(t, "outcome", call.Outcome(), tacho.Complete)
				equal(t, "streaming", call.Streaming(), tc.stream)
				const start = 2020 * ms
				figure(t, call, tacho.Duration, start+tc.total)
				if tc.stream {
					figure(t, call, tacho.TTFT, start+tc.ttft)
					d, _ := call.OfAttempt(tacho.TTFT)
					equal(t, "TTFT of the attempt", d, tc.ttft)
				}
				attempts := call.Attempts()
				if len(attempts) != 2 {
					t.Fatalf("attempts %+v", attempts)
				}
				equal(t, "attempt 1", attempts[0], tacho.Attempt{Duration: 20 * ms, Status: 429, Error: "rate_limit_exceeded"})
				equal(t, "attempt 2", attempts[1], tacho.Attempt{Start: start, Wait: 2 * time.Second, Duration: tc.total, Status: 200})
				got := srv.Requests()
				equal(t, "requests", len(got), 2)
				equal(t, "the body was sent again", bytes.Equal(got[0].Body, got[1].Body) && len(got[0].Body) > 0, true)
				equal(t, "first count", got[0].Header.Get("X-Stainless-Retry-Count"), "0")
				equal(t, "second count", got[1].Header.Get("X-Stainless-Retry-Count"), "1")
				equal(t, "connections", srv.Accepted(), 1)
			})
		})
	}
}

// TestExhausted has all attempts refused: the SDK's error with the last one's
// status and body, and one call. What a call says of retries changes nothing.
func TestExhausted(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		client []option.RequestOption
		call   []option.RequestOption
		script sim.Script
		n      int
		took   time.Duration
		says   string // X-Should-Retry of the answer
	}{
		{"no option", nil, nil, refusal(), 3, 4060 * ms, "false"},
		{"WithMaxRetries(0) with the call", nil, []option.RequestOption{option.WithMaxRetries(0)}, refusal(), 3, 4060 * ms, "false"},
		{"WithMaxRetries(5) with the call", nil, []option.RequestOption{option.WithMaxRetries(5)}, refusal(), 3, 4060 * ms, "false"},
		{"WithMaxRetries(5) with the client", []option.RequestOption{option.WithMaxRetries(5)}, nil, refusal(), 3, 4060 * ms, "false"},
		{"WithMaxRetryDelay with the call", nil, []option.RequestOption{option.WithMaxRetryDelay(ms)}, refusal(), 3, 4060 * ms, "false"},
		{"one attempt", []option.RequestOption{quiet(tacho.RetryPolicy{Attempts: 1})}, []option.RequestOption{option.WithMaxRetries(5)}, refusal(), 1, 20 * ms, "false"},
		{"two minutes, as the SDK", nil, nil, refusal(2 * time.Minute), 3, 4*time.Minute + 60*ms, "false"},
		{"longer than the SDK waits", nil, nil, refusal(2*time.Minute + time.Second), 1, 20 * ms, "false"},
		{"a status that is final", nil, nil, sim.Script{Status: 400, HeaderDelay: 20 * ms, ErrorCode: "bad"}, 1, 20 * ms, ""},
		{"the server wants no other", nil, nil, sim.Script{Status: 503, HeaderDelay: 20 * ms, Header: http.Header{"X-Should-Retry": {"false"}}}, 1, 20 * ms, "false"},
		{"the server wants another", nil, nil, sim.Script{Status: 400, HeaderDelay: 20 * ms, RetryAfter: time.Second, Header: http.Header{"X-Should-Retry": {"true"}}}, 3, 2060 * ms, "false"},
	} {
		for _, stream := range []bool{false, true} {
			name := tc.name
			if stream {
				name += ", streamed"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T) {
					srv := sim.New(t, sim.WithScript(tc.script))
					c := tachoopenai.NewClient(sdk(srv, append([]option.RequestOption{tachoopenai.With(tacho.WithoutTracing(), tacho.WithoutMetrics())}, tc.client...)...)...)
					ctx, tr := tacho.Track(t.Context())
					start := time.Now()
					err := chat(ctx, c.Client, stream, tc.call...)
					equal(t, "time", time.Since(start), tc.took)
					refused(t, err, tc.script.Status, tc.script.ErrorCode)
					var e *openai.Error
					if errors.As(err, &e) {
						equal(t, "X-Should-Retry", e.Response.Header.Get("X-Should-Retry"), tc.says)
					}
					call := only(t, tr)
					equal(t, "requests", len(srv.Requests()), tc.n)
					equal(t, "attempts", len(call.Attempts()), tc.n)
					equal(t, "outcome", call.Outcome(), tacho.Failed)
					figure(t, call, tacho.Duration, tc.took)
				})
			})
		}
	}
}

// refused checks that an error is the SDK's own of a status, with its body.
func refused(t *testing.T, err error, status int, code string) {
	t.Helper()
	e, ok := err.(*openai.Error) //nolint:errorlint // the very type, not one that wraps it
	if !ok {
		t.Fatalf("error %T %v, want an *openai.Error", err, err)
	}
	equal(t, "status", e.StatusCode, status)
	equal(t, "code", e.Code, code)
	body, err := io.ReadAll(e.Response.Body)
	if err != nil || !strings.Contains(string(body), `"error"`) {
		t.Errorf("body %q, %v", body, err)
	}
}

// TestMultiplied is what the SDK does without the word that it is the last one:
// option.WithMaxRetries counts passes of a middleware, each with three attempts.
func TestMultiplied(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		srv := sim.New(t, sim.WithScript(refusal(0)))
		rt := tacho.NewTransport(nil, tacho.WithRetries(tacho.RetryPolicy{}), tacho.WithoutTracing(), tacho.WithoutMetrics())
		c := openai.NewClient(sdk(srv, option.WithMaxRetries(0), option.WithMiddleware(rt.Middleware))...)
		ctx, tr := tacho.Track(t.Context())
		refused(t, chat(ctx, c, false, option.WithMaxRetries(1)), 429, "rate_limit_exceeded")
		equal(t, "requests", len(srv.Requests()), 6)
		equal(t, "calls", len(tr.Calls()), 2)
	})
}

// TestNoAnswer breaks connections: the transport's error itself, and no pass of
// the SDK beside the attempts.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		inBubble(t, func(t *testing.T) {
			srv := sim.New(t, sim.WithScript(sim.Script{Abort: true, HeaderDelay: 20 * ms}))
			bare := openai.NewClient(sdk(srv, option.WithMaxRetries(0))...)
			want := chat(t.Context(), bare, stream)
			c := tachoopenai.NewClient(sdk(srv, quiet(tacho.RetryPolicy{}))...)
			ctx, tr := tacho.Track(t.Context())
			var into *http.Response
			start := time.Now()
			err := chat(ctx, c.Client, stream, option.WithMaxRetries(4), option.WithResponseInto(&into))
			equal(t, "time", time.Since(start), 1560*ms)
			equal(t, "error", describe(err), describe(want))
			equal(t, "requests", len(srv.Requests()), 1+3)
			equal(t, "attempts", len(only(t, tr).Attempts()), 3)
			if into == nil || into.StatusCode != 0 || into.Body.Close() != nil {
				t.Errorf("response %+v, want one without a status", into)
			}
		})
	}
}

// TestNotSent is what the SDK refuses to send, here to another host than its
// base URL's. It says so by an error that no other package can recognise: in
// place of one pass there are three attempts.
func TestNotSent(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		srv := sim.New(t)
		elsewhere := option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			r.URL.Host = "elsewhere.invalid"
			return next(r)
		})
		start := time.Now()
		want := chat(t.Context(), openai.NewClient(sdk(srv, elsewhere)...), false)
		equal(t, "bare: time", time.Since(start), 0)
		start = time.Now()
		err := chat(t.Context(), tachoopenai.NewClient(sdk(srv, elsewhere, quiet(tacho.RetryPolicy{}))...).Client, false)
		equal(t, "error", describe(err), describe(want))
		equal(t, "time", time.Since(start), 1500*ms)
		equal(t, "requests", len(srv.Requests()), 0)
	})
}

// TestOneBody sends a body that can be read once in one attempt.
func TestOneBody(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		srv := sim.New(t, sim.WithScript(refusal()))
		c := tachoopenai.NewClient(sdk(srv, quiet(tacho.RetryPolicy{}))...)
		ctx, tr := tacho.Track(t.Context())
		body := io.MultiReader(strings.NewReader(`{"model":"m","messages":[{"role":"user",`), strings.NewReader(`"content":"hi"}]}`))
		err := chat(ctx, c.Client, false, option.WithRequestBody("application/json", body))
		refused(t, err, 429, "rate_limit_exceeded")
		equal(t, "requests", len(srv.Requests()), 1)
		equal(t, "attempts", len(only(t, tr).Attempts()), 1)
	})
}

// TestNoCall leaves what is no call to the SDK, with its own retries.
func TestNoCall(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		opts []option.RequestOption
		n    int
	}{{"by default", nil, 3}, {"WithMaxRetries(1)", []option.RequestOption{option.WithMaxRetries(1)}, 2}} {
		inBubble(t, func(t *testing.T) {
			n := 0
			down := roundTripper(func(r *http.Request) (*http.Response, error) {
				n++
				return &http.Response{StatusCode: 503, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"error":{}}`)), Request: r}, nil
			})
			c := tachoopenai.NewClient(option.WithAPIKey("key"), option.WithHTTPClient(&http.Client{Transport: down}), quiet(tacho.RetryPolicy{}))
			ctx, tr := tacho.Track(t.Context())
			_, err := c.Models.List(ctx, tc.opts...)
			refused(t, err, 503, "")
			equal(t, tc.name+": requests", n, tc.n)
			equal(t, "calls", len(tr.Calls()), 0)
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
