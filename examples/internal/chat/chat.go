// SPDX-License-Identifier: Apache-2.0

// Package chat makes one chat completion at a time through tacho's Transport
// and hands out its record.
package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
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

// Client calls one endpoint, one call after the other on a kept connection.
type Client struct {
	target    cli.Target
	transport *tacho.Transport
}

// New returns a client of the endpoint over base; nil means a transport like
// the default one, with connections of its own.
func New(t cli.Target, base http.RoundTripper) *Client {
	if base == nil {
		base = &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: 10 * time.Minute}
	}
	return &Client{target: t, transport: tacho.NewTransport(base)}
}

// Close closes the kept connection.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Result is how a call went. The record is there whatever happened.
type Result struct {
	Call   *tacho.Call
	Outs   []time.Duration // from the call's start to each event with output
	Status int             // 0: no answer
	Err    error           // what the caller saw; it never holds the key
}

// Call makes one call and reads its answer to the end.
func (c *Client) Call(ctx context.Context, q Request) Result {
	ctx, cancel := context.WithTimeout(ctx, q.Timeout)
	defer cancel()
	ctx, tracker := tacho.Track(ctx)
	r := c.exchange(ctx, q)
	// The tail of a stream is drained in the background; a call made before that
	// would dial anew.
	wait, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	_ = c.transport.Wait(wait)
	r.Call, _ = tracker.Call()
	if r.Call == nil && r.Err == nil {
		r.Err = errors.New("the call was not measured")
	}
	if r.Err != nil {
		r.Err = c.hideKey(r.Err)
	}
	return r
}

func (c *Client) exchange(ctx context.Context, q Request) (r Result) {
	req, err := c.request(ctx, q)
	if err != nil {
		return Result{Err: err}
	}
	resp, err := (&http.Client{Transport: c.transport}).Do(req)
	if err != nil {
		// The URL in a url.Error has the query, which may hold a key.
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err
		}
		return Result{Err: err}
	}
	defer resp.Body.Close()
	r.Status = resp.StatusCode
	if r.Status >= 400 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		r.Err = statusError(r.Status, body)
		return r
	}
	if q.Plain {
		_, r.Err = io.Copy(io.Discard, resp.Body)
		return r
	}
	for ev, err := range tacho.Events(resp) {
		if err != nil {
			r.Err = err
		}
		if ev.Timed && ev.Channel != "" {
			r.Outs = append(r.Outs, ev.At)
		}
	}
	return r
}

func (c *Client) request(ctx context.Context, q Request) (*http.Request, error) {
	type options struct {
		IncludeUsage bool `json:"include_usage"`
	}
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	body := struct {
		Model     string    `json:"model"`
		Messages  []message `json:"messages"`
		MaxTokens int       `json:"max_tokens"`
		Stream    bool      `json:"stream,omitempty"`
		Options   *options  `json:"stream_options,omitempty"`
	}{Model: c.target.Model, Messages: []message{{"user", q.Prompt}}, MaxTokens: q.MaxTokens, Stream: !q.Plain}
	if body.Stream {
		body.Options = &options{IncludeUsage: true}
	}
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	u := *c.target.URL
	u.Path += "/chat/completions"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(b))
	if err != nil {
		return nil, errors.New("the request cannot be made: check the base URL")
	}
	req.Header.Set("Content-Type", "application/json")
	if c.target.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.target.Key)
	}
	return req, nil
}

func statusError(status int, body []byte) error {
	var answer struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	text := fmt.Sprintf("%d %s", status, http.StatusText(status))
	if json.Unmarshal(body, &answer) == nil && answer.Error.Message != "" {
		return fmt.Errorf("%s: %.300s", text, answer.Error.Message)
	}
	return errors.New(text)
}
