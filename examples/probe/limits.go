// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/term"
)

// rateLimits tells the state of the server's limiter.
func rateLimits(c *tacho.Call) string {
	l, ok := c.RateLimits()
	if !ok {
		return term.Absent
	}
	return describe(l)
}

// describe tells what the server said, and nothing of what it did not: most
// servers send a part of the headers.
func describe(l tacho.RateLimits) string {
	var parts []string
	part := func(name string, remaining, limit tacho.Tokens, reset time.Duration) {
		if text := join(left(remaining, limit), until("reset in", reset), ", "); text != "" {
			parts = append(parts, name+" "+text)
		}
	}
	part("requests", l.RemainingRequests, l.LimitRequests, l.ResetRequests)
	part("tokens", l.RemainingTokens, l.LimitTokens, l.ResetTokens)
	return cmp.Or(join(strings.Join(parts, "; "), until("retry after", l.RetryAfter), "; "), term.Absent)
}

func left(remaining, limit tacho.Tokens) string {
	switch {
	case remaining.Reported && limit.Reported:
		return fmt.Sprintf("%d of %d", remaining.N, limit.N)
	case remaining.Reported:
		return fmt.Sprintf("%d left", remaining.N)
	case limit.Reported:
		return fmt.Sprintf("at most %d", limit.N)
	}
	return ""
}

// until is a time to come, which is negative where the server said nothing.
func until(name string, d time.Duration) string {
	if d < 0 {
		return ""
	}
	return name + " " + dur(d, true)
}

// join puts sep between two texts that are there.
func join(a, b, sep string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + sep + b
}
