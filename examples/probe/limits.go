// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/term"
)

// limits is the state of the server's limiter as the record's JSON has it:
// Call has no method for it. Durations are seconds.
type limits struct {
	LimitRequests     *int64   `json:"limit_requests"`
	RemainingRequests *int64   `json:"remaining_requests"`
	ResetRequests     *float64 `json:"reset_requests"`
	LimitTokens       *int64   `json:"limit_tokens"`
	RemainingTokens   *int64   `json:"remaining_tokens"`
	ResetTokens       *float64 `json:"reset_tokens"`
	RetryAfter        *float64 `json:"retry_after"`
}

// rateLimits tells the state of the server's limiter.
func rateLimits(c *tacho.Call) string {
	var record struct {
		Limits *limits `json:"ratelimit"`
	}
	b, err := json.Marshal(c)
	if err != nil || json.Unmarshal(b, &record) != nil || record.Limits == nil {
		return term.Absent
	}
	return record.Limits.String()
}

func (l *limits) String() string {
	if *l == (limits{}) {
		return term.Absent
	}
	text := fmt.Sprintf("requests %s of %s, reset in %s; tokens %s of %s, reset in %s",
		number(l.RemainingRequests), number(l.LimitRequests), seconds(l.ResetRequests),
		number(l.RemainingTokens), number(l.LimitTokens), seconds(l.ResetTokens))
	if l.RetryAfter != nil {
		text += "; retry after " + seconds(l.RetryAfter)
	}
	return text
}

func number(n *int64) string {
	if n == nil {
		return term.Absent
	}
	return num(*n, true)
}

func seconds(s *float64) string {
	if s == nil {
		return term.Absent
	}
	return dur(time.Duration(math.Round(*s*1e9)), true)
}
