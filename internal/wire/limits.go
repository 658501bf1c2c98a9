// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"iter"
	"net/http"
	"strings"
)

// Limits are what the rate-limit headers say. Times are in seconds.
type Limits struct {
	LimitRequests, RemainingRequests Count
	LimitTokens, RemainingTokens     Count
	ResetRequests, ResetTokens       Number
	RetryAfter                       Number
}

// ReadHeader takes rate limits and server timings from a response's headers. It
// returns how the body is typed and encoded.
func (f *Facts) ReadHeader(h http.Header) (kind, encoding string) {
	r := limitReader{header: h}
	for name, values := range h {
		if len(values) == 0 || name == "" || !strings.Contains("CXROSAF", name[:1]) {
			continue // no name below begins so
		}
		switch v := values[0]; {
		case name == "Content-Type":
			kind = v
		case name == "Content-Encoding":
			encoding = v
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
	return kind, encoding
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
