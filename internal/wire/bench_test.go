// SPDX-License-Identifier: Apache-2.0

package wire

import "testing"

const chatEvent = `{"id":"chatcmpl-BpUinPP6uoKQ7wujISoeiCaI3hAIf","object":"chat.completion.chunk","created":1751612521,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_34a54ae93c","choices":[{"index":0,"delta":{"content":" ocean"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"aZ91kLx"}`

const responsesEvent = `{"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_0294ec2b2874383a016a3c1190a2588193a058fa3754f8363a","output_index":0,"content_index":0,"delta":" ocean","logprobs":[],"obfuscation":"kLx91aZ"}`

func BenchmarkEvent(b *testing.B) {
	for _, bb := range []struct {
		name string
		api  API
		data string
	}{
		{"chat", ChatCompletions, chatEvent},
		{"responses", Responses, responsesEvent},
		{"completions", Completions, `{"id":"cmpl-1","object":"text_completion","created":1,"choices":[{"text":" ocean","index":0,"logprobs":null,"finish_reason":null}],"model":"gpt-3.5-turbo-instruct"}`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var f Facts
			var d Decoder
			d.Init(bb.api, true, false, &f)
			data := []byte(bb.data)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				d.Begin()
				d.Write(data)
				if ev := d.End(); ev.Channels != Content {
					b.Fatal(ev)
				}
			}
		})
	}
}

// BenchmarkDocument is what a document costs that fits no pattern.
func BenchmarkDocument(b *testing.B) {
	for _, bb := range []struct {
		name   string
		stream bool
		data   string
	}{
		{"event", true, chatEvent},
		{"answer", false, `{"id":"chatcmpl-BpUinPP6uoKQ7wujISoeiCaI3hAIf","object":"chat.completion","created":1751612521,"model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,"message":{"role":"assistant","content":"Atlantic Ocean","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":22,"completion_tokens":2,"total_tokens":24,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"service_tier":"default","system_fingerprint":"fp_34a54ae93c"}`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			data := []byte(bb.data)
			var f Facts
			var d Decoder
			d.Init(ChatCompletions, bb.stream, false, &f)
			d.memo.off = true
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				d.Begin()
				d.Write(data)
				d.End()
			}
		})
	}
}

// BenchmarkDialect is what an event costs by dialect: like the one before, so
// that the pattern fits, and read in full.
func BenchmarkDialect(b *testing.B) {
	for _, bb := range []struct {
		name string
		api  API
		data string
	}{
		{"openai", ChatCompletions, chatEvent},
		{"azure", ChatCompletions, `{"choices":[{"content_filter_results":{"hate":{"filtered":false,"severity":"safe"},"self_harm":{"filtered":false,"severity":"safe"}},"delta":{"content":" ocean"},"finish_reason":null,"index":0,"logprobs":null}],"created":1782321591,"id":"chatcmpl-DuLYNq9zQCWkfZBDEt4z6GynL1HVU","model":"o4-mini-2025-04-16","object":"chat.completion.chunk","usage":null}`},
		{"openrouter-reasoning", ChatCompletions, `{"id":"gen-1","provider":"P","model":"a/b","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":" think","reasoning_details":[{"type":"reasoning.text","text":" think","format":"unknown","index":0}]},"finish_reason":null,"native_finish_reason":null,"logprobs":null}]}`},
		{"deepseek-reasoning", ChatCompletions, `{"id":"d1","object":"chat.completion.chunk","created":1,"model":"deepseek-reasoner","system_fingerprint":"fp","choices":[{"index":0,"delta":{"content":null,"reasoning_content":" think"},"logprobs":null,"finish_reason":null}]}`},
		{"mistral-parts", ChatCompletions, `{"id":"m1","object":"chat.completion.chunk","created":1,"model":"magistral","choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":" think"}]}]},"finish_reason":null}]}`},
		{"tool-call", ChatCompletions, `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]},"logprobs":null,"finish_reason":null}]}`},
		{"usage-chunk", ChatCompletions, `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":22,"completion_tokens":2,"total_tokens":24,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}`},
		{"completions", Completions, `{"id":"cmpl-1","object":"text_completion","created":1,"choices":[{"text":" ocean","index":0,"logprobs":null,"finish_reason":null}],"model":"gpt-3.5-turbo-instruct"}`},
		{"responses-text", Responses, responsesEvent},
		{"responses-summary", Responses, `{"type":"response.reasoning_summary_text.delta","sequence_number":9,"item_id":"rs_1","output_index":0,"summary_index":0,"delta":" think","obfuscation":"x"}`},
		{"responses-arguments", Responses, `{"type":"response.function_call_arguments.delta","sequence_number":9,"item_id":"fc_1","output_index":1,"delta":"{\"a\":","obfuscation":"x"}`},
		{"transcription", Transcriptions, `{"type":"transcript.text.delta","delta":" ocean","logprobs":[{"token":" ocean","logprob":-0.1}]}`},
	} {
		for _, pattern := range []bool{true, false} {
			b.Run(bb.name+map[bool]string{true: "/pattern", false: "/full"}[pattern], func(b *testing.B) {
				var f Facts
				var d Decoder
				d.Init(bb.api, true, false, &f)
				d.memo.off = !pattern
				data := []byte(bb.data)
				b.ReportAllocs()
				for b.Loop() {
					d.Begin()
					d.Write(data)
					d.End()
				}
			})
		}
	}
}
