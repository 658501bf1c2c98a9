// SPDX-License-Identifier: Apache-2.0

package conv

import (
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// Attribute describes an attribute.
type Attribute struct {
	Key         attribute.Key
	Where       string
	Generation  string
	Description string
}

// Attributes returns all attributes that a transport may tell.
func Attributes() []Attribute {
	return []Attribute{
		{OperationName, "spans, metrics", "both", "chat, text_completion, embeddings, execute_tool; for other APIs a name of the same form"},
		{ProviderName, "spans, metrics", "both", "by the host, or by WithProvider"},
		{RequestModel, "spans, metrics", "both", "the model asked for"},
		{RequestStream, "spans, metrics", "both", "true for a stream"},
		{ResponseModel, "spans, metrics", "both", "the model that answered"},
		{ResponseID, "spans", "both", "the answer’s id"},
		{FinishReasons, "spans", "both", "one a choice; error where none came"},
		{TimeToFirstChunk, "spans", "both", "seconds to the first event of a stream"},
		{InputTokens, "spans", "both", "as reported; where cache counts stand beside the input (Anthropic), their sum"},
		{OutputTokens, "spans", "both", "as reported"},
		{ServerAddress, "spans, metrics", "both", "the host"},
		{ServerPort, "spans, metrics", "both", "the port, where the URL has one"},
		{ErrorType, "spans, metrics", "both", "the server’s code, else the status, else the kind of the fault: dns, connect, tls, timeout, cancelled, connection, protocol, first_token_timeout, stall_timeout; else the outcome"},
		{TokenType, "metrics", "v1.41", "input or output"},
		{TokenModality, "metrics", "v0.1.0", "text, image or audio, as reported, else unknown"},
		{ServiceTier, "spans, metrics", "both", "the tier that answered"},
		{Fingerprint, "spans", "both", "of the system that answered; on metrics with WithFingerprintMetrics"},
		{ConversationID, "spans", "both", "of ContextWithConversation"},
		{OutputType, "spans", "both", "text, json, image or speech, where the request says"},
		{ChoiceCount, "spans", "both", "n, where it is not 1"},
		{MaxTokens, "spans", "both", "as sent"},
		{Temperature, "spans", "both", "as sent"},
		{TopP, "spans", "both", "as sent"},
		{TopK, "spans", "both", "as sent"},
		{Seed, "spans", "both", "as sent"},
		{FrequencyPenalty, "spans", "both", "as sent"},
		{PresencePenalty, "spans", "both", "as sent"},
		{StopSequences, "spans, events", "both", "as sent, at most 8, with WithContent"},
		{PreviousResponse, "spans", "both", "as sent"},
		{ReasoningLevel, "spans", "both", "the effort asked for"},
		{EncodingFormats, "spans", "both", "of embeddings"},
		{Dimensions, "spans", "both", "of embeddings, as asked for"},
		{InputMessages, "spans, events", "both", "the request’s messages, on spans as JSON, with WithContent"},
		{OutputMessages, "spans, events", "both", "a message for each choice, with WithContent"},
		{SystemInstructions, "spans, events", "both", "instructions apart from the messages, with WithContent"},
		{ToolDefinitions, "spans, events", "both", "the tools on offer, with WithContent"},
		{ExceptionType, "events", "both", "as error.type"},
		{ExceptionMessage, "events", "both", "the server’s text, with WithContent on events"},
		{CacheRead, "spans", "both", "as reported"},
		{CacheWrite, "spans", "v0.1.0", "as reported"},
		{CacheWrite141, "spans", "v1.41", "the same"},
		{ReasoningTokens, "spans", "both", "as reported"},
		{TextInput, "spans", "v0.1.0", "as reported, unless it is 0"},
		{ImageInput, "spans", "v0.1.0", "as reported, unless it is 0"},
		{AudioInput, "spans", "v0.1.0", "as reported, unless it is 0"},
		{TextOutput, "spans", "v0.1.0", "as reported, unless it is 0"},
		{ImageOutput, "spans", "v0.1.0", "as reported, unless it is 0"},
		{AudioOutput, "spans", "v0.1.0", "as reported, unless it is 0"},
		{APIType, "spans", "both", "chat_completions or responses"},
		{RequestTier, "spans", "both", "as sent, unless it is auto"},
		{ToolName, "tool spans", "both", "of ExecuteTool"},
		{ToolCallID, "tool spans", "both", "of ExecuteTool"},
		{Outcome, "spans, metrics", "tacho", "complete, stream_error, error, cut, cancelled, deadline, closed_early, dropped"},
		{TimeToFirstToken, "spans", "tacho", "seconds to the first output in any channel"},
		{TimeToFirstOutput, "spans", "tacho", "seconds to the first output that a user sees"},
		{TimeToLastToken, "spans", "tacho", "seconds to the last output"},
		{TimePerToken, "spans", "tacho", "seconds an output token after the first"},
		{Attempt, "spans", "tacho", "the number of the exchange, from 2 on"},
		{Reused, "spans", "tacho", "whether the connection had served a request before"},
		{UpperBound, "spans", "tacho", "the first token may have come earlier"},
		{Buffered, "spans", "tacho", "the output came in one burst after a wait"},
		{StallDuration, "spans", "tacho", "seconds of a gap, on the event tacho.stall"},
		{PhaseKey, "metrics", "tacho", "dns, connect, tls, send or wait"},
		{RateLimitKind, "metrics", "tacho", "requests or tokens"},
		{OverflowKind, "metrics", "tacho", "attribute, parse_fault or baggage"},
		{SLO, "metrics", "tacho", "the objective's name, on tacho.client.slo.calls"},
		{HTTPMethod, "HTTP spans, metrics", "HTTP", "POST"},
		{HTTPStatus, "HTTP spans, metrics", "HTTP", "the status, if a response came"},
		{ResendCount, "HTTP spans", "HTTP", "1 for the second attempt of a call, and so on"},
		{URL, "HTTP spans", "HTTP", "without user and query; parts of the path that no public API has are REDACTED"},
		{PeerAddress, "HTTP spans", "HTTP", "the address that was connected to"},
		{PeerPort, "HTTP spans", "HTTP", "and its port"},
		{RetryWait, "HTTP spans", "tacho", "seconds of the pause before the attempt"},
		{UsageEstimated, "spans", "tacho", "the server reported no usage: that of the span was counted by WithTokenCounter"},
		{Attempts, "spans", "tacho", "how many exchanges the call took, from 2 on"},
		{ConnectionState, "metrics", "HTTP", "idle, or active while a call is on the connection"},
		{ProtocolName, "HTTP spans, metrics", "HTTP", "http"},
		{ProtocolVersion, "HTTP spans, metrics", "HTTP", "1.1 or 2, as negotiated"},
		{SLOMet, "metrics", "tacho", "whether the call met it"},
	}
}

// AttributeTable returns all attributes as a table in Markdown.
func AttributeTable() string {
	var b strings.Builder
	b.WriteString("| attribute | on | conventions | what |\n|---|---|---|---|\n")
	for _, a := range Attributes() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", a.Key, a.Where, a.Generation, a.Description)
	}
	return b.String()
}

// EventTable returns the span events as a table in Markdown.
func EventTable() string {
	return "| event of a span | what |\n|---|---|\n" +
		"| `" + EventFirstToken + "` | the first output of a stream in any channel |\n" +
		"| `" + EventStall + "` | the end of a gap beyond `WithStallLimit`, or of a call that ended in one |\n"
}
