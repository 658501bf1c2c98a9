// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/internal/conv"
	"github.com/tacho-go/tacho/sim"
)

// spansOf makes one call in a bubble and returns the spans that have ended.
func spansOf(t *testing.T, s sim.Script, path, body string, prepare func(context.Context, trace.Tracer) context.Context, opts ...tacho.Option) (ended []sdktrace.ReadOnlySpan) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		recorder := tracetest.NewSpanRecorder()
		tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
		ctx := t.Context()
		if prepare != nil {
			ctx = prepare(ctx, tp.Tracer("framework"))
		}
		r := newRig(t, []sim.Option{sim.WithScript(s)}, append(opts, tacho.WithTracerProvider(tp))...)
		resp, err := r.client.Do(r.request(ctx, path, body))
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
		if s := trace.SpanFromContext(ctx); s.IsRecording() {
			s.End()
		}
		ended = recorder.Ended()
	})
	return ended
}

// TestRequestAttributes has all that a request says, by both generations, and
// what is no plain word as _OTHER.
func TestRequestAttributes(t *testing.T) {
	t.Parallel()
	const all = `{"model":"m","n":2,"max_tokens":9,"temperature":0.5,"top_p":0.9,"top_k":40,"seed":7,"frequency_penalty":0.1,"presence_penalty":-0.2,"stop":["END","two words"],
		"service_tier":"flex","previous_response_id":"resp_1","reasoning_effort":"low","response_format":{"type":"json_schema"},"messages":[]}`
	usage := `"usage":{"prompt_tokens":9,"completion_tokens":5,"cache_read_input_tokens":4,"cache_creation_input_tokens":3,"completion_tokens_details":{"reasoning_tokens":2}}`
	for _, tc := range []struct {
		name, path, request, response string
		opt                           tacho.Option
		want                          map[string]any
	}{
		{"chat", chatPath, all, `{"id":"c","model":"m-1","service_tier":"flex","choices":[{"index":0,"finish_reason":"stop"},{"index":1,"finish_reason":"an odd one"}],` + usage + `}`, tacho.WithConventions(tacho.ConventionsLatest), map[string]any{
			"gen_ai.request.choice.count": int64(2), "gen_ai.request.max_tokens": int64(9), "gen_ai.request.temperature": 0.5, "gen_ai.request.top_p": 0.9, "gen_ai.request.top_k": int64(40), "gen_ai.request.seed": int64(7),
			"gen_ai.request.frequency_penalty": 0.1, "gen_ai.request.presence_penalty": -0.2, "openai.request.service_tier": "flex",
			"gen_ai.request.previous_response.id": "resp_1", "gen_ai.request.reasoning.level": "low", "gen_ai.output.type": "json", "openai.response.service_tier": "flex", "openai.api.type": "chat_completions",
			"gen_ai.response.id": "c", "gen_ai.response.model": "m-1", "gen_ai.response.finish_reasons": []string{"stop", "_OTHER"},
			"gen_ai.usage.input_tokens": int64(9), "gen_ai.usage.output_tokens": int64(5), "gen_ai.usage.cache_read.input_tokens": int64(4), "gen_ai.usage.cache_write.input_tokens": int64(3), "gen_ai.usage.reasoning.output_tokens": int64(2),
		}},
		{"v1.41", chatPath, `{"model":"m","n":1,"service_tier":"auto"}`, `{` + usage + `}`, tacho.WithConventions(tacho.ConventionsV141), map[string]any{
			"gen_ai.usage.input_tokens": int64(9), "gen_ai.usage.output_tokens": int64(5), "gen_ai.usage.cache_read.input_tokens": int64(4), "gen_ai.usage.cache_creation.input_tokens": int64(3), "gen_ai.usage.reasoning.output_tokens": int64(2),
			"openai.api.type": "chat_completions",
		}},
		{"both", responsesPath, `{"model":"m","text":{"format":{"type":"text"}},"reasoning":{"effort":"high"}}`, `{"status":"completed",` + usage + `}`, tacho.WithConventions(tacho.ConventionsBoth), map[string]any{
			"gen_ai.usage.input_tokens": int64(9), "gen_ai.usage.output_tokens": int64(5), "gen_ai.usage.cache_read.input_tokens": int64(4), "gen_ai.usage.cache_creation.input_tokens": int64(3), "gen_ai.usage.cache_write.input_tokens": int64(3),
			"gen_ai.usage.reasoning.output_tokens": int64(2), "openai.api.type": "responses", "gen_ai.output.type": "text", "gen_ai.request.reasoning.level": "high", "gen_ai.response.finish_reasons": []string{"stop"},
		}},
		{"by modality", chatPath, `{"model":"m"}`, `{"system_fingerprint":"fp_1","usage":{"prompt_tokens":9,"completion_tokens":7,"prompt_tokens_details":{"audio_tokens":4,"text_tokens":0},"completion_tokens_details":{"text_tokens":2,"image_tokens":5,"audio_tokens":0}}}`, tacho.WithConventions(tacho.ConventionsLatest), map[string]any{
			"gen_ai.usage.input_tokens": int64(9), "gen_ai.usage.output_tokens": int64(7), "gen_ai.usage.audio.input_tokens": int64(4), "gen_ai.usage.text.output_tokens": int64(2), "gen_ai.usage.image.output_tokens": int64(5),
			"openai.api.type": "chat_completions", "openai.response.system_fingerprint": "fp_1",
		}},
		{"by modality, v1.41", chatPath, `{"model":"m"}`, `{"system_fingerprint":"fp 1","usage":{"prompt_tokens":9,"prompt_tokens_details":{"audio_tokens":4}}}`, tacho.WithConventions(tacho.ConventionsV141), map[string]any{
			"gen_ai.usage.input_tokens": int64(9), "openai.api.type": "chat_completions", "openai.response.system_fingerprint": "_OTHER",
		}},
		{"embeddings", "/v1/embeddings", `{"model":"m","encoding_format":"base64","dimensions":256,"input":"x"}`, `{"model":"e","usage":{"prompt_tokens":8}}`, tacho.WithConventions(tacho.ConventionsLatest), map[string]any{
			"gen_ai.operation.name": "embeddings", "gen_ai.request.encoding_formats": []string{"base64"}, "gen_ai.embeddings.dimension.count": int64(256), "gen_ai.response.model": "e", "gen_ai.usage.input_tokens": int64(8),
		}},
		{"images", "/v1/images/generations", `{"model":"m","n":3}`, `{"data":[]}`, tacho.WithConventions(tacho.ConventionsLatest), map[string]any{
			"gen_ai.operation.name": "image_generation", "gen_ai.output.type": "image", "gen_ai.request.choice.count": int64(3), "tacho.outcome": "error", "error.type": "unknown_url", // sim has no such route
		}},
		{"speech", "/v1/audio/speech", `{"model":"m","input":"x"}`, `RIFF`, tacho.WithConventions(tacho.ConventionsLatest), map[string]any{"gen_ai.operation.name": "speech", "gen_ai.output.type": "speech", "tacho.outcome": "error", "error.type": "unknown_url"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			ended := spansOf(t, sim.Script{Body: []byte(tc.response), ContentType: "application/json"}, tc.path, tc.request, nil, tc.opt)
			if len(ended) != 1 {
				t.Fatalf("%d spans", len(ended))
			}
			got := attributes(ended[0].Attributes())
			want := map[string]any{"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m", "server.address": "sim.invalid", "server.port": int64(80), "tacho.outcome": "complete", "tacho.connection.reused": false}
			for k, v := range tc.want {
				want[k] = v
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for k := range got {
				if !strings.Contains(conv.AttributeTable(), "| `"+k+"` |") {
					t.Errorf("%s is not in the table of attributes", k)
				}
			}
		})
	}
}

// TestSpanEvents has the first token and the gaps beyond the limit.
func TestSpanEvents(t *testing.T) {
	t.Parallel()
	s := sim.Script{HeaderDelay: 100 * ms, Steps: []sim.Step{sim.Text(0, "a"), sim.Text(0, "b").After(6 * time.Second), sim.Text(0, "c").After(2 * time.Second), sim.Finish(0, "stop"), sim.Done()}}
	for _, tc := range []struct {
		name string
		opts []tacho.Option
		want map[string]time.Duration
	}{
		{"default", nil, map[string]time.Duration{"tacho.first_token": 100 * ms, "tacho.stall 6": 6100 * ms}},
		{"a limit of 1 s", []tacho.Option{tacho.WithStallLimit(time.Second)}, map[string]time.Duration{"tacho.first_token": 100 * ms, "tacho.stall 6": 6100 * ms, "tacho.stall 2": 8100 * ms}},
		{"none", []tacho.Option{tacho.WithStallLimit(0)}, map[string]time.Duration{"tacho.first_token": 100 * ms}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			span := spansOf(t, s, chatPath, chatStream, nil, tc.opts...)[0]
			got := map[string]time.Duration{}
			for _, e := range span.Events() {
				name := e.Name
				for _, a := range e.Attributes {
					name += " " + a.Value.String()
				}
				got[name] = e.Time.Sub(span.StartTime())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestSpanContext puts what the context says on the span, and enriches a span of
// the same operation that a framework has begun.
func TestSpanContext(t *testing.T) {
	t.Parallel()
	s := sim.Script{Text: "a", Model: "m-1"}
	ended := spansOf(t, s, chatPath, chatPlain, func(ctx context.Context, _ trace.Tracer) context.Context {
		ctx = tacho.ContextWithConversation(ctx, "conv-1")
		ctx = tacho.ContextWithAttributes(ctx, attribute.String("app.tenant", "t"))
		return tacho.ContextWithAttributes(ctx, attribute.Int("app.turn", 3))
	})
	got := attributes(ended[0].Attributes())
	if got["gen_ai.conversation.id"] != "conv-1" || got["app.tenant"] != "t" || got["app.turn"] != int64(3) {
		t.Errorf("attributes %v", got)
	}
	for name, tc := range map[string]struct {
		operation string
		spans     int
	}{"the same operation": {"chat", 1}, "another": {"invoke_agent", 2}, "none": {"", 2}} {
		ended := spansOf(t, s, chatPath, chatPlain, func(ctx context.Context, tr trace.Tracer) context.Context {
			var attrs []attribute.KeyValue
			if tc.operation != "" {
				attrs = append(attrs, attribute.String("gen_ai.operation.name", tc.operation))
			}
			ctx, _ = tr.Start(ctx, "framework's", trace.WithAttributes(attrs...))
			return ctx
		})
		if len(ended) != tc.spans {
			t.Errorf("%s: %d spans, want %d", name, len(ended), tc.spans)
		}
		last := ended[len(ended)-1]
		if model := attributes(last.Attributes())["gen_ai.response.model"]; last.Name() != "framework's" || (model == "m-1") != (tc.spans == 1) {
			t.Errorf("%s: the framework's span is %q with the model %v", name, last.Name(), model)
		}
	}
}

// TestExecuteTool has the span of a tool, with the type of its error and no text.
func TestExecuteTool(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		f      func(context.Context) error
		want   map[string]any
		status codes.Code
	}{
		{"fine", func(context.Context) error { return nil }, map[string]any{}, codes.Unset},
		{"failed", func(context.Context) error { return errors.New("secret") }, map[string]any{"error.type": "errors.errorString"}, codes.Error},
		{"panicked", func(context.Context) error { panic("secret") }, map[string]any{"error.type": "panic"}, codes.Error},
	} {
		recorder := tracetest.NewSpanRecorder()
		ctx, parent := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer("app").Start(t.Context(), "app")
		func() {
			defer func() {
				if p := recover(); (p != nil) != (tc.name == "panicked") {
					t.Errorf("%s: panic %v", tc.name, p)
				}
			}()
			inside := false
			err := tacho.ExecuteTool(ctx, "get_weather", "call_1", func(ctx context.Context) error {
				inside = trace.SpanContextFromContext(ctx).SpanID() != parent.SpanContext().SpanID()
				return tc.f(ctx)
			})
			if !inside || (err != nil) != (tc.name == "failed") {
				t.Errorf("%s: error %v, a span of its own %v", tc.name, err, inside)
			}
		}()
		ended := recorder.Ended()
		if len(ended) != 1 {
			t.Fatalf("%s: %d spans", tc.name, len(ended))
		}
		want := map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather", "gen_ai.tool.call.id": "call_1"}
		for k, v := range tc.want {
			want[k] = v
		}
		s := ended[0]
		if diff := cmp.Diff(want, attributes(s.Attributes())); diff != "" || s.Name() != "execute_tool get_weather" || s.SpanKind() != trace.SpanKindInternal || s.Status().Code != tc.status || s.Status().Description == "secret" {
			t.Errorf("%s: %q, %v, %+v (-want +got)\n%s", tc.name, s.Name(), s.SpanKind(), s.Status(), diff)
		}
	}
	if err := tacho.ExecuteTool(t.Context(), "f", "", func(context.Context) error { return nil }); err != nil {
		t.Errorf("without a provider: %v", err)
	}
}

// TestExecuteToolBelowRemote makes the span by the global provider where the
// context has a span of another process alone.
func TestExecuteToolBelowRemote(t *testing.T) { //nolint:paralleltest // sets the global provider
	recorder := tracetest.NewSpanRecorder()
	before := otel.GetTracerProvider()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)))
	defer otel.SetTracerProvider(before)
	remote := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, Remote: true})
	if err := tacho.ExecuteTool(trace.ContextWithRemoteSpanContext(t.Context(), remote), "f", "", func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
	if ended := recorder.Ended(); len(ended) != 1 || ended[0].Parent().SpanID() != remote.SpanID() {
		t.Errorf("spans %v", ended)
	}
}

// seen is a sampler that keeps what it is shown.
type seen struct{ attrs []attribute.KeyValue }

func (s *seen) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	s.attrs = p.Attributes
	return sdktrace.SamplingResult{Decision: sdktrace.Drop}
}

func (s *seen) Description() string { return "seen" }

// TestSamplersSee holds what a span has at its creation.
func TestSamplersSee(t *testing.T) {
	t.Parallel()
	s := new(seen)
	rt := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { return answer(`{}`), nil }),
		tacho.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(s))), tacho.WithoutMetrics())
	req := newRequest(tacho.ContextWithAttributes(t.Context(), attribute.String("own", "a")), t, "http://host.invalid:81/v1/chat/completions", `{"model":"m"}`)
	req.Header.Set("X-Stainless-Retry-Count", "2")
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
	set := attribute.NewSet(s.attrs...)
	if got, want := set.Encoded(attribute.DefaultEncoder()), "gen_ai.operation.name=chat,gen_ai.provider.name=openai,gen_ai.request.model=m,own=a,server.address=host.invalid,server.port=81,tacho.attempt=3"; got != want {
		t.Errorf("a sampler sees %s, want %s", got, want)
	}
}
