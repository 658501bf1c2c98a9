// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWhatServersSend has small bodies of every kind that servers were seen to
// send, whole and in pieces, and what the record must say of each.
func TestWhatServersSend(t *testing.T) {
	t.Parallel()
	data := func(events ...string) string {
		return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"
	}
	const (
		chat, responses, embeddings = "/v1/chat/completions", "/v1/responses", "/v1/embeddings"
		a, b                        = `{"id":"c","choices":[{"index":0,"delta":{"content":"a"}}]}`, `{"choices":[{"index":0,"delta":{"content":"b"}}]}`
		stop                        = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
		usage                       = `{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":3}}}`
		done                        = `[DONE]`
	)
	used := map[string]any{"input_tokens": 7.0, "output_tokens": 2.0, "cache_read_tokens": 3.0}
	for _, tc := range []struct {
		name, path, contentType, body string
		want                          map[string]any
	}{
		{"usage on a last chunk without choices", chat, "text/event-stream", data(a, stop, usage, done),
			map[string]any{"outcome": "complete", "usage": used, "usage_source": "reported", "events": 3.0, "output_events": 1.0, "terminated": "done"}},
		{"usage not on the last chunk", chat, "text/event-stream", data(a, stop, usage, `{"choices":[],"moderation":{}}`, done),
			map[string]any{"usage": used, "events": 4.0}},
		{"usage null on ordinary chunks, and none at all", chat, "text/event-stream", data(`{"choices":[{"delta":{"content":"a"}}],"usage":null}`, stop, done),
			map[string]any{"usage": nil, "usage_source": nil, "streamed_tokens": nil}},
		{"usage as nulls", chat, "text/event-stream", data(a, `{"choices":[],"usage":{"prompt_tokens":null,"completion_tokens":null}}`, done), map[string]any{"usage": nil}},
		{"a reported 0 stays a 0", chat, "text/event-stream", data(a, `{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}`, done),
			map[string]any{"usage": map[string]any{"input_tokens": 0.0, "output_tokens": 0.0}}},
		{"no done mark", chat, "text/event-stream", data(a, stop), map[string]any{"outcome": "complete", "done_seen": false, "terminated": "eof"}},
		{"event lines, ids, retries and comments", chat, "text/event-stream", ": OPENROUTER PROCESSING\n\nevent: message\nid: 1\nretry: 3\ndata: " + a + "\n\n: \n\n: ping - 2026\n\n" + data(stop, done),
			map[string]any{"events": 2.0, "output_events": 1.0, "first_output_event": 0.0}},
		{"CR LF and extra blank lines", chat, "text/event-stream; charset=UTF-8", strings.ReplaceAll("\n\n"+data(a)+"\n\n"+data(b, stop, done), "\n", "\r\n"), map[string]any{"output_events": 2.0, "text_chars": 2.0}},
		{"CR alone", chat, "Text/Event-Stream", strings.ReplaceAll(data(a, b, stop, done), "\n", "\r"), map[string]any{"output_events": 2.0, "outcome": "complete"}},
		{"an event over several data lines", chat, "text/event-stream", "data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\ndata:\"a\"}}]}\n\n" + data(stop, done), map[string]any{"output_events": 1.0, "text_chars": 1.0}},
		{"a byte order mark", chat, "text/event-stream", "\ufeff" + data(a, stop, done), map[string]any{"output_events": 1.0}},
		{"a stream without a content type", chat, "", data(a, stop, done), map[string]any{"stream": true, "events": 2.0}},
		{"a stream that says it is JSON", chat, "application/json", data(a, stop, done), map[string]any{"stream": true, "events": 2.0}},
		{"an answer in place of a stream", chat, "text/event-stream", `{"choices":[{"message":{"content":"ab"},"finish_reason":"stop"}]}`, map[string]any{"stream": false, "events": nil, "outcome": "complete", "text_chars": 2.0}},
		{"an answer behind white space", chat, "application/json", "\n \n\t" + `{"choices":[{"message":{"content":"ab"},"finish_reason":"stop"}]}`, map[string]any{"text_chars": 2.0, "finish_reasons": []any{"stop"}}},
		{"an answer sent as bytes", chat, "application/octet-stream", `{"choices":[{"message":{"content":"ab"},"finish_reason":"stop"}]}`, map[string]any{"text_chars": 2.0}},
		{"a choice without a delta", chat, "text/event-stream", data(`{"choices":[{"index":0,"content_filter_offsets":{"check_offset":3}}]}`, a, stop, done), map[string]any{"first_output_event": 1.0, "output_events": 1.0}},
		{"a chunk without choices", chat, "text/event-stream", data(`{"value":"x"}`, a, stop, done), map[string]any{"events": 3.0, "output_events": 1.0}},
		{"the role in every delta", chat, "text/event-stream", data(`{"choices":[{"delta":{"role":"assistant","content":""}}]}`, `{"choices":[{"delta":{"role":"assistant","content":"a"}}]}`, stop, done), map[string]any{"first_output_event": 1.0, "output_events": 1.0}},
		{"thoughts inside content stay content", chat, "text/event-stream", data(`{"choices":[{"delta":{"content":"<think>"}}]}`, stop, done), map[string]any{"first_channel": "content", "reasoning_chars": 0.0, "text_chars": 7.0}},
		{"reasoning first, visible later", chat, "text/event-stream", data(`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`, a, stop, done), map[string]any{"first_channel": "reasoning", "first_output_event": 0.0, "first_visible_event": 1.0, "reasoning_chars": 2.0}},
		{"the first output on another choice", chat, "text/event-stream", data(`{"choices":[{"index":1,"delta":{"content":"x"}}]}`, a, done), map[string]any{"first_output_event": 0.0, "text_chars": 1.0, "finish_reasons": []any{nil, nil}}},
		{"a tool call at once, its id null", chat, "text/event-stream", data(`{"choices":[{"delta":{"tool_calls":[{"id":null,"function":{"name":"f","arguments":"{}"}}]}}]}`, stop, done), map[string]any{"first_channel": "tool_call", "tool_call_count": 1.0}},
		{"the finish reason twice, and others' words for it", chat, "text/event-stream", data(a, `{"choices":[{"delta":{},"finish_reason":"eos"}]}`, `{"choices":[{"delta":{},"finish_reason":"eos"}]}`, done), map[string]any{"finish_reasons": []any{"eos"}}},
		{"an empty finish reason is none", chat, "text/event-stream", data(a, `{"choices":[{"delta":{},"finish_reason":""}]}`), map[string]any{"finish_reasons": []any{nil}, "outcome": "cut"}},
		{"padding is no text", chat, "text/event-stream", data(`{"choices":[{"delta":{"content":"a"}}],"obfuscation":"aaaaaaaa"}`, stop, done), map[string]any{"text_chars": 1.0}},
		{"an error in the stream, by its event's name", chat, "text/event-stream", data(a) + "event: error\ndata: {\"error\":{\"message\":\"m\",\"type\":\"invalid_request_error\",\"code\":\"tool_use_failed\"}}\n\n",
			map[string]any{"outcome": "stream_error", "error": map[string]any{"type": "invalid_request_error", "code": "tool_use_failed", "mid_stream": true}}},
		{"an error in the stream, by its event's name, without an object", chat, "text/event-stream", data(a) + "event: error\ndata: {\"message\":\"m\",\"type\":\"rate_limit_exceeded\"}\n\n",
			map[string]any{"outcome": "stream_error", "error": map[string]any{"type": "rate_limit_exceeded", "mid_stream": true}}},
		{"an event that is no JSON", chat, "text/event-stream", data(a, "oops", stop, done), map[string]any{"outcome": "complete", "events": 3.0, "output_events": 1.0}},
		{"a web page", chat, "text/html", "<html><body>404</body></html>", map[string]any{"outcome": "complete", "stream": false, "text_chars": 0.0}},
		{"a Responses stream without its end", responses, "text/event-stream", data(`{"type":"response.created","response":{"id":"r","status":"in_progress"}}`, `{"type":"response.output_text.delta","delta":"a"}`),
			map[string]any{"outcome": "cut", "terminated": "eof", "response_id": "r", "finish_reasons": []any{nil}}},
		{"a Responses stream with a done mark and no event lines", responses, "text/event-stream", data(`{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.completed","response":{"status":"completed"}}`, done),
			map[string]any{"outcome": "complete", "terminated": "done", "events": 2.0}},
		{"an image's pieces are no output", responses, "text/event-stream", data(`{"type":"response.image_generation_call.partial_image","partial_image_b64":"AAAA"}`, `{"type":"response.completed","response":{"status":"completed"}}`), map[string]any{"output_events": 0.0, "outcome": "complete"}},
		{"speech as a stream", "/v1/audio/speech", "text/event-stream", data(`{"type":"speech.audio.delta","audio":"AAAA"}`, `{"type":"speech.audio.done","usage":{"input_tokens":14,"output_tokens":101}}`),
			map[string]any{"outcome": "complete", "output_events": 1.0, "first_channel": "audio", "terminated": "terminal_event", "text_chars": nil, "usage": map[string]any{"input_tokens": 14.0, "output_tokens": 101.0}}},
		{"an image as a stream", "/v1/images/generations", "text/event-stream", data(`{"type":"image_generation.partial_image","b64_json":"AAAA"}`, `{"type":"image_generation.completed","b64_json":"AAAA","usage":{"input_tokens":1,"output_tokens":2}}`),
			map[string]any{"outcome": "complete", "output_events": 0.0, "terminated": "terminal_event"}},
		{"a transcription as a stream", "/v1/audio/transcriptions", "text/event-stream", data(`{"type":"transcript.text.delta","delta":"a"}`, `{"type":"transcript.text.delta","delta":"b"}`, `{"type":"transcript.text.done","text":"ab","usage":{"input_tokens":1}}`),
			map[string]any{"outcome": "complete", "output_events": 2.0, "text_chars": 2.0, "terminated": "terminal_event"}},
		{"vLLM's transcription as a stream", "/v1/audio/transcriptions", "text/event-stream", data(`{"object":"transcription.chunk","model":"w","choices":[{"delta":{"content":" The"},"finish_reason":null}]}`, `{"object":"transcription.chunk","choices":[{"delta":{"content":" end"},"finish_reason":"stop"}]}`, done),
			map[string]any{"outcome": "complete", "output_events": 2.0, "text_chars": 8.0, "finish_reasons": []any{"stop"}}},
		{"a code of success is no error", chat, "application/json", `{"code":0,"message":"Success","sid":"s","choices":[{"message":{"content":"hi"},"finish_reason":"stop","index":0}]}`, map[string]any{"outcome": "complete", "error": nil}},
		{"an empty error is none", chat, "text/event-stream", data(`{"error":"","choices":[{"delta":{"content":"a"}}]}`, stop, done), map[string]any{"outcome": "complete", "error": nil}},
		{"usage in the choice", chat, "text/event-stream", data(a, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":19,"completion_tokens":13}}]}`, done),
			map[string]any{"usage": map[string]any{"input_tokens": 19.0, "output_tokens": 13.0}}},
		{"a failed response that does not say why", responses, "text/event-stream", data(`{"type":"response.failed","response":{"id":"r","status":"failed","error":null}}`), map[string]any{"outcome": "stream_error", "finish_reasons": []any{"error"}}},
		{"a completed response without a status", responses, "text/event-stream", data(`{"type":"response.created","response":{"id":"r","status":"in_progress"}}`, `{"type":"response.completed","response":{"id":"r"}}`), map[string]any{"outcome": "complete", "finish_reasons": []any{"stop"}}},
		{"speech whose first byte looks like a comment", "/v1/audio/speech", "audio/pcm", ":\x00data: \x01", map[string]any{"outcome": "complete", "stream": false}},
		{"two calls of a response without call ids", responses, "application/json", `{"status":"completed","output":[{"id":"a","type":"function_call","name":"f","arguments":"{}"},{"id":"b","type":"function_call","name":"f","arguments":"{}"}]}`,
			map[string]any{"tool_call_count": 2.0, "finish_reasons": []any{"tool_calls"}}},
		{"a command that came at once", responses, "text/event-stream", data(`{"type":"response.shell_call_command.done","command":"ls"}`, `{"type":"response.completed","response":{"status":"completed"}}`),
			map[string]any{"output_events": 1.0, "first_channel": "tool_call"}},
		{"a program that came at once", responses, "text/event-stream", data(`{"type":"response.code_interpreter_call_code.done","code":"print(1)"}`, `{"type":"response.completed","response":{"status":"completed"}}`),
			map[string]any{"output_events": 1.0, "first_channel": "tool_call", "error": nil}},
		{"an answer behind a byte order mark", chat, "text/event-stream", "\ufeff" + `{"choices":[{"message":{"content":"ab"},"finish_reason":"stop"}]}`, map[string]any{"stream": false, "outcome": "complete", "text_chars": 2.0}},
		{"a byte order mark behind white space, then a stream", chat, "", "\r\n\ufeff" + data(a, stop, done), map[string]any{"stream": true, "events": 2.0}},
		{"half a byte order mark", chat, "text/event-stream", "\xef\xbb" + "\n" + data(a, stop, done), map[string]any{"stream": true, "events": 2.0}},
		{"a transcription as a text that looks like a stream", "/v1/audio/transcriptions", "text/plain; charset=utf-8", "data: the word\n\nid: another\n\n", map[string]any{"stream": false, "outcome": "complete"}},
		{"a stream that says it is text", chat, "text/plain", data(a, stop, done), map[string]any{"stream": true, "events": 2.0}},
		{"a list of no errors", chat, "application/json", `{"success":true,"errors":[],"messages":[],"choices":[{"message":{"content":"ab"},"finish_reason":"stop"}]}`, map[string]any{"outcome": "complete", "error": nil}},
		{"a code of success without choices", embeddings, "application/json", `{"code":0,"message":"Success","data":[{"embedding":[1]}],"usage":{"prompt_tokens":1}}`, map[string]any{"outcome": "complete", "error": nil}},
		{"an error in a list under 200", chat, "application/json", `[{"error":{"code":429,"message":"m"}}]`, map[string]any{"outcome": "stream_error", "error": map[string]any{"code": "429", "mid_stream": false}}},
		{"a text that stands twice", chat, "text/event-stream", data(`{"choices":[{"delta":{"content":"first","content":"ab"}}]}`, stop, done), map[string]any{"output_events": 1.0, "text_chars": 2.0}},
		{"reasoning under two names of one kind", chat, "text/event-stream", data(`{"choices":[{"delta":{"reasoning":"hm","thinking":"hm"}}]}`, stop, done), map[string]any{"reasoning_chars": 2.0}},
		{"a content type with a parameter and no space", chat, "text/event-stream;charset=UTF-8", data(a, stop, done), map[string]any{"stream": true, "events": 2.0}},
		{"nothing", chat, "application/json", "", map[string]any{"outcome": "cut"}},
		{"nothing of embeddings", embeddings, "application/json", "", map[string]any{"outcome": "cut"}},
		{"speech of no type that begins like a comment", "/v1/audio/speech", "", ":\x00data: \x01", map[string]any{"outcome": "complete", "stream": false, "text_chars": nil}},
		{"a last event broken off in its document", chat, "text/event-stream", data(a) + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":12`,
			map[string]any{"outcome": "cut", "finish_reasons": []any{"stop"}, "terminated": "eof"}},
		{"a last event without its blank line", chat, "text/event-stream", data(a) + "data: " + stop, map[string]any{"outcome": "complete", "events": 2.0}},
		{"embeddings in base64", embeddings, "application/json", `{"object":"list","data":[{"index":0,"embedding":"` + strings.Repeat("AAAA", 2000) + `"}],"model":"e","usage":{"prompt_tokens":5,"total_tokens":5}}`,
			map[string]any{"operation": "embeddings", "response_model": "e", "usage": map[string]any{"input_tokens": 5.0}}},
		{"embeddings in floats", embeddings, "application/json", `{"data":[{"embedding":[-0.1,2e-3,0],"index":0}],"model":"e","usage":{"prompt_tokens":5}}`, map[string]any{"usage": map[string]any{"input_tokens": 5.0}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			request := chatStream
			if tc.path == responses {
				request = responsesStream
			}
			header := http.Header{}
			if tc.contentType != "" {
				header.Set("Content-Type", tc.contentType)
			}
			got := through(t, tc.path, 200, header, tc.body, request, io.EOF)
			for k, want := range tc.want {
				if diff := cmp.Diff(want, got[k]); diff != "" {
					t.Errorf("%s: (-want +got)\n%s", k, diff)
				}
			}
		})
	}
}
