// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/internal/conv"
)

// The names of the recorded series that alerts and dashboard share. In a name
// stands over how long it is.
const (
	calls5m        = "tacho:calls:increase5m"
	decided5m      = "tacho:calls_decided:increase5m"
	failedShare5m  = "tacho:calls_failed:share5m"
	ttftP99        = "tacho:ttft:p99_15m"
	ttfoP99        = "tacho:ttfo:p99_15m"
	streams15m     = "tacho:ttft:streams15m"
	outputs15m     = "tacho:ttfo:streams15m"
	reasoning      = "tacho:model:reasoning1h"
	longGaps5m     = "tacho:gap:over_limit5m"
	longConsumer5m = "tacho:consumer_wait:over_limit5m"
	allowed        = "tacho:slo:allowed"
)

// stallSeconds is the gap that is a stall, that of tacho.WithStallLimit.
const stallSeconds = 5

func sloCalls(window string) string  { return "tacho:slo:calls" + window }
func sloMissed(window string) string { return "tacho:slo:missed" + window }
func sloBurn(window string) string   { return "tacho:slo:burn" + window }

// windows are those of the burn rates: two long ones, each with a short one that
// says that it goes on.
var windows = []string{"5m", "30m", "1h", "6h"}

func callRecords() ruleGroup {
	calls, outcome := metric(conv.Calls), label(conv.Outcome)
	increase := func(selector, window string) string {
		return fmt.Sprintf("sum by (%s) (increase(%s[%s]))", apart, selector, window)
	}
	decided := fmt.Sprintf("%s{%s!~%q}", calls, outcome, undecided)
	bad := fmt.Sprintf("%s{%s=~%q}", calls, outcome, failed)
	return ruleGroup{"tacho-calls", []rule{
		{Record: calls5m, Expr: increase(calls, "5m")},
		{Record: decided5m, Expr: increase(decided, "5m")},
		// A call counts once, whatever number of attempts it took. Without failures
		// the share is 0 and not absent.
		{Record: failedShare5m, Expr: fmt.Sprintf("(\n  %s\n  or 0 * %s\n) / %s", increase(bad, "5m"), decided5m, decided5m)},
	}}
}

func latencyRecords() ruleGroup {
	p99 := func(id conv.ID) string {
		return fmt.Sprintf("histogram_quantile(0.99, sum by (le, %s) (rate(%s_bucket[15m])))", apart, metric(id))
	}
	count := func(id conv.ID) string {
		return fmt.Sprintf("sum by (%s) (increase(%s_count[15m]))", apart, metric(id))
	}
	// over is the number of values above the limit, read off native histograms.
	over := func(f tacho.Figure) string {
		h := fmt.Sprintf("sum by (%s) (increase(%s[5m]))", apart, recorded(f))
		return fmt.Sprintf("histogram_count(%s)\n* (1 - histogram_fraction(0, %d, %s))", h, stallSeconds, h)
	}
	return ruleGroup{"tacho-latency", []rule{
		{Record: ttftP99, Expr: p99(conv.FirstToken)},
		{Record: streams15m, Expr: count(conv.FirstToken)},
		{Record: ttfoP99, Expr: p99(conv.FirstOutput)},
		{Record: outputs15m, Expr: count(conv.FirstOutput)},
		// A model reasons if it reported tokens of reasoning within the hour.
		{Record: reasoning, Expr: fmt.Sprintf("sum by (job, %s) (increase(%s[1h])) > 0", model, metric(conv.UsageReasoning))},
		{Record: longGaps5m, Expr: over(tacho.Gap)},
		{Record: longConsumer5m, Expr: over(tacho.ConsumerWait)},
	}}
}

func sloRecords() ruleGroup {
	slo, met := label(conv.SLO), label(conv.SLOMet)
	g := ruleGroup{Name: "tacho-slo"}
	for _, o := range objectives() {
		g.Rules = append(g.Rules, rule{Record: allowed, Expr: fmt.Sprintf("vector(%g)", o.allowed), Labels: map[string]string{slo: o.name}})
	}
	for _, w := range windows {
		by := func(selector string) string {
			return fmt.Sprintf("sum by (job, %s) (increase(%s%s[%s]))", slo, metric(conv.SLOCalls), selector, w)
		}
		g.Rules = append(g.Rules,
			rule{Record: sloCalls(w), Expr: by("")},
			rule{Record: sloMissed(w), Expr: fmt.Sprintf("(\n  %s\n  or 0 * %s\n) / (%s > 0)", by("{"+met+`="false"}`), sloCalls(w), sloCalls(w))},
			rule{Record: sloBurn(w), Expr: fmt.Sprintf("%s / on (%s) group_left () %s", sloMissed(w), slo, allowed)})
	}
	return g
}
