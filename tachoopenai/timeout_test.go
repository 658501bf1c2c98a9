// SPDX-License-Identifier: Apache-2.0

package tachoopenai_test

import (
	"context"
	"errors"
	"fmt"
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

// describe tells what an application can learn of an error.
func describe(err error) string {
	var types []string
	for e := err; e != nil; e = errors.Unwrap(e) {
		types = append(types, fmt.Sprintf("%T", e))
	}
	return strings.Join(types, " > ") + " " + fmt.Sprint(err)
}

// TestRequestTimeout bounds the call, not each attempt.
func TestRequestTimeout(t *testing.T) {
	t.Parallel()
	slow := answer
	slow.HeaderDelay = time.Minute
	for _, tc := range []struct {
		name     string
		limit    time.Duration
		scripts  []sim.Script
		status   int // of the *openai.Error; 0: DeadlineExceeded
		took     time.Duration
		outcome  tacho.Outcome
		attempts int
	}{
		{"in the first attempt", time.Second, []sim.Script{slow}, 0, time.Second, tacho.Deadline, 1},
		{"in a wait, which is not begun", time.Second, []sim.Script{refusal()}, 429, 20 * ms, tacho.Failed, 1},
		{"in the second attempt", 3 * time.Second, []sim.Script{refusal(), slow}, 0, 3 * time.Second, tacho.Deadline, 2},
		{"in the second wait", 3 * time.Second, []sim.Script{refusal(), refusal()}, 429, 2040 * ms, tacho.Failed, 2},
	} {
		for _, stream := range []bool{false, true} {
			name := tc.name
			if stream {
				name += ", streamed"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T) {
					srv := sim.New(t)
					srv.Play(tc.scripts...)
					c := tachoopenai.NewClient(sdk(srv, quiet(tacho.RetryPolicy{}))...)
					ctx, tr := tacho.Track(t.Context())
					start := time.Now()
					err := chat(ctx, c.Client, stream, option.WithRequestTimeout(tc.limit))
					equal(t, "time", time.Since(start), tc.took)
					if tc.status == 0 {
						equal(t, "error", err, context.DeadlineExceeded)
					} else {
						refused(t, err, tc.status, "rate_limit_exceeded")
					}
					call := only(t, tr)
					equal(t, "outcome", call.Outcome(), tc.outcome)
					equal(t, "attempts", len(call.Attempts()), tc.attempts)
					equal(t, "requests", len(srv.Requests()), tc.attempts)
				})
			})
		}
	}
}

// TestRequestTimeoutBare is what the SDK does with its own retries: a limit for
// each attempt, that a wait uses up as well.
func TestRequestTimeoutBare(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		srv := sim.New(t)
		late := answer
		late.HeaderDelay = 2900 * ms
		srv.Play(refusal(), late)
		start := time.Now()
		err := chat(t.Context(), openai.NewClient(sdk(srv)...), false, option.WithRequestTimeout(3*time.Second))
		equal(t, "error", err, nil)
		equal(t, "time", time.Since(start), 2020*ms+2900*ms) // longer than the limit

		srv.Play(refusal())
		start = time.Now()
		err = chat(t.Context(), openai.NewClient(sdk(srv)...), false, option.WithRequestTimeout(time.Second))
		equal(t, "error", err, context.DeadlineExceeded) // and the refusal is not seen
		equal(t, "time", time.Since(start), time.Second)
	})
}

// TestCancelled ends a wait with the caller's context.
func TestCancelled(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		srv := sim.New(t, sim.WithScript(refusal()))
		c := tachoopenai.NewClient(sdk(srv, quiet(tacho.RetryPolicy{}))...)
		ctx, tr := tacho.Track(t.Context())
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(500*ms, cancel)
		start := time.Now()
		equal(t, "error", chat(ctx, c.Client, true), context.Canceled)
		equal(t, "time", time.Since(start), 500*ms)
		equal(t, "outcome", only(t, tr).Outcome(), tacho.Cancelled)
		equal(t, "requests", len(srv.Requests()), 1)
	})
}

// TestHeaderTimeout has a server that answers nothing: without an HTTP client of
// the application's own each attempt ends after ten minutes, with the error that
// the SDK has without tacho.
//
// It is not parallel: the SDK's default client is a copy of http.DefaultTransport.
func TestHeaderTimeout(t *testing.T) { //nolint:paralleltest // see above
	before := http.DefaultTransport
	defer func() { http.DefaultTransport = before }()
	for _, stream := range []bool{false, true} {
		inBubble(t, func(t *testing.T) {
			srv := sim.New(t, sim.WithScript(sim.Script{HeaderDelay: 24 * time.Hour}))
			http.DefaultTransport = srv.Transport()
			opts := []option.RequestOption{option.WithBaseURL(srv.URL()), option.WithAPIKey("key")}

			start := time.Now()
			want := chat(t.Context(), openai.NewClient(append(opts, option.WithMaxRetries(0))...), stream)
			equal(t, "bare: time", time.Since(start), 10*time.Minute)

			ctx, tr := tacho.Track(t.Context())
			start = time.Now()
			err := chat(ctx, tachoopenai.NewClient(append(opts, quiet(tacho.RetryPolicy{Attempts: 1}))...).Client, stream)
			equal(t, "time", time.Since(start), 10*time.Minute)
			equal(t, "error", describe(err), describe(want))
			call := only(t, tr)
			f, _ := call.Failure()
			equal(t, "outcome", call.Outcome(), tacho.Deadline)
			equal(t, "failure", f.Type, "timeout")

			start = time.Now()
			err = chat(t.Context(), tachoopenai.NewClient(append(opts, quiet(tacho.RetryPolicy{}))...).Client, stream)
			equal(t, "three attempts: time", time.Since(start), 30*time.Minute+1500*ms)
			equal(t, "three attempts: error", describe(err), describe(want))
		})
	}
}
