// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNames has every name under which servers send a thing, one in each
// document.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		api    API
		stream bool
		docs   string // one a line
		want   string // as summaryOf tells it
	}{
		{"input and output", ChatCompletions, false, `{"usage":{"prompt_tokens":1,"completion_tokens":2}}`, "- |   | 0 0 | | | 1 2 . . ."},
		{"input and output, the newer names", Responses, false, `{"usage":{"input_tokens":1,"output_tokens":2,"input_tokens_details":{"cached_tokens":3},"output_tokens_details":{"reasoning_tokens":4}}}`, "- |   | 0 0 | | | 1 2 3 . 4"},
		{"cached > input as it is reported", ChatCompletions, false, `{"usage":{"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":30}}}`, "- |   | 0 0 | | | 1 . 30 . ."},
		{"cached at the top", ChatCompletions, false, `{"usage":{"cached_tokens":3}}`, "- |   | 0 0 | | | . . 3 . ."},
		{"cached, num_", ChatCompletions, false, `{"usage":{"num_cached_tokens":3}}`, "- |   | 0 0 | | | . . 3 . ."},
		{"cached, hit", ChatCompletions, false, `{"usage":{"prompt_cache_hit_tokens":3,"prompt_cache_miss_tokens":9}}`, "- |   | 0 0 | | | . . 3 . ."},
		{"cached, Anthropic's", ChatCompletions, false, `{"usage":{"cache_read_input_tokens":3,"cache_creation_input_tokens":4}}`, "- |   | 0 0 | | | . . 3 4 ."},
		{"cached, in the details", ChatCompletions, false, `{"usage":{"prompt_tokens_details":{"cache_read_tokens":3,"cache_write_tokens":4}}}`, "- |   | 0 0 | | | . . 3 4 ."},
		{"cache writes at the top", ChatCompletions, false, `{"usage":{"cache_write_tokens":4}}`, "- |   | 0 0 | | | . . . 4 ."},
		{"cache writes, Qwen's", ChatCompletions, false, `{"usage":{"prompt_tokens_details":{"cache_creation_input_tokens":1494,"cache_type":"ephemeral"}}}`, "- |   | 0 0 | | | . . . 1494 ."},
		{"cache writes, in the details", ChatCompletions, false, `{"usage":{"prompt_tokens_details":{"cache_creation_tokens":4}}}`, "- |   | 0 0 | | | . . . 4 ."},
		{"reasoning in the details", ChatCompletions, false, `{"usage":{"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":9}}}`, "- |   | 0 0 | | | . 2 . . 9"},
		{"reasoning at the top", ChatCompletions, false, `{"usage":{"reasoning_tokens":9}}`, "- |   | 0 0 | | | . . . . 9"},
		{"two names in one usage: the one that is not 0", ChatCompletions, false, `{"usage":{"prompt_tokens_details":{"cached_tokens":64},"cache_read_input_tokens":0,"completion_tokens_details":{"reasoning_tokens":7},"reasoning_tokens":0}}`, "- |   | 0 0 | | | . . 64 . 7"},
		{"a later chunk's 0 holds", ChatCompletions, true, `{"usage":{"completion_tokens":5}}` + "\n" + `{"usage":{"completion_tokens":0}}`, "- - |   | 0 0 | | | . 0 . . ."},
		{"a count below 0 is none", ChatCompletions, false, `{"usage":{"prompt_tokens":-1,"completion_tokens":-1}}`, "- |   | 0 0 | | | . . . . ."},
		{"a count that no float holds", ChatCompletions, false, `{"usage":{"prompt_tokens":1000000000000000000,"completion_tokens":9007199254740993}}`, "- |   | 0 0 | | | 1000000000000000000 9007199254740993 . . ."},

		{"reasoning_text", ChatCompletions, true, `{"choices":[{"delta":{"reasoning_text":"hm"}}]}`, "reasoning |   | 0 2 | 0: | | . . . . ."},
		{"a summary in a content part", ChatCompletions, true, `{"choices":[{"delta":{"content":[{"type":"x","summary":"hm"}]}}]}`, "reasoning |   | 0 2 | 0: | | . . . . ."},
		{"an audio's transcript", ChatCompletions, true, `{"choices":[{"delta":{"audio":{"transcript":"a"}}}]}`, "audio |   | 0 0 | 0: | | . . . . ."},
		{"a pair of surrogates in two deltas is two lone ones, as to encoding/json", ChatCompletions, true, `{"choices":[{"delta":{"content":"\ud83d"}}]}` + "\n" + `{"choices":[{"delta":{"content":"\ude00"}}]}`, "content content |   | 2 0 | 0: | | . . . . ."},
		{"an error in a choice", ChatCompletions, true, `{"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"code":502,"message":"m"}}]}`, "- ! |   | 0 0 | 0:error | | . . . . . |  502"},
		{"an error beside choices and usage", ChatCompletions, true, `{"choices":[{"delta":{"content":""},"finish_reason":"error"}],"usage":{"prompt_tokens":7},"error":{"code":502,"message":"m"}}`, "- ! |   | 0 0 | 0:error | | 7 . . . . |  502"},
		{"ids and models that change: the last", ChatCompletions, true, `{"id":"a","model":"m"}` + "\n" + `{"id":"b","model":"n"}`, "- - | b n | 0 0 | | | . . . . ."},
		{"a list in a stream", ChatCompletions, true, `[{"error":{"code":503,"message":"m"}}]` + "\n" + `[DONE]`, "- ! done |   | 0 0 | | | . . . . . |  503"},
		{"an empty error", ChatCompletions, true, `{"error":{},"choices":[{"delta":{"content":"a"}}]}` + "\n" + `{"error":{"message":null,"code":null},"choices":[]}` + "\n" + `{"error":{"code":0,"message":"","type":""}}`, "content - - |   | 1 0 | 0: | | . . . . ."},
		{"an error with other members alone", ChatCompletions, false, `{"error":{"http_status":500,"retryable":false}}`, "- ! |   | 0 0 | | | . . . . . |"},
		{"MiniMax's error, and its success", ChatCompletions, true, `{"choices":null,"base_resp":{"status_code":1008,"status_msg":"m"}}` + "\n" + `{"choices":[],"base_resp":{"status_code":0,"status_msg":"success"}}`, "- ! - |   | 0 0 | | | . . . . . |  1008"},
		{"Z.ai's error", ChatCompletions, false, `{"code":500,"msg":"m","success":false}`, "- ! |   | 0 0 | | | . . . . . |  500"},
		{"Baidu's error", ChatCompletions, false, `{"error_code":110,"error_msg":"m"}`, "- ! |   | 0 0 | | | . . . . . |  110"},
		{"Writer's error", ChatCompletions, false, `{"tpe":"a","errors":[{"description":"m","key":"fail.input","extras":{}}]}`, "- ! |   | 0 0 | | | . . . . . |  fail.input"},
		{"MiniMax's other error", ChatCompletions, false, `{"type":"error","error":{"type":"rate_limit_error","message":"m","http_code":"429"}}`, "- ! |   | 0 0 | | | . . . . . | rate_limit_error 429"},
		{"AWS's error", ChatCompletions, false, `{"__type":"ValidationException","message":"m"}`, "- ! |   | 0 0 | | | . . . . . | ValidationException"},
		{"no success", ChatCompletions, false, `{"success":false,"message":"m"}`, "- ! |   | 0 0 | | | . . . . . |"},
		{"codes of success", Embeddings, false, `{"code":200,"message":"success","data":[]}`, "- |   | 0 0 | | | . . . . ."},
		{"a detail that is no error", ImagesGenerations, false, `{"data":[],"detail":{"seed":1}}`, "- |   | 0 0 | | | . . . . ."},
		{"an event of another kind with a message", ChatCompletions, true, `{"type":"status","message":"m"}` + "\n" + `{"type":"message_start","message":{}}`, "- - |   | 0 0 | | | . . . . ."},
		{"a flat error in a stream", ChatCompletions, true, `{"type":"BadRequestError","message":"m","object":"error"}`, "- ! |   | 0 0 | | | . . . . . | BadRequestError"},
		{"the HTTP status is a code for want of another", ChatCompletions, false, `{"statusCode":400,"code":"FST_ERR","error":"Bad Request","message":"m"}`, "- ! |   | 0 0 | | | . . . . . |  FST_ERR"},

		{"an answer with an empty delta beside", ChatCompletions, false, `{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"hello"},"delta":{"content":""}}]}`, "content |   | 5 0 | 0:stop | | . . . . ."},
		{"a text with an empty message beside", Completions, false, `{"choices":[{"text":"abc","message":{"content":""}}]}`, "content |   | 3 0 | 0: | | . . . . ."},
		{"ids made up for every piece", ChatCompletions, true, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"t1","function":{"name":"f"}}]}}]}` + "\n" + `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"t2","function":{"arguments":"{"}}]}}]}` + "\n" + `{"choices":[{"delta":{"tool_calls":[{"index":-1,"id":"t3","function":{"arguments":"}"}}]}}]}`, "tool_call tool_call tool_call |   | 0 0 | 0: | 0:t1:f | . . . . ."},
		{"two calls under one index without ids", ChatCompletions, true, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"","function":{"name":"f"}},{"index":0,"id":"","function":{"name":"g"}}]}}]}`, "tool_call |   | 0 0 | 0: | 0::f 0::g | . . . . ."},
		{"two calls under one id", ChatCompletions, false, `{"choices":[{"message":{"tool_calls":[{"id":"x","function":{"name":"f"}},{"id":"x","function":{"name":"g"}}]}}]}`, "tool_call |   | 0 0 | 0: | 0:x:f 1:x:g | . . . . ."},

		{"custom tool input", Responses, true, `{"type":"response.custom_tool_call_input.delta","delta":"a"}`, "tool_call |   | 0 0 | | | . . . . ."},
		{"mcp arguments, both names", Responses, true, `{"type":"response.mcp_call_arguments.delta","delta":"a"}` + "\n" + `{"type":"response.mcp_call.arguments.delta","delta":"a"}`, "tool_call tool_call |   | 0 0 | | | . . . . ."},
		{"a patch at once", Responses, true, `{"type":"response.apply_patch_call_operation_diff.done","diff":"a"}`, "tool_call |   | 0 0 | | | . . . . ."},
		{"sounds under all names", Responses, true, `{"type":"response.audio.delta","delta":"a"}` + "\n" + `{"type":"response.output_audio.delta","delta":"a"}` + "\n" + `{"type":"response.audio.transcript.delta","delta":"a"}` + "\n" + `{"type":"response.output_audio_transcript.delta","delta":"a"}`, "audio audio audio audio |   | 0 0 | | | . . . . ."},
		{"summaries: two parts, one at once, one an object", Responses, true, `{"type":"response.reasoning_summary_text.delta","summary_index":0,"delta":"ab"}` + "\n" + `{"type":"response.reasoning_summary_text.done","summary_index":1,"text":"cd"}` + "\n" + `{"type":"response.reasoning_summary_text.done","summary_index":0,"text":"ab"}` + "\n" + `{"type":"response.reasoning_summary.delta","delta":{"text":"ef"}}`, "reasoning reasoning - reasoning |   | 0 6 | | | . . . . ."},
		{"calls without ids are as many as there are", Responses, false, `{"id":"r","status":"completed","output":[{"type":"function_call","name":"a","arguments":"{}"},{"type":"function_call","name":"b","arguments":"{}"}]}`, "- | r  | 0 0 | 0:tool_calls | 0::a 1::b | . . . . ."},
		{"one without an id is told by its place", Responses, true, `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","name":"a"}}` + "\n" + `{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","name":"b"}}` + "\n" + `{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","name":"b","arguments":"{}"}}` + "\n" + `{"type":"response.completed","response":{"status":"completed","output":[{"type":"function_call","name":"a"},{"type":"function_call","name":"b"}]}}`, "tool_call tool_call - - # |   | 0 0 | 0:tool_calls | 0::a 1::b | . . . . ."},
		{"a refusal that came whole", Responses, true, `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m","content":[{"type":"refusal","refusal":"no way"}]}}` + "\n" + `{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"no way"}]}]}}`, "refusal - # |   | 0 0 | 0:stop | | . . . . ."},
		{"items that came whole", Responses, true, `{"type":"response.output_item.done","item":{"type":"reasoning","summary":[{"text":"hm"}]}}` + "\n" + `{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"hello"}]}}` + "\n" + `{"type":"response.output_item.done","item":{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}}` + "\n" + `{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hello"}]},{"type":"function_call","call_id":"c","name":"f"}]}}`, "reasoning content tool_call - # |   | 5 2 | 0:tool_calls | 0:c:f | . . . . ."},
		{"all in the last event", Responses, true, `{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":"hello"}]}}`, "content # |   | 5 0 | 0:stop | | . . . . ."},
		{"reasoning and its summary are one", Responses, false, `{"status":"completed","output":[{"type":"reasoning","content":[{"text":"abcde"}],"summary":[{"text":"abc"}]}]}`, "- |   | 0 5 | 0:stop | | . . . . ."},
		{"a response with a type of its own, an event with an id", Responses, true, `{"type":"response.completed","id":"evt_2","response":{"type":"response","id":"r","status":"completed"}}`, "- # | r  | 0 0 | 0:stop | | . . . . ."},

		{"segments of a transcription", Transcriptions, true, `{"type":"transcript.text.segment","text":"a"}` + "\n" + `{"type":"transcript.text.segment","text":"b"}` + "\n" + `{"type":"transcript.text.done","text":"ab"}`, "content content - # |   | 2 0 | | | . . . . ."},
		{"a transcription's deltas", Transcriptions, true, `{"type":"transcript.text.delta","delta":"a"}` + "\n" + `{"type":"transcript.text.delta","delta":"b"}` + "\n" + `{"type":"transcript.text.done","text":"ab"}`, "content content - # |   | 2 0 | | | . . . . ."},
		{"a transcription's error", Transcriptions, true, `{"type":"error","error":{"code":"c","message":"m"}}`, "- ! # |   | 0 0 | | | . . . . . |  c"},
		{"an edited image", ImagesEdits, true, `{"type":"image_edit.completed","usage":{"input_tokens":1}}`, "- # |   | 0 0 | | | 1 . . . ."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var docs [][]byte
			for _, d := range strings.Split(tc.docs, "\n") {
				docs = append(docs, []byte(d))
			}
			for _, size := range []int{0, 1, 3} {
				f, events := decoded(tc.api, tc.stream, true, size, docs)
				if diff := cmp.Diff(tc.want, strings.TrimSpace(summaryOf(f, events))); diff != "" {
					t.Errorf("in pieces of %d: (-want +got)\n%s", size, diff)
				}
			}
		})
	}
}

// TestTimingNames has the server's own timings in bodies.
func TestTimingNames(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		`{"usage":{"queue_time":0.1,"prompt_time":0.2,"completion_time":0.3,"total_time":0.6,"prompt_tokens":1}}`:                   "queue_time 0.1, prompt_time 0.2, completion_time 0.3, total_time 0.6",
		`{"usage":{"time_to_first_token":0.1,"completion_tokens_per_sec":40,"is_last_response":true}}`:                              "time_to_first_token 0.1, completion_tokens_per_sec 40",
		`{"usage":{"latency_checkpoint":{"engine_ttft_ms":50,"pre_inference_ms":7,"user_visible_ttft_ms":60,"engine_tbt_ms":"x"}}}`: "latency_checkpoint.engine_ttft_ms 50, latency_checkpoint.pre_inference_ms 7, latency_checkpoint.user_visible_ttft_ms 60",
		`{"latency_checkpoint":{"engine_ttft_ms":50}}`:                                                                              "latency_checkpoint.engine_ttft_ms 50",
		`{"sla_metrics":{"ttft_ms":5,"ts_us":7}}`:                                                                                   "sla_metrics.ttft_ms 5",
		`{"time_info":{"queue_time":0.5,"prompt_time":1e-3,"created":1741305600}}`:                                                  "time_info.queue_time 0.5, time_info.prompt_time 0.001",
		`{"timings":{"prompt_n":5,"prompt_ms":12.5,"predicted_per_second":30,"cache_n":1,"x":{}}}`:                                  "timings.prompt_ms 12.5, timings.predicted_per_second 30",
	} {
		f, _ := decoded(ChatCompletions, false, false, 0, [][]byte{[]byte(doc)})
		var got []string
		for _, x := range f.Timings {
			got = append(got, fmt.Sprint(x.Name, " ", x.Value))
		}
		if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", doc, diff)
		}
	}
}

// TestRequestNames has the members of requests under all their names.
func TestRequestNames(t *testing.T) {
	t.Parallel()
	n := func(v int64) Count { return Count{v, true} }
	for doc, want := range map[string]Request{
		`{"max_tokens":5,"n":2,"temperature":0.5,"top_p":1}`: {MaxTokens: n(5), N: n(2), Temperature: Number{0.5, true}, TopP: Number{1, true}},
		`{"max_completion_tokens":5}`:                        {MaxTokens: n(5)},
		`{"max_output_tokens":5,"input":"a\nb"}`:             {MaxTokens: n(5), Messages: n(1)},
		`{"input":[{"role":"user"},{"role":"user"},"x"]}`:    {Messages: n(3)},
		`{"messages":[]}`:                                    {Messages: n(0)},
		`{"functions":[{}]}`:                                 {HasTools: true},
		`{"tools":[{}],"stream":true}`:                       {HasTools: true, Stream: true},
		`{"tools":[],"stream":null}`:                         {},
		`{"stream_options":{"include_usage":true}}`:          {IncludeUsage: true, StreamOptions: true},
		`{"frequency_penalty":0.5,"presence_penalty":-1,"seed":7,"top_k":40,"dimensions":256,"service_tier":"flex","previous_response_id":"r","encoding_format":"base64","stop":["a","b"],"reasoning_effort":"low","response_format":{"type":"json_schema","json_schema":{"type":"x"}}}`: {
			More: &More{Frequency: Number{0.5, true}, Presence: Number{-1, true}, Seed: n(7), TopK: n(40), Dimensions: n(256), Tier: "flex", Previous: "r", Encoding: "base64", Effort: "low", Format: "json_schema", Stop: []string{"a", "b"}}},
		`{"stop":"x","reasoning":{"effort":"high"},"text":{"format":{"type":"json_object"}}}`: {More: &More{Effort: "high", Format: "json_object", Stop: []string{"x"}}},
		`{"stop":[],"n":null,"modalities":["text"]}`:                                          {},
		`{"modalities":["text","audio"],"audio":{"voice":"x"}}`:                               {More: &More{Audio: true}},
		`{"stop":["1","2","3","4","5","6","7","8","9",{"a":"b"},null]}`:                       {More: &More{Stop: []string{"1", "2", "3", "4", "5", "6", "7", "8"}}},
		"\ufeff" + `{"stream":true}`:                                                          {Stream: true},
	} {
		for size := range 4 {
			var got Request
			var d Decoder
			d.InitRequest(&got)
			for b := []byte(doc); len(b) > 0; {
				k := min(len(b), size)
				if size == 0 {
					k = len(b)
				}
				d.Write(b[:k])
				b = b[k:]
			}
			d.EndRequest()
			want.Read = true
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(Name{})); diff != "" {
				t.Errorf("%s in pieces of %d: (-want +got)\n%s", doc, size, diff)
			}
		}
	}
}
