// SPDX-License-Identifier: Apache-2.0

// Package conv holds the names that OpenTelemetry's conventions give to what
// tacho tells, and tacho's own for what has none.
//
// Sources: open-telemetry/semantic-conventions-genai v0.1.0.
package conv

import "go.opentelemetry.io/otel/attribute"

// Attributes of the conventions.
const (
	OperationName    = attribute.Key("gen_ai.operation.name")
	ProviderName     = attribute.Key("gen_ai.provider.name")
	RequestModel     = attribute.Key("gen_ai.request.model")
	RequestStream    = attribute.Key("gen_ai.request.stream")
	ResponseModel    = attribute.Key("gen_ai.response.model")
	ResponseID       = attribute.Key("gen_ai.response.id")
	FinishReasons    = attribute.Key("gen_ai.response.finish_reasons")
	TimeToFirstChunk = attribute.Key("gen_ai.response.time_to_first_chunk")
	InputTokens      = attribute.Key("gen_ai.usage.input_tokens")
	OutputTokens     = attribute.Key("gen_ai.usage.output_tokens")
	ServerAddress    = attribute.Key("server.address")
	ServerPort       = attribute.Key("server.port")
	ErrorType        = attribute.Key("error.type")
)

// Attributes of tacho, for which there is no convention.
const (
	Outcome          = attribute.Key("tacho.outcome")
	TimeToFirstToken = attribute.Key("tacho.response.time_to_first_token")
)

// Metrics.
const (
	MetricDuration = "gen_ai.client.inference.duration"
	MetricTTFT     = "tacho.client.time_to_first_token"
	MetricCalls    = "tacho.client.calls"
)

// SecondsBounds are the bounds that the conventions give for durations.
func SecondsBounds() []float64 {
	return []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
}

// FirstTokenBounds are tacho's bounds for times to tokens: those on which
// objectives are set, such as 500 ms, are among them.
func FirstTokenBounds() []float64 {
	return []float64{.01, .025, .05, .1, .15, .2, .3, .4, .5, .75, 1, 1.5, 2, 3, 5, 7.5, 10, 20, 40, 80}
}
