// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/tacho-go/tacho/internal/conv"
)

// Metrics that are told on demand only.

// WithChunkMetrics records the time between the chunks of streams, one record of
// the SDK for each chunk after the first:
// gen_ai.client.inference.time_per_output_chunk, or
// gen_ai.client.operation.time_per_output_chunk by ConventionsV141, which
// costs the goroutine that reads the stream a call of the SDK each. A Recorder keeps
// the gaps between output events without that.
//
// By default chunks are not recorded one by one, and WithoutMetrics records none.
func WithChunkMetrics() Option { return optionFunc(func(c *config) { c.optIn |= conv.PerChunk }) }

// WithHTTPMetrics records http.client.request.duration and
// http.client.active_requests for each call, by the HTTP conventions, for
// dashboards that know those. A request lasts until its body has ended. Leave it
// off where an instrumentation of plain HTTP is at work below, which tells the same.
// Connections are told by MeasureDial, in the http.Transport below; a Client that
// makes its own has it there with this option.
//
// By default they are not recorded, and WithoutMetrics records none.
func WithHTTPMetrics() Option { return optionFunc(func(c *config) { c.optIn |= conv.HTTP }) }

// WithFingerprintMetrics puts openai.response.system_fingerprint on the metrics
// too, with at most 200 values, then _OTHER: OpenAI changes it with each
// deployment of a model, and every value makes series of its own.
//
// By default it is on spans alone, and WithoutMetrics has no use for it.
func WithFingerprintMetrics() Option {
	return optionFunc(func(c *config) { c.metricPrints = true })
}

// chunkTimer times the chunks of a stream. The attributes are those that are
// known with its second chunk.
type chunkTimer struct {
	last time.Duration
	sets *callSets
}

// chunk notes the end of a chunk, before it is counted. The lock is held.
func (x *exchange) chunk(at time.Duration) {
	m := x.config.metrics
	if m == nil || x.config.optIn&conv.PerChunk == 0 || x.frozen {
		return
	}
	if x.perEvent == nil {
		x.perEvent = new(perEvent)
	}
	t := &x.perEvent.chunks
	if x.call.events == 0 {
		t.last = at
		return
	}
	gap := inSeconds(at - t.last)
	t.last = at
	fenced(func() {
		if t.sets == nil {
			t.sets = x.config.ended(x.call)
		}
		ctx := x.ownContext()
		m.observe(ctx, conv.InferenceChunk, gap, &t.sets.ended)
		m.observe(ctx, conv.OperationChunk, gap, &t.sets.ended)
	})
}

// httpMethod is that of all calls.
var httpMethod = conv.HTTPMethod.String("POST")

// httpServer has the port in any case, as the HTTP conventions demand.
func httpServer(c *Call, known bool) []attribute.KeyValue {
	if !known {
		return []attribute.KeyValue{httpMethod, conv.ServerAddress.String(other)}
	}
	return appendServer([]attribute.KeyValue{httpMethod}, c.server, c.secure)
}

// httpAttributes are those of the HTTP conventions for a request that is over.
// What failed without a status says how.
func httpAttributes(c *Call, known bool, status int, proto, failed string) []attribute.KeyValue {
	kv := httpServer(c, known)
	if status > 0 {
		kv = append(kv, conv.HTTPStatus.Int(status))
	}
	kv = appendProtocol(kv, proto)
	switch {
	case status >= 400:
		kv = append(kv, conv.ErrorType.String(strconv.Itoa(status)))
	case failed != "":
		kv = append(kv, conv.ErrorType.String(failed))
	}
	return kv
}

func appendProtocol(kv []attribute.KeyValue, proto string) []attribute.KeyValue {
	name, version, ok := strings.Cut(proto, "/")
	if !ok {
		return kv
	}
	return append(kv, conv.ProtocolName.String(strings.ToLower(name)), conv.ProtocolVersion.String(strings.TrimSuffix(version, ".0")))
}

// attempt records a request that another of the same call follows.
func (i *instruments) attempt(ctx context.Context, known bool, c *Call, a *Attempt, proto string) {
	failed := ""
	if a.Status == 0 {
		failed = a.Error
	}
	set := newAttrs(httpAttributes(c, known, a.Status, proto, failed)...)
	i.observe(ctx, conv.HTTPDuration, inSeconds(a.Duration), &set)
}
