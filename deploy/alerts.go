// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/internal/conv"
)

// The limits of the alerts.
const (
	ttfoLimit          = 5    // seconds, of models that answer at once
	ttfoReasoningLimit = 60   // seconds, of models that reason before
	failedLimit        = 0.05 // of the calls that were decided
	failedCalls        = 100  // below which no share of failures pages
	stallsLimit        = 3    // in 5 minutes
	stallCalls         = 20   // in 5 minutes
)

// alerts returns all of them. Each has a guard: a page for what a handful of
// calls did is a page for chance.
func alerts() []alert {
	// A P99 is read off ten values above it, which takes that many calls.
	needed := fmt.Sprintf(">= %d", tacho.Needed(0.99))
	reasons := fmt.Sprintf("on (job, %s) %s", model, reasoning)
	where := "{{ $labels." + model + " }} at {{ $labels." + server + " }}, region {{ $labels." + region + " }}"
	all := []alert{
		{
			name: "TachoFirstOutputSlow", value: ttfoP99, over: fmt.Sprintf("> %d", ttfoLimit),
			guards: []guard{{outputs15m, needed}}, only: []string{"unless " + reasons},
			hold: "5m", severity: "page",
			summary: "First output is slow: " + where,
			what:    "P99 of the time to the first visible output is {{ $value | humanizeDuration }}, over " + fmt.Sprint(ttfoLimit) + " s. Models that reason are not among these.",
		},
		{
			name: "TachoReasoningFirstOutputSlow", value: ttfoP99, over: fmt.Sprintf("> %d", ttfoReasoningLimit),
			guards: []guard{{outputs15m, needed}}, only: []string{"and " + reasons},
			hold: "5m", severity: "page",
			summary: "First output of a model that reasons is slow: " + where,
			what:    "P99 of the time to the first visible output is {{ $value | humanizeDuration }}, over " + fmt.Sprint(ttfoReasoningLimit) + " s, reasoning included.",
		},
		{
			name: "TachoCallsFail", value: failedShare5m, over: fmt.Sprintf("> %g", failedLimit),
			guards: []guard{{decided5m, fmt.Sprintf(">= %d", failedCalls)}},
			hold:   "5m", severity: "page",
			summary: "Calls fail: " + where,
			what:    "{{ $value | humanizePercentage }} of the calls failed after all their attempts. An attempt that another made good is not among these.",
		},
		{
			name: "TachoStreamsStall", value: longGaps5m, over: fmt.Sprintf("> %d", stallsLimit),
			guards: []guard{{calls5m, fmt.Sprintf(">= %d", stallCalls)}},
			// A gap is what the application saw: when it was away itself in as many
			// streams as half of the gaps, the other alert says so, and the endpoint
			// is not to blame.
			only: []string{fmt.Sprintf("unless %s > 0.5 * %s", longConsumer5m, longGaps5m)},
			hold: "5m", severity: "page",
			summary: "Streams stall: " + where,
			what:    fmt.Sprintf("{{ $value | humanize }} gaps between two outputs were longer than %d s in 5 minutes, and the application was not away.", stallSeconds),
		},
		{
			name: "TachoConsumersStall", value: longConsumer5m, over: fmt.Sprintf("> %d", stallsLimit),
			guards: []guard{{calls5m, fmt.Sprintf(">= %d", stallCalls)}},
			hold:   "5m", severity: "ticket",
			summary: "The application reads its streams slowly: " + where,
			what:    fmt.Sprintf("In {{ $value | humanize }} streams of 5 minutes the application was away from its Reads for more than %d s. The endpoint is not to blame.", stallSeconds),
		},
		{
			name: "TachoNoData", value: fmt.Sprintf("absent_over_time(%s[15m])", metric(conv.Calls)),
			hold: "5m", severity: "ticket",
			summary: "No service tells of calls",
			what:    "No series of " + metric(conv.Calls) + " came for 15 minutes: no calls, no telemetry, or a broken pipeline.",
		},
		{
			name:  "TachoServiceSilent",
			value: fmt.Sprintf("count by (job) (count_over_time(%s[6h]))", metric(conv.Calls)),
			only:  []string{fmt.Sprintf("unless count by (job) (count_over_time(%s[15m]))", metric(conv.Calls))},
			hold:  "5m", severity: "ticket",
			summary: "{{ $labels.job }} has fallen silent",
			what:    "{{ $labels.job }} told of calls within 6 hours and tells of none for 15 minutes, not even of former ones.",
		},
	}
	return append(all,
		burnAlert("TachoErrorBudgetBurnsFast", "1h", "5m", 14.4, 50, "2m", "page"),
		burnAlert("TachoErrorBudgetBurns", "6h", "30m", 6, 200, "15m", "ticket"))
}

// burnAlert is on two windows: the long one says that it matters, the short one
// that it goes on (The Site Reliability Workbook, chapter 5).
func burnAlert(name, long, short string, rate float64, calls int, hold, severity string) alert {
	over := fmt.Sprintf("> %g", rate)
	return alert{
		name: name, value: sloBurn(long), over: over,
		guards: []guard{{sloBurn(short), over}, {sloCalls(long), fmt.Sprintf(">= %d", calls)}},
		hold:   hold, severity: severity,
		summary: "{{ $labels.job }} burns the error budget of {{ $labels." + label(conv.SLO) + " }}",
		what:    fmt.Sprintf("Over %s the budget is used {{ $value | humanize }} times as fast as it may be, and over %s as well; the limit is %g.", long, short, rate),
	}
}

// rules returns the rule file.
func rules() ruleFile {
	a := ruleGroup{Name: "tacho-alerts"}
	for _, one := range alerts() {
		a.Rules = append(a.Rules, one.rule())
	}
	return ruleFile{[]ruleGroup{callRecords(), latencyRecords(), sloRecords(), a}}
}
