// SPDX-License-Identifier: Apache-2.0

package tachoopenai_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
	"github.com/tacho-go/tacho/tachoopenai"
)

const ms = time.Millisecond

// inBubble runs f in a synctest bubble. The SDK builds its JSON codecs on first
// use and keeps them in globals that no two bubbles may build at once, so the
// first use is outside.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	warm()
	synctest.Test(t, f)
}

var warm = sync.OnceFunc(func() {
	srv := sim.NewServer(sim.WithScript(sim.Script{}))
	defer srv.Close()
	ctx := context.Background()
	c := openai.NewClient(sdk(srv)...)
	for _, stream := range []bool{false, true} {
		chat(ctx, c, stream)
		respond(ctx, c, stream)
	}
	_, _ = c.Embeddings.New(ctx, embedding)
	_, _ = c.Models.List(ctx)
	srv.Play(sim.Script{Steps: toolSteps})
	_, _ = c.Chat.Completions.New(ctx, toolParams)
})

// sdk are the options that lead a client to a server in memory.
func sdk(srv *sim.Server, more ...option.RequestOption) []option.RequestOption {
	return append([]option.RequestOption{
		option.WithBaseURL(srv.URL()), option.WithAPIKey("key"), option.WithHTTPClient(srv.Client()),
	}, more...)
}

// quiet tells nothing to OpenTelemetry, and leaves no wait to chance.
func quiet(p tacho.RetryPolicy) option.RequestOption {
	p.Jitter = -1
	return tachoopenai.With(tacho.WithRetries(p), tacho.WithoutTracing(), tacho.WithoutMetrics())
}

var chatParams = openai.ChatCompletionNewParams{
	Model:    "m",
	Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("to be or not to be")},
}

// chat asks for one chat completion and returns its error.
func chat(ctx context.Context, c openai.Client, stream bool, opts ...option.RequestOption) error {
	if !stream {
		_, err := c.Chat.Completions.New(ctx, chatParams, opts...)
		return err
	}
	return drain(c.Chat.Completions.NewStreaming(ctx, chatParams, opts...))
}

// respond asks for one response and returns its error.
func respond(ctx context.Context, c openai.Client, stream bool, opts ...option.RequestOption) error {
	p := responses.ResponseNewParams{Model: "m", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("to be")}}
	if !stream {
		_, err := c.Responses.New(ctx, p, opts...)
		return err
	}
	return drain(c.Responses.NewStreaming(ctx, p, opts...))
}

// drain reads a stream to its end.
func drain[T any](s *ssestream.Stream[T]) error {
	defer s.Close()
	for s.Next() {
	}
	return s.Err()
}

// refusal is an answer of 429 that comes after 20 ms and asks for 2 s, if not
// for another wait.
func refusal(wait ...time.Duration) sim.Script {
	s := sim.Script{Status: 429, HeaderDelay: 20 * ms, RetryAfter: 2 * time.Second, ErrorCode: "rate_limit_exceeded", ErrorMessage: "Slow down."}
	if len(wait) > 0 {
		s.RetryAfter = wait[0]
	}
	return s
}

// answer comes after 30 ms; as a stream its first word 10 ms later.
var answer = sim.Script{HeaderDelay: 30 * ms, FirstDelay: 5 * ms, Gap: 5 * ms, Text: "to be"}

// only is the one call that was told.
func only(t *testing.T, tr *tacho.Tracker) *tacho.Call {
	t.Helper()
	calls := tr.Calls()
	if len(calls) != 1 {
		t.Fatalf("%d calls told, want one", len(calls))
	}
	return calls[0]
}

// equal fails the test unless got is want.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// figure checks a figure of a call.
func figure(t *testing.T, c *tacho.Call, f tacho.Figure, want time.Duration) {
	t.Helper()
	if d, ok := c.Figure(f); !ok || d != want {
		t.Errorf("%v is %v, %v, want %v", f, d, ok, want)
	}
}
