// SPDX-License-Identifier: Apache-2.0

package compat_test

import (
	"context"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"time"

	openai1 "github.com/openai/openai-go"
	option1 "github.com/openai/openai-go/option"
	openai2 "github.com/openai/openai-go/v2"
	option2 "github.com/openai/openai-go/v2/option"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// middleware is what all SDKs take.
type middleware = func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error)

// olderSDKs are the majors before v3. They read a stream on to EOF behind
// [DONE] and never close it.
var olderSDKs = []struct {
	name string
	// chat streams one chat completion, and returns its text.
	chat func(ctx context.Context, srv *sim.Server, c *http.Client, m middleware) (string, error)
}{
	{"v1", func(ctx context.Context, srv *sim.Server, c *http.Client, m middleware) (string, error) {
		opts := []option1.RequestOption{option1.WithBaseURL(srv.URL()), option1.WithAPIKey("key"), option1.WithHTTPClient(c)}
		if m != nil {
			opts = append(opts, option1.WithMiddleware(m))
		}
		client := openai1.NewClient(opts...)
		s := client.Chat.Completions.NewStreaming(ctx, openai1.ChatCompletionNewParams{
			Model: "m", Messages: []openai1.ChatCompletionMessageParamUnion{openai1.UserMessage("to be or not to be")}})
		text := ""
		for s.Next() {
			for _, c := range s.Current().Choices {
				text += c.Delta.Content
			}
		}
		return text, s.Err()
	}},
	{"v2", func(ctx context.Context, srv *sim.Server, c *http.Client, m middleware) (string, error) {
		opts := []option2.RequestOption{option2.WithBaseURL(srv.URL()), option2.WithAPIKey("key"), option2.WithHTTPClient(c)}
		if m != nil {
			opts = append(opts, option2.WithMiddleware(m))
		}
		client := openai2.NewClient(opts...)
		s := client.Chat.Completions.NewStreaming(ctx, openai2.ChatCompletionNewParams{
			Model: "m", Messages: []openai2.ChatCompletionMessageParamUnion{openai2.UserMessage("to be or not to be")}})
		text := ""
		for s.Next() {
			for _, c := range s.Current().Choices {
				text += c.Delta.Content
			}
		}
		return text, s.Err()
	}},
}

// TestOlderSDKs streams through openai-go v1 and v2, which need no drain.
func TestOlderSDKs(t *testing.T) {
	t.Parallel()
	for _, sdk := range olderSDKs {
		for _, way := range []string{"bare", "transport", "middleware"} {
			t.Run(sdk.name+"/"+way, func(t *testing.T) {
				t.Parallel()
				srv, err := sim.Listen(sim.WithScript(sim.Script{Text: "to be or not", TailDelay: time.Millisecond}))
				if err != nil {
					t.Fatal(err)
				}
				defer srv.Close()
				ctx, tracker := tacho.Track(t.Context())
				c, m := install(srv, way)
				for range series {
					text, err := sdk.chat(ctx, srv, c, m)
					if text != "to be or not" || err != nil {
						t.Fatalf("text %q, error %v", text, err)
					}
				}
				equal(t, "accepted connections", srv.Accepted(), 1)
				if way == "bare" {
					return
				}
				calls := tracker.Calls()
				equal(t, "calls", len(calls), series)
				equal(t, "reused connections", reused(calls), series-1)
				for _, c := range calls {
					equal(t, "outcome", c.Outcome(), tacho.Complete)
					_, output := c.Events()
					equal(t, "output events", output, 4)
				}
			})
		}
	}
}

// install returns a client of a server, and a middleware, with tacho in one of
// them or in none.
func install(srv *sim.Server, way string) (*http.Client, middleware) {
	c := srv.Client()
	switch way {
	case "transport":
		c.Transport = tacho.NewTransport(c.Transport)
	case "middleware":
		return c, tacho.Middleware()
	}
	return c, nil
}

// TestOlderRetries repeats failed attempts. v1 neither reads nor closes their
// bodies: it is for the garbage collector to find that they have ended.
func TestOlderRetries(t *testing.T) {
	t.Parallel()
	busy := sim.Script{Status: http.StatusServiceUnavailable, RetryAfter: time.Millisecond}
	for _, sdk := range olderSDKs {
		for _, way := range []string{"transport", "middleware"} {
			t.Run(sdk.name+"/"+way, func(t *testing.T) {
				t.Parallel()
				srv, err := sim.Listen(sim.WithScript(sim.Script{Text: "to be or not"}))
				if err != nil {
					t.Fatal(err)
				}
				defer srv.Close()
				srv.Play(busy, busy)
				ctx, tracker := tacho.Track(t.Context())
				c, m := install(srv, way)
				if text, err := sdk.chat(ctx, srv, c, m); text != "to be or not" || err != nil {
					t.Fatalf("text %q, error %v", text, err)
				}
				for len(tracker.Calls()) < 3 {
					runtime.GC()
				}
				calls := tracker.Calls()
				slices.SortFunc(calls, func(a, b *tacho.Call) int { return a.Attempt() - b.Attempt() })
				want := []tacho.Outcome{tacho.Failed, tacho.Failed, tacho.Complete}
				if got := outcomes(calls); !slices.Equal(got, want) {
					t.Errorf("outcomes %v, want %v", got, want)
				}
				for i, c := range calls {
					equal(t, "attempt", c.Attempt(), i+1)
				}
			})
		}
	}
}
