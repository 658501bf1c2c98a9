// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// attributes turns attributes into a map that compares.
func attributes(kv []attribute.KeyValue) map[string]any {
	m := map[string]any{}
	for _, a := range kv {
		m[string(a.Key)] = a.Value.AsInterface()
	}
	return m
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, body string
		script     sim.Script
		want       map[string]any
		status     codes.Code
		text       string
		took       time.Duration
	}{
		{"stream", chatStreamUsage, sim.Script{HeaderDelay: 100 * ms, Gap: 10 * ms, Model: "m-2", Steps: []sim.Step{sim.Role(0), sim.Text(0, "a"),
			sim.Finish(0, "stop"), sim.Usage(sim.UsageCounts{InputTokens: 7, OutputTokens: 2}), sim.Done()}},
			map[string]any{
				"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m", "server.address": "sim.invalid", "server.port": int64(80),
				"gen_ai.request.stream": true, "gen_ai.response.model": "m-2", "gen_ai.response.finish_reasons": []string{"stop"},
				"gen_ai.usage.input_tokens": int64(7), "gen_ai.usage.output_tokens": int64(2),
				"gen_ai.response.time_to_first_chunk": 0.1, "tacho.response.time_to_first_token": 0.11, "tacho.outcome": "complete",
				"gen_ai.usage.cache_read.input_tokens": int64(0), "gen_ai.usage.reasoning.output_tokens": int64(0), "openai.api.type": "chat_completions", "tacho.connection.reused": false,
				"tacho.response.time_to_first_output": 0.11, "tacho.response.time_to_last_token": 0.11,
			}, codes.Unset, "", 140 * ms},
		{"error status", chatPlain, sim.Script{HeaderDelay: 20 * ms, Status: 429, ErrorCode: "rate_limit_exceeded"},
			map[string]any{
				"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m", "server.address": "sim.invalid", "server.port": int64(80),
				"tacho.outcome": "error", "error.type": "rate_limit_exceeded", "openai.api.type": "chat_completions", "tacho.connection.reused": false,
			}, codes.Error, "rate_limit_exceeded", 20 * ms},
		{"an error code that is content", chatPlain, sim.Script{Status: 400, ErrorCode: "my name is Eve"},
			map[string]any{
				"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m", "server.address": "sim.invalid", "server.port": int64(80),
				"tacho.outcome": "error", "error.type": "400", "openai.api.type": "chat_completions", "tacho.connection.reused": false,
			}, codes.Error, "400", 0},
		{"cut", chatStream, sim.Script{Gap: 10 * ms, Steps: []sim.Step{sim.Role(0), sim.Text(0, "a"), sim.Cut()}},
			map[string]any{
				"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m", "server.address": "sim.invalid", "server.port": int64(80),
				"gen_ai.request.stream": true, "gen_ai.response.model": "m", "gen_ai.response.finish_reasons": []string{"error"},
				"gen_ai.response.time_to_first_chunk": 0.0, "tacho.response.time_to_first_token": 0.01,
				"tacho.outcome": "cut", "error.type": "connection", "openai.api.type": "chat_completions", "tacho.connection.reused": false,
				"tacho.response.time_to_first_output": 0.01, "tacho.response.time_to_last_token": 0.01,
			}, codes.Error, "connection", 20 * ms},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				spans := tracetest.NewSpanRecorder()
				tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
				parentCtx, parent := tp.Tracer("test").Start(t.Context(), "parent")
				r := newRig(t, []sim.Option{sim.WithScript(tc.script)}, tacho.WithTracerProvider(tp))
				resp, err := r.client.Do(r.request(parentCtx, chatPath, tc.body))
				if err != nil {
					t.Fatal(err)
				}
				readAll(resp)
				ended := spans.Ended()
				if len(ended) != 1 {
					t.Fatalf("%d spans have ended, want 1", len(ended))
				}
				s := ended[0]
				got := attributes(s.Attributes())
				delete(got, "gen_ai.response.id")
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if s.Name() != "chat m" || s.SpanKind() != trace.SpanKindClient || s.Parent().SpanID() != parent.SpanContext().SpanID() {
					t.Errorf("span %q, kind %v, parent %v", s.Name(), s.SpanKind(), s.Parent().SpanID())
				}
				if s.Status().Code != tc.status || s.Status().Description != tc.text {
					t.Errorf("status %+v", s.Status())
				}
				if took := s.EndTime().Sub(s.StartTime()); took != tc.took {
					t.Errorf("it took %v, want %v", took, tc.took)
				}
				received := r.srv.Requests()
				if h := received[0].Header; h.Get("Traceparent") != "" || h.Get("Baggage") != "" {
					t.Errorf("trace context left: %v", h)
				}
			})
		})
	}
}

// TestTraceID: a record knows the trace in which its call was made, with a span
// of its own or under one of the application's.
func TestTraceID(t *testing.T) {
	t.Parallel()
	tp := sdktrace.NewTracerProvider()
	ctx, span := tp.Tracer("app").Start(t.Context(), "app")
	defer span.End()
	for name, opt := range map[string]tacho.Option{"own span": tacho.WithTracerProvider(tp), "none": tacho.WithoutTracing()} {
		for _, parent := range []context.Context{ctx, t.Context()} {
			tctx, tr := tacho.Track(parent)
			resp, err := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { return answer(chatAnswer), nil }), opt).RoundTrip(newRequest(tctx, t, hostURL, chatPlain))
			if err != nil {
				t.Fatal(err)
			}
			readAll(resp)
			id, ok := one(t, tr).TraceID()
			if want := parent == ctx || name == "own span"; ok != want {
				t.Errorf("%s: trace %q, %v", name, id, ok)
			}
			if parent == ctx && id != span.SpanContext().TraceID().String() {
				t.Errorf("%s: trace %q, want %v", name, id, span.SpanContext().TraceID())
			}
		}
	}
}

// TestMetricLabels puts the labels that an option names on the metrics, bounded,
// and no others.
func TestMetricLabels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reader := metric.NewManualReader()
		r := newRig(t, nil, tacho.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))), tacho.WithMetricLabels("region", "tier"))
		for _, labels := range [][]string{{"region", "eu", "user", "alice"}, {"region", "naïve"}, {"tier", "gold", "region", "eu"}, nil} {
			r.srv.Play(sim.Script{Text: "a"})
			resp, err := r.client.Do(r.request(tacho.ContextWithLabels(t.Context(), labels...), chatPath, chatPlain))
			if err != nil {
				t.Fatal(err)
			}
			readAll(resp)
		}
		var rm metricdata.ResourceMetrics
		if err := reader.Collect(t.Context(), &rm); err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for _, m := range rm.ScopeMetrics[0].Metrics {
			if d, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "tacho.client.calls" {
				for _, p := range d.DataPoints {
					set, _ := p.Attributes.Filter(func(kv attribute.KeyValue) bool { return kv.Key == "region" || kv.Key == "tier" || kv.Key == "user" })
					got[set.Encoded(attribute.DefaultEncoder())] += p.Value
				}
			}
		}
		if diff := cmp.Diff(map[string]int64{"region=eu": 1, "region=_OTHER": 1, "region=eu,tier=gold": 1, "": 1}, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}
