// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// RateLimit is the state of a rate limiter as response headers tell it. The
// zero RateLimit sends none; any other sends all six.
type RateLimit struct {
	LimitRequests, RemainingRequests int
	ResetRequests                    time.Duration
	LimitTokens, RemainingTokens     int
	ResetTokens                      time.Duration
}

// Header returns the x-ratelimit-* headers as OpenAI sends them; a reset is
// written like "6m0s" or "20ms".
func (l RateLimit) Header() http.Header {
	h := make(http.Header)
	if l == (RateLimit{}) {
		return h
	}
	h.Set("X-Ratelimit-Limit-Requests", strconv.Itoa(l.LimitRequests))
	h.Set("X-Ratelimit-Remaining-Requests", strconv.Itoa(l.RemainingRequests))
	h.Set("X-Ratelimit-Reset-Requests", l.ResetRequests.String())
	h.Set("X-Ratelimit-Limit-Tokens", strconv.Itoa(l.LimitTokens))
	h.Set("X-Ratelimit-Remaining-Tokens", strconv.Itoa(l.RemainingTokens))
	h.Set("X-Ratelimit-Reset-Tokens", l.ResetTokens.String())
	return h
}

func (l RateLimit) check() error {
	if l.ResetRequests < 0 || l.ResetTokens < 0 {
		return fmt.Errorf("sim: Script.RateLimit has a negative reset: %v, %v", l.ResetRequests, l.ResetTokens)
	}
	return nil
}

// head writes the response headers. length is that of the body, or negative.
func (p *player) head(status int, contentType string, length int) {
	s := &p.script
	h := p.w.Header()
	h.Set("Content-Type", contentType)
	if length >= 0 {
		h.Set("Content-Length", strconv.Itoa(length))
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	h.Set("X-Request-Id", p.ids.next("req_"))
	for k, v := range s.RateLimit.Header() {
		h[k] = v
	}
	if s.RetryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((s.RetryAfter+time.Second-1)/time.Second), 10))
		if s.RetryAfter%time.Second != 0 {
			h.Set("Retry-After-Ms", strconv.FormatInt(int64((s.RetryAfter+time.Millisecond-1)/time.Millisecond), 10))
		}
	}
	if s.ContentType != "" {
		h.Set("Content-Type", s.ContentType)
	}
	for k, v := range s.Header {
		h[http.CanonicalHeaderKey(k)] = v
	}
	p.w.WriteHeader(status)
}
