// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"fmt"
	"os"
	"time"

	"github.com/tacho-go/tacho/lab/report"
)

func Example() {
	t := report.NewTable(
		report.Column{Name: "model", Kind: report.Text},
		report.Column{Name: "served", Kind: report.Rate},
		report.Column{Name: "mean TTFT", Kind: report.Duration, Unit: "ms"},
		report.Column{Name: "refused", Kind: report.Share},
	)
	t.Row(report.S("a"), report.PerSecond(87.1), report.D(902*time.Millisecond).Published(report.D(896*time.Millisecond), ""), report.Part(0.129))
	t.Row(report.S("b"), report.PerSecond(22.4), report.D(3197*time.Millisecond).AtLeast(), report.Cell{})

	r := &report.Report{Title: "Two models", Subject: "One prompt, 100 requests a second offered.", Incomplete: true}
	r.Param("endpoint", "https://user:password@host.example/v1?key=secret")
	r.Add(report.Section{Heading: "Compared", Table: t})
	if err := r.WriteText(os.Stdout, 0); err != nil {
		fmt.Println(err)
	}
	// Output:
	// INCOMPLETE: the run was stopped before its end; the figures are of what was
	//   measured so far.
	//
	// Two models
	// One prompt, 100 requests a second offered.
	//   endpoint  https://host.example/v1
	//
	// Compared
	// model  served /s  mean TTFT ms  published ms  refused %
	// a           87.1           902           896       12.9
	// b           22.4        ≥ 3197             –          –
}
