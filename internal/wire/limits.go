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
	r := limitReader{header: h}
	for name, values := range h {
		if len(values) == 0 || !strings.Contains("XROS", name[:min(1, len(name))]) {
			continue
		}
		switch v := values[0]; {
		case strings.HasPrefix(name, "X-Ratelimit-"):
			r.read(name[len("X-Ratelimit-"):], v, false)
		case strings.HasPrefix(name, "Ratelimit-"):
			r.read(name[len("Ratelimit-"):], v, false)
		case strings.HasPrefix(name, "Ratelimitbysize-"):
			r.read(name[len("Ratelimitbysize-"):], v, true) // Mistral's, which counts tokens
		case name == "Retry-After":
			r.RetryAfter = retryAfter(v, h)
		case name == "Server-Timing":
			f.serverTiming(v)
		case timingHeader(name):
			f.headerTiming(strings.ToLower(name), v)
		}
	}
	if ms := h["Retry-After-Ms"]; len(ms) > 0 && !r.RetryAfter.OK {
		if n, ok := number([]byte(ms[0])); ok && n >= 0 {
			r.RetryAfter = Number{n / 1000, true}
		}
	}
	if r.Limits != (Limits{}) {
		f.Limits = new(Limits)
		*f.Limits = r.Limits
	}
}

// limitReader keeps, beside each limit, how well the header fits that gave it:
// headers come in no order.
type limitReader struct {
	Limits
	header http.Header
	rank   [6]int8 // 0: none yet
}

// read takes a header X-Ratelimit-WHAT[-OF][-WINDOW].
func (r *limitReader) read(rest, v string, tokens bool) {
	what, of, _ := strings.Cut(rest, "-")
	of, window := cutWindow(of)
	switch of {
	case "Requests", "Req":
	case "Tokens":
		tokens = true
	case "":
		if window == 9 {
			window = 8 // x-ratelimit-limit alone: requests, but less plainly
		}
	default:
		return // of a project, of images or audio: another thing
	}
	var k int
	switch what {
	case "Limit":
	case "Remaining":
		k = 1
	case "Reset":
		k = 2
	default:
		return
	}
	if tokens {
		k += 3
	}
	if r.rank[k] >= window {
		return
	}
	switch what {
	case "Reset":
		if n := untilReset(v, r.header); n.OK {
			*r.number(tokens) = n
			r.rank[k] = window
		}
	default:
		if n := countText(v); n.OK {
			*r.counter(what == "Limit", tokens) = n
			r.rank[k] = window
		}
	}
}

func (r *limitReader) number(tokens bool) *Number {
	if tokens {
		return &r.ResetTokens
	}
	return &r.ResetRequests
}

func (r *limitReader) counter(limit, tokens bool) *Count {
	switch {
	case limit && tokens:
		return &r.LimitTokens
	case limit:
		return &r.LimitRequests
	case tokens:
		return &r.RemainingTokens
	}
	return &r.RemainingRequests
}

// cutWindow takes the window from the end of a header's name and ranks it: the
// limit itself before that of a minute, an hour, a day.
func cutWindow(s string) (of string, rank int8) {
	for i, w := range [...]string{"Day", "Hour", "Minute"} {
		if s == w {
			return "", int8(1 + i)
		}
		if rest, ok := strings.CutSuffix(s, "-"+w); ok {
			return rest, int8(1 + i)
		}
	}
	return s, 9
}

// timingHeader tells the headers that hold a duration in milliseconds.
func timingHeader(name string) bool {
	switch name {
	case "Openai-Processing-Ms", "X-Envoy-Upstream-Service-Time", "X-Compute-Time", "X-Inference-Time",
		"X-Metrics-Ttft-Ms", "X-Metrics-Mean-Itl-Ms", "X-Metrics-E2e-Ms":
		return true
	}
	return false
}

// maxTimingName bounds a name that the server makes up.
const maxTimingName = 128

func (f *Facts) headerTiming(name, v string) {
	name = name[:min(len(name), maxTimingName)]
	if n, ok := number([]byte(strings.TrimSpace(v))); ok && len(f.Timings) < maxTimings {
		f.Timings = append(f.Timings, Timing{name, n})
	}
}

// serverTiming reads the metrics of a Server-Timing header that have a duration
// (https://www.w3.org/TR/server-timing/).
func (f *Facts) serverTiming(v string) {
	for metric := range strings.SplitSeq(v, ",") {
		name, params, _ := strings.Cut(metric, ";")
		for p := range strings.SplitSeq(params, ";") {
			if key, dur, ok := strings.Cut(p, "="); ok && strings.TrimSpace(key) == "dur" {
				f.headerTiming("server-timing."+strings.TrimSpace(name), dur)
			}
		}
	}
}

// countText reads a count, the first of a list such as "10, 10;w=60".
func countText(v string) Count {
	if i := strings.IndexAny(v, ",;"); i >= 0 {
		v = v[:i]
	}
	v = strings.TrimSpace(v)
	if n, err := strconv.ParseInt(v, 10, 64); err == nil {
		return Count{n, true}
	}
	n, ok := integer([]byte(v)) // 60.0
	return Count{n, ok && v != ""}
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

// untilReset reads a reset in any form: a time from now, a date, or an epoch in
// seconds or milliseconds. One that is long past tells nothing.
func untilReset(v string, h http.Header) Number {
	if n := seconds(v); n.OK {
		return n
	}
	at, err := time.Parse(time.RFC3339, v)
	if err != nil {
		at, err = http.ParseTime(v)
	}
	if n, bad := strconv.ParseFloat(v, 64); err != nil && bad == nil && n >= 1e9 && n < 1e14 {
		if n >= 1e11 {
			n /= 1000
		}
		at, err = time.UnixMilli(int64(n*1000)), nil
	}
	if err != nil {
		return Number{}
	}
	left := at.Sub(serverTime(h)).Seconds()
	const stale = -60
	if left < stale {
		return Number{}
	}
	return Number{max(0, left), true}
}

// retryAfter reads seconds or a date (RFC 9110, 10.2.3).
func retryAfter(v string, h http.Header) Number {
	if n := seconds(v); n.OK {
		return n
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return Number{}
	}
	return Number{max(0, at.Sub(serverTime(h)).Seconds()), true}
}

// serverTime is the server's own clock, where it shows that, for what it dates.
func serverTime(h http.Header) time.Time {
	if now, err := http.ParseTime(h.Get("Date")); err == nil {
		return now
	}
	return time.Now()
}
