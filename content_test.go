// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.opentelemetry.io/otel"

	"github.com/tacho-go/tacho"
)

const (
	richRequest = `{"model":"m","instructions":"be <kind> & brief","input":"hi","tools":[{"type":"function","name":"f","parameters":{"type":"object","required":["x"]}}]}`
	richAnswer  = `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]},{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"x\":[1,2.5,true,null,\"y\"]}"}]}`
)

// richContent is what a span has of it.
var richContent = map[string]any{
	"gen_ai.input.messages":      `[{"parts":[{"content":"hi","type":"text"}],"role":"user"}]`,
	"gen_ai.output.messages":     `[{"finish_reason":"tool_call","parts":[{"content":"a","type":"text"},{"arguments":{"x":[1,2.5,true,null,"y"]},"id":"c1","name":"f","type":"tool_call"}],"role":"assistant"}]`,
	"gen_ai.system_instructions": `[{"content":"be <kind> & brief","type":"text"}]`,
	"gen_ai.tool.definitions":    `[{"name":"f","parameters":{"required":["x"],"type":"object"},"type":"function"}]`,
}

// contentOf are the attributes that hold content.
func contentOf(attributes map[string]any) map[string]any {
	m := map[string]any{}
	for k, v := range attributes {
		switch k {
		case "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions", "gen_ai.tool.definitions", "gen_ai.request.stop_sequences":
			m[k] = v
		}
	}
	return m
}

// TestContentModes: what is on spans and on events in each mode.
func TestContentModes(t *testing.T) {
	t.Parallel()
	values := map[string]any{}
	for k, v := range richContent {
		var x any
		if err := json.Unmarshal([]byte(v.(string)), &x); err != nil {
			t.Fatal(err)
		}
		values[k] = x
	}
	for _, tc := range []struct {
		mode                 tacho.ContentMode
		spans, event, record bool
	}{
		{tacho.NoContent, false, false, false},
		{tacho.ContentOnSpans, true, false, true},
		{tacho.ContentOnEvents, false, true, true},
		{tacho.ContentOnSpansAndEvents, true, true, true},
		{tacho.ContentInRecord, false, false, true},
	} {
		t.Run(fmt.Sprint(tc.mode), func(t *testing.T) {
			t.Parallel()
			o := observe(t, responsesPath, richRequest, 200, plainType, richAnswer, tacho.WithContent(tc.mode))
			want := map[string]any{}
			if tc.spans {
				want = richContent
			}
			if diff := cmp.Diff(want, contentOf(o.span)); diff != "" {
				t.Errorf("span (-want +got)\n%s", diff)
			}
			details := o.logs.named("gen_ai.client.inference.operation.details")
			if tc.event != (len(details) == 1) || len(o.logs.records) != len(details) {
				t.Fatalf("%d events of details", len(details))
			}
			if tc.event {
				d := details[0]
				if diff := cmp.Diff(values, contentOf(d.Attributes)); diff != "" {
					t.Errorf("event (-want +got)\n%s", diff)
				}
				for k, v := range o.span {
					if contentOf(map[string]any{k: v})[k] == nil && !cmp.Equal(v, d.Attributes[k]) {
						t.Errorf("%s is %v on the span and %v on the event", k, v, d.Attributes[k])
					}
				}
				if d.Severity != "DEBUG" || !d.Traced {
					t.Errorf("severity %s, in a trace: %v", d.Severity, d.Traced)
				}
			}
			rec := record(t, o.call)
			wantRecord := []any{nil, nil}
			if tc.record {
				wantRecord = []any{"a", []any{map[string]any{"index": 0.0, "id": "c1", "name": "f", "arguments": `{"x":[1,2.5,true,null,"y"]}`}}}
			}
			if diff := cmp.Diff(wantRecord, []any{rec["text"], rec["tool_calls"]}); diff != "" {
				t.Errorf("record (-want +got)\n%s", diff)
			}
			if (o.call.Content() != nil) != tc.record {
				t.Error("the record's content")
			}
		})
	}
}

// TestContentEnvironment: the variable says where an option of content is given,
// and WithContent overrides it. Without one it is reported.
func TestContentEnvironment(t *testing.T) { //nolint:paralleltest // sets the environment
	for value, want := range map[string]tacho.ContentMode{
		"": tacho.NoContent, "NO_CONTENT": tacho.NoContent, "false": tacho.NoContent, "whatever": tacho.NoContent, "1": tacho.NoContent,
		"SPAN_ONLY": tacho.ContentOnSpans, "span_only": tacho.ContentOnSpans, "EVENT_ONLY": tacho.ContentOnEvents,
		"SPAN_AND_EVENT": tacho.ContentOnSpansAndEvents, "true": tacho.ContentOnSpansAndEvents, "True": tacho.ContentOnSpansAndEvents,
	} {
		t.Setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", value)
		if got := tacho.ContentFromEnv(); got != want {
			t.Errorf("%q is %d, want %d", value, got, want)
		}
		o := observe(t, responsesPath, richRequest, 200, plainType, richAnswer)
		if span, events := len(contentOf(o.span)) > 0, len(o.logs.records) > 0; span != (want&tacho.ContentOnSpans != 0) || events != (want&tacho.ContentOnEvents != 0) {
			t.Errorf("%q: on the span %v, on events %v", value, span, events)
		}
		if o := observe(t, responsesPath, richRequest, 200, plainType, richAnswer, tacho.WithContent(tacho.NoContent)); o.call.Content() != nil || len(contentOf(o.span)) > 0 {
			t.Errorf("%q overrides the option", value)
		}
	}
}

// TestContentLimits: what is cut, and how it is marked.
func TestContentLimits(t *testing.T) {
	t.Parallel()
	limits := func(part, all int) []tacho.Option {
		return []tacho.Option{tacho.WithContent(tacho.ContentInRecord), tacho.WithContentLimits(part, all)}
	}
	t.Run("parts", func(t *testing.T) {
		t.Parallel()
		o := observe(t, chatPath,
			`{"messages":[{"role":"user","content":"0123456789é\n😀end"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAAAAAAAAAA"}}]},{"role":"tool","content":"ééééééé"}]}`,
			200, streamType, events(
				`{"choices":[{"index":0,"delta":{"content":"01234"}}]}`, `{"choices":[{"index":0,"delta":{"content":"56789é"}}]}`, `{"choices":[{"index":0,"delta":{"content":"after"}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a\":\"0123456789\"}"}}]}}]}`,
				`{"choices":[{"index":1,"delta":{"content":"short"},"finish_reason":"stop"}]}`, "[DONE]"), limits(10, 0)...)
		cut := func(p tacho.Part, n int64) tacho.Part {
			p.Cut = n
			return p
		}
		want := &tacho.Content{
			Input: []tacho.Message{
				{Role: "user", Parts: []tacho.Part{cut(said("0123456789…[cut by tacho: 6 characters]"), 6)}},
				{Role: "user", Parts: []tacho.Part{{Type: tacho.PartBlob, Modality: "image", Text: "[cut by tacho: 34 bytes]", Cut: 34}}},
				{Role: "tool", Parts: []tacho.Part{{Type: tacho.PartToolResponse, Response: "ééééé…[cut by tacho: 2 characters]", Cut: 2}}}},
			Output: []tacho.Message{
				assistant(0, "error", cut(said("0123456789…[cut by tacho: 6 characters]"), 6), cut(asked(0, "c", "f", `{"a":"0123…[cut by tacho: 8 characters]`), 8)),
				assistant(1, "stop", said("short"))},
		}
		if diff := cmp.Diff(want, o.call.Content(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("all", func(t *testing.T) {
		t.Parallel()
		o := observe(t, chatPath, `{"messages":[{"role":"user","content":"one"},{"role":"user","content":"two"},{"role":"user","content":"three"}]}`,
			200, plainType, `{"choices":[{"index":0,"message":{"content":"`+strings.Repeat("x", 90)+`"},"finish_reason":"stop"},{"index":1,"message":{"content":"`+strings.Repeat("y", 90)+`"},"finish_reason":"stop"}]}`,
			limits(1000, 100)...)
		x, y := said(strings.Repeat("x", 90)), said(strings.Repeat("y", 10)+"…[cut by tacho: 80 characters]")
		y.Cut = 80
		rest := said("…[cut by tacho: the rest of a request of more than 100 bytes]")
		rest.Cut = 1
		want := &tacho.Content{
			Input: []tacho.Message{{Role: "user", Parts: []tacho.Part{said("one")}}, {Role: "user", Parts: []tacho.Part{said("two")}},
				{Role: "user"}, {Role: "user", Parts: []tacho.Part{rest}}},
			Output: []tacho.Message{assistant(0, "stop", x), assistant(1, "stop", y)},
		}
		if diff := cmp.Diff(want, o.call.Content(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// TestCutCredentials: a limit that cuts a credential in two leaves no half of it.
func TestCutCredentials(t *testing.T) {
	t.Parallel()
	const key = requestKey
	for part := range 60 {
		o := observeBody(t, chatPath, `{"messages":[{"role":"user","content":"the key is `+key+` and so on, and so forth, for a while"}]}`, func() *http.Response {
			r := answer(`{"choices":[{"index":0,"message":{"content":"you said ` + key + ` and so on, and so forth, for a while"},"finish_reason":"stop"}]}`)
			r.Header = http.Header{}
			return r
		}, tacho.WithContent(tacho.ContentOnSpansAndEvents), tacho.WithContentLimits(part+1, 0))
		if all := fmt.Sprint(o.span, o.logs.records, record(t, o.call)); strings.Contains(all, key[:4]) {
			t.Fatalf("with a limit of %d bytes: %s", part+1, all)
		}
	}
}

// TestContentHook: what a hook leaves is all that is recorded.
func TestContentHook(t *testing.T) { //nolint:paralleltest // its errors go to a handler of the process
	var mu sync.Mutex
	var handled []string
	before := otel.GetErrorHandler()
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		mu.Lock()
		handled = append(handled, err.Error())
		mu.Unlock()
	}))
	defer otel.SetErrorHandler(before)
	const answerText = `{"choices":[{"index":0,"message":{"content":"secret word"},"finish_reason":"stop"}]}`
	for _, tc := range []struct { //nolint:paralleltest // they share the handler
		name   string
		hook   func(context.Context, *tacho.Call, *tacho.Content)
		text   any // of the record
		output any // of the span
		input  bool
	}{
		{"redacts", func(_ context.Context, _ *tacho.Call, c *tacho.Content) {
			for _, m := range c.Output {
				for i := range m.Parts {
					m.Parts[i].Text = strings.ReplaceAll(m.Parts[i].Text, "secret", "***")
				}
			}
		}, "*** word", `[{"finish_reason":"stop","parts":[{"content":"*** word","type":"text"}],"role":"assistant"}]`, true},
		{"replaces by a reference", func(_ context.Context, call *tacho.Call, c *tacho.Content) {
			*c = tacho.Content{Output: []tacho.Message{{Role: "assistant", FinishReason: "stop", Parts: []tacho.Part{{Type: tacho.PartURI, Modality: "text", URI: "s3://b/" + call.RequestModel()}}}}}
		}, nil, `[{"finish_reason":"stop","parts":[{"modality":"text","type":"uri","uri":"s3://b/m"}],"role":"assistant"}]`, false},
		{"drops", func(_ context.Context, _ *tacho.Call, c *tacho.Content) { *c = tacho.Content{} }, nil, nil, false},
		{"panics", func(_ context.Context, _ *tacho.Call, c *tacho.Content) { panic(c.Output[0].Parts[0].Text) }, nil, nil, false},
		{"a part of its own, and bytes that are no text", func(_ context.Context, _ *tacho.Call, c *tacho.Content) {
			c.Input = nil
			c.Output[0].Parts = []tacho.Part{{Type: "mine", JSON: `{"x":1}`, ID: "i", Name: "n"}, said("\xff")}
		}, "\ufffd", "[{\"finish_reason\":\"stop\",\"parts\":[{\"id\":\"i\",\"name\":\"n\",\"type\":\"mine\",\"x\":1},{\"content\":\"\\ufffd\",\"type\":\"text\"}],\"role\":\"assistant\"}]", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var seen []bool
			o := observe(t, chatPath, chatPlain, 200, plainType, answerText, tacho.WithContent(tacho.ContentOnSpansAndEvents),
				tacho.WithContentHook(func(ctx context.Context, call *tacho.Call, c *tacho.Content) {
					seen = append(seen, ctx != nil && call.Outcome() == tacho.Complete && call.Content() == nil && len(c.Input) == 1)
				}), tacho.WithContentHook(tc.hook))
			if len(seen) != 1 || !seen[0] {
				t.Errorf("the first hook saw %v", seen)
			}
			if got := record(t, o.call)["text"]; got != tc.text {
				t.Errorf("the record has %v, want %v", got, tc.text)
			}
			if got := o.span["gen_ai.output.messages"]; got != tc.output {
				t.Errorf("the span has %v, want %v", got, tc.output)
			}
			if _, got := o.span["gen_ai.input.messages"]; got != tc.input {
				t.Errorf("input on the span: %v", got)
			}
			details := o.logs.named("gen_ai.client.inference.operation.details")
			if n := len(details); n != 1 && tc.name != "panics" || n != 0 && tc.name == "panics" {
				t.Fatalf("%d events", n)
			}
			for _, d := range details {
				if _, got := d.Attributes["gen_ai.output.messages"]; got != (tc.output != nil) {
					t.Errorf("output on the event: %v", got)
				}
			}
			if all := fmt.Sprint(o.span, o.logs.records, record(t, o.call)); strings.Contains(all, "secret") {
				t.Errorf("the word leaks: %s", all)
			}
		})
	}
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"tacho: an observer or telemetry provider panicked with a string"}; !cmp.Equal(want, handled) {
		t.Errorf("handled %q", handled)
	}
}

// TestContentOfSentBodies: a body that can be read but once is captured while it
// is sent.
func TestContentOfSentBodies(t *testing.T) {
	t.Parallel()
	rt := quiet(roundTripper(func(r *http.Request) (*http.Response, error) {
		io.CopyBuffer(struct{ io.Writer }{io.Discard}, r.Body, make([]byte, 3)) // in pieces
		return answer(chatAnswer), nil
	}), tacho.WithContent(tacho.ContentInRecord))
	ctx, tr := tacho.Track(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hostURL, io.MultiReader(strings.NewReader(chatPlain)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
	want := []tacho.Message{{Role: "user", Parts: []tacho.Part{said("hello")}}}
	if diff := cmp.Diff(want, one(t, tr).Content().Input); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestCapturedStopSequences: they are told as they were sent, while content is.
func TestCapturedStopSequences(t *testing.T) {
	t.Parallel()
	const request = `{"model":"m","stop":["\n\n","the end"],"messages":[]}`
	o := observe(t, chatPath, request, 200, plainType, chatAnswer, tacho.WithContent(tacho.ContentOnSpans))
	if diff := cmp.Diff([]string{"\n\n", "the end"}, o.span["gen_ai.request.stop_sequences"]); diff != "" {
		t.Error(diff)
	}
	if o := observe(t, chatPath, request, 200, plainType, chatAnswer); o.span["gen_ai.request.stop_sequences"] != nil {
		t.Error("told without capture")
	}
}

// TestContentEdit reaches every text that is recorded: what it makes of them is
// all that spans and events have.
func TestContentEdit(t *testing.T) {
	t.Parallel()
	request := `{"model":"gpt-4o","messages":[{"role":"system","content":"SECRET1"},{"role":"user","name":"SECRET2","content":[{"type":"text","text":"SECRET3"},{"type":"image_url","image_url":{"url":"https://host.invalid/SECRET4"}}]},
		{"role":"assistant","tool_calls":[{"id":"SECRET5","type":"function","function":{"name":"SECRET6","arguments":"{\"a\":\"SECRET7\"}"}}]},{"role":"tool","tool_call_id":"SECRET5","content":"SECRET8"}],
		"tools":[{"type":"function","function":{"name":"SECRET9","description":"SECRET10","parameters":{"type":"object","description":"SECRET11"}}}],"stop":["SECRET12"]}`
	answer := `{"choices":[{"index":0,"message":{"content":"SECRET13","refusal":"SECRET14","reasoning_content":"SECRET15","tool_calls":[{"id":"SECRET16","type":"function","function":{"name":"SECRET17","arguments":"SECRET18"}}]},"finish_reason":"stop"}]}`
	seen := 0
	o := observe(t, chatPath, request, 200, plainType, answer, tacho.WithContent(tacho.ContentOnSpansAndEvents), tacho.WithContentHook(func(_ context.Context, _ *tacho.Call, c *tacho.Content) {
		c.Edit(func(s string) string {
			seen += strings.Count(s, "SECRET")
			return strings.ReplaceAll(s, "SECRET", "***")
		})
	}))
	if told := fmt.Sprint(contentOf(o.span), o.logs.records, toJSON(t, o.call)); strings.Contains(told, "SECRET") || !strings.Contains(told, "***18") {
		t.Errorf("told: %s", told)
	}
	if seen != 19 { // the id of the call stands twice
		t.Errorf("%d texts were edited, want 19", seen)
	}
}
