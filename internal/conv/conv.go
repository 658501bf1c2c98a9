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
	Fingerprint      = attribute.Key("openai.response.system_fingerprint")
	StopSequences    = attribute.Key("gen_ai.request.stop_sequences")
	TextInput        = attribute.Key("gen_ai.usage.text.input_tokens")
	ImageInput       = attribute.Key("gen_ai.usage.image.input_tokens")
	AudioInput       = attribute.Key("gen_ai.usage.audio.input_tokens")
	TextOutput       = attribute.Key("gen_ai.usage.text.output_tokens")
	ImageOutput      = attribute.Key("gen_ai.usage.image.output_tokens")
	AudioOutput      = attribute.Key("gen_ai.usage.audio.output_tokens")

	ConversationID     = attribute.Key("gen_ai.conversation.id")
	OutputType         = attribute.Key("gen_ai.output.type")
	ChoiceCount        = attribute.Key("gen_ai.request.choice.count")
	MaxTokens          = attribute.Key("gen_ai.request.max_tokens")
	Temperature        = attribute.Key("gen_ai.request.temperature")
	TopP               = attribute.Key("gen_ai.request.top_p")
	TopK               = attribute.Key("gen_ai.request.top_k")
	Seed               = attribute.Key("gen_ai.request.seed")
	FrequencyPenalty   = attribute.Key("gen_ai.request.frequency_penalty")
	PresencePenalty    = attribute.Key("gen_ai.request.presence_penalty")
	PreviousResponse   = attribute.Key("gen_ai.request.previous_response.id")
	ReasoningLevel     = attribute.Key("gen_ai.request.reasoning.level")
	EncodingFormats    = attribute.Key("gen_ai.request.encoding_formats")
	Dimensions         = attribute.Key("gen_ai.embeddings.dimension.count")
	CacheRead          = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	CacheWrite         = attribute.Key("gen_ai.usage.cache_write.input_tokens")
	CacheWrite141      = attribute.Key("gen_ai.usage.cache_creation.input_tokens")
	ReasoningTokens    = attribute.Key("gen_ai.usage.reasoning.output_tokens")
	APIType            = attribute.Key("openai.api.type")
	RequestTier        = attribute.Key("openai.request.service_tier")
	InputMessages      = attribute.Key("gen_ai.input.messages")
	OutputMessages     = attribute.Key("gen_ai.output.messages")
	SystemInstructions = attribute.Key("gen_ai.system_instructions")
	ToolDefinitions    = attribute.Key("gen_ai.tool.definitions")
	ExceptionType      = attribute.Key("exception.type")
	ExceptionMessage   = attribute.Key("exception.message")

	ToolName   = attribute.Key("gen_ai.tool.name")
	ToolCallID = attribute.Key("gen_ai.tool.call.id")
)

// Attributes of tacho, for which there is no convention.
const (
	Outcome           = attribute.Key("tacho.outcome")
	TimeToFirstToken  = attribute.Key("tacho.response.time_to_first_token")
	TimeToFirstOutput = attribute.Key("tacho.response.time_to_first_output")
	TimeToLastToken   = attribute.Key("tacho.response.time_to_last_token")
	TimePerToken      = attribute.Key("tacho.response.time_per_output_token")
	Attempt           = attribute.Key("tacho.attempt")
	Reused            = attribute.Key("tacho.connection.reused")
	UpperBound        = attribute.Key("tacho.upper_bound")
	Buffered          = attribute.Key("tacho.buffered")
	StallDuration     = attribute.Key("tacho.stall.duration")
	PhaseKey          = attribute.Key("tacho.phase")
	RateLimitKind     = attribute.Key("tacho.ratelimit.kind")
	OverflowKind      = attribute.Key("tacho.overflow.kind")
	SLO               = attribute.Key("tacho.slo")
	SLOMet            = attribute.Key("tacho.slo.met")
	HTTPMethod        = attribute.Key("http.request.method")
	HTTPStatus        = attribute.Key("http.response.status_code")
	ResendCount       = attribute.Key("http.request.resend_count")
	URL               = attribute.Key("url.full")
	PeerAddress       = attribute.Key("network.peer.address")
	PeerPort          = attribute.Key("network.peer.port")
	UsageEstimated    = attribute.Key("tacho.usage.estimated")
	RetryWait         = attribute.Key("tacho.retry.wait")
	Attempts          = attribute.Key("tacho.attempts")
	ConnectionState   = attribute.Key("http.connection.state")
	ProtocolName      = attribute.Key("network.protocol.name")
	ProtocolVersion   = attribute.Key("network.protocol.version")
)

// The names of events of OpenTelemetry's logs.
const (
	EventDetails      = "gen_ai.client.inference.operation.details"
	EventException    = "gen_ai.client.inference.exception"
	EventException141 = "gen_ai.client.operation.exception"
)

// The names of span events.
const (
	EventFirstToken = "tacho.first_token"
	EventStall      = "tacho.stall"
)
