// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// callsUnder makes calls while a span of the application, or of a framework, is
// current, and ends that a minute after the begin. The second call is an attempt.
func callsUnder(name, operation string, calls int) func(*scene) {
	return func(s *scene) {
		begin := time.Now()
		attrs := []attribute.KeyValue{attribute.String("app.own", "x")}
		if operation != "" {
			attrs = append(attrs, attribute.String("gen_ai.operation.name", operation))
		}
		ctx, span := s.app.Start(s.t.Context(), name, trace.WithAttributes(attrs...))
		for i := range calls {
			s.call(tacho.ContextWithAttributes(ctx, attribute.Int("app.turn", 3)), chatPath, chatStream, "X-Stainless-Retry-Count", string(rune('0'+i)))
		}
		time.Sleep(time.Until(begin.Add(time.Minute)))
		span.End()
	}
}

// contextCases are what surrounds a call: spans, the context, the server.
func contextCases() []telemetryCase {
	const version = "?api-version=2024-10-21"
	second := []sim.Script{refusalOf(429, "slow_down"), wholeStream()[0]}
	plain := sim.Script{HeaderDelay: 200 * ms, Model: "m-1", Text: "a", Usage: &sim.UsageCounts{InputTokens: 9, OutputTokens: 1}}
	return []telemetryCase{
		{name: "child", play: callsUnder("app", "", 1), scripts: wholeStream()},
		{name: "child_of_agent", play: callsUnder("invoke_agent x", "invoke_agent", 1), scripts: wholeStream()},
		{name: "enriched", play: callsUnder("chat", "chat", 1), scripts: wholeStream()},
		{name: "enriched_failed", play: callsUnder("chat", "chat", 1), scripts: second[:1]},
		{name: "enriched_retried", play: callsUnder("chat", "chat", 2), scripts: second},
		{name: "retried", play: callsUnder("app", "", 2), scripts: second},

		{name: "conversation", play: func(s *scene) {
			ctx := tacho.ContextWithConversation(s.t.Context(), "conv-1")
			ctx = tacho.ContextWithAttributes(ctx, attribute.String("app.tenant", "t"), attribute.Int("app.turn", 3))
			ctx = tacho.ContextWithLabels(ctx, "user", "eve") // in the record and the log alone
			s.call(tacho.ContextWithAttributes(ctx, attribute.StringSlice("app.tags", []string{"a", "b"})), chatPath, chatPlain)
		}, scripts: []sim.Script{plain}},
		{name: "conversation_odd", play: func(s *scene) {
			s.call(tacho.ContextWithConversation(s.t.Context(), "my name is Eve"), chatPath, chatPlain)
		}, scripts: []sim.Script{plain}},
		{name: "labels_logged", play: func(s *scene) {
			s.call(tacho.ContextWithLabels(s.t.Context(), "user", "eve"), chatPath, chatPlain)
		}, scripts: []sim.Script{refusalOf(400, "too_long")}},
		{name: "tools", play: func(s *scene) {
			ctx, span := s.app.Start(s.t.Context(), "app")
			defer span.End()
			for _, err := range []error{nil, errors.New("SECRET")} {
				s.call(ctx, chatPath, chatPlain)
				got := tacho.ExecuteTool(ctx, "get_weather", "call_1", func(ctx context.Context) error {
					time.Sleep(30 * ms)
					s.call(ctx, embeddingsPath, embeddingsBody) // of a tool: a child of its span
					return err
				})
				if !errors.Is(got, err) {
					s.t.Errorf("error %v", got)
				}
			}
		}, scripts: []sim.Script{plain, {Model: "e-1"}, plain, refusalOf(400, "too_long")}},

		{name: "azure", path: "http://my.openai.azure.com/openai/deployments/gpt-4o-eu/chat/completions" + version, body: `{"stream":true,"messages":[]}`,
			sim: []sim.Option{sim.WithHost("my.openai.azure.com")}, scripts: eventsOf(`{"choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}`,
				`{"id":"c-1","model":"gpt-4o-2024-08-06","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}`, `{"id":"c-1","model":"gpt-4o-2024-08-06","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`)},
		{name: "azure_filtered", path: "http://my.openai.azure.com/openai/deployments/gpt-4o-eu/chat/completions" + version, body: `{"model":"gpt-4o","messages":[]}`,
			sim: []sim.Option{sim.WithHost("my.openai.azure.com")}, scripts: []sim.Script{refusalOf(400, "content_filter")}},
		{name: "azure_embeddings", path: "http://my.openai.azure.com/openai/deployments/ada/embeddings" + version, body: `{"input":"hello"}`,
			sim: []sim.Option{sim.WithHost("my.openai.azure.com")}, scripts: []sim.Script{{HeaderDelay: 200 * ms, Model: "text-embedding-ada-002", Usage: &sim.UsageCounts{InputTokens: 2}}}},
		{name: "groq", path: "http://api.groq.com/openai/v1/chat/completions", body: chatPlain, sim: []sim.Option{sim.WithHost("api.groq.com")},
			scripts: documentOf(`{"id":"c-1","model":"m-1","service_tier":"on_demand","choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1,"queue_time":0.1}}`)},
		{name: "provider", path: chatPath, body: chatPlain, opts: []tacho.Option{tacho.WithProvider("ollama")}, scripts: []sim.Script{plain}},
		{name: "server_port", path: "http://sim.invalid:80/v1/chat/completions", body: chatPlain, scripts: []sim.Script{plain}},
		{name: "https", path: chatPath, body: chatPlain, sim: []sim.Option{sim.WithTLS(), sim.WithHTTP2(), sim.WithLookupDelay(3 * ms), sim.WithDialDelay(20 * ms), sim.WithLink(sim.Link{Delay: 5 * ms})}, scripts: []sim.Script{plain}},
		{name: "connection_reused", play: func(s *scene) {
			s.call(s.t.Context(), chatPath, chatPlain)
			s.call(s.t.Context(), chatPath, chatPlain)
		}, sim: []sim.Option{sim.WithDialDelay(20 * ms)}, scripts: []sim.Script{plain, plain}},
	}
}
