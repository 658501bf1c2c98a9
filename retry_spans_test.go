// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho"
)

// TestRetrySpans has the whole of the spans: the call's, and those of HTTP below.
func TestRetrySpans(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		spans := tracetest.NewSpanRecorder()
		reader := metric.NewManualReader()
		server := &replies{t: t, list: []reply{{status: 429, after: 20 * ms, body: limited}, {err: errBroken, after: ms}, {status: 200, after: 30 * ms, body: whole}}, start: time.Now()}
		var seen []string
		rt := tacho.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
			seen = append(seen, spanOf(r.Context()))
			return server.RoundTrip(r)
		}), tacho.WithRetries(exact), tacho.WithHTTPMetrics(),
			tacho.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))), tacho.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))))
		resp, err := rt.RoundTrip(newRequest(t.Context(), t, "http://user:SECRET@host.invalid:8080/SECRET/v1/chat/completions?key=SECRET#SECRET", chatPlain))
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)

		type span struct {
			Name       string
			Parent     string
			From, To   time.Duration
			Status     sdktrace.Status
			Attributes map[string]any
		}
		names := map[string]string{"": ""}
		for _, s := range spans.Ended() {
			names[s.SpanContext().SpanID().String()] = s.Name()
		}
		var got []span
		var ids []string
		for _, s := range spans.Ended() {
			got = append(got, span{s.Name(), names[s.Parent().SpanID().String()], s.StartTime().Sub(server.start), s.EndTime().Sub(server.start), s.Status(), attributes(s.Attributes())})
			ids = append(ids, s.SpanContext().SpanID().String())
		}
		http := func(more map[string]any) map[string]any {
			m := map[string]any{"http.request.method": "POST", "url.full": "http://host.invalid:8080/REDACTED/v1/chat/completions", "server.address": "host.invalid", "server.port": int64(8080)}
			for k, v := range more {
				m[k] = v
			}
			return m
		}
		failed := func(why string) sdktrace.Status { return sdktrace.Status{Code: codes.Error, Description: why} }
		want := []span{
			{"POST", "chat m", 0, 20 * ms, failed("rate_limit_exceeded"), http(map[string]any{"http.response.status_code": int64(429), "error.type": "rate_limit_exceeded", "network.protocol.name": "http", "network.protocol.version": "1.1"})},
			{"POST", "chat m", 520 * ms, 521 * ms, failed("protocol"), http(map[string]any{"http.request.resend_count": int64(1), "tacho.retry.wait": 0.5, "error.type": "protocol"})},
			{"POST", "chat m", 1521 * ms, 1551 * ms, sdktrace.Status{}, http(map[string]any{"http.request.resend_count": int64(2), "tacho.retry.wait": 1.0, "http.response.status_code": int64(200), "network.protocol.name": "http", "network.protocol.version": "1.1"})},
			{"chat m", "", 0, 1551 * ms, sdktrace.Status{}, map[string]any{"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m", "server.address": "host.invalid", "server.port": int64(8080),
				"openai.api.type": "chat_completions", "tacho.outcome": "complete", "tacho.attempts": int64(3), "gen_ai.response.id": "c", "gen_ai.response.finish_reasons": []string{"stop"}}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(ids[:3], seen); diff != "" {
			t.Errorf("the spans that are current below (-want +got)\n%s", diff)
		}
		told := points(t, reader)
		for k, want := range map[string]float64{
			"http.client.request.duration s http.request.method=POST,http.response.status_code=429,error.type=429,network.protocol.name=http,network.protocol.version=1.1,server.port=8080": 0.02,
			"http.client.request.duration s error.type=protocol,http.request.method=POST,server.port=8080":                                                                                  0.001,
			"http.client.request.duration s http.request.method=POST,http.response.status_code=200,network.protocol.name=http,network.protocol.version=1.1,server.port=8080":                0.03,
			"gen_ai.client.inference.duration s gen_ai.operation.name=chat":                                                                                                                 1.551,
		} {
			if got, ok := told[sortedKey(k)]; !ok || got != want {
				t.Errorf("%s: %v, %v, want %v", k, got, ok, want)
			}
		}
	})
}

// sortedKey has the attributes of a point's name in their order.
func sortedKey(k string) string {
	i := strings.LastIndexByte(k, ' ')
	var kv []attribute.KeyValue
	for pair := range strings.SplitSeq(k[i+1:], ",") {
		name, v, _ := strings.Cut(pair, "=")
		kv = append(kv, attribute.String(name, v))
	}
	set := attribute.NewSet(kv...)
	return k[:i+1] + set.Encoded(attribute.DefaultEncoder())
}

func spanOf(ctx context.Context) string { return trace.SpanContextFromContext(ctx).SpanID().String() }
