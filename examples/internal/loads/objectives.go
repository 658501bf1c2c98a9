// SPDX-License-Identifier: Apache-2.0

package loads

import (
	"fmt"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/lab/report"
)

// Objectives judges the calls of a snapshot, and says of which objectives they
// leave open what calls to come will do: a P99 of nine calls is met by luck.
func Objectives(s tacho.Snapshot, objectives []budget.Budget) report.Section {
	observed := budget.ObservedSnapshot(s).AllowUndecided().Report(objectives...)
	estimated := budget.EstimatedSnapshot(s).AllowUndecided().Report(objectives...)
	out := report.Verdicts(observed)
	for i, e := range estimated.Results {
		if o := observed.Results[i]; e.Verdict != o.Verdict {
			text := fmt.Sprintf("%v is %v by these calls; of calls to come it is %v", e.Budget, o.Verdict, e.Verdict)
			if e.Why != "" {
				text += ": " + e.Why
			}
			if e.More > 0 {
				text += fmt.Sprintf("; some %d more would decide", e.More)
			}
			out.Notes = append(out.Notes, text+".")
		}
	}
	out.Notes = append(out.Notes, "Judged from the calls' actual start; the time before it is in the tables from the intended start.")
	return out
}
