// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// compare reads documents, one a line, with the reference and in every way with
// the Decoder, and tells the first difference. It leaves out the lines that the
// reference does not accept, and reports whether there were others.
func compare(t *testing.T, api API, stream bool, src []byte) bool {
	t.Helper()
	var lines [][]byte
	var docs []object
	for _, line := range bytes.Split(src, []byte("\n")) {
		doc, ok := parse(line)
		if done := stream && string(bytes.Trim(line, " \t\r")) == "[DONE]"; ok && !exceeds("", doc, 0) || done {
			lines, docs = append(lines, line), append(docs, doc)
		}
	}
	if !stream && len(docs) > 1 {
		lines, docs = lines[:1], docs[:1] // a body is one document
	}
	if len(docs) == 0 {
		return false
	}
	for _, capture := range []bool{false, true} {
		r := newReference(api, stream, capture)
		var events []Event
		for _, doc := range docs {
			if doc == nil {
				events = append(events, Event{Done: true})
			} else {
				events = append(events, r.read(doc))
			}
		}
		if r.beyond || len(r.ends) > maxChoices || len(r.calls) > maxCalls || len(r.f.Timings) > maxTimings || len(r.told) > len(responsesScratch{}.seen) {
			return false
		}
		for _, size := range []int{0, 1} {
			got, gotEvents := decoded(api, stream, capture, size, lines)
			if diff := cmp.Diff(r.facts(), got, cmp.AllowUnexported(Detail{}, Facts{}, Name{}), cmpopts.EquateEmpty(), keys, kept); diff != "" {
				t.Fatalf("%v, stream %v, capture %v, in pieces of %d:\n%s\n(-reference +decoder)\n%s", api, stream, capture, size, bytes.Join(lines, []byte("\n")), diff)
			}
			if diff := cmp.Diff(events, gotEvents); diff != "" {
				t.Fatalf("%v, stream %v, capture %v, in pieces of %d:\n%s\n(-reference +decoder)\n%s", api, stream, capture, size, bytes.Join(lines, []byte("\n")), diff)
			}
		}
	}
	return true
}

// decoded is what the Decoder reads: whole documents with its memo, or pieces
// of a size without it.
func decoded(api API, stream, capture bool, size int, docs [][]byte) (*Facts, []Event) {
	f, d := new(Facts), new(Decoder)
	var events []Event
	d.Init(api, stream, capture, f)
	d.memo.off = d.memo.off || size > 0
	for _, doc := range docs {
		d.Begin()
		if size == 0 {
			d.Write(doc)
		} else {
			for piece := range slices.Chunk(doc, size) {
				d.Write(piece)
			}
		}
		events = append(events, d.End())
	}
	f.Finish, f.one = slices.Clone(f.Finish), [1]Finish{}
	for i := range f.Calls {
		if capture {
			f.Calls[i].kept()
		}
	}
	if capture {
		for _, o := range f.Captured.Others {
			for i := range o.Calls {
				o.Calls[i].kept()
			}
		}
	}
	return f, events
}

// exceeds reports whether a document goes beyond what the Decoder keeps on
// purpose: names of 512 bytes and reasons of 64, of numbers and of the names of
// timings 40, 10 known containers one in another, indexes of a part up to 255.
// How many choices, calls, timings and parts it keeps, compare sees at the end.
func exceeds(key string, v any, depth int) bool {
	switch v := v.(type) {
	case object:
		for _, m := range v {
			if len(m.key) > 40 || exceeds(m.key, m.value, depth+1) {
				return true
			}
		}
		return depth >= maxDepth
	case []any:
		for _, e := range v {
			if exceeds(key, e, depth+1) {
				return true
			}
		}
		return depth >= maxDepth
	case string:
		switch key {
		case "finish_reason", "status", "reason":
			return len(v) > maxReason
		case "id", "model", "name", "call_id", "type", "code", "error_code", "error_type", "statusCode", "status_code", "service_tier", "object":
			return len(v) > maxToken-4
		}
		return false
	case json.Number:
		n, _ := v.Float64()
		if n = math.Abs(n); n > 255 && strings.HasSuffix(key, "_index") {
			return true
		}
		return len(v) > maxLit
	}
	return false
}

// dialects are what servers were seen to send, small: documents, one a line.
var dialects = []struct {
	name   string
	api    API
	stream bool
	docs   string
	want   string // as summaryOf tells it
}{
	{"usage with empty choices at the end", ChatCompletions, true, `{"choices":[{"delta":{"content":"a"}}],"usage":null}` + "\n" + `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}` + "\n[DONE]", "content - done |   | 1 0 | 0: | | 3 1 . . ."},
	{"usage on every chunk", ChatCompletions, true, `{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}` + "\n" + `{"choices":[{"delta":{"content":"b"}}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`, "content content |   | 2 0 | 0: | | 3 2 . . ."},
	{"usage under x_groq, and an error", ChatCompletions, true, `{"choices":[],"x_groq":{"id":"r","usage":{"prompt_tokens":3,"completion_tokens":0,"queue_time":0.25}}}` + "\n" + `{"choices":[],"x_groq":{"error":"over"}}`, "- - ! |   | 0 0 | | | 3 0 . . . |"},
	{"counts by modality, the system's fingerprint", ChatCompletions, true, `{"system_fingerprint":"fp_1","usage":{"prompt_tokens":12,"completion_tokens":9,"prompt_tokens_details":{"text_tokens":4,"image_tokens":0,"audio_tokens":8},"completion_tokens_details":{"audio_tokens":null,"image_tokens":"x","text_tokens":1e1}}}`, "- |   | 0 0 | | | 12 9 . . ."},
	{"counts in every spelling", ChatCompletions, true, `{"usage":{"prompt_tokens":12.0,"completion_tokens":1e3,"prompt_cache_hit_tokens":5,"prompt_cache_miss_tokens":2,"completion_tokens_details":{"reasoning_tokens":0},"prompt_tokens_details":{"cache_write_tokens":"7","cached_tokens":null}}}`, "- |   | 0 0 | | | 12 1000 5 . 0"},
	{"counts that are none", ChatCompletions, true, `{"usage":{"prompt_tokens":1.5,"completion_tokens":92233720368547758080}}` + "\n" + `{"usage":{"prompt_tokens":1e999,"completion_tokens":[2]}}` + "\n" + `{"usage":[{"prompt_tokens":2}]}`, "- ? - ? - |   | 0 0 | | | . . . . ."},
	{"a first chunk with empty choices, id and model", ChatCompletions, true, `{"choices":[],"id":"","model":"","prompt_filter_results":[{"prompt_index":0}]}` + "\n" + `{"choices":[{"delta":{"content":"","role":"assistant"},"index":0}],"id":"c","model":"m","service_tier":"default"}`, "- - | c m | 0 0 | 0: | | . . . . ."},
	{"a choice without delta", ChatCompletions, true, `{"choices":[{"delta":{"content":"a"}}]}` + "\n" + `{"choices":[{"content_filter_offsets":{"start_offset":1},"finish_reason":null,"index":0}]}`, "content - |   | 1 0 | 0: | | . . . . ."},
	{"reasoning_content, then content", ChatCompletions, true, `{"choices":[{"delta":{"reasoning_content":"hm","content":null}}]}` + "\n" + `{"choices":[{"delta":{"reasoning_content":null,"content":"a"}}]}`, "reasoning content |   | 1 2 | 0: | | . . . . ."},
	{"reasoning and its details tell the same", ChatCompletions, true, `{"choices":[{"delta":{"content":"","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]}}]}` + "\n" + `{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.summary","summary":"so"},{"type":"reasoning.encrypted","data":"x"}]}}]}`, "reasoning reasoning |   | 0 4 | 0: | | . . . . ."},
	{"content in parts", ChatCompletions, true, `{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a"}]}}]}` + "\n" + `{"choices":[{"delta":{"content":"<think>b</think>"}}]}`, "reasoning content |   | 17 2 | 0: | | . . . . ."},
	{"content null, empty and an object; no delta", ChatCompletions, true, `{"choices":[{"delta":{"content":null}}]}` + "\n" + `{"choices":[{"delta":{"content":""}}]}` + "\n" + `{"choices":[{"delta":{"content":{"a":"b"}}}]}` + "\n" + `{"choices":[{"delta":{}}]}` + "\n{}", "- - - - - |   | 0 0 | 0: | | . . . . ."},
	{"tool calls without index, with null id, all at once", ChatCompletions, true, `{"choices":[{"delta":{"tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{}"}}]}}]}` + "\n" + `{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"c2","function":{"name":"g","arguments":"{"}}]}}]}` + "\n" + `{"choices":[{"delta":{"tool_calls":[{"index":1,"id":null,"function":{"name":null,"arguments":"}"}}]}}]}`, "tool_call tool_call tool_call |   | 0 0 | 0: | 0:c1:f 1:c2:g | . . . . ."},
	{"no tool calls", ChatCompletions, true, `{"choices":[{"delta":{"tool_calls":null}}]}` + "\n" + `{"choices":[{"delta":{"tool_calls":[]}}]}`, "- - |   | 0 0 | 0: | | . . . . ."},
	{"two ids under one index", ChatCompletions, true, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f"}},{"index":0,"id":"c2","custom":{"name":"g","input":"x"}}]}}]}`, "tool_call |   | 0 0 | 0: | 0:c1:f 0:c2:g | . . . . ."},
	{"legacy function_call", ChatCompletions, true, `{"choices":[{"delta":{"function_call":{"name":"f","arguments":""}}}]}` + "\n" + `{"choices":[{"delta":{"function_call":{"arguments":"{}"}},"finish_reason":"function_call"}]}`, "tool_call tool_call |   | 0 0 | 0:function_call | 0::f | . . . . ."},
	{"a reason on two chunks, an empty one, eos", ChatCompletions, true, `{"choices":[{"delta":{},"finish_reason":"length"}]}` + "\n" + `{"choices":[{"delta":{},"finish_reason":"eos"}]}` + "\n" + `{"choices":[{"delta":{},"finish_reason":""}]}`, "- - - |   | 0 0 | 0:eos | | . . . . ."},
	{"several choices in one chunk", ChatCompletions, true, `{"choices":[{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"}}]}` + "\n" + `{"choices":[{"delta":{"content":"c"}},{"delta":{"refusal":"no"},"finish_reason":"stop"}]}`, "content content |   | 2 0 | 0: 1:stop | | . . . . ."},
	{"obfuscation is no text", ChatCompletions, true, `{"choices":[{"delta":{"content":"a"}}],"obfuscation":"xyz"}`, "content |   | 1 0 | 0: | | . . . . ."},
	{"a message beside the delta", ChatCompletions, true, `{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"delta":{"content":"Hi"}}]}` + "\n" + `{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"Hi"}}],"object":"chat.completion.done"}`, "content - |   | 2 0 | 0:stop | | . . . . ."},
	{"an error beside choices", ChatCompletions, true, `{"choices":[{"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502,"message":"m","metadata":{"code":"x"}}}`, "- ! |   | 0 0 | 0:error | | . . . . . |  502"},
	{"an error without choices, then done", ChatCompletions, true, `{"error":{"message":"m","type":"server_error","code":null,"param":null}}` + "\n[DONE]", "- ! done |   | 0 0 | | | . . . . . | server_error"},
	{"an error under 200, and its detail", ChatCompletions, false, `{"error":{"message":"m","type":null,"param":"prompt","code":"content_filter","innererror":{"code":"x"}}}`, "- ! |   | 0 0 | | | . . . . . |  content_filter"},
	{"error shapes: detail", ChatCompletions, false, `{"detail":"no"}`, "- ! |   | 0 0 | | | . . . . . |"},
	{"error shapes: a code beside a text", ChatCompletions, false, `{"code":"invalid","error":"bad key"}`, "- ! |   | 0 0 | | | . . . . . |  invalid"},
	{"error shapes: at the top", ChatCompletions, false, `{"object":"error","message":"m","type":"invalid","code":400}`, "- ! |   | 0 0 | | | . . . . . | invalid 400"},
	{"a body behind white space", ChatCompletions, false, "  \t\r " + `{"id":"c","choices":[{"index":0,"finish_reason":"tool_calls","message":{"content":null,"reasoning":"hm","tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{}"}}]}}],"usage":{"prompt_tokens":3,"completion_tokens":0}}`, "reasoning | c  | 0 2 | 0:tool_calls | 0:c1:f | 3 0 . . ."},
	{"characters: escapes, pairs, lone surrogates, bad bytes", ChatCompletions, true, `{"choices":[{"delta":{"content":"\ud83d\ude00\ud83d\u00e9é😀` + "\xff" + `\n"}}],"id":"\udc00` + "\xfe" + `"}`, "content | \ufffd\ufffd  | 7 0 | 0: | | . . . . ."},
	{"timings", ChatCompletions, true, `{"time_info":{"queue_time":0.5,"created":1},"timings":{"predicted_ms":2e1,"predicted_n":3},"usage":{"latency_checkpoint":{"engine_ttft_ms":7}}}` + "\n" + `{"time_info":{"queue_time":0.75}}`, "- - |   | 0 0 | | | . . . . ."},
	{"legacy completions", Completions, true, `{"choices":[{"text":"ab","index":0,"finish_reason":null}],"model":"m"}` + "\n" + `{"choices":[{"text":"c","index":0,"finish_reason":null}],"model":"m"}` + "\n" + `{"choices":[{"text":"","index":0,"finish_reason":"stop"}]}`, "content content - |  m | 3 0 | 0:stop | | . . . . ."},
	{"legacy completions, plain", Completions, false, `{"choices":[{"text":"ab","index":0,"finish_reason":"length"},{"text":"c","index":1,"finish_reason":"stop"}]}`, "content |   | 2 0 | 0:length 1:stop | | . . . . ."},
	{"responses: text, its done, its end", Responses, true, `{"type":"response.created","response":{"id":"r","model":"m","status":"in_progress","usage":null}}` + "\n" + `{"delta":"Ol","type":"response.output_text.delta","output_index":0,"content_index":0}` + "\n" + `{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"Ol"}` + "\n" + `{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":3,"output_tokens":2,"input_tokens_details":{"cached_tokens":1}},"output":[{"type":"message","content":[{"type":"output_text","text":"Ol"}]}]}}`, "- content - - # | r m | 2 0 | 0:stop | | 3 2 1 . ."},
	{"responses: a done where no delta came", Responses, true, `{"type":"response.output_text.delta","output_index":0,"delta":"a"}` + "\n" + `{"type":"response.output_text.done","output_index":1,"text":"bc"}` + "\n" + `{"type":"response.refusal.done","refusal":"no"}`, "content content refusal |   | 3 0 | | | . . . . ."},
	{"responses: reasoning and a summary", Responses, true, `{"type":"response.reasoning_text.delta","delta":"ab"}` + "\n" + `{"type":"response.reasoning_summary_text.delta","summary_index":0,"delta":"c"}` + "\n" + `{"type":"response.audio.delta","delta":"UklG"}`, "reasoning reasoning audio |   | 0 3 | | | . . . . ."},
	{"responses: calls", Responses, true, `{"type":"response.output_item.added","item":{"type":"function_call","call_id":"c","name":"f","arguments":""}}` + "\n" + `{"type":"response.function_call_arguments.delta","delta":"{}"}` + "\n" + `{"type":"response.output_item.done","item":{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}}` + "\n" + `{"type":"response.output_item.added","item":{"type":"mcp_call","name":"g"}}` + "\n" + `{"type":"response.completed","response":{"status":"completed"}}`, "tool_call tool_call - tool_call - # |   | 0 0 | 0:tool_calls | 0:c:f | . . . . ."},
	{"responses: incomplete", Responses, true, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`, "- # |   | 0 0 | 0:length | | . . . . ."},
	{"responses: failed", Responses, true, `{"type":"error","code":"c","message":"m","param":null}` + "\n" + `{"type":"response.failed","response":{"status":"failed","error":{"code":"d","message":"m"}}}`, "- ! # - ! # |   | 0 0 | 0:error | | . . . . . |  c"},
	{"responses: cancelled, no terminal event", Responses, true, `{"type":"response.in_progress","response":{"status":"in_progress"}}` + "\n" + `{"type":"response.output_text.delta","delta":"a"}`, "- content |   | 1 0 | 0: | | . . . . ."},
	{"responses, plain", Responses, false, `{"id":"r","error":null,"incomplete_details":null,"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},{"type":"message","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"bc"}]},{"type":"custom_tool_call","call_id":"c","name":"f","input":"x"}],"status":"completed"}`, "- | r  | 3 2 | 0:tool_calls | 0:c:f | . . . . ."},
	{"responses, plain: an unknown status", Responses, false, `{"status":"complete","output":[{"type":"future","content":[{"text":"a"}]}]}`, "- |   | 0 0 | 0:complete | | . . . . ."},
	{"responses, plain: queued", Responses, false, `{"status":"queued","output":[],"usage":null}`, "- |   | 0 0 | 0: | | . . . . ."},
}

// TestReference: the documents of servers, and the seeds, mean the same to the
// reference and the Decoder, and what they mean is written here.
func TestReference(t *testing.T) {
	t.Parallel()
	for _, tc := range dialects {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if !compare(t, tc.api, tc.stream, []byte(tc.docs)) {
				t.Fatal("the reference does not accept it")
			}
			f, events := decoded(tc.api, tc.stream, true, 0, bytes.Split([]byte(tc.docs), []byte("\n")))
			if diff := cmp.Diff(tc.want, strings.TrimSpace(summaryOf(f, events))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for _, src := range seeds {
		for _, api := range []API{ChatCompletions, Completions, Responses} {
			if !compare(t, api, true, []byte(src)) {
				t.Errorf("%v: the reference does not accept %s", api, src)
			}
		}
	}
}

// keys compares those of tool calls: the reference knows those of ids alone.
// kept leaves out what the Decoder alone knows of what it keeps.
var kept = cmp.Options{cmpopts.IgnoreUnexported(Captured{}, Text{}, KeptCall{}), cmpopts.IgnoreFields(Captured{}, "Message", "Items")}

var keys = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Key" }, cmp.Comparer(func(a, b uint64) bool {
	return a == b || a <= maxPlace && b <= maxPlace
}))

func FuzzReference(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	for _, d := range dialects {
		f.Add([]byte(d.docs))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, api := range []API{ChatCompletions, Completions, Responses} {
			compare(t, api, true, src)
			compare(t, api, false, src)
		}
	})
}
