// SPDX-License-Identifier: Apache-2.0

package tachoopenai

import (
	"errors"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/tacho-go/tacho"
)

// Client is an openai.Client whose calls are measured. Where a function wants
// the SDK's type, hand it the field Client. It is safe for concurrent use; make
// one with NewClient.
type Client struct {
	openai.Client
	transport *tacho.Transport
}

// NewClient returns a client with the given options, which are those of
// openai.NewClient and With; with none it is the environment that says which
// endpoint is called, by OPENAI_BASE_URL and OPENAI_API_KEY. It takes the SDK's
// type of options, and no list of tacho's beside it, so that a program that
// calls openai.NewClient changes the package name and nothing else.
//
// What becomes of the SDK's retries and time-outs is said above.
func NewClient(opts ...option.RequestOption) Client {
	measure := []tacho.Option{tacho.WithRetries(tacho.RetryPolicy{})}
	// First, so that it is around all other middlewares: they run once an attempt.
	all := []option.RequestOption{nil}
	for _, o := range opts {
		if w, ok := o.(interface{ tachoOptions() []tacho.Option }); ok {
			measure = append(measure, w.tachoOptions()...)
			continue
		}
		all = append(all, o)
	}
	m := middleware{tacho.NewTransport(nil, measure...)}
	all[0] = option.WithMiddleware(m.do)
	return Client{openai.NewClient(all...), m.transport}
}

// Transport returns what measures the calls: its Wait returns when nothing of
// ended calls goes on in the background. The connections are not its own but
// those of the SDK's HTTP client, so that its CloseIdleConnections closes none
// of them; close those of a client that you gave by option.WithHTTPClient there.
func (c Client) Transport() *tacho.Transport { return c.transport }

// With hands options of tacho to NewClient; given more than once, they add up.
// They are settled when the client is made: with With among its options a single
// call, a service or a client of the SDK's own fails.
func With(opts ...tacho.Option) option.RequestOption {
	return newWith(option.WithMiddleware(), opts)
}

// with is an option of the SDK. Its configuration C has no name outside of the
// SDK, and is inferred from one of its options.
type with[C any] struct{ options []tacho.Option }

func newWith[C any](_ interface{ Apply(*C) error }, opts []tacho.Option) interface{ Apply(*C) error } {
	return with[C]{opts}
}

func (w with[C]) tachoOptions() []tacho.Option { return w.options }

// Apply fails: NewClient does not hand the option on.
func (with[C]) Apply(*C) error {
	return errors.New("tachoopenai: With is an option of tachoopenai.NewClient alone")
}

// middleware measures calls, with all their attempts.
type middleware struct{ transport *tacho.Transport }

func (m middleware) do(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	call := false
	resp, err := m.transport.Middleware(req, func(r *http.Request) (*http.Response, error) {
		// What is no call is handed on as it is, and made again by the SDK.
		call = r != req
		return next(r)
	})
	if call {
		return last(req, resp, err)
	}
	return resp, err
}

// last makes the SDK take the outcome of a call for the last word. Its
// WithMaxRetries(0) would not: that has a say in requests that are no calls, and
// one given with a single call would multiply the attempts. What the SDK asks
// first is X-Should-Retry, also of a response that stands beside an error.
func last(req *http.Request, resp *http.Response, err error) (*http.Response, error) {
	switch {
	case err != nil && resp == nil:
		resp = &http.Response{Body: http.NoBody, Request: req}
	case resp == nil || !retried(resp):
		return resp, err
	}
	if resp.Header == nil {
		resp.Header = make(http.Header)
	}
	resp.Header.Set("X-Should-Retry", "false")
	return resp, err
}

// retried reports whether the SDK makes a request again after such an answer.
func retried(resp *http.Response) bool {
	switch s := resp.StatusCode; s {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	default:
		return s >= http.StatusInternalServerError || resp.Header.Get("X-Should-Retry") == "true"
	}
}
