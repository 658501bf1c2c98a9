// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Limits are what the rate-limit headers say. Times are in seconds.
type Limits struct {
	LimitRequests, RemainingRequests Count
	LimitTokens, RemainingTokens     Count
	ResetRequests, ResetTokens       Number
	RetryAfter                       Number
}

// ReadHeader takes rate limits and server timings from a response's headers.
func (f *Facts) ReadHeader(h http.Header) {
	var l Limits
	l.read(h, f)
	if l != (Limits{}) {
		f.Limits = &l
	}
}

func (l *Limits) read(h http.Header, f *Facts) {
	for name, values := range h {
		if len(values) == 0 {
			continue
		}
		v := values[0]
		switch name {
		case "X-Ratelimit-Limit-Requests":
			l.LimitRequests = countText(v)
		case "X-Ratelimit-Remaining-Requests":
			l.RemainingRequests = countText(v)
		case "X-Ratelimit-Reset-Requests":
			l.ResetRequests = seconds(v)
		case "X-Ratelimit-Limit-Tokens":
			l.LimitTokens = countText(v)
		case "X-Ratelimit-Remaining-Tokens":
			l.RemainingTokens = countText(v)
		case "X-Ratelimit-Reset-Tokens":
			l.ResetTokens = seconds(v)
		case "Retry-After":
			l.RetryAfter = retryAfter(v, h)
		case "Openai-Processing-Ms":
			f.headerTiming("openai-processing-ms", v)
		case "X-Envoy-Upstream-Service-Time":
			f.headerTiming("x-envoy-upstream-service-time", v)
		}
	}
	if ms := h.Get("Retry-After-Ms"); ms != "" && !l.RetryAfter.OK {
		if n, ok := number([]byte(ms)); ok && n >= 0 {
			l.RetryAfter = Number{n / 1000, true}
		}
	}
}

func (f *Facts) headerTiming(name, v string) {
	if n, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil && len(f.Timings) < maxTimings && n-n == 0 {
		f.Timings = append(f.Timings, Timing{name, n})
	}
}

func countText(v string) Count {
	n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	return Count{n, err == nil}
}

// seconds reads a time to a reset: 1m19.156s, 12ms, or a number of seconds.
func seconds(v string) Number {
	v = strings.TrimSpace(v)
	if d, err := time.ParseDuration(v); err == nil && d >= 0 {
		return Number{d.Seconds(), true}
	}
	if n, err := strconv.ParseFloat(v, 64); err == nil && n >= 0 && n < 1e9 {
		return Number{n, true}
	}
	return Number{}
}

// retryAfter reads seconds or a date (RFC 9110, 10.2.3). A date counts from
// the server's own clock, where it shows that.
func retryAfter(v string, h http.Header) Number {
	if n := seconds(v); n.OK {
		return n
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return Number{}
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return Number{max(0, at.Sub(now).Seconds()), true}
}
