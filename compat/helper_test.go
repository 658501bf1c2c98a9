// SPDX-License-Identifier: Apache-2.0

package compat_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptrace"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// inBubble runs f in a synctest bubble. The SDKs build their JSON codecs on
// first use and keep them in globals that no two bubbles may build at once, so
// the first use is outside.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	warm()
	synctest.Test(t, f)
}

var warm = sync.OnceFunc(func() {
	srv := sim.NewServer()
	defer srv.Close()
	ctx := context.Background()
	for _, stream := range []bool{false, true} {
		chatV3(ctx, newV3(srv, srv.Client()), stream)
		respondV3(ctx, newV3(srv, srv.Client()), stream)
	}
	client := newV3(srv, srv.Client())
	s := client.Chat.Completions.NewStreaming(ctx, chatParams())
	defer s.Close()
	var acc openai.ChatCompletionAccumulator
	for s.Next() {
		acc.AddChunk(s.Current())
	}
})

// newV3 returns an openai-go v3 client of a server, over the given HTTP client.
func newV3(srv *sim.Server, c *http.Client, opts ...option.RequestOption) openai.Client {
	return openai.NewClient(append([]option.RequestOption{
		option.WithBaseURL(srv.URL()), option.WithAPIKey("key"), option.WithHTTPClient(c),
	}, opts...)...)
}

func chatParams() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    "m",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("to be or not to be")},
	}
}

// chatV3 makes one chat completion and returns its error.
func chatV3(ctx context.Context, c openai.Client, stream bool, opts ...option.RequestOption) error {
	if !stream {
		_, err := c.Chat.Completions.New(ctx, chatParams(), opts...)
		return err
	}
	return drainV3(c.Chat.Completions.NewStreaming(ctx, chatParams(), opts...))
}

// drainV3 reads a stream to its end.
func drainV3[T any](s *ssestream.Stream[T]) error {
	defer s.Close()
	for s.Next() {
	}
	return s.Err()
}

// connections counts the requests that got a connection, and those of them
// whose connection had served one before.
type connections struct {
	mu         sync.Mutex
	got, again int
}

// trace returns a context whose requests are counted.
func (c *connections) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.got++; i.Reused {
			c.again++
		}
	}})
}

// reused counts the calls whose record says that their connection was reused.
func reused(calls []*tacho.Call) int {
	n := 0
	for _, c := range calls {
		if again, ok := c.Reused(); ok && again {
			n++
		}
	}
	return n
}

// record returns a call as its JSON.
func record(t *testing.T, c *tacho.Call) map[string]any {
	t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// equal fails the test unless got is want.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// only returns the one call that was told, and fails the test if there is none or are more.
func only(t *testing.T, tr *tacho.Tracker) *tacho.Call {
	t.Helper()
	calls := tr.Calls()
	if len(calls) != 1 {
		t.Fatalf("%d calls told, want one", len(calls))
	}
	return calls[0]
}
