// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
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

func describe(l tacho.RateLimits) string {
	text := fmt.Sprintf("requests %s of %s, reset in %s; tokens %s of %s, reset in %s",
		reported(l.RemainingRequests), reported(l.LimitRequests), until(l.ResetRequests),
		reported(l.RemainingTokens), reported(l.LimitTokens), until(l.ResetTokens))
	if l.RetryAfter >= 0 {
		text += "; retry after " + until(l.RetryAfter)
	}
	return text
}

// until is a time to come, which is negative where the server said nothing.
func until(d time.Duration) string { return dur(d, d >= 0) }
