// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/internal/conv"
)

type row struct {
	title  string
	panels []panel
}

// by is a legend: of the three labels a series has the one that $by says.
var by = fmt.Sprintf("{{%s}}{{%s}}{{%s}}", model, server, region)

// rows returns the dashboard's panels.
func rows() []row {
	return []row{
		{"Calls", []panel{
			{"Calls by outcome", rate, "Calls that ended, retries included in the call that they belong to.", []target{
				{expr: perSecond(label(conv.Outcome), chosen(metric(conv.Calls), "")), legend: named(conv.Outcome)}}},
			{"Failed share", share, "error, stream_error, cut and deadline, after all attempts, of the calls that the caller did not end.", []target{
				{expr: failedShare(), legend: by}}},
			{"Failures by type", rate, "The server's code, else the status, else the kind of the fault.", []target{
				{expr: perSecond(label(conv.ErrorType), chosen(metric(conv.Calls), matching(label(conv.ErrorType), "!=", ""))), legend: named(conv.ErrorType)}}},
			{"Calls under way", number, "By server: the model is not among what is known at a call's begin.", []target{
				{expr: fmt.Sprintf(`sum by (%s) (%s{%s=~"$server"})`, server, metric(conv.ActiveCalls), server), legend: "{{" + server + "}}"}}},
			{"Calls with status 429 or 503", rate, "What servers refused, of calls whose last attempt was refused.", []target{
				{expr: perSecond("http_response_status_code, $by", chosen("tacho_recorder_refusals_total", "")), legend: "{{http_response_status_code}} " + by}}},
			{"Values folded or not understood", rate, "Attributes that became _OTHER, parts of answers that were no JSON, baggage that did not fit.", []target{
				{expr: fmt.Sprintf("sum by (%s) (rate(%s[$__rate_interval])) or vector(0)", label(conv.OverflowKind), metric(conv.Overflow)), legend: named(conv.OverflowKind)}}},
		}},
		{"Latency", []panel{
			quantiles("Time to first token", conv.FirstToken, "Start to the first output in any channel, reasoning included, of calls that came so far. The diamonds are exemplars: they lead to the trace."),
			quantiles("Time to first output", conv.FirstOutput, "Start to the first output that a user sees. Models that reason have it late."),
			quantiles("Time per output token", conv.PerToken, "After the first token."),
			recordedQuantiles("Gaps between outputs", tacho.Gap, "Between two output events of a stream, as the application saw them."),
			quantiles("Time to last token", conv.LastToken, ""),
			{"Duration", seconds, "Start to end, of complete calls.", []target{
				{expr: complete(.5), legend: "P50 " + by}, {expr: complete(.9), legend: "P90 " + by}, {expr: complete(.99), legend: "P99 " + by, exemplars: true}}},
		}},
		{"Phases and waits", []panel{
			{"Phases, P90", seconds, "dns, connect and tls of new connections; send; wait for the first byte.", []target{
				{expr: quantile(.9, conv.PhaseTime, label(conv.PhaseKey)), legend: named(conv.PhaseKey), exemplars: true}}},
			{"Wait for the first byte", seconds, "The phase wait: the endpoint's own time and the way.", []target{
				{expr: fmt.Sprintf("histogram_quantile(0.9, %s)", perSecond("le, $by", chosen(metric(conv.PhaseTime)+"_bucket", matching(label(conv.PhaseKey), "=", "wait")))), legend: "P90 " + by}}},
			{"The application's share of a stream's time", share, "Time outside of Read ÷ all time from the first byte on: above 0 by much, the application is what is slow.", []target{
				{expr: consumerShare(), legend: by}}},
			recordedQuantiles("Network wait of a stream", tacho.NetworkWait, "Time inside Read, from the first byte on."),
			recordedQuantiles("Consumer wait of a stream", tacho.ConsumerWait, "Time outside of Read, from the first byte on."),
			{"Stalls in 5 minutes", number, "Gaps over 5 s, and streams of which the application was away over 5 s.", []target{
				{expr: chosen(longGaps5m, ""), legend: "gaps " + by}, {expr: chosen(longConsumer5m, ""), legend: "application " + by}}},
		}},
		{"Tokens", []panel{
			{"Tokens", rate, "As reported. Cached tokens are a part of the input, reasoning is one of the output.", []target{
				{expr: perSecond("$by", chosen(metric(conv.UsageInput), "")), legend: "input " + by},
				{expr: perSecond("$by", chosen(metric(conv.UsageOutput), "")), legend: "output " + by},
				{expr: perSecond("$by", chosen(metric(conv.UsageCacheRead), "")), legend: "from a cache " + by},
				{expr: perSecond("$by", chosen(metric(conv.UsageReasoning), "")), legend: "reasoning " + by}}},
			{"Input from a cache", share, "Input tokens that were read from a cache ÷ input tokens.", []target{{expr: cacheShare(), legend: by}}},
			{"Output tokens of a call", number, "", []target{
				{expr: quantile(.5, conv.InferenceOutput, "$by"), legend: "P50 " + by}, {expr: quantile(.99, conv.InferenceOutput, "$by"), legend: "P99 " + by}}},
		}},
		{"Limits and objectives", []panel{
			{"Rate limit left", number, "The least that the last responses left, of requests and of tokens.", []target{
				{expr: fmt.Sprintf("min by (%s, $by) (%s)", label(conv.RateLimitKind), chosen(metric(conv.Remaining), "")), legend: named(conv.RateLimitKind) + " " + by}}},
			{"Burn rate of the error budgets", number, "1 uses a budget up in just its period. An alert is on 14.4 over 1 h and 5 m, or 6 over 6 h and 30 m.", []target{
				{expr: sloBurn("5m"), legend: "5m " + named(conv.SLO)}, {expr: sloBurn("1h"), legend: "1h " + named(conv.SLO)},
				{expr: sloBurn("30m"), legend: "30m " + named(conv.SLO)}, {expr: sloBurn("6h"), legend: "6h " + named(conv.SLO)}}},
			{"Calls that missed an objective", rate, "", []target{
				{expr: fmt.Sprintf(`sum by (%s) (rate(%s{%s="false"}[$__rate_interval]))`, label(conv.SLO), metric(conv.SLOCalls), label(conv.SLOMet)), legend: named(conv.SLO)}}},
		}},
	}
}

func named[T ~string](k T) string { return "{{" + underscored(string(k)) + "}}" }

// quantiles is a panel of an instrument's, with exemplars on its tail.
func quantiles(title string, id conv.ID, what string) panel {
	return panel{title, seconds, what, []target{
		{expr: quantile(.5, id, "$by"), legend: "P50 " + by}, {expr: quantile(.9, id, "$by"), legend: "P90 " + by},
		{expr: quantile(.99, id, "$by"), legend: "P99 " + by, exemplars: true}}}
}

func recordedQuantiles(title string, f tacho.Figure, what string) panel {
	return panel{title, seconds, what, []target{
		{expr: recordedQuantile(.5, f, "$by"), legend: "P50 " + by}, {expr: recordedQuantile(.9, f, "$by"), legend: "P90 " + by},
		{expr: recordedQuantile(.99, f, "$by"), legend: "P99 " + by}}}
}
