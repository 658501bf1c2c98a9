// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"

	"github.com/tacho-go/tacho"
)

// Objectives returns budgets as what a transport counts calls by, each call for
// itself (tacho.WithBudgets), named by the budgets' texts:
//
//   - errors and 429 have a call that is none met,
//   - share and goodput one that is within the limits,
//   - a quantile, max and longest_stall one that is within the bound, so that the
//     budget of "ttft p99 <= 500ms" is 1 % of misses.
//
// It returns an error for a budget that no single call meets or misses: a mean, a
// rate, a number of tokens, a quantile of gaps, a share with a bound that asks for
// more bad calls, and the zero Budget.
func Objectives(budgets ...Budget) ([]tacho.Objective, error) {
	all := make([]tacho.Objective, 0, len(budgets))
	for _, b := range budgets {
		var why string
		switch b.kind {
		case quantile, maximum:
			if b.figure == tacho.Gap {
				why = "a call has many gaps: bound longest_stall"
			}
		case longestStall:
		case errorRate, tooMany:
			if !b.op.upper() {
				why = "it asks for bad calls: bound the share from above"
			}
		case share, goodput:
			if b.op.upper() {
				why = "it asks for bad calls: bound the share from below"
			}
		default:
			why = "no single call meets or misses it: take a quantile, share, goodput, errors or 429"
		}
		if why != "" {
			return nil, fmt.Errorf("budget: %v as an objective: %s", b, why)
		}
		all = append(all, objective{b, b.String()})
	}
	return all, nil
}

// objective is a budget of which each call is judged for itself.
type objective struct {
	b    Budget
	name string
}

// Name implements tacho.Objective.
func (o objective) Name() string { return o.name }

// Judge implements tacho.Objective.
func (o objective) Judge(c *tacho.Call) (met, decided bool) {
	if !o.b.covers(c) {
		return false, false
	}
	switch calls := []*tacho.Call{c}; o.b.kind {
	case errorRate, tooMany:
		t := tallyCalls(o.b, calls)
		return t.against > 0, t.against+t.for_ > 0
	case share, goodput:
		t := tallyCalls(o.b, calls)
		return t.for_ > 0, t.against+t.for_ > 0
	case longestStall:
		return o.within(stalls(calls))
	default:
		return o.within(spansOf(calls, o.b.figure))
	}
}

// within decides if what is known of a value does.
func (o objective) within(known []span) (met, decided bool) {
	if len(known) == 0 {
		return false, false
	}
	low, high := o.b.op.holds(known[0].low, o.b.bound), o.b.op.holds(known[0].high, o.b.bound)
	return low, low == high
}
