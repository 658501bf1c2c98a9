// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/lab/report"
	"github.com/tacho-go/tacho/load"
)

// The published report of 2024, at 100 requests a second.
var report2024 = map[string]struct {
	ttft          time.Duration
	served, ratio float64
}{
	"gpt4-2024":      {1842 * time.Millisecond, 38.2, 1.12},
	"gpt4turbo-2024": {896 * time.Millisecond, 87.6, 1.38},
	"o1preview-2024": {3217 * time.Millisecond, 22.4, 0.94},
}

// publishedRate is the rate that its table is of.
const publishedRate = "100/s"

// published puts what was measured beside what was published.
func published(sides []*side) report.Section {
	t := report.NewTable(report.Column{Name: "model", Kind: report.Text}, report.Column{Name: "TTFT mean", Kind: report.Duration, Unit: "ms"},
		report.Column{Name: "served", Kind: report.Rate}, report.Column{Name: "refused", Kind: report.Share}, report.Column{Name: "output÷input", Kind: report.Ratio})
	each(sides, func(s *load.StageResult) bool { return s.Name == publishedRate }, func(name string, s *load.StageResult) {
		want, ok := report2024[name]
		if !ok {
			return
		}
		t.Row(report.S(name), mean(s, tacho.TTFT).Published(report.D(want.ttft), ""),
			report.Opt(report.PerSecond)(s.ServedRate()).Published(report.PerSecond(want.served), ""),
			report.Opt(report.Part)(s.RefusedShare()).Published(report.Part(1-want.served/100), "The share refused was not published: it is what 100 offered and so many served leave."),
			report.Opt(report.Number)(s.OutputPerInput()).Published(report.Number(want.ratio), ""))
	})
	if len(t.Rows) == 0 {
		return report.Section{}
	}
	return report.Section{Heading: "Beside the published report of 2024, at 100 a second", Table: t}
}

// audit says what is wrong with the published figures.
func audit() report.Section {
	english, chinese := "The quick brown fox jumps over the lazy dog, and then it sleeps in the warm sun.", "人工智能正在改变我们的生活和工作方式，也带来新的问题。"
	text := "100 requests a second offered and 87.6, 38.2 or 22.4 served is no steady state unless the rest is refused, or a queue grows without end: 12, 62 and 78 %. So the simulated models refuse."
	s := report.Section{Heading: "What the published report says, checked", Notes: []string{text}}
	if enc, err := tacho.EncodingByName("cl100k_base"); err == nil {
		s.Notes = append(s.Notes, fmt.Sprintf(
			"\"1 UTF-8 byte is about 1.2 tokens\" is wrong. By the vocabulary of these models (cl100k_base) an English sentence has %.1f bytes a token, a Chinese one %.1f.",
			float64(len(english))/float64(enc.Count(english)), float64(len(chinese))/float64(enc.Count(chinese))))
	}
	return s
}
