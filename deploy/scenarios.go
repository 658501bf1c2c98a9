// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/internal/conv"
)

// scenarios are the tests of the alerts, each guard from both sides.
func scenarios() []scenario {
	type in = [][]inputSeries
	fine := calls(tacho.Complete, 100)
	ended := fmt.Sprintf("0+20x30 600+0x%d", minutes)
	return []scenario{
		{"All is well", "60m", in{fine, firstOutputs(100, "1"), times(tacho.Gap, 100, false), times(tacho.ConsumerWait, 100, false), judged(each(100), each(0))}, nil},

		{"A slow P99 of many calls is a page", "60m", in{fine, firstOutputs(100, "20")}, []string{"TachoFirstOutputSlow"}},
		{"A slow P99 of few calls is none", "60m", in{fine, firstOutputs(10, "20")}, nil},
		{"A model that reasons may take longer", "60m", in{fine, firstOutputs(100, "20"), reasoningTokens()}, nil},
		{"A model that reasons may not take as long as it likes", "60m", in{fine, firstOutputs(100, "+Inf"), reasoningTokens()}, []string{"TachoReasoningFirstOutputSlow"}},

		{"Calls that fail are a page", "60m", in{fine, calls(tacho.Failed, 4), calls(tacho.Cut, 4), calls(tacho.StreamError, 4)}, []string{"TachoCallsFail"}},
		{"Attempts that fail are none when another makes them good", "60m",
			in{fine, one(metric(conv.HTTPDuration)+"_count", matching(label(conv.HTTPStatus), "=", "429"), each(100))}, nil},
		{"A failure among few calls is none", "60m", in{calls(tacho.Complete, 5), calls(tacho.Failed, 5)}, nil},
		{"What the caller ended is no failure", "60m", in{fine, calls(tacho.Cancelled, 100), calls(tacho.ClosedEarly, 100)}, nil},

		{"Long gaps are a page", "60m", in{fine, times(tacho.Gap, 2, true), times(tacho.ConsumerWait, 100, false)}, []string{"TachoStreamsStall"}},
		{"Long gaps by the application's own fault are a ticket of their own", "60m",
			in{fine, times(tacho.Gap, 2, true), times(tacho.ConsumerWait, 2, true)}, []string{"TachoConsumersStall"}},
		{"Long gaps of few calls are none", "60m", in{calls(tacho.Complete, 2), times(tacho.Gap, 2, true)}, nil},

		{"No data at all", "60m", in{{{"up", each(0)}}}, []string{"TachoNoData"}},
		{"One service of two falls silent", "60m", in{fine, {{fmt.Sprintf(`%s{job="other"}`, metric(conv.Calls)), "0+1x20"}}}, []string{"TachoServiceSilent"}},

		{"A budget burns fast", "60m", in{fine, judged(each(80), each(20))}, []string{"TachoErrorBudgetBurnsFast", "TachoErrorBudgetBurns"}},
		{"A budget burns", "60m", in{fine, judged(each(92), each(8))}, []string{"TachoErrorBudgetBurns"}},
		{"A budget burns no more", "70m", in{fine, judged(each(80), ended)}, nil},
		{"A budget burns by a few calls", "60m", in{fine, judged(each(0.2), each(0.2))}, nil},
	}
}
