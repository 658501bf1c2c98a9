// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"net/http"
	"strings"
	"time"
)

// Times to a reset, in all the forms in which servers send them.

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
