// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"

	"github.com/tacho-go/tacho/internal/conv"
)

// Objective is what each call for itself meets or misses, such as "within
// 500 ms": package budget makes them of budgets. Its methods are called
// concurrently; Name returns always the same.
type Objective interface {
	// Name is the value of tacho.slo.
	Name() string
	// Judge reports whether a call met the objective. Decided is false for a call
	// that the objective is not about, and when nobody knows.
	Judge(c *Call) (met, decided bool)
}

// WithBudgets counts the calls that met and that missed each objective, in the
// metric tacho.client.slo.calls, so that a dashboard computes burn rates without
// reading a limit off the buckets of a histogram. A call that an objective does
// not decide is not counted. Given more than once, all objectives count; one
// whose name was given before counts once. By default there are none, and
// WithoutMetrics counts none.
//
//	objectives, err := budget.Objectives(budgets...)
//	t := tacho.NewTransport(nil, tacho.WithBudgets(objectives...))
func WithBudgets(objectives ...Objective) Option {
	return optionFunc(func(c *config) {
	next:
		for _, o := range objectives {
			if o == nil {
				continue
			}
			name := o.Name()
			for _, have := range c.objectives {
				if have.name == name {
					continue next
				}
			}
			c.objectives = append(c.objectives, objective{o, name})
		}
	})
}

// objective has its name, which is asked for once.
type objective struct {
	Objective
	name string
}

// verdicts are the attributes of an objective that a call met, and missed.
type verdicts struct{ met, missed attrs }

// judge counts a call by an objective.
func (i *instruments) judge(ctx context.Context, objectives []objective, k int, s *callSets, c *Call) {
	met, decided := objectives[k].Judge(c)
	if !decided {
		return
	}
	verdict := &s.slo[k].missed
	if met {
		verdict = &s.slo[k].met
	}
	i.count(ctx, conv.SLOCalls, 1, verdict)
}
