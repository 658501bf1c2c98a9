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
	TokenType        = attribute.Key("gen_ai.token.type")
	TokenModality    = attribute.Key("gen_ai.token.modality")
	ServiceTier      = attribute.Key("openai.response.service_tier")
)

// Attributes of tacho, for which there is no convention.
const (
	Outcome          = attribute.Key("tacho.outcome")
	TimeToFirstToken = attribute.Key("tacho.response.time_to_first_token")
	PhaseKey         = attribute.Key("tacho.phase")
	RateLimitKind    = attribute.Key("tacho.ratelimit.kind")
	OverflowKind     = attribute.Key("tacho.overflow.kind")
)
