// SPDX-License-Identifier: Apache-2.0

package deploy

import "github.com/tacho-go/tacho/budget"

// objective is one that a service counts its calls by (tacho.WithBudgets), with
// the share of the calls that may miss it.
type objective struct {
	name    string
	allowed float64
}

// objectives returns those of examples/stack. A service with others puts them
// here: the alerts know an objective's budget from this table alone.
func objectives() []objective {
	table := []objective{
		{"errors <= 1%", 0.01},
		{"ttft p99 <= 2s", 0.01},
		{"longest_stall <= 5s", 0.001},
	}
	for i := range table {
		// The metric has the budget's text as package budget prints it.
		table[i].name = budget.MustParse(table[i].name).String()
	}
	return table
}
