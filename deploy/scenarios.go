// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/internal/conv"
)

// scenarios are the tests of the alerts, each guard from both sides. A name begins
// with what the alerts are about.
func scenarios() []scenario {
	type in = [][]inputSeries
	fine := calls(tacho.Complete, 100)
	ended := fmt.Sprintf("0+20x30 600+0x%d", minutes)
	return []scenario{
		{name: "Well: nothing fires", at: "60m",
			series: in{fine, firstOutputs(100, "1"), times(tacho.Gap, 100, false), times(tacho.ConsumerWait, 100, false), judged(each(100), each(0))[:1]},
			zero:   []string{failedShare5m, longGaps5m, longConsumer5m, sloBurn("5m"), sloBurn("30m"), sloBurn("1h"), sloBurn("6h")}},

		{name: "Latency: a slow P99 of many calls is a page", at: "60m", series: in{fine, firstOutputs(100, "20")}, firing: []string{"TachoFirstOutputSlow"}},
		{name: "Latency: a slow P99 of few calls is none", at: "60m", series: in{fine, firstOutputs(10, "20")}},
		{name: "Latency: a model that reasons may take longer", at: "60m", series: in{fine, firstOutputs(100, "20"), reasoningTokens()}},
		{name: "Latency: a model that reasons may not take as long as it likes", at: "60m", series: in{fine, firstOutputs(100, "+Inf"), reasoningTokens()}, firing: []string{"TachoReasoningFirstOutputSlow"}},
		{name: "Latency: nor is it paged for by a few calls", at: "60m", series: in{fine, firstOutputs(10, "+Inf"), reasoningTokens()}},
		{name: "Latency: a model that does not reason has its own limit only", at: "60m", series: in{fine, firstOutputs(100, "+Inf")}, firing: []string{"TachoFirstOutputSlow"}},

		{name: "Failures: calls that fail are a page", at: "60m", series: in{fine, calls(tacho.Failed, 4), calls(tacho.Cut, 4), calls(tacho.StreamError, 4)}, firing: []string{"TachoCallsFail"}},
		{name: "Failures: attempts that fail are none when another makes them good", at: "60m",
			series: in{fine, one(metric(conv.HTTPDuration)+"_count", matching(label(conv.HTTPStatus), "=", "429"), each(100))}},
		{name: "Failures: a failure among few calls is none", at: "60m", series: in{calls(tacho.Complete, 5), calls(tacho.Failed, 5)}},
		{name: "Failures: what the caller ended is no failure", at: "60m", series: in{fine, calls(tacho.Cancelled, 100), calls(tacho.ClosedEarly, 100)}},
		{name: "Failures: what the caller ended hides no failure", at: "60m", series: in{fine, calls(tacho.Failed, 10), calls(tacho.Cancelled, 200)}, firing: []string{"TachoCallsFail"}},

		{name: "Stalls: long gaps are a page", at: "60m", series: in{fine, times(tacho.Gap, 2, true), times(tacho.ConsumerWait, 100, false)}, firing: []string{"TachoStreamsStall"}},
		{name: "Stalls: long gaps by the application's own fault are a ticket of their own", at: "60m",
			series: in{fine, times(tacho.Gap, 2, true), times(tacho.ConsumerWait, 2, true)}, firing: []string{"TachoConsumersStall"}},
		{name: "Stalls: long gaps of few calls are none", at: "60m", series: in{calls(tacho.Complete, 2), times(tacho.Gap, 2, true)}},
		{name: "Stalls: a slow application with few calls is none", at: "60m", series: in{calls(tacho.Complete, 2), times(tacho.ConsumerWait, 2, true)}},

		{name: "Data: no data at all", at: "60m", series: in{{{"up", each(0)}}}, firing: []string{"TachoNoData"}},
		{name: "Data: one service of two falls silent", at: "60m", series: in{fine, {{fmt.Sprintf(`%s{job="other"}`, metric(conv.Calls)), "0+1x20"}}}, firing: []string{"TachoServiceSilent"}},

		{name: "Budgets: a budget burns fast", at: "60m", series: in{fine, judged(each(80), each(20))}, firing: []string{"TachoErrorBudgetBurnsFast", "TachoErrorBudgetBurns"}},
		{name: "Budgets: a budget burns", at: "60m", series: in{fine, judged(each(92), each(8))}, firing: []string{"TachoErrorBudgetBurns"}},
		{name: "Budgets: a budget burns fast no more", at: "40m", series: in{fine, judged(each(80), ended)}, firing: []string{"TachoErrorBudgetBurns"}},
		{name: "Budgets: a budget burns no more", at: "70m", series: in{fine, judged(each(80), ended)}},
		{name: "Budgets: a budget burns by a few calls", at: "60m", series: in{fine, judged(each(0.2), each(0.2))}},
	}
}
