// SPDX-License-Identifier: Apache-2.0

package compat_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/tacho-go/tacho"
)

const messageStream = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"to "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"be"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

`

// TestAnthropic streams a message through anthropic-sdk-go. Its middlewares
// have the same signature; its API is not one that tacho measures, so that the
// exchange passes as it is.
func TestAnthropic(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"transport", "middleware"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, messageStream)
			}))
			defer srv.Close()
			c := srv.Client()
			opts := []option.RequestOption{option.WithBaseURL(srv.URL), option.WithAPIKey("key"), option.WithHTTPClient(c)}
			if way == "transport" {
				c.Transport = tacho.NewTransport(c.Transport)
			} else {
				opts = append(opts, option.WithMiddleware(tacho.Middleware()))
			}
			client := anthropic.NewClient(opts...)
			ctx, tracker := tacho.Track(t.Context())
			s := client.Messages.NewStreaming(ctx, anthropic.MessageNewParams{
				Model: "m", MaxTokens: 16,
				Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("to be or not to be"))},
			})
			defer s.Close()
			var m anthropic.Message
			for s.Next() {
				if err := m.Accumulate(s.Current()); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Err(); err != nil {
				t.Fatal(err)
			}
			equal(t, "blocks", len(m.Content), 1)
			equal(t, "text", m.Content[0].Text, "to be")
			equal(t, "output tokens", m.Usage.OutputTokens, 2)
			equal(t, "calls", len(tracker.Calls()), 0)
		})
	}
}
