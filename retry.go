// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/tacho-go/tacho/internal/wire"
)

// RetryPolicy says how a call is made again after an attempt that failed. The
// zero policy has the values below, which are those of openai-go.
type RetryPolicy struct {
	// Attempts is how many are made at most, the first included. 0 is 3; with 1
	// no call is made again.
	Attempts int
	// InitialWait is the wait before the second attempt, when the server asks for
	// none; it doubles with each further one. 0 is 500 ms.
	InitialWait time.Duration
	// MaxWait bounds that wait. 0 is 8 s.
	MaxWait time.Duration
	// Jitter is the share of that wait that is left to chance, on either side but
	// not beyond MaxWait, up to 1. 0 is 0.25, and a negative one is none.
	Jitter float64
	// MaxServerWait bounds the wait that a server may ask for. One that asks for
	// more is not asked again: its answer is returned. 0 is two minutes.
	MaxServerWait time.Duration
}

// WithRetries makes a call again when an attempt failed: when no answer came,
// and with the statuses 408, 409, 429 and 500 or more; X-Should-Retry true or
// false overrides that. It waits as long as Retry-After-Ms or Retry-After says,
// else by exponential back-off, and not at all when the context would end first.
// The request's body is taken again from GetBody: without it there is one
// attempt. Once an answer was returned to the application nothing is made again.
//
// All attempts are one Call with one span, and each has a span of HTTP below
// it. Times count from the call's start; Call.Attempts has the start of each
// attempt. What the record says of phases, connection and answer is the last
// attempt's. When all have failed, the application gets the last one's answer or
// error.
//
// By default each request is one attempt, and an SDK's own retries are calls of
// their own. Switch those off with this, or they multiply. Given more than once,
// the last policy holds; values below what makes sense are taken for 0.
func WithRetries(p RetryPolicy) Option {
	if p.Attempts <= 0 {
		p.Attempts = 3
	}
	if p.InitialWait <= 0 {
		p.InitialWait = 500 * time.Millisecond
	}
	if p.MaxWait <= 0 {
		p.MaxWait = 8 * time.Second
	}
	if p.MaxServerWait <= 0 {
		p.MaxServerWait = 2 * time.Minute
	}
	switch {
	case p.Jitter < 0:
		p.Jitter = 0
	case !(p.Jitter > 0): // or it is no number
		p.Jitter = 0.25
	}
	p.Jitter = min(p.Jitter, 1)
	const longest = 24 * time.Hour // what follows is to be computed without an overflow
	p.MaxWait = min(p.MaxWait, longest)
	p.InitialWait = min(p.InitialWait, p.MaxWait)
	return optionFunc(func(c *config) {
		c.retries, c.sendAgain = &p, (*exchange).sendAgain
		c.linkAttempts()
	})
}

func (p *RetryPolicy) backOff() backoff.BackOff {
	return &backoff.ExponentialBackOff{InitialInterval: p.InitialWait, RandomizationFactor: p.Jitter, Multiplier: 2, MaxInterval: p.MaxWait}
}

// again reports whether an attempt is to be followed by another, and after what
// wait; a negative one is for the policy to say.
func (p *RetryPolicy) again(resp *http.Response, err error) (wait time.Duration, ok bool) {
	if err != nil || resp == nil {
		// A certificate is no better the next time.
		return -1, err == nil || !isTLS(err)
	}
	switch says, s := resp.Header.Get("X-Should-Retry"), resp.StatusCode; {
	case s < 400, says == "false":
		return 0, false
	case says == "true", s >= 500, s == http.StatusRequestTimeout, s == http.StatusConflict, s == http.StatusTooManyRequests:
	default:
		return 0, false
	}
	if ms, err := strconv.ParseFloat(resp.Header.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 { // NaN is not
		return time.Duration(min(ms, 1e12) * float64(time.Millisecond)), ms <= float64(p.MaxServerWait.Milliseconds())
	}
	var f wire.Facts
	f.ReadHeader(resp.Header)
	if f.Limits == nil || !f.Limits.RetryAfter.OK {
		// More seconds than a number holds are too many all the same.
		v, _ := strconv.ParseFloat(resp.Header.Get("Retry-After"), 64)
		ms, _ := strconv.ParseFloat(resp.Header.Get("Retry-After-Ms"), 64)
		return -1, !(v > p.MaxServerWait.Seconds()) && !(ms/1000 > p.MaxServerWait.Seconds())
	}
	asked := f.Limits.RetryAfter.V
	return time.Duration(min(asked, 1e9) * float64(time.Second)), asked <= p.MaxServerWait.Seconds()
}

// sendAgain sends a request until an attempt is the last one. r is the first's.
func (x *exchange) sendAgain(req, r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Request, *http.Response, error) {
	p := x.config.retries
	waits := p.backOff()
	for n := 1; ; n++ {
		sent, resp, err := x.once(req, r, next)
		wait, again := p.again(resp, err)
		if wait < 0 {
			wait = min(waits.NextBackOff(), p.MaxWait)
		}
		if !again || n >= p.Attempts || !x.inTime(wait) {
			return sent, resp, err
		}
		repeated := sent.WithContext(&x.ctx)
		if sent.Body != nil && sent.Body != http.NoBody {
			if sent.GetBody == nil {
				return sent, resp, err
			}
			body := bodyOf(sent)
			if body == nil {
				return sent, resp, err
			}
			repeated.Body = body
		}
		x.failedAttempt(resp, err)
		if err := x.pause(wait); err != nil {
			if repeated.Body != nil {
				repeated.Body.Close()
			}
			x.tries().over = true
			return sent, nil, err
		}
		repeated.Header = sent.Header.Clone()
		if repeated.Header["X-Stainless-Retry-Count"] != nil {
			repeated.Header.Set("X-Stainless-Retry-Count", strconv.Itoa(int(x.call.attempt)-1+n))
		}
		x.nextAttempt(repeated, wait)
		r = repeated
	}
}

// bodyOf is a request's body once more, nil if it cannot be had: GetBody is the
// application's own, and its failure is no reason to lose the answer.
func bodyOf(r *http.Request) (body io.ReadCloser) {
	defer func() {
		if recover() != nil {
			body = nil
		}
	}()
	body, err := r.GetBody()
	if err != nil {
		return nil
	}
	return body
}

// apart gives each attempt a URL and headers of its own: middlewares below may
// change theirs in place, as openai-go's for Azure does with the path, and would
// change them once more with the next attempt. The answer names the request as
// it was sent, in the caller's context.
func apart(ctx context.Context, next func(*http.Request) (*http.Response, error)) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		own := r.Clone(r.Context())
		resp, err := next(own)
		if resp != nil && resp.Request == own {
			resp.Request = own.WithContext(ctx)
		}
		return resp, err
	}
}

// inTime reports whether the context lasts beyond a wait.
func (x *exchange) inTime(wait time.Duration) bool {
	if x.ctx.parent.Err() != nil {
		return false
	}
	deadline, ok := x.ctx.parent.Deadline()
	return !ok || time.Until(deadline) > wait
}

// pause waits, or returns what ended the context, as net/http would.
func (x *exchange) pause(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-x.ctx.parent.Done():
		return context.Cause(x.ctx.parent)
	}
}

// refusalTime bounds the reading of an answer that is not wanted.
const refusalTime = 250 * time.Millisecond

// readRefusal reads what an attempt failed with, so that its connection can be
// used again, and returns the server's error.
func (x *exchange) readRefusal(resp *http.Response) wire.Error {
	if resp.Body == nil {
		return wire.Error{}
	}
	timer := time.AfterFunc(refusalTime, func() { resp.Body.Close() })
	defer timer.Stop()
	defer resp.Body.Close()
	var f wire.Facts
	dec := x.transport.readers.get()
	dec.Init(x.call.api, false, false, &f)
	_, _ = io.Copy(dec, io.LimitReader(resp.Body, maxRefusal))
	if !dec.Empty() {
		dec.End()
	}
	x.transport.readers.put(dec)
	return f.Error
}
