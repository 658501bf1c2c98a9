// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// TestCookbook has the counts that OpenAI's API reported for the cookbook's
// examples ("How to count tokens with tiktoken").
func TestCookbook(t *testing.T) {
	t.Parallel()
	const jargon = `"messages":[{"role":"system","content":"You are a helpful, pattern-following assistant that translates corporate jargon into plain English."},
		{"role":"system","name":"example_user","content":"New synergies will help drive top-line growth."},
		{"role":"system","name":"example_assistant","content":"Things working well together will increase revenue."},
		{"role":"system","name":"example_user","content":"Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage."},
		{"role":"system","name":"example_assistant","content":"Let's talk later when we're less busy about how to do better."},
		{"role":"user","content":"This late pivot means we don't have time to boil the ocean for the client deliverable."}]`
	const weather = `"messages":[{"role":"system","content":"You are a helpful assistant that can answer to questions about the weather."},{"role":"user","content":"What's the weather like in San Francisco?"}],
		"tools":[{"type":"function","function":{"name":"get_current_weather","description":"Get the current weather in a given location","parameters":{"type":"object","properties":{
			"location":{"type":"string","description":"The city and state, e.g. San Francisco, CA"},"unit":{"type":"string","description":"The unit of temperature to return","enum":["celsius","fahrenheit"]}},"required":["location"]}}}]`
	for _, tc := range []struct {
		model, rest string
		want        int
	}{
		{"gpt-3.5-turbo", jargon, 129}, {"gpt-4-0613", jargon, 129}, {"gpt-4", jargon, 129}, {"gpt-4o", jargon, 124}, {"gpt-4o-mini", jargon, 124},
		{"gpt-3.5-turbo", weather, 105}, {"gpt-4", weather, 105}, {"gpt-4o", weather, 101}, {"gpt-4o-mini", weather, 101},
	} {
		got, err := tacho.CountChat([]byte(`{"model":"` + tc.model + `",` + tc.rest + `}`))
		if err != nil || got.Total() != tc.want || got.Guess || got.Model != tc.model {
			t.Errorf("%s: %d, %v, want %d (%+v)", tc.model, got.Total(), err, tc.want, got)
		}
	}
	if got, err := tacho.CountChat([]byte(`{"model":"gpt-9","messages":[]}`)); err != nil || !got.Guess || got.Encoding != "o200k_base" {
		t.Errorf("an unknown model: %+v, %v", got, err)
	}
	if _, err := tacho.CountChat([]byte(`{"model":"llama","messages":[]}`)); err == nil {
		t.Error("a model of others is counted")
	}
}

// TestTokenCounter counts what streams and answers say, in whatever pieces, with
// and without capture of content.
func TestTokenCounter(t *testing.T) {
	t.Parallel()
	enc, err := tacho.EncodingByName("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	sse := func(events ...string) string { return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n" }
	said := func(delta string) string { return `{"choices":[{"index":0,"delta":` + delta + `}]}` }
	args := `{"city":"Oslo","unit":"celsius"}`
	for _, tc := range []struct {
		name, path, request, answer string
		want                        tacho.Counted
		drift                       *tacho.Drift
	}{
		{"a stream", "chat/completions", `{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"hi"}]}`,
			sse(said(`{"role":"assistant","content":""}`), said(`{"content":"The quick"}`), said(`{"content":" brown fox jum"}`), said(`{"content":"ps \u00fcber 日本"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]"),
			tacho.Counted{Input: 8, HasInput: true, Output: enc.Count("The quick brown fox jumps über 日本"), First: 2}, nil},
		{"reasoning and usage", "chat/completions", `{"model":"gpt-4o","stream":true,"messages":[]}`,
			sse(said(`{"reasoning_content":"Let me think"}`), said(`{"content":"Yes."}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":7,"completion_tokens_details":{"reasoning_tokens":4}}}`, "[DONE]"),
			tacho.Counted{HasInput: true, Output: enc.Count("Let me think") + enc.Count("Yes."), Reasoning: enc.Count("Let me think"), First: 3},
			&tacho.Drift{Input: -3, HasInput: true, Output: int64(enc.Count("Let me think")+enc.Count("Yes.")) - 7, HasOutput: true}},
		{"a tool call", "chat/completions", `{"model":"gpt-4o","stream":true,"messages":[]}`,
			sse(said(`{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]}`), said(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":\"Os"}}]}`), said(`{"tool_calls":[{"index":0,"function":{"arguments":"lo\",\"unit\":\"celsius\"}"}}]}`), "[DONE]"),
			tacho.Counted{HasInput: true, Output: enc.Count(args) + enc.Count("f")}, nil},
		{"two choices in turns", "chat/completions", `{"model":"gpt-4o","n":2,"stream":true,"messages":[]}`,
			sse(`{"choices":[{"index":0,"delta":{"content":"Inter"}}]}`, `{"choices":[{"index":1,"delta":{"content":"Inter"}}]}`, `{"choices":[{"index":0,"delta":{"content":"nation"}}]}`, `{"choices":[{"index":1,"delta":{"content":"nation"}}]}`, `{"choices":[{"index":0,"delta":{"content":"alization"}}]}`, `{"choices":[{"index":1,"delta":{"content":"alization"}}]}`, "[DONE]"),
			tacho.Counted{HasInput: true, Output: 2 * enc.Count("Internationalization"), First: enc.Count("Inter")}, nil},
		{"two calls in turns", "chat/completions", `{"model":"gpt-4o","stream":true,"messages":[]}`,
			sse(said(`{"tool_calls":[{"index":0,"id":"c","function":{"name":"get_weather","arguments":"Inter"}}]}`), said(`{"tool_calls":[{"index":1,"id":"d","function":{"name":"f","arguments":"Inter"}}]}`), said(`{"tool_calls":[{"index":0,"function":{"arguments":"national"}}]}`), said(`{"tool_calls":[{"index":1,"function":{"arguments":"national"}}]}`), "[DONE]"),
			tacho.Counted{HasInput: true, Output: 2*enc.Count("International") + enc.Count("get_weather") + enc.Count("f"), First: enc.Count("Inter")}, nil},
		{"two choices", "chat/completions", `{"model":"gpt-4o","n":2,"stream":true,"messages":[]}`,
			sse(`{"choices":[{"index":0,"delta":{"content":"one"}}]}`, `{"choices":[{"index":1,"delta":{"content":" two three"}}]}`, "[DONE]"),
			tacho.Counted{HasInput: true, Output: 3, First: 1}, nil},
		{"a whole answer", "chat/completions", `{"model":"gpt-4o","messages":[]}`, `{"choices":[{"index":0,"message":{"content":"one two three"},"finish_reason":"stop"}],"usage":{"prompt_tokens":0,"completion_tokens":3}}`,
			tacho.Counted{HasInput: true, Output: 3}, &tacho.Drift{HasInput: true, HasOutput: true}},
		{"responses", "responses", `{"model":"gpt-4o","stream":true,"input":"x"}`,
			sse(`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"one two"}`, `{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":" three"}`, `{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"one two three"}`, `{"type":"response.completed","response":{"status":"completed"}}`),
			tacho.Counted{Output: 3, First: 2}, nil},
		{"completions", "completions", `{"model":"gpt-3.5-turbo-instruct","stream":true,"prompt":"x"}`, sse(`{"choices":[{"index":0,"text":"one two"}]}`, "[DONE]"), tacho.Counted{Output: 2, First: 2}, nil},
		{"a guess", "chat/completions", `{"model":"gpt-9","messages":[]}`, `{"choices":[{"index":0,"message":{"content":"one"},"finish_reason":"stop"}]}`, tacho.Counted{HasInput: true, Output: 1, Guess: true}, nil},
	} {
		for _, way := range []struct {
			name string
			opts []tacho.Option
			cut  func(io.Reader) io.Reader
		}{
			{"", nil, func(r io.Reader) io.Reader { return r }},
			{", byte by byte", nil, iotest.OneByteReader},
			{", captured", []tacho.Option{tacho.WithContent(tacho.ContentInRecord)}, func(r io.Reader) io.Reader { return r }},
			{", captured in part", []tacho.Option{tacho.WithContent(tacho.ContentInRecord), tacho.WithContentLimits(3, 3)}, iotest.HalfReader},
		} {
			rt := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
				resp := answer(tc.answer)
				if strings.HasPrefix(tc.answer, "data:") {
					resp.Header.Set("Content-Type", "text/event-stream")
				}
				resp.Body = io.NopCloser(way.cut(strings.NewReader(tc.answer)))
				return resp, nil
			}), append(way.opts, tacho.WithTokenCounter(tacho.TokenCounting{}), tacho.WithoutTracing(), tacho.WithoutMetrics())...)
			ctx, tr := tacho.Track(t.Context())
			resp, err := rt.RoundTrip(newRequest(ctx, t, "http://host.invalid/v1/"+tc.path, tc.request))
			if err != nil {
				t.Fatal(err)
			}
			readAll(resp)
			c := one(t, tr)
			got, ok := c.Counted()
			if diff := cmp.Diff(tc.want, got); diff != "" || !ok {
				t.Errorf("%s%s (-want +got)\n%s", tc.name, way.name, diff)
			}
			if tc.drift != nil {
				if d, ok := c.TokenDrift(); !ok || d != *tc.drift {
					t.Errorf("%s%s: drift %+v, %v, want %+v", tc.name, way.name, d, ok, *tc.drift)
				}
			}
			if len(way.opts) == 0 && c.Content() != nil {
				t.Errorf("%s: content is kept", tc.name)
			}
		}
	}
}

// TestCountedPace has TPOT and TBT over counted tokens, and usage that is estimated.
func TestCountedPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, tacho.WithTokenCounter(tacho.TokenCounting{}))
		r.srv.Play(sim.Script{Steps: []sim.Step{sim.Role(0), sim.Text(0, "The quick").After(100 * ms), sim.Text(0, " brown fox").After(60 * ms), sim.Text(0, " jumps over").After(20 * ms), sim.Finish(0, "stop"), sim.Done()}})
		c := r.do(chatPath, `{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"hi"}]}`, readAll)
		// 80 ms for the 4 tokens behind the first event's 2.
		if d, ok := c.TPOT(); !ok || d != (tacho.PerToken{Value: 20 * ms}) {
			t.Errorf("TPOT %+v, %v", d, ok)
		}
		if d, ok := c.TBT(); !ok || d != (tacho.PerToken{Value: 20 * ms}) {
			t.Errorf("TBT %+v, %v", d, ok)
		}
		json := toJSON(t, c)
		for _, want := range []string{`"tbt":{"mean":0.02,"tokens":"counted"}`, `"tpot":0.02`, `"usage":{"input_tokens":8,"output_tokens":6},"usage_source":"estimated"`, `"counted":{"input_tokens":8,"output_tokens":6,"reasoning_tokens":0,"first_output_tokens":2}`} {
			if !strings.Contains(json, want) {
				t.Errorf("no %s in %s", want, json)
			}
		}
		if strings.Contains(json, "token_drift") {
			t.Errorf("a drift from nothing: %s", json)
		}
	})
}

// TestTokenCounterBounds counts no request that is too large or gone, and no model
// that is not known.
func TestTokenCounterBounds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		model  string
		opts   tacho.TokenCounting
		change func(*http.Request)
		want   string
	}{
		"too large":       {"gpt-4o", tacho.TokenCounting{MaxRequest: 20}, nil, "{0 false 1 0 0 false} true"},
		"as large":        {"gpt-4o", tacho.TokenCounting{MaxRequest: int64(len(`{"model":"gpt-4o","messages":[]}`))}, nil, "{0 true 1 0 0 false} true"},
		"none":            {"gpt-4o", tacho.TokenCounting{MaxRequest: -1}, nil, "{0 false 1 0 0 false} true"},
		"gone":            {"gpt-4o", tacho.TokenCounting{}, func(r *http.Request) { r.GetBody = nil }, "{0 false 1 0 0 false} true"},
		"another's model": {"llama", tacho.TokenCounting{}, nil, "{0 false 0 0 0 false} false"},
		"by choice": {"llama", tacho.TokenCounting{Encoding: func(string) *tacho.Encoding {
			e, _ := tacho.EncodingByName("cl100k_base")
			return e
		}}, nil, "{0 true 1 0 0 false} true"},
		"none by choice": {"gpt-4o", tacho.TokenCounting{Encoding: func(string) *tacho.Encoding { return nil }}, nil, "{0 false 0 0 0 false} false"},
	} {
		rt := tacho.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
			io.Copy(io.Discard, r.Body)
			return answer(`{"choices":[{"index":0,"message":{"content":"one"},"finish_reason":"stop"}]}`), nil
		}), tacho.WithTokenCounter(tc.opts), tacho.WithoutTracing(), tacho.WithoutMetrics())
		ctx, tr := tacho.Track(t.Context())
		req := newRequest(ctx, t, hostURL, `{"model":"`+tc.model+`","messages":[]}`)
		if tc.change != nil {
			tc.change(req)
		}
		resp, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
		n, ok := one(t, tr).Counted()
		if got := fmt.Sprint(n, ok); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
