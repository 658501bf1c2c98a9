// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"

	"github.com/tacho-go/tacho/budget"
)

// Verdicts returns the section of a report on budgets: a row for each, with what
// its verdict rests on. Low and high are the ends between which the measure lies.
func Verdicts(r budget.Report) Section {
	t := NewTable(Column{Name: "verdict", Kind: Text}, Column{Name: "objective", Kind: Text}, Column{Name: "value"},
		Column{Name: "low"}, Column{Name: "high"}, Column{Name: "n", Kind: Count}, Column{Name: "not known", Kind: Count},
		Column{Name: "would decide", Key: "more", Kind: Count}, Column{Name: "why", Kind: Text})
	for _, res := range r.Results {
		cell := func(v float64, ok bool) Cell {
			if !ok {
				return Cell{}
			}
			return measured(res.Budget, v)
		}
		low, high := cell(res.Low, res.HasLow), cell(res.High, res.HasHigh)
		more := Cell{}
		if res.More > 0 {
			more = N(res.More)
		}
		t.Row(S(res.Verdict.String()), S(res.Budget.String()), cell(res.Value, res.HasValue), low, high,
			N(res.N), N(res.Unknown), more, S(res.Why))
	}
	head, _, _ := strings.Cut(r.Verdicts(), ":\n")
	s := Section{Heading: "Objectives", Text: head + ".", Table: t}
	return s
}

// measured is the cell of a value of a budget's measure.
func measured(b budget.Budget, v float64) Cell {
	switch b.Unit() {
	case budget.Seconds:
		return finite(Duration, v)
	case budget.Shares:
		return Part(v)
	case budget.ASecond:
		return PerSecond(v)
	}
	return finite(Count, v)
}
