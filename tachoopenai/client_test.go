// SPDX-License-Identifier: Apache-2.0

package tachoopenai_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
	"github.com/tacho-go/tacho/tachoopenai"
)

// TestNoOptions takes endpoint and key from the environment, as the SDK does.
func TestNoOptions(t *testing.T) { // not parallel: it sets the environment
	srv, err := sim.Listen(sim.WithAPIKey("from-environment"), sim.WithScript(sim.Script{Text: "to be"}))
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	t.Setenv("OPENAI_BASE_URL", srv.URL())
	t.Setenv("OPENAI_API_KEY", "from-environment")
	c := tachoopenai.NewClient()
	for _, stream := range []bool{false, true} {
		ctx, tr := tacho.Track(t.Context())
		if err := chat(ctx, c.Client, stream); err != nil {
			t.Fatal(err)
		}
		equal(t, "outcome", only(t, tr).Outcome(), tacho.Complete)
		equal(t, "attempts", len(only(t, tr).Attempts()), 1)
	}
	if err := c.Transport().Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestOptionsAddUp gives options of both kinds in any order and number.
func TestOptionsAddUp(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		srv := sim.New(t)
		srv.Play(refusal(0), answer, answer)
		var told []string
		observe := func(name string) option.RequestOption {
			return tachoopenai.With(tacho.WithObserver(func(*tacho.Call) { told = append(told, name) }))
		}
		own := slices.Clip([]option.RequestOption{observe("a"), option.WithHeader("X-Own", "1"), observe("b"), quiet(tacho.RetryPolicy{})})
		c := tachoopenai.NewClient(append(own, sdk(srv)...)...)
		for range 2 {
			if err := chat(t.Context(), c.Client, false); err != nil {
				t.Fatal(err)
			}
		}
		equal(t, "told", strings.Join(told, ""), "abab")
		for _, r := range srv.Requests() {
			equal(t, "header", r.Header.Get("X-Own"), "1")
		}
	})
}

// TestMiddlewares runs those of the application once for each attempt, in their
// order, each time on a request that no attempt before has changed.
func TestMiddlewares(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		srv := sim.New(t)
		srv.Play(refusal(0), answer)
		var ran []string
		tag := func(name string) option.RequestOption {
			return option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
				ran = append(ran, name+r.Header.Get("X-Stainless-Retry-Count"))
				r.Header.Add("X-Tag", name)
				return next(r)
			})
		}
		c := tachoopenai.NewClient(sdk(srv, tag("client"), quiet(tacho.RetryPolicy{}))...)
		ctx, tr := tacho.Track(t.Context())
		if err := chat(ctx, c.Client, false, tag("call")); err != nil {
			t.Fatal(err)
		}
		equal(t, "ran", strings.Join(ran, " "), "client0 call0 client1 call1")
		for _, r := range srv.Requests() {
			equal(t, "tags", strings.Join(r.Header["X-Tag"], " "), "client call")
		}
		equal(t, "attempts", len(only(t, tr).Attempts()), 2)
	})
}

// TestMisplaced gives With to what cannot use it.
func TestMisplaced(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		srv := sim.New(t)
		const want = "tachoopenai: With is an option of tachoopenai.NewClient alone"
		opt := tachoopenai.With(tacho.WithoutTracing())
		for name, f := range map[string]func() error{
			"a call":           func() error { return chat(t.Context(), tachoopenai.NewClient(sdk(srv)...).Client, false, opt) },
			"a stream":         func() error { return chat(t.Context(), tachoopenai.NewClient(sdk(srv)...).Client, true, opt) },
			"the SDK's client": func() error { return chat(t.Context(), openai.NewClient(sdk(srv, opt)...), false) },
		} {
			if err := f(); err == nil || err.Error() != want {
				t.Errorf("%s: error %v, want %q", name, err, want)
			}
		}
		equal(t, "requests", len(srv.Requests()), 0)
	})
}

// TestOuterLayer leaves calls to a layer further out that measures them, and
// their retries to the SDK.
func TestOuterLayer(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		srv := sim.New(t)
		srv.Play(refusal(0), answer)
		outer := tacho.NewTransport(nil, tacho.WithoutTracing(), tacho.WithoutMetrics())
		c := tachoopenai.NewClient(sdk(srv, quiet(tacho.RetryPolicy{}))...)
		ctx, tr := tacho.Track(context.Background())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL()+"/chat/completions", strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := outer.Middleware(req, func(r *http.Request) (*http.Response, error) {
			return nil, chat(r.Context(), c.Client, false)
		})
		if resp != nil || err != nil {
			t.Fatal(resp, err)
		}
		equal(t, "requests", len(srv.Requests()), 2)
		equal(t, "attempts", len(only(t, tr).Attempts()), 0)
	})
}
