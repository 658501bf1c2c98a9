// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"testing"

	"github.com/tacho-go/tacho/budget"
)

func TestUnit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]budget.Unit{
		"ttft p99 <= 500ms": budget.Seconds, "duration mean <= 1s": budget.Seconds, "ttft max <= 1s": budget.Seconds, "longest_stall <= 1s": budget.Seconds,
		"errors <= 1%": budget.Shares, "429 <= 1%": budget.Shares, "share(ttft <= 1s) >= 99%": budget.Shares, "goodput(ttft <= 1s) >= 99%": budget.Shares,
		"goodput(ttft <= 1s) >= 5/s": budget.ASecond, "throughput >= 100/s": budget.ASecond, "input_tokens <= 5": budget.Tokens, "output_tokens <= 5": budget.Tokens,
	} {
		if got := budget.MustParse(text).Unit(); got != want {
			t.Errorf("%s: unit %d, want %d", text, got, want)
		}
	}
	if got := (budget.Budget{}).Unit(); got != budget.Tokens {
		t.Errorf("the zero Budget: unit %d", got)
	}
}
