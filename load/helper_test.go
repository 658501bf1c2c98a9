// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tacho-go/tacho"
)

// answer is a round tripper that answers after a time, as the request's context
// has it, without a connection.
type answer struct{}

type answerKey struct{}

func (answer) RoundTrip(r *http.Request) (*http.Response, error) {
	d, _ := r.Context().Value(answerKey{}).(time.Duration)
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	const body = `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}`
	return &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body))}, nil
}

var measured = tacho.NewTransport(answer{})

// plainCall makes a plain call that takes d.
func plainCall(ctx context.Context, d time.Duration) error {
	req, err := http.NewRequestWithContext(context.WithValue(ctx, answerKey{}, d), http.MethodPost, "http://sim.invalid/v1/chat/completions", strings.NewReader(`{"model":"m"}`))
	if err != nil {
		return err
	}
	resp, err := measured.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
