// SPDX-License-Identifier: Apache-2.0

// Package chat asks a model one question at a time with a tacho.Client and
// hands out the record of each call.
package chat

import (
	"context"
	"errors"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/cli"
)

// Request is what is asked.
type Request struct {
	Prompt    string
	MaxTokens int
	Plain     bool          // one JSON object in place of a stream
	Timeout   time.Duration // of the whole call
}

// Client asks one model, one call after the other on a kept connection.
type Client struct {
	client *tacho.Client
	target cli.Target
}

// New returns a client that asks the target's model through c.
func New(c *tacho.Client, t cli.Target) *Client { return &Client{c, t} }

// Close closes the kept connection.
func (c *Client) Close() { c.client.CloseIdleConnections() }

// Result is how a call went. The record is there whatever happened.
type Result struct {
	Call *tacho.Call
	Outs []time.Duration // from the call's start to each event with output
	Err  error           // what the caller saw, or that the answer is of another kind; it never holds the key

	plain bool // was asked for
}

// Call makes one call and reads its answer to the end.
func (c *Client) Call(ctx context.Context, q Request) (r Result) {
	r.plain = q.Plain
	ctx, cancel := context.WithTimeout(ctx, q.Timeout)
	defer cancel()
	// Response, Stream and APIError have the record, too. A tracker has it also
	// when no answer came, so it serves for every call.
	ctx, tracker := tacho.Track(ctx)

	if q.Plain {
		_, r.Err = c.client.Do(ctx, "chat/completions", c.body(q))
		r.Err = c.reason(r.Err)
	} else {
		r.Outs, r.Err = c.stream(ctx, q)
	}

	wait, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	// The tail of a stream is drained in the background, and a call made before
	// that would dial anew. A call that its context ended may be told there, too.
	_ = c.client.Transport().Wait(wait)
	r.Call, _ = tracker.Call()
	switch {
	case r.Err != nil:
	case r.Call == nil:
		r.Err = errors.New("the call was not measured")
	case r.OtherKind():
		r.Err = errors.New("the answer is not of the kind asked for: " + r.kinds())
	}
	return r
}

// stream reads a stream and returns the time of each event with output.
func (c *Client) stream(ctx context.Context, q Request) (outs []time.Duration, err error) {
	s, err := c.client.Stream(ctx, "chat/completions", c.body(q))
	if err != nil {
		return nil, c.reason(err)
	}
	for ev, err := range s.All() {
		if err != nil {
			return outs, c.hideKey(err)
		}
		if ev.Channel != "" {
			outs = append(outs, ev.At)
		}
	}
	return outs, nil
}

// body is the request's JSON. Stream adds "stream": true to it.
func (c *Client) body(q Request) map[string]any {
	body := map[string]any{
		"model":      c.target.Model,
		"messages":   []map[string]string{{"role": "user", "content": q.Prompt}},
		"max_tokens": q.MaxTokens,
	}
	if !q.Plain {
		// Without it most servers report no usage for a stream, and there is no
		// time per token.
		body["stream_options"] = map[string]bool{"include_usage": true}
	}
	return body
}
