// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/tacho-go/tacho"
)

// Chat makes chat completions. Client and Prompts are needed. Its methods are safe
// for concurrent use while its fields do not change.
type Chat struct {
	// Client is the endpoint, made with tacho.WithRecorder, and with
	// tacho.WithConcurrency of the calls in flight.
	Client      *tacho.Client
	Model       string
	Prompts     Prompts
	MaxTokens   int      // 0: no limit is sent
	Temperature *float64 // nil: none is sent
	TopP        *float64 // nil: none is sent
	Plain       bool     // one JSON object in place of a stream
	// Timeout bounds a call from its actual start to its last byte: past it the call
	// is failed, its outcome deadline. 0: only the run's end does.
	Timeout time.Duration
}

// misuse is an error of this package that has no content of calls in it.
type misuse string

func (m misuse) Error() string { return "load: " + string(m) }

type chatBody struct {
	Model         string          `json:"model,omitempty"`
	Messages      []chatMessage   `json:"messages"`
	MaxTokens     int             `json:"max_tokens,omitempty"`
	Temperature   *float64        `json:"temperature,omitempty"`
	TopP          *float64        `json:"top_p,omitempty"`
	Stream        bool            `json:"stream,omitempty"`
	StreamOptions map[string]bool `json:"stream_options,omitempty"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Call makes the call of a job and reads its answer to the end. The error is that
// of the transport, or of a field that is missing; a refusal is none, for the run
// learns of it from the measured call.
func (c *Chat) Call(ctx context.Context, j Job) error {
	switch {
	case c.Client == nil:
		return misuse("Chat.Client is nil: give one by tacho.NewClient")
	case c.Prompts == nil:
		return misuse("Chat.Prompts is nil: give some, such as load.Synthetic(128, 512)")
	}
	p := c.Prompts.Prompt(j)
	body := chatBody{Model: c.Model, MaxTokens: c.MaxTokens, Temperature: c.Temperature, TopP: c.TopP}
	if p.System != "" {
		body.Messages = append(body.Messages, chatMessage{"system", p.System})
	}
	body.Messages = append(body.Messages, chatMessage{"user", p.User})
	if p.MaxTokens > 0 {
		body.MaxTokens = p.MaxTokens
	}
	if !c.Plain {
		body.Stream = true
		body.StreamOptions = map[string]bool{"include_usage": true}
	}
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	req, err := c.Client.NewRequest(ctx, "chat/completions", b)
	if err != nil {
		return err
	}
	resp, err := c.Client.Transport().RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
