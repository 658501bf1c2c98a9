// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// summaryOf is what a response came to, in a form that reads well in a table.
func summaryOf(f *Facts, events []Event) string {
	var b strings.Builder
	for _, e := range events {
		switch {
		case e.Done:
			b.WriteString("done ")
		case e.Channels != 0:
			b.WriteString(e.Channels.String() + " ")
		default:
			b.WriteString("- ")
		}
		for _, m := range []struct {
			mark string
			on   bool
		}{{"! ", e.Error}, {"# ", e.Terminal}, {"? ", e.Fault}} {
			if m.on {
				b.WriteString(m.mark)
			}
		}
	}
	fmt.Fprintf(&b, "| %s %s | %d %d |", f.ID.String(), f.Model.String(), f.TextChars, f.ReasoningChars)
	for _, c := range f.Finish {
		fmt.Fprintf(&b, " %d:%s", c.Choice, c.Reason)
	}
	b.WriteString(" |")
	for _, c := range f.Calls {
		fmt.Fprintf(&b, " %d:%s:%s", c.Index, c.kept().ID, c.kept().Name)
	}
	b.WriteString(" |")
	u := &f.Usage
	for _, n := range []Count{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning} {
		if n.OK {
			fmt.Fprintf(&b, " %d", n.N)
		} else {
			b.WriteString(" .")
		}
	}
	if f.Error.Present {
		fmt.Fprintf(&b, " | %s %s", f.Error.Type, f.Error.Code)
	}
	return b.String()
}

func TestStreams(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		api  API
		docs []string
		want string
	}{
		{"role only, empty, null and no delta are no output", ChatCompletions, []string{
			`{"choices":[{"delta":{"role":"assistant","content":""}}]}`, `{"choices":[{"delta":{"content":null}}]}`, `{"choices":[{"delta":{}}]}`,
			`{"choices":[{}]}`, `{"choices":[]}`, `{"choices":null}`, `{}`,
		}, "- - - - - - - |   | 0 0 | 0: | | . . . . ."},
		{"a first chunk without choices, id and model, which come later", ChatCompletions, []string{
			`{"choices":[],"id":"","model":"","prompt_filter_results":[{"content_filter_results":{"hate":{"filtered":false}}}]}`,
			`{"choices":[{"delta":{"content":"Oi"},"index":0}],"id":"c","model":"m"}`,
		}, "- content | c m | 2 0 | 0: | | . . . . ."},
		{"code points are counted, not bytes", ChatCompletions, []string{
			`{"choices":[{"delta":{"content":"é世😀\u00e9\u4e16\ud83d\ude00\n\\\"\/"}}]}`,
		}, "content |   | 10 0 | 0: | | . . . . ."},
		{"lone and broken surrogates and bad bytes are one each", ChatCompletions, []string{
			`{"choices":[{"delta":{"content":"\ud83d\ud83dx\ude00\u12 ` + "\xff\xfe" + `"}}]}`,
		}, "content |   | 10 0 | 0: | | . . . . ."},
		{"n choices: one reason each, the text of the first", ChatCompletions, []string{
			`{"choices":[{"index":1,"delta":{"content":"bb"}}]}`, `{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}`,
			`{"choices":[{"index":1,"delta":{},"finish_reason":"length"}]}`,
		}, "content content - |   | 1 0 | 0: 1:length | | . . . . ."},
		{"the index behind the delta, and no index", ChatCompletions, []string{
			`{"choices":[{"delta":{"content":"a"},"index":1},{"delta":{"content":"b"},"index":0}]}`, `{"choices":[{"delta":{"content":"c"}},{"delta":{"content":"d"}}]}`,
		}, "content content |   | 2 0 | 0: 1: | | . . . . ."},
		{"reasoning under every name, once for a delta", ChatCompletions, []string{
			`{"choices":[{"delta":{"reasoning_content":"ab","content":null}}]}`, `{"choices":[{"delta":{"reasoning":"ab","reasoning_details":[{"type":"reasoning.text","text":"ab"}]}}]}`,
			`{"choices":[{"delta":{"reasoning_content":"ab","reasoning":"ab"}}]}`, `{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"ab"}]}]}}]}`,
			`{"choices":[{"delta":{"content":[{"type":"text","text":"abc"}]}}]}`,
		}, "reasoning reasoning reasoning reasoning content |   | 3 8 | 0: | | . . . . ."},
		{"refusal and audio", ChatCompletions, []string{
			`{"choices":[{"delta":{"refusal":"no","content":null}}]}`, `{"choices":[{"delta":{"audio":{"id":"a"}}}]}`, `{"choices":[{"delta":{"audio":{"data":"UklG"}}}]}`,
		}, "refusal - audio |   | 0 0 | 0: | | . . . . ."},
		{"tool calls: by index, in pieces", ChatCompletions, []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"c2","function":{"name":"g","arguments":"{}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[]}}]}`, `{"choices":[{"delta":{"tool_calls":null}}]}`,
		}, "tool_call tool_call tool_call - - |   | 0 0 | 0: | 0:c1:f 1:c2:g | . . . . ."},
		{"tool calls: no index, and two ids under one index", ChatCompletions, []string{
			`{"choices":[{"delta":{"tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{}"}},{"id":"c2","function":{"name":"g","arguments":"{}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c3","function":{"name":"h"}}]}}]}`, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c4","function":{"name":"i"}}]}}]}`,
		}, "tool_call tool_call tool_call |   | 0 0 | 0: | 0:c1:f 1:c2:g 0:c3:h 0:c4:i | . . . . ."},
		{"legacy function_call", ChatCompletions, []string{
			`{"choices":[{"delta":{"function_call":{"name":"f","arguments":""}}}]}`, `{"choices":[{"delta":{"function_call":{"arguments":"{}"}},"finish_reason":"function_call"}]}`,
		}, "tool_call tool_call |   | 0 0 | 0:function_call | 0::f | . . . . ."},
		{"usage: the last value that is not null holds", ChatCompletions, []string{
			`{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1}}`, `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":2},"completion_tokens_details":{"reasoning_tokens":12}}}`,
			`{"choices":[],"usage":{"prompt_tokens":null,"completion_tokens":null}}`, `{"choices":[],"usage":null}`,
		}, "- - - - |   | 0 0 | | | 5 9 2 . 12"},
		{"usage under x_groq; other names of cached tokens", ChatCompletions, []string{
			`{"choices":[],"x_groq":{"id":"r","usage":{"queue_time":0.1,"prompt_tokens":5,"completion_tokens":0}}}`,
			`{"usage":{"cache_read_input_tokens":3,"cache_creation_input_tokens":4}}`,
		}, "- - |   | 0 0 | | | 5 0 3 4 ."},
		{"numbers: beyond int64, with a fraction, whole floats, as text", ChatCompletions, []string{
			`{"usage":{"prompt_tokens":92233720368547758080,"completion_tokens":1.5}}`, `{"usage":{"prompt_tokens":12.0,"completion_tokens":1e3}}`, `{"usage":{"prompt_tokens":"7"}}`,
		}, "- ? - - |   | 0 0 | | | 12 1000 . . ."},
		{"an error in mid-stream, beside choices, and as text", ChatCompletions, []string{
			`{"choices":[{"delta":{"content":"a"},"finish_reason":"error"}],"error":{"code":502,"message":"m"},"usage":null}`, `{"error":"x"}`,
		}, "content ! - ! |   | 1 0 | 0:error | | . . . . . |  502"},
		{"error: null is none", ChatCompletions, []string{`{"choices":[{"delta":{"content":"a"}}],"error":null,"code":null}`}, "content |   | 1 0 | 0: | | . . . . ."},
		{"done, and what is no JSON", ChatCompletions, []string{`[DONE]`, `plain`, `{"choices":[{"delta":{"content":"a"}}`, ``, `{"choices":[{"delta":{"content":"b`},
			"done - ? content ? - ? - ? |   | 1 0 | 0: | | . . . . ."},
		{"a cumulative message beside the delta is none", ChatCompletions, []string{
			`{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"delta":{"role":"assistant","content":"Hello"}}]}`,
			`{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"Hello world"}}],"object":"chat.completion.done"}`,
		}, "content - |   | 5 0 | 0:stop | | . . . . ."},
		{"escaped keys, duplicate keys, strange white space", ChatCompletions, []string{
			"\t{ \"\\u0063hoices\" :\r\n[ { \"delta\" : { \"content\" : \"a\" } } ] , \"id\" : \"x\" , \"id\":\"y\" } ",
		}, "content | y  | 1 0 | 0: | | . . . . ."},
		{"legacy completions", Completions, []string{`{"choices":[{"text":"ab","index":0,"finish_reason":null}],"model":"m"}`, `{"choices":[{"text":"","index":0,"finish_reason":"stop"}]}`},
			"content - |  m | 2 0 | 0:stop | | . . . . ."},

		{"responses", Responses, []string{
			`{"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","usage":null}}`,
			`{"type":"response.output_item.added","item":{"type":"message","content":[]}}`,
			`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Ol"}`, `{"delta":"á","type":"response.output_text.delta"}`,
			`{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"Olá"}`,
			`{"type":"response.completed","response":{"id":"r","status":"completed","usage":{"input_tokens":1,"output_tokens":2},"output":[{"type":"message","content":[{"type":"output_text","text":"Olá"}]}]}}`,
		}, "- - content content - - # | r m | 3 0 | 0:stop | | 1 2 . . ."},
		{"responses: done events count where no delta came", Responses, []string{
			`{"type":"response.output_text.done","output_index":1,"text":"abc"}`, `{"type":"response.refusal.done","refusal":"no"}`,
		}, "content refusal |   | 3 0 | | | . . . . ."},
		{"responses: reasoning and its summary", Responses, []string{
			`{"type":"response.reasoning_text.delta","delta":"ab"}`, `{"type":"response.reasoning_summary_text.delta","delta":"c"}`,
		}, "reasoning reasoning |   | 0 3 | | | . . . . ."},
		{"responses: a function call", Responses, []string{
			`{"type":"response.output_item.added","item":{"type":"function_call","call_id":"c","name":"f","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","delta":"{}"}`, `{"type":"response.function_call_arguments.done","arguments":"{}"}`,
			`{"type":"response.completed","response":{"status":"completed"}}`,
		}, "tool_call tool_call - - # |   | 0 0 | 0:tool_calls | 0:c:f | . . . . ."},
		{"responses: incomplete, failed, error", Responses, []string{
			`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`,
			`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"m"}}}`, `{"type":"error","code":"c","message":"m","param":null}`,
		}, "- # - ! # - ! # |   | 0 0 | 0:error | | . . . . . |  server_error"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{0, 1, 3} {
				var f Facts
				var d Decoder
				d.Init(tc.api, true, true, &f)
				var events []Event
				for _, doc := range tc.docs {
					d.Begin()
					for b := []byte(doc); len(b) > 0; {
						n := len(b)
						if size > 0 {
							n = min(size, n)
						}
						d.Write(b[:n])
						b = b[n:]
					}
					events = append(events, d.End())
				}
				if diff := cmp.Diff(tc.want, summaryOf(&f, events)); diff != "" {
					t.Errorf("in pieces of %d: (-want +got)\n%s", size, diff)
				}
			}
		})
	}
}

func TestDeepNesting(t *testing.T) {
	t.Parallel()
	const depth = 100_000
	doc := `{"x":` + strings.Repeat(`[{"a":`, depth) + `1` + strings.Repeat(`}]`, depth) + `,"choices":[{"delta":{"content":"a"}}]}`
	for _, size := range []int{len(doc), 7} {
		var f Facts
		var d Decoder
		d.Init(ChatCompletions, true, false, &f)
		for b := []byte(doc); len(b) > 0; {
			n := min(size, len(b))
			d.Write(b[:n])
			b = b[n:]
		}
		if ev := d.End(); ev.Channels != Content || ev.Fault || f.TextChars != 1 {
			t.Errorf("in pieces of %d: %+v", size, ev)
		}
	}
}

// TestEventsAllocateNothing holds the steady state of each API.
func TestEventsAllocateNothing(t *testing.T) { //nolint:paralleltest // counts the allocations of the process
	for _, tc := range []struct {
		api  API
		docs []string
	}{
		{ChatCompletions, []string{chatEvent}},
		{ChatCompletions, []string{ // never alike: each is read in full
			`{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"a"}}]}`, `{"id":"c","model":"m","choices":[{"index":1,"delta":{"reasoning":"\u00e9"}}]}`,
			`{"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}}],"usage":{"prompt_tokens":3}}`}},
		{Responses, []string{responsesEvent, `{"type":"response.reasoning_text.delta","delta":"a"}`}},
	} {
		var f Facts
		var d Decoder
		d.Init(tc.api, true, false, &f)
		docs := make([][]byte, len(tc.docs))
		for i := range docs {
			docs[i] = []byte(tc.docs[i])
		}
		run := func() {
			for _, doc := range docs {
				d.Begin()
				d.Write(doc)
				d.End()
				d.Begin() // and cut in two
				d.Write(doc[:len(doc)/2])
				d.Write(doc[len(doc)/2:])
				d.End()
			}
		}
		run()
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("%v: %v allocations for %d events", tc.api, n, 2*len(docs))
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	small := []byte(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"` + strings.Repeat("x", 400) + `"}],"max_tokens":50}`)
	image := []byte(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("A", 5<<20) + `"}}]}]}`)
	for _, bb := range []struct {
		name string
		body []byte
	}{{"500B", small}, {"image5MB", image}} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.body)))
			b.ReportAllocs()
			for b.Loop() {
				var q Request
				var d Decoder
				d.InitRequest(&q)
				d.Write(bb.body)
				d.EndRequest()
				if q.Messages.N != 1 {
					b.Fatal(q)
				}
			}
		})
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"role":"user"}],"n":2,"stream":true,"stream_options":{"include_usage":true},"tools":[1]}`), uint8(3))
	f.Add([]byte(`{"input":"x","temperature":0.5,"top_p":1e999,"max_tokens":-1}`), uint8(1))
	f.Fuzz(func(t *testing.T, src []byte, size uint8) {
		var whole, pieces Request
		var d Decoder
		d.InitRequest(&whole)
		d.Write(bytes.Clone(src))
		d.EndRequest()
		d.InitRequest(&pieces)
		for b := src; len(b) > 0; {
			n := min(1+int(size), len(b))
			d.Write(b[:n])
			b = b[n:]
		}
		d.EndRequest()
		if diff := cmp.Diff(whole, pieces, cmp.AllowUnexported(Name{})); diff != "" {
			t.Fatalf("(-whole +pieces)\n%s", diff)
		}
	})
}
