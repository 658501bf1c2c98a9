// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/internal/conv"
)

// The dashboard's queries. In all of them $model, $server and $region narrow the
// series, and $by says by which of the three they are told apart.

// chosen are the series that the variables narrow to, and those of more matchers.
func chosen(name, more string) string {
	return fmt.Sprintf(`%s{%s=~"$model", %s=~"$server", %s=~"$region"%s}`, name, model, server, region, more)
}

func perSecond(by, selector string) string {
	return fmt.Sprintf("sum by (%s) (rate(%s[$__rate_interval]))", by, selector)
}

// quantile reads a quantile off the buckets of an instrument.
func quantile(q float64, id conv.ID, by string) string {
	return fmt.Sprintf("histogram_quantile(%g, %s)", q, perSecond("le, "+by, chosen(metric(id)+"_bucket", "")))
}

// complete is a quantile of the duration of calls that did not fail: a failed one
// is as fast as its refusal.
func complete(q float64) string {
	return fmt.Sprintf("histogram_quantile(%g, %s)", q,
		perSecond("le, $by", chosen(metric(conv.InferenceDuration)+"_bucket", matching(label(conv.ErrorType), "=", ""))))
}

// recordedQuantile reads it off a recorder's native histogram.
func recordedQuantile(q float64, f tacho.Figure, by string) string {
	return fmt.Sprintf("histogram_quantile(%g, %s)", q, perSecond(by, chosen(recorded(f), "")))
}

func matching(k, op, value string) string { return fmt.Sprintf(", %s%s%q", k, op, value) }

func failedShare() string {
	outcome := label(conv.Outcome)
	decided := perSecond("$by", chosen(metric(conv.Calls), matching(outcome, "!~", undecided)))
	bad := perSecond("$by", chosen(metric(conv.Calls), matching(outcome, "=~", failed)))
	return fmt.Sprintf("(%s or 0 * %s) / %s", bad, decided, decided)
}

// cacheShare is that of the input tokens which came from a cache, as far as both
// were reported.
func cacheShare() string {
	return perSecond("$by", chosen(metric(conv.UsageCacheRead), "")) + " / " + perSecond("$by", chosen(metric(conv.UsageInput), ""))
}

// consumerShare is the application's own part of the time of streams.
func consumerShare() string {
	sum := func(f tacho.Figure) string {
		return "histogram_sum(" + perSecond("$by", chosen(recorded(f), "")) + ")"
	}
	return fmt.Sprintf("%s / (%s + %s)", sum(tacho.ConsumerWait), sum(tacho.ConsumerWait), sum(tacho.NetworkWait))
}
