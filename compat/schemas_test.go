// SPDX-License-Identifier: Apache-2.0

package compat_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.opentelemetry.io/otel/attribute"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/tacho-go/tacho"
)

// contentSchemas are OpenTelemetry's, by the attribute that each describes.
var contentSchemas = map[string]string{
	"gen_ai.input.messages":      "gen-ai-input-messages.json",
	"gen_ai.output.messages":     "gen-ai-output-messages.json",
	"gen_ai.system_instructions": "gen-ai-system-instructions.json",
	"gen_ai.tool.definitions":    "gen-ai-tool-definitions.json",
}

// partSchemas are those of the parts of messages, by type: a list's schema lets
// any object pass that has a type.
var partSchemas = map[string]string{
	"text": "TextPart", "reasoning": "ReasoningPart", "tool_call": "ToolCallRequestPart", "tool_call_response": "ToolCallResponsePart",
	"server_tool_call": "ServerToolCallPart", "server_tool_call_response": "ServerToolCallResponsePart",
	"blob": "BlobPart", "file": "FilePart", "uri": "UriPart",
}

// logExporter keeps the records of the logs' SDK.
type logExporter struct {
	mu      sync.Mutex
	records []sdklog.Record
}

func (e *logExporter) Export(_ context.Context, records []sdklog.Record) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range records {
		e.records = append(e.records, records[i].Clone())
	}
	return nil
}
func (e *logExporter) Shutdown(context.Context) error   { return nil }
func (e *logExporter) ForceFlush(context.Context) error { return nil }

type answering func() *http.Response

func (f answering) RoundTrip(r *http.Request) (*http.Response, error) {
	io.Copy(io.Discard, r.Body)
	return f(), nil
}

// TestContentSchemas validates what spans and events have of content by
// OpenTelemetry's JSON schemas, over requests and answers with every kind of part,
// through the SDKs of traces and logs.
func TestContentSchemas(t *testing.T) {
	t.Parallel()
	compiler := jsonschema.NewCompiler()
	schemas := map[string]*jsonschema.Schema{}
	for key, file := range contentSchemas {
		s, err := compiler.Compile(filepath.Join("testdata", "genai-schemas", file))
		if err != nil {
			t.Fatal(err)
		}
		schemas[key] = s
	}
	parts := map[string]*jsonschema.Schema{}
	for kind, def := range partSchemas {
		s, err := compiler.Compile(filepath.Join("testdata", "genai-schemas", "gen-ai-input-messages.json") + "#/$defs/" + def)
		if err != nil {
			t.Fatal(err)
		}
		parts[kind] = s
	}
	seen := map[string]int{}
	for name, tc := range map[string]struct{ path, request, kind, answer string }{
		"chat": {"/chat/completions", `{"model":"m","messages":[{"role":"system","content":"be"},{"role":"user","name":"n","content":[{"type":"text","text":"t"},
			{"type":"image_url","image_url":{"url":"https://h/a.png?x=1"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("A", 3000) + `"}},
			{"type":"input_audio","input_audio":{"data":"UklG","format":"wav"}},{"type":"file","file":{"file_id":"f"}},{"type":"odd","n":1.5}]},
			{"role":"assistant","content":null,"reasoning":"r","refusal":"no","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\":[1,{}]}"}},{"function":{}}]},{"role":"tool","tool_call_id":"c","content":"[1]"},{"role":"tool"},null,{}],
			"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"array"}}}}},{"type":"custom","custom":{"name":"g"}},{}]}`,
			"application/json", `{"choices":[{"index":0,"message":{"content":"a","reasoning":"r","refusal":"no","audio":{"transcript":"t","data":"x"},"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\":1}"}},{"function":{"arguments":"broken {"}}]},"finish_reason":"tool_calls"},{"index":1,"message":{"content":"` + strings.Repeat("long ", 500) + `"},"finish_reason":null}]}`},
		"chat stream": {"/chat/completions", `{"stream":true,"messages":"odd","tools":null}`, "text/event-stream",
			"data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\"}}]},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"},
		"responses": {"/responses", `{"instructions":"be","input":[{"role":"user","content":[{"type":"input_text","text":"t"},{"type":"input_image","file_id":"f"},{"type":"input_file","file_url":"https://h/b.pdf"}]},{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}]},
			{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"3"},{"type":"web_search_call","id":"w","action":{"query":"q"}}],"tools":[{"type":"function","name":"f","parameters":null},{"type":"web_search"},{"type":"mcp","server_label":"s"}]}`,
			"application/json", `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},
			{"type":"mcp_call","id":"m","server_label":"s","name":"g","arguments":"{\"a\":1}","output":"o","error":null},{"type":"mcp_list_tools","id":"l","server_label":"s","tools":[{"name":"g","input_schema":{}}]},{"type":"web_search_call"},
			{"type":"code_interpreter_call","id":"i","code":"print(1)","outputs":[{"type":"logs","logs":"1"}]},{"type":"image_generation_call","id":"p","result":"iVBO"},{"type":"computer_call","call_id":"k","action":{"type":"wait"}},{"type":"local_shell_call"},{"type":"odd_one","x":1}]}`},
		"completions": {"/completions", `{"prompt":["a","b"]}`, "application/json", `{"choices":[{"index":0,"text":"x","finish_reason":"length"},{"index":1,"text":"y","finish_reason":"odd"}]}`},
	} {
		spans, exporter := tracetest.NewSpanRecorder(), new(logExporter)
		rt := tacho.NewTransport(answering(func() *http.Response {
			return &http.Response{StatusCode: 200, Proto: "HTTP/1.1", Header: http.Header{"Content-Type": {tc.kind}}, ContentLength: -1, Body: io.NopCloser(strings.NewReader(tc.answer))}
		}), tacho.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))), tacho.WithoutMetrics(),
			tacho.WithLoggerProvider(sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewSimpleProcessor(exporter)))),
			tacho.WithContent(tacho.ContentOnSpansAndEvents), tacho.WithContentLimits(1000, 0))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://host.invalid/v1"+tc.path, strings.NewReader(tc.request))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()

		validate := func(where, key string, v any) {
			seen[key]++
			if err := schemas[key].Validate(v); err != nil {
				t.Errorf("%s: %s on the %s: %v", name, key, where, err)
			}
			if key == "gen_ai.tool.definitions" {
				return
			}
			for _, e := range v.([]any) {
				m := e.(map[string]any)
				list, ok := m["parts"].([]any)
				if !ok {
					list = []any{m} // instructions are parts themselves
				}
				for _, p := range list {
					kind, _ := p.(map[string]any)["type"].(string)
					seen[kind]++
					if s := parts[kind]; s != nil {
						if err := s.Validate(p); err != nil {
							t.Errorf("%s: a part of type %s on the %s: %v", name, kind, where, err)
						}
					}
				}
			}
		}
		for _, kv := range spans.Ended()[0].Attributes() {
			if schemas[string(kv.Key)] == nil {
				continue
			}
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(kv.Value.AsString()))
			if err != nil {
				t.Fatal(err)
			}
			validate("span", string(kv.Key), v)
		}
		if len(exporter.records) != 1 {
			t.Fatalf("%s: %d events", name, len(exporter.records))
		}
		r := exporter.records[0]
		if id := spans.Ended()[0].SpanContext(); r.SpanID() != id.SpanID() || r.TraceID() != id.TraceID() {
			t.Errorf("%s: the event is not of the call's span", name)
		}
		r.WalkAttributes(func(kv attribute.KeyValue) bool {
			if schemas[string(kv.Key)] != nil {
				b, err := json.Marshal(plain(kv.Value))
				if err != nil {
					t.Fatal(err)
				}
				v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
				if err != nil {
					t.Fatal(err)
				}
				validate("event", string(kv.Key), v)
			}
			return true
		})
	}
	for key := range schemas {
		if seen[key] < 2 {
			t.Errorf("%s was validated %d times", key, seen[key])
		}
	}
	for kind := range parts {
		if seen[kind] < 2 {
			t.Errorf("parts of type %s were validated %d times", kind, seen[kind])
		}
	}
	t.Logf("validated: %v", seen)
}

// plain is a value of OpenTelemetry as encoding/json writes it.
func plain(v attribute.Value) any {
	switch v.Type() {
	case attribute.SLICE:
		list := []any{}
		for _, e := range v.AsSlice() {
			list = append(list, plain(e))
		}
		return list
	case attribute.MAP:
		m := map[string]any{}
		for _, kv := range v.AsMap() {
			m[string(kv.Key)] = plain(kv.Value)
		}
		return m
	}
	return v.AsInterface()
}
