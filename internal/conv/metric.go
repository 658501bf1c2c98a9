// SPDX-License-Identifier: Apache-2.0

package conv

import (
	"fmt"
	"strings"
)

// Generation is a version of the conventions.
type Generation uint8

// The generations, as bits: both may be told at once.
const (
	// Latest is semantic-conventions-genai v0.1.0.
	Latest Generation = 1 << iota
	// V141 is semantic-conventions v1.41.0, the last that held gen_ai.
	V141
)

// Kind is that of an instrument.
type Kind uint8

// The kinds. Histograms are of float64, all others of int64.
const (
	Histogram Kind = iota
	Counter
	UpDownCounter
	Gauge
)

// String returns the kind's name.
func (k Kind) String() string {
	return [...]string{"histogram", "counter", "up-down counter", "gauge"}[k]
}

// Metric describes an instrument.
type Metric struct {
	ID          ID
	Name        string
	Kind        Kind
	Unit        string
	Generation  Generation // 0: tacho's own, told with either
	Bounds      []float64
	Description string
	OptIn       OptIn // 0: always told
}

// OptIn is a group of metrics that are told on demand.
type OptIn uint8

// The groups, as bits.
const (
	// PerChunk is a record for each chunk of a stream: WithChunkMetrics.
	PerChunk OptIn = 1 << iota
	// HTTP is what HTTP instrumentation tells: WithHTTPMetrics.
	HTTP
	// Connections is what a dialler tells of the connections it made: MeasureDial.
	Connections
)

// ID is a metric's place among the instruments.
type ID uint8

// The metrics.
const (
	NoMetric ID = iota // an instrument that is not there
	InferenceDuration
	EmbeddingsDuration
	OperationDuration
	InferenceFirstChunk
	OperationFirstChunk
	TokenUsage
	UsageInput
	UsageOutput
	UsageCacheRead
	UsageCacheWrite
	UsageReasoning
	InferenceInput
	InferenceOutput
	EmbeddingsInput
	FirstToken
	FirstOutput
	LastToken
	PerToken
	Calls
	ActiveCalls
	PhaseTime
	Remaining
	Overflow
	SLOCalls
	InferenceChunk
	OperationChunk
	HTTPDuration
	HTTPActive
	HTTPConnections
	HTTPConnectionTime
	NumMetrics
)

// Metrics returns all metrics that a transport may record.
func Metrics() []Metric {
	seconds := []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokens := []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	// Those on which objectives are set, such as 500 ms, are among these.
	first := []float64{.01, .025, .05, .1, .15, .2, .3, .4, .5, .75, 1, 1.5, 2, 3, 5, 7.5, 10, 20, 40, 80}
	per := []float64{.001, .0025, .005, .0075, .01, .015, .02, .03, .04, .05, .075, .1, .15, .2, .3, .5, 1, 2.5}
	// A host and a virtual machine on it differ below 2 ms.
	phase := []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	// These are the HTTP conventions' own.
	request := []float64{.005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10}
	// No convention has these; they are those of .NET, which has the metric.
	connection := []float64{.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120, 300}
	return []Metric{
		{InferenceDuration, "gen_ai.client.inference.duration", Histogram, "s", Latest, seconds, "Duration of a chat or a text completion.", 0},
		{EmbeddingsDuration, "gen_ai.client.embeddings.duration", Histogram, "s", Latest, seconds, "Duration of a call for embeddings.", 0},
		{OperationDuration, "gen_ai.client.operation.duration", Histogram, "s", Latest | V141, seconds, "Duration of a call; in the latest conventions, of those that have no metric of their own.", 0},
		{InferenceFirstChunk, "gen_ai.client.inference.time_to_first_chunk", Histogram, "s", Latest, seconds, "Time to the first chunk of a stream, role-only ones included.", 0},
		{OperationFirstChunk, "gen_ai.client.operation.time_to_first_chunk", Histogram, "s", V141, seconds, "Time to the first chunk of a stream, role-only ones included.", 0},
		{TokenUsage, "gen_ai.client.token.usage", Histogram, "{token}", V141, tokens, "Tokens of a call, as reported, input and output apart.", 0},
		{UsageInput, "gen_ai.client.inference.usage.input_tokens", Counter, "{token}", Latest, nil, "Input tokens, as reported.", 0},
		{UsageOutput, "gen_ai.client.inference.usage.output_tokens", Counter, "{token}", Latest, nil, "Output tokens, as reported.", 0},
		{UsageCacheRead, "gen_ai.client.inference.usage.cache_read.input_tokens", Counter, "{token}", Latest, nil, "Input tokens read from a cache, as reported.", 0},
		{UsageCacheWrite, "gen_ai.client.inference.usage.cache_write.input_tokens", Counter, "{token}", Latest, nil, "Input tokens written to a cache, as reported.", 0},
		{UsageReasoning, "gen_ai.client.inference.usage.reasoning.output_tokens", Counter, "{token}", Latest, nil, "Output tokens of reasoning, as reported.", 0},
		{InferenceInput, "gen_ai.client.inference.operation.input_tokens", Histogram, "{token}", Latest, tokens, "Input tokens of a call, as reported.", 0},
		{InferenceOutput, "gen_ai.client.inference.operation.output_tokens", Histogram, "{token}", Latest, tokens, "Output tokens of a call, as reported.", 0},
		{EmbeddingsInput, "gen_ai.client.embeddings.operation.input_tokens", Histogram, "{token}", Latest, tokens, "Input tokens of a call for embeddings, as reported.", 0},
		{FirstToken, "tacho.client.time_to_first_token", Histogram, "s", 0, first, "Time to the first output of a stream in any channel.", 0},
		{FirstOutput, "tacho.client.time_to_first_output", Histogram, "s", 0, first, "Time to the first output of a stream that a user sees.", 0},
		{LastToken, "tacho.client.time_to_last_token", Histogram, "s", 0, first, "Time to the last output of a stream.", 0},
		{PerToken, "tacho.client.time_per_output_token", Histogram, "s", 0, per, "Time per output token of a stream after the first.", 0},
		{Calls, "tacho.client.calls", Counter, "{call}", 0, nil, "Calls that have ended, by outcome.", 0},
		{ActiveCalls, "tacho.client.active_calls", UpDownCounter, "{call}", 0, nil, "Calls under way.", 0},
		{PhaseTime, "tacho.client.phase.duration", Histogram, "s", 0, phase, "Phases before a response: dns, connect, tls, send, wait.", 0},
		{Remaining, "tacho.client.ratelimit.remaining", Gauge, "", 0, nil, "What the last response left of a rate limit, requests or tokens.", 0},
		{Overflow, "tacho.client.overflow", Counter, "{value}", 0, nil, "Values that were folded into _OTHER, parts of answers that were no JSON, members of the baggage that did not fit.", 0},
		{SLOCalls, "tacho.client.slo.calls", Counter, "{call}", 0, nil, "Calls that met and that missed each objective of WithBudgets.", 0},
		{InferenceChunk, "gen_ai.client.inference.time_per_output_chunk", Histogram, "s", Latest, seconds, "Time from the end of a chunk of a stream to the end of the next, on demand (`WithChunkMetrics`).", PerChunk},
		{OperationChunk, "gen_ai.client.operation.time_per_output_chunk", Histogram, "s", V141, seconds, "Time from the end of a chunk of a stream to the end of the next, on demand (`WithChunkMetrics`).", PerChunk},
		{HTTPDuration, "http.client.request.duration", Histogram, "s", 0, request, "Duration of a request to the end of its body, by the HTTP conventions, on demand (`WithHTTPMetrics`).", HTTP},
		{HTTPActive, "http.client.active_requests", UpDownCounter, "{request}", 0, nil, "Requests under way, by the HTTP conventions, on demand (`WithHTTPMetrics`).", HTTP},
		{HTTPConnections, "http.client.open_connections", UpDownCounter, "{connection}", 0, nil, "Connections that are open, by the HTTP conventions, on demand (`MeasureDial`).", Connections},
		{HTTPConnectionTime, "http.client.connection.duration", Histogram, "s", 0, connection, "Time from a connection's dial to its close, by the HTTP conventions, on demand (`MeasureDial`).", Connections},
	}
}

// MetricTable returns all metrics as a table in Markdown.
func MetricTable() string {
	var b strings.Builder
	b.WriteString("| metric | instrument, unit | conventions | what |\n|---|---|---|---|\n")
	for _, m := range Metrics() {
		gen := map[Generation]string{0: "tacho", Latest: "v0.1.0", V141: "v1.41", Latest | V141: "both"}[m.Generation]
		if m.OptIn&(HTTP|Connections) != 0 {
			gen = "HTTP"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s", m.Name, strings.TrimRight(m.Kind.String()+", "+m.Unit, ", "), gen, m.Description)
		if m.Bounds != nil {
			fmt.Fprintf(&b, " Buckets: %s.", strings.Trim(fmt.Sprint(m.Bounds), "[]"))
		}
		b.WriteString(" |\n")
	}
	return b.String()
}
