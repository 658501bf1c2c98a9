// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"iter"
	"net/http"
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
		case name == "Retry-After":
			if r.RetryAfter = untilReset(v, h); !r.RetryAfter.OK && past(v) {
				r.RetryAfter.OK = true
			}
		case name == "Server-Timing":
			for _, v := range values {
				f.serverTiming(v)
			}
		case name == "Ratelimit", name == "Ratelimit-Policy":
			r.field(v, name == "Ratelimit")
		case timingHeader(name):
			f.headerTiming(strings.ToLower(name), v)
		default:
			for i := range limitPrefixes {
				if p := &limitPrefixes[i]; strings.HasPrefix(name, p.prefix) {
					r.read(name[len(p.prefix):], v, p.tokens, int8(len(limitPrefixes)-i))
					break
				}
			}
		}
	}
	if ms := h["Retry-After-Ms"]; len(ms) > 0 && !r.RetryAfter.OK {
		if n := seconds(strings.TrimSuffix(ms[0], "ms") + "ms"); n.OK {
			r.RetryAfter = n
		}
	}
	if r.Limits != (Limits{}) {
		f.Limits = new(Limits)
		*f.Limits = r.Limits
	}
}

// limitPrefixes begin the names of limits. Of two that say the same, the first
// holds.
var limitPrefixes = [...]struct {
	prefix string
	tokens bool // it counts tokens, whatever follows
}{
	{"X-Ratelimit-", false},
	{"X-Ratelimitbysize-", true}, // Mistral
	{"X-Tokenlimit-", true},      // Together
	{"X-Rate-Limit-", false},
	{"Ratelimitbysize-", true},
	{"Ratelimit-", false},
	{"Anthropic-Ratelimit-", false}, // -Tokens-Limit; -Input-Tokens-Limit is another thing
}

// limitReader keeps, beside each limit, how well the header fits that gave it:
// headers come in no order.
type limitReader struct {
	Limits
	header http.Header
	rank   [6]int8 // 0: none yet
}

// read takes a header PREFIX-WHAT[-OF][-WINDOW], or PREFIX-OF-WHAT.
func (r *limitReader) read(rest, v string, tokens bool, family int8) {
	what, of, _ := strings.Cut(rest, "-")
	switch what {
	case "Requests", "Tokens":
		what, of = of, what
	}
	of, window := cutWindow(of)
	full := int8(1)
	switch of {
	case "Requests":
	case "Req":
		full = 0
	case "Tokens":
		tokens = true
	case "":
		if window == rankPlain {
			window = rankBare // x-ratelimit-limit alone: requests, but less plainly
		}
	default:
		return // of a project, of images or audio: another thing
	}
	r.set(what, v, tokens, (window<<3+family)<<1+full)
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
// policies the first that counts requests or tokens holds.
func (r *limitReader) field(v string, state bool) {
	rank := rankField << 4
	if state {
		rank++
	}
	for policy := range splitOutside(v, ',') {
		unit := "requests"
		for p := range splitOutside(policy, ';') {
			if what, u, ok := strings.Cut(p, "="); ok && strings.TrimSpace(what) == "qu" {
				unit = strings.Trim(u, `" `)
			}
		}
		if unit != "requests" && unit != "tokens" {
			continue
		}
		for p := range splitOutside(policy, ';') {
			if what, n, ok := strings.Cut(p, "="); ok {
				r.set(strings.TrimSpace(what), n, unit == "tokens", rank)
			}
		}
	}
}

// splitOutside splits at a separator that is not inside quotes.
func splitOutside(s string, sep byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		quoted, start := false, 0
		for i := range len(s) {
			switch {
			case s[i] == '"' && (i == 0 || s[i-1] != '\\'):
				quoted = !quoted
			case s[i] == sep && !quoted:
				if !yield(s[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(s[start:])
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
	rankField int8 = 5 + iota // 1 to 5: a month to a second
	rankBare
	rankPlain
)

// cutWindow takes the window from the end of a header's name and ranks it: the
// limit itself before those of a second, a minute, an hour, a day, a month.
func cutWindow(s string) (of string, rank int8) {
	for i, w := range [...]string{"Month", "Day", "Hour", "Minute", "Second"} {
		rest, ok := strings.CutSuffix(s, w)
		if !ok || rest != "" && rest[len(rest)-1] != '-' {
			continue
		}
		// Of 5 minutes, or per minute.
		rest = strings.TrimRight(strings.TrimSuffix(rest, "-"), "0123456789")
		rest = strings.TrimSuffix(strings.TrimSuffix(rest, "-"), "-Per")
		return rest, int8(i + 1)
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
	for metric := range splitOutside(v, ',') {
		name := ""
		for p := range splitOutside(metric, ';') {
			if name == "" {
				name = strings.TrimSpace(p)
				continue
			}
			if key, dur, ok := strings.Cut(p, "="); ok && strings.TrimSpace(key) == "dur" {
				f.headerTiming("server-timing."+name, strings.Trim(dur, `"`))
				break
			}
		}
	}
}

// countText reads a count: 10000, 10,000, 60.0, or the first of a list such as
// "10, 10;w=60".
func countText(v string) Count {
	v = strings.TrimSpace(v)
	if thousands(v) {
		v = strings.ReplaceAll(v, ",", "")
	}
	if i := strings.IndexAny(v, ",;"); i >= 0 {
		v = strings.TrimSpace(v[:i])
	}
	n, ok := integer([]byte(v))
	return Count{n, ok && n >= 0}
}

// thousands reports whether a text is digits in groups of three.
func thousands(v string) bool {
	groups := strings.Split(v, ",")
	for i, g := range groups {
		if len(g) != 3 && (i > 0 || len(g) == 0 || len(g) > 3) || strings.Trim(g, "0123456789") != "" {
			return false
		}
	}
	return len(groups) > 1
}

// units of times, by the words that servers use. Longer ones stand first.
var units = [...]struct {
	word    string
	seconds float64
}{
	{"milliseconds", 1e-3}, {"millisecond", 1e-3}, {"seconds", 1}, {"second", 1}, {"minutes", 60}, {"minute", 60}, {"hours", 3600}, {"hour", 3600}, {"days", 86400}, {"day", 86400},
	{"secs", 1}, {"sec", 1}, {"mins", 60}, {"min", 60}, {"hrs", 3600}, {"hr", 3600},
	{"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"ns", 1e-9}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400},
}

// seconds reads a time to a reset: 1m19.156s, 12ms, 500 ms, 1 minute, 1d2h,
// 00:01:30, PT30S, or a number of seconds, below 1e9.
func seconds(v string) Number {
	v = strings.ToLower(strings.ReplaceAll(v, " ", ""))
	if n, ok := number([]byte(v)); ok {
		return bounded(n)
	}
	if strings.Count(v, ":") == 2 {
		v = strings.Replace(strings.Replace(v, ":", "h", 1), ":", "m", 1) + "s"
	} else if rest, ok := strings.CutPrefix(v, "p"); ok { // ISO 8601
		v = strings.Replace(rest, "t", "", 1)
	}
	total := 0.0
next:
	for v != "" {
		digits := strings.TrimLeft(v, "0123456789.")
		n, ok := number([]byte(v[:len(v)-len(digits)]))
		if !ok {
			return Number{}
		}
		for _, u := range units {
			if rest, ok := strings.CutPrefix(digits, u.word); ok {
				total, v = total+n*u.seconds, rest
				continue next
			}
		}
		return Number{}
	}
	return bounded(total)
}

func bounded(n float64) Number {
	if n < 0 || n >= 1e9 {
		return Number{}
	}
	return Number{n, true}
}

// dates are the forms of a date besides those of RFC 9110. One without a zone
// is in UTC.
var dates = [...]string{time.RFC3339, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05"}

// untilReset reads a reset in any form: a time from now, a date, or an epoch in
// seconds, milliseconds, microseconds or nanoseconds. One that is long past
// tells nothing. Of a list, the first counts.
func untilReset(v string, h http.Header) Number {
	v = strings.TrimSpace(v)
	at, err := http.ParseTime(v)
	if err != nil {
		if i := strings.IndexAny(v, ",;"); i >= 0 {
			v = strings.TrimSpace(v[:i])
		}
		if n := seconds(v); n.OK && v != "" {
			return n
		}
		for _, form := range dates {
			if at, err = time.Parse(form, v); err == nil {
				break
			}
		}
	}
	if n, ok := number([]byte(v)); err != nil && ok && n >= 1e9 && n < 1e20 {
		for n >= 1e11 {
			n /= 1000
		}
		at, err = time.UnixMicro(int64(n*1e6)), nil
	}
	if err != nil {
		return Number{}
	}
	left := at.Sub(serverTime(h)).Seconds()
	if left < longPast {
		return Number{}
	}
	return Number{max(0, left), true}
}

// past reports whether a text is a date that is past.
func past(v string) bool {
	at, err := http.ParseTime(v)
	return err == nil && at.Before(time.Now())
}

// longPast is so many seconds ago that a reset is none any more.
const longPast = -60

// serverTime is the server's own clock, where it shows that, for what it dates.
func serverTime(h http.Header) time.Time {
	if now, err := http.ParseTime(h.Get("Date")); err == nil {
		return now
	}
	return time.Now()
}
