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
		if len(values) == 0 || name == "" || !strings.Contains("XROSAF", name[:1]) {
			continue // no name below begins so
		}
		switch v := values[0]; {
		case strings.HasPrefix(name, "X-Ratelimit-"):
			r.read(name[len("X-Ratelimit-"):], v, false)
		case strings.HasPrefix(name, "X-Tokenlimit-"):
			r.read(name[len("X-Tokenlimit-"):], v, true) // Together's
		case name == "Ratelimit", name == "Ratelimit-Policy":
			r.field(v)
		case strings.HasPrefix(name, "Ratelimit-"):
			r.read(name[len("Ratelimit-"):], v, false)
		case strings.HasPrefix(name, "Ratelimitbysize-"):
			r.read(name[len("Ratelimitbysize-"):], v, true) // Mistral's, which counts tokens
		case strings.HasPrefix(name, "Anthropic-Ratelimit-"):
			if of, what, ok := strings.Cut(name[len("Anthropic-Ratelimit-"):], "-"); ok {
				r.read(what+"-"+of, v, false) // -Tokens-Limit; -Input-Tokens-Limit is another thing
			}
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
		if window == rankPlain {
			window = rankBare // x-ratelimit-limit alone: requests, but less plainly
		}
	default:
		return // of a project, of images or audio: another thing
	}
	r.set(what, v, tokens, window)
}

// set takes a value of a rank unless there is one that fits as well.
func (r *limitReader) set(what, v string, tokens bool, rank int8) {
	var k int
	switch what {
	case "Limit", "limit", "q":
	case "Remaining", "remaining", "r":
		k = 1
	case "Reset", "reset", "t":
		k = 2
	default:
		return
	}
	limit, reset := k == 0, k == 2
	if tokens {
		k += 3
	}
	if r.rank[k] >= rank {
		return
	}
	if reset {
		if n := untilReset(v, r.header); n.OK {
			*r.number(tokens) = n
			r.rank[k] = rank
		}
		return
	}
	if n := countText(v); n.OK {
		*r.counter(limit, tokens) = n
		r.rank[k] = rank
	}
}

// field reads the fields of the IETF draft "RateLimit header fields for HTTP",
// RateLimit: "name";r=50;t=30 and RateLimit-Policy: "name";q=100;w=60, and of
// its older versions, RateLimit: limit=100, remaining=50, reset=30. Of several
// policies the first counts, and only one that counts requests.
func (r *limitReader) field(v string) {
	if _, unit, ok := strings.Cut(v, "qu="); ok && !strings.HasPrefix(unit, `"requests"`) {
		return
	}
	for p := range strings.FieldsFuncSeq(v, func(c rune) bool { return c == ';' || c == ',' || c == ' ' }) {
		if what, n, ok := strings.Cut(p, "="); ok {
			r.set(what, n, false, rankField)
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

// The ranks of what the headers say: windows have those below.
const (
	rankField int8 = 10 + iota
	rankBare
	rankPlain
)

// cutWindow takes the window from the end of a header's name and ranks it: the
// limit itself before those of a second, a minute, an hour, a day, a month.
func cutWindow(s string) (of string, rank int8) {
	for i, w := range [...]string{"Month", "Day", "Hour", "Minute", "Second"} {
		if s == w {
			return "", int8(1 + i)
		}
		if rest, ok := strings.CutSuffix(s, "-"+w); ok {
			return rest, int8(1 + i)
		}
	}
	return s, rankPlain
}

// timingHeader tells the headers that hold a duration, each in the unit that
// its server uses.
func timingHeader(name string) bool {
	switch name {
	case "Openai-Processing-Ms", "X-Envoy-Upstream-Service-Time",
		"X-Metrics-Ttft-Ms", "X-Metrics-Mean-Itl-Ms", "X-Metrics-E2e-Ms", // xAI
		"X-Compute-Time", "X-Inference-Time", "X-Total-Time", "X-Queue-Time", "X-Validation-Time", "X-Time-Per-Token", // TGI
		"Fireworks-Server-Time-To-First-Token", "Fireworks-Server-Processing-Time",
		"X-Litellm-Response-Duration-Ms", "X-Litellm-Overhead-Duration-Ms":
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

// seconds reads a time to a reset: 1m19.156s, 12ms, 500 ms, 1d2h, or a number
// of seconds.
func seconds(v string) Number {
	v = strings.ReplaceAll(v, " ", "")
	var days int
	if n, rest, ok := strings.Cut(v, "d"); ok {
		if whole, err := strconv.ParseUint(n, 10, 12); err == nil {
			days, v = int(whole), "0s"+rest
		}
	}
	if d, err := time.ParseDuration(v); err == nil && d >= 0 {
		return Number{d.Seconds() + float64(days)*24*60*60, true}
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
