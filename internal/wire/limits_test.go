// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"math"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHeaders reads limits and timings under all their names. The server's
// clock stands at 2026-01-01 00:00:00 UTC, which is 1767225600.
func TestHeaders(t *testing.T) {
	t.Parallel()
	n := func(v int64) Count { return Count{v, true} }
	s := func(v float64) Number { return Number{v, true} }
	for _, tc := range []struct {
		name    string
		header  map[string]string
		want    *Limits
		timings []Timing
	}{
		{"none", map[string]string{"X-Other": "1"}, nil, nil},
		{"OpenAI", map[string]string{"x-ratelimit-limit-requests": "500", "x-ratelimit-remaining-requests": "499", "x-ratelimit-reset-requests": "120ms",
			"x-ratelimit-limit-tokens": "30000", "x-ratelimit-remaining-tokens": "29912", "x-ratelimit-reset-tokens": "1m19.156s"},
			&Limits{n(500), n(499), n(30000), n(29912), s(0.12), s(79.156), Number{}}, nil},
		{"windows: the limit itself, then the shorter one", map[string]string{"x-ratelimit-limit-requests-day": "9", "x-ratelimit-limit-requests-minute": "3", "x-ratelimit-limit-requests-hour": "5",
			"x-ratelimit-remaining-tokens-hour": "7", "x-ratelimit-remaining-tokens": "2"},
			&Limits{LimitRequests: n(3), RemainingTokens: n(2)}, nil},
		{"a list, and a count with a fraction of 0", map[string]string{"x-ratelimit-limit": "10, 10;w=60", "x-ratelimit-remaining": "60.0"}, &Limits{LimitRequests: n(10), RemainingRequests: n(60)}, nil},
		{"windows of a second and a month", map[string]string{"x-ratelimit-limit-req-second": "1", "x-ratelimit-limit-req-minute": "30", "x-ratelimit-limit-tokens-month": "1000000", "x-ratelimit-limit-tokens-day": "50000"},
			&Limits{LimitRequests: n(1), LimitTokens: n(50000)}, nil},
		{"Together", map[string]string{"x-ratelimit-limit": "10", "x-tokenlimit-limit": "2000", "x-tokenlimit-remaining": "1500", "x-tokenlimit-limit-dynamic": "9"},
			&Limits{LimitRequests: n(10), LimitTokens: n(2000), RemainingTokens: n(1500)}, nil},
		{"Anthropic", map[string]string{"anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": "49", "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:02Z",
			"anthropic-ratelimit-tokens-limit": "96000", "anthropic-ratelimit-tokens-remaining": "95000", "anthropic-ratelimit-tokens-reset": "2026-01-01T00:01:00Z", "anthropic-ratelimit-input-tokens-limit": "7"},
			&Limits{n(50), n(49), n(96000), n(95000), s(2), s(60), Number{}}, nil},
		{"the IETF draft", map[string]string{"ratelimit": `"burst";r=50;t=30, "day";r=9;t=8`, "ratelimit-policy": `"burst";q=100;w=60, "day";q=1000;w=86400`}, &Limits{LimitRequests: n(100), RemainingRequests: n(50), ResetRequests: s(30)}, nil},
		{"the IETF draft before", map[string]string{"ratelimit": "limit=100, remaining=50, reset=5"}, &Limits{LimitRequests: n(100), RemainingRequests: n(50), ResetRequests: s(5)}, nil},
		{"the IETF draft, of bytes", map[string]string{"ratelimit-policy": `"peruser";q=65535;qu="content-bytes";w=10`}, nil, nil},
		{"plain names go before the draft's", map[string]string{"ratelimit": `"a";r=5`, "x-ratelimit-remaining-requests": "6"}, &Limits{RemainingRequests: n(6)}, nil},
		{"resets in days, and with spaces", map[string]string{"x-ratelimit-reset-requests": "1d2h3m4s", "x-ratelimit-reset-tokens": "500 ms"}, &Limits{ResetRequests: s(93784), ResetTokens: s(0.5)}, nil},
		{"a window of 5 minutes, and one that is named otherwise", map[string]string{"x-ratelimit-limit-tokens-5-minute": "50000", "x-ratelimit-limit-tokens-month": "1000000000", "x-ratelimit-limit-requests-per-minute": "9", "x-ratelimit-limit-requests-day": "8"},
			&Limits{LimitTokens: n(50000), LimitRequests: n(9)}, nil},
		{"Mistral, the newer name", map[string]string{"x-ratelimitbysize-limit-minute": "500000", "x-ratelimitbysize-remaining-minute": "7"}, &Limits{LimitTokens: n(500000), RemainingTokens: n(7)}, nil},
		{"two families: always the same one", map[string]string{"x-ratelimit-limit": "60", "ratelimit-limit": "1000", "x-ratelimit-reset": "60", "ratelimit-reset": "5", "anthropic-ratelimit-requests-remaining": "4", "ratelimit": `"a";r=3`, "ratelimit-policy": `"a";q=2`},
			&Limits{LimitRequests: n(60), ResetRequests: s(60), RemainingRequests: n(4)}, nil},
		{"requests by two names", map[string]string{"x-ratelimit-limit-req": "1", "x-ratelimit-limit-requests": "2", "x-ratelimit-remaining-req": "3"}, &Limits{LimitRequests: n(2), RemainingRequests: n(3)}, nil},
		{"what and of the other way round", map[string]string{"x-ratelimit-requests-limit": "2", "x-rate-limit-remaining": "3"}, &Limits{LimitRequests: n(2), RemainingRequests: n(3)}, nil},
		{"thousands", map[string]string{"x-ratelimit-limit-requests": "10,000", "x-ratelimit-limit-tokens": "1,000,000", "x-ratelimit-remaining-requests": "10,60"}, &Limits{LimitRequests: n(10000), LimitTokens: n(1000000), RemainingRequests: n(10)}, nil},
		{"the IETF draft, each policy with its unit", map[string]string{"ratelimit-policy": `"t";q=10000;qu="tokens";w=60, "a,b";q=5;qu="content-bytes", "r";q=100;w=60`}, &Limits{LimitRequests: n(100), LimitTokens: n(10000)}, nil},
		{"negative counts are none", map[string]string{"x-ratelimit-limit-requests": "-1"}, nil, nil},
		{"retry after: others' forms", map[string]string{"retry-after": "2026-01-01T00:00:09Z"}, &Limits{RetryAfter: s(9)}, nil},
		{"retry after: milliseconds with their unit", map[string]string{"retry-after-ms": "1500ms"}, &Limits{RetryAfter: s(1.5)}, nil},
		{"bare names", map[string]string{"ratelimit-limit": "400", "ratelimit-remaining": "399", "ratelimit-reset": "19"}, &Limits{LimitRequests: n(400), RemainingRequests: n(399), ResetRequests: s(19)}, nil},
		{"Mistral", map[string]string{"ratelimitbysize-limit": "500000", "ratelimitbysize-remaining": "342032", "ratelimitbysize-reset": "60", "x-ratelimit-limit-req-minute": "360"},
			&Limits{LimitTokens: n(500000), RemainingTokens: n(342032), ResetTokens: s(60), LimitRequests: n(360)}, nil},
		{"of projects, images and audio: another thing", map[string]string{"x-ratelimit-limit-project-tokens": "1", "x-ratelimit-limit-input-images": "2", "x-ratelimit-remaining-audio-seconds-minute": "3"}, nil, nil},
		{"placeholders and nonsense", map[string]string{"x-ratelimit-limit-requests": "X-RATELIMIT-LIMIT", "x-ratelimit-reset-tokens": "soon", "x-ratelimit-reset-requests": "-5", "retry-after": "later"}, nil, nil},
		{"resets as dates", map[string]string{"x-ratelimit-reset-requests": "2026-01-01T00:00:30Z", "x-ratelimit-reset-tokens": "Thu, 01 Jan 2026 00:01:00 GMT"}, &Limits{ResetRequests: s(30), ResetTokens: s(60)}, nil},
		{"resets as epochs", map[string]string{"x-ratelimit-reset-requests": "1767225605", "x-ratelimit-reset-tokens": "1767225601500"}, &Limits{ResetRequests: s(5), ResetTokens: s(1.5)}, nil},
		{"a reset just past, and one long past", map[string]string{"x-ratelimit-reset-requests": "1767225590", "x-ratelimit-reset-tokens": "1741305600000"}, &Limits{ResetRequests: s(0)}, nil},
		{"retry after: seconds", map[string]string{"retry-after": "2", "retry-after-ms": "1500"}, &Limits{RetryAfter: s(2)}, nil},
		{"retry after: milliseconds alone", map[string]string{"retry-after-ms": "1500"}, &Limits{RetryAfter: s(1.5)}, nil},
		{"retry after: a date", map[string]string{"retry-after": "Thu, 01 Jan 2026 00:00:07 GMT"}, &Limits{RetryAfter: s(7)}, nil},
		{"retry after: a date that is past", map[string]string{"retry-after": "Wed, 31 Dec 2025 00:00:00 GMT"}, &Limits{RetryAfter: s(0)}, nil},
		{"timings", map[string]string{"openai-processing-ms": "152"}, nil, []Timing{{"openai-processing-ms", 152}}},
		{"xAI's timings", map[string]string{"x-metrics-ttft-ms": "396.2"}, nil, []Timing{{"x-metrics-ttft-ms", 396.2}}},
		{"Fireworks' timings", map[string]string{"fireworks-server-time-to-first-token": "0.25", "fireworks-prompt-tokens": "7"}, nil, []Timing{{"fireworks-server-time-to-first-token", 0.25}}},
		{"LiteLLM's timings", map[string]string{"x-litellm-response-duration-ms": "1201.5", "x-litellm-key-spend": "0.1"}, nil, []Timing{{"x-litellm-response-duration-ms", 1201.5}}},
		{"TGI's timings", map[string]string{"x-queue-time": "3", "x-compute-type": "gpu"}, nil, []Timing{{"x-queue-time", 3}}},
		{"server timing with quotes", map[string]string{"server-timing": `db;desc="a;dur=7, x;dur=9";dur=12`}, nil, []Timing{{"server-timing.db", 12}}},
		{"server timing", map[string]string{"server-timing": `a;dur=1.5;desc="x", b;desc=y, c ; dur=0, d;dur=x`}, nil, []Timing{{"server-timing.a", 1.5}, {"server-timing.c", 0}}},
		{"a timing that is no number", map[string]string{"x-compute-time": "fast", "x-inference-time": "NaN"}, nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			h.Set("Date", "Thu, 01 Jan 2026 00:00:00 GMT")
			for k, v := range tc.header {
				h.Set(k, v)
			}
			var f Facts
			f.ReadHeader(h)
			if diff := cmp.Diff(tc.want, f.Limits); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tc.timings, f.Timings); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestResets: a reset is in seconds, whatever its form.
func TestResets(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]float64{
		"60": 60, "0.5": 0.5, "1m19.156s": 79.156, "12ms": 0.012, "500 ms": 0.5, "60 seconds": 60, "1 minute": 60, "1min": 60, "5sec": 5, "30S": 30, "1.5d": 129600, "1d2h3m4s": 93784,
		"PT30S": 30, "PT1M0.5S": 60.5, "P1DT1H": 90000, "00:01:30": 90, "60, 60;w=60": 60, "60;w=60": 60,
		"2026-01-01T00:00:30Z": 30, "2026-01-01T00:00:30": 30, "2026-01-01T01:00:30+0100": 30, "2026-01-01T01:00:30+01:00": 30, "2026-01-01 00:00:30": 30, "Thu, 01 Jan 2026 00:00:30 GMT": 30,
		"1767225630": 30, "1767225630.5": 30.5, "1767225630000": 30, "1767225630000000": 30, "1767225630000000000": 30, "0": 0, "1767225590": 0,
		"": -1, "soon": -1, "-5": -1, "5 parsecs": -1, "5x": -1, ".": -1, "2026": 2026, "NaN": -1, "1741305600000": -1, "2025-01-01T00:00:00Z": -1, ":::": -1, "1e30": -1,
	} {
		h := http.Header{"Date": {"Thu, 01 Jan 2026 00:00:00 GMT"}, "X-Ratelimit-Reset-Requests": {v}}
		var f Facts
		f.ReadHeader(h)
		got := -1.0
		if f.Limits != nil && f.Limits.ResetRequests.OK {
			got = f.Limits.ResetRequests.V
		}
		if math.Abs(got-want) > 1e-6 {
			t.Errorf("%q is %v s, want %v", v, got, want)
		}
	}
}

// TestServerTimingLines reads every line of the header.
func TestServerTimingLines(t *testing.T) {
	t.Parallel()
	var f Facts
	f.ReadHeader(http.Header{"Server-Timing": {`cfL4;desc="?proto=TCP"`, "total;dur=12"}})
	if diff := cmp.Diff([]Timing{{"server-timing.total", 12}}, f.Timings); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
