// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tacho-go/tacho/sim"
)

// chunk is one chat chunk as sim writes it, with ID in place of the identifier.
func chunk(choices, rest string) string {
	return `data: {"id":"ID","object":"chat.completion.chunk","created":1735689600,"model":"m","choices":[` + choices + `]` + rest + "}\n\n"
}

func delta(delta string) string {
	return `{"index":0,"delta":` + delta + `,"logprobs":null,"finish_reason":null}`
}

const (
	role     = `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}`
	stop     = `{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}`
	done     = "data: [DONE]\n\n"
	details0 = `,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}`
	usage23  = `{"prompt_tokens":2,"completion_tokens":2,"total_tokens":4` + details0 + `}`
	usage21  = `{"prompt_tokens":2,"completion_tokens":1,"total_tokens":3` + details0 + `}`
	usage20  = `{"prompt_tokens":2,"completion_tokens":0,"total_tokens":2` + details0 + `}`
)

func TestChatStreamBytes(t *testing.T) {
	t.Parallel()
	steps := func(s ...sim.Step) sim.Script { return sim.Script{Steps: s} }
	ab := chunk(role, "") + chunk(delta(`{"content":"a"}`), "") + chunk(delta(`{"content":" b"}`), "") + chunk(stop, "")
	abNull := chunk(role, `,"usage":null`) + chunk(delta(`{"content":"a"}`), `,"usage":null`) +
		chunk(delta(`{"content":" b"}`), `,"usage":null`) + chunk(stop, `,"usage":null`)
	for _, tc := range []struct {
		name, body string
		script     sim.Script
		want       string
	}{
		{"zero script", streamBody, sim.Script{}, chunk(role, "") + chunk(delta(`{"content":"Hello"}`), "") +
			chunk(delta(`{"content":" from"}`), "") + chunk(delta(`{"content":" the"}`), "") +
			chunk(delta(`{"content":" simulated"}`), "") + chunk(delta(`{"content":" endpoint."}`), "") + chunk(stop, "") + done},
		{"usage not asked", streamBody, sim.Script{Text: "a b"}, ab + done},
		{"usage asked", usageBody, sim.Script{Text: "a b"}, abNull + chunk("", `,"usage":`+usage23) + done},
		{"usage never", usageBody, sim.Script{Text: "a b", UsageShape: sim.UsageNone}, abNull + done},
		{"usage forced", streamBody, sim.Script{Text: "a b", UsageShape: sim.UsageOnLastChunk}, ab + chunk("", `,"usage":`+usage23) + done},
		{"usage on finish", streamBody, sim.Script{Text: "a b", UsageShape: sim.UsageOnFinishChunk},
			strings.Replace(ab, stop+"]", stop+`],"usage":`+usage23, 1) + done},
		{"usage on every chunk", streamBody, sim.Script{Text: "a b", UsageShape: sim.UsageOnEveryChunk},
			chunk(role, `,"usage":`+usage20) + chunk(delta(`{"content":"a"}`), `,"usage":`+usage21) +
				chunk(delta(`{"content":" b"}`), `,"usage":`+usage23) + chunk(stop, `,"usage":`+usage23) + done},
		{"usage under x_groq", streamBody, sim.Script{Text: "a b", UsageShape: sim.UsageXGroq},
			ab + chunk("", `,"x_groq":{"id":"ID","usage":`+usage23+`}`) + done},
		{"usage given", streamBody, sim.Script{Text: "a b", UsageShape: sim.UsageOnLastChunk,
			Usage: &sim.UsageCounts{InputTokens: 10, OutputTokens: 7, CachedTokens: 4, ReasoningTokens: 5}},
			ab + chunk("", `,"usage":{"prompt_tokens":10,"completion_tokens":7,"total_tokens":17,`+
				`"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":5}}`) + done},
		{"no [DONE]", streamBody, sim.Script{Text: "a b", NoDone: true}, ab},
		{"CRLF", streamBody, sim.Script{Text: "a b", CRLF: true}, strings.ReplaceAll(ab+done, "\n", "\r\n")},
		{"one burst", streamBody, sim.Script{Text: "a b", OneBurst: true}, ab + done},
		{"three in a write", streamBody, sim.Script{Text: "a b", Coalesce: 3}, ab + done},
		{"two choices", streamBody, sim.Script{Text: "a", Choices: 2}, chunk(role, "") + chunk(strings.Replace(role, ":0", ":1", 1), "") +
			chunk(delta(`{"content":"a"}`), "") + chunk(strings.Replace(delta(`{"content":"a"}`), ":0", ":1", 1), "") +
			chunk(stop, "") + chunk(strings.Replace(stop, ":0", ":1", 1), "") + done},
		{"reasoning, finish reason", streamBody, sim.Script{Text: "a", Reasoning: "r s", FinishReason: "length"}, chunk(role, "") +
			chunk(delta(`{"reasoning_content":"r"}`), "") + chunk(delta(`{"reasoning_content":" s"}`), "") +
			chunk(delta(`{"content":"a"}`), "") + chunk(strings.Replace(stop, "stop", "length", 1), "") + done},
		{"reasoning field, model", streamBody, sim.Script{Text: "a", Reasoning: "r", ReasoningField: "reasoning", Model: "x"},
			strings.ReplaceAll(chunk(role, "")+chunk(delta(`{"reasoning":"r"}`), "")+chunk(delta(`{"content":"a"}`), "")+
				chunk(stop, ""), `"m"`, `"x"`) + done},
		{"steps only", streamBody, steps(sim.Text(0, "<a> & \"é\"\n")), chunk(delta(`{"content":"<a> & \"é\"\n"}`), "")},
		{"no steps", streamBody, steps([]sim.Step{}...), chunk(role, "")[:0]},
		{"refusal", streamBody, steps(sim.Refusal(0, "no")), chunk(delta(`{"refusal":"no"}`), "")},
		{"tool call", streamBody, steps(sim.ToolCall(0, 0, "call_1", "f", ""), sim.ToolCall(0, 0, "", "", `{"x"`)),
			chunk(delta(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]}`), "") +
				chunk(delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]}`), "")},
		{"audio", streamBody, steps(sim.Audio(0, []byte("ab"))), chunk(delta(`{"audio":{"id":"ID","data":"YWI="}}`), "")},
		{"usage step", streamBody, steps(sim.Usage(sim.UsageCounts{InputTokens: 2, OutputTokens: 2})), chunk("", `,"usage":`+usage23)},
		{"usage step, never asked by the shape", usageBody, steps(sim.Text(0, "a"), sim.Done()),
			chunk(delta(`{"content":"a"}`), `,"usage":null`) + done},
		{"usage added before the end of steps", streamBody,
			sim.Script{UsageShape: sim.UsageOnLastChunk, Steps: []sim.Step{sim.Text(0, "a"), sim.Done()}},
			chunk(delta(`{"content":"a"}`), "") + chunk("", `,"usage":`+usage21) + done},
		{"error in the middle", streamBody, steps(sim.Text(0, "a"), sim.Error("rate", "server_error", "broken"), sim.Error("", "t", "")),
			chunk(delta(`{"content":"a"}`), "") +
				`data: {"error":{"message":"broken","type":"server_error","param":null,"code":"rate"}}` + "\n\n" +
				`data: {"error":{"message":"","type":"t","param":null,"code":null}}` + "\n\n"},
		{"comment and raw", streamBody, steps(sim.KeepAlive(), sim.Raw([]byte("data:x\r\rdata")), sim.Done()),
			": keep-alive\n\ndata:x\r\rdata" + done},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := sim.New(t, sim.WithScript(tc.script))
				resp, got := fetch(t, s, s.Client(), chatPath, tc.body)
				equal(t, "body", anonymous(got), tc.want)
				equal(t, "content type", resp.Header.Get("Content-Type"), "text/event-stream; charset=utf-8")
			})
		})
	}
}

// anonymous puts ID in place of every identifier that sim makes.
func anonymous(s string) string {
	for _, prefix := range []string{"chatcmpl-", "cmpl-", "audio_", "resp_", "msg_", "rs_", "fc_"} {
		for {
			i := strings.Index(s, `"`+prefix)
			if i < 0 {
				break
			}
			s = s[:i] + `"ID` + s[i+1+len(prefix)+24:]
		}
	}
	return s
}

func TestCompletionsStreamBytes(t *testing.T) {
	t.Parallel()
	s := sim.New(t, sim.WithScript(sim.Script{Text: "a b"}))
	_, got := fetch(t, s, s.Client(), completionsPath,
		`{"model":"m","stream":true,"stream_options":{"include_usage":true},"prompt":"hello"}`)
	c := func(choices, usage string) string {
		return `data: {"id":"ID","object":"text_completion","created":1735689600,"model":"m","choices":[` + choices + `],"usage":` + usage + "}\n\n"
	}
	want := c(`{"text":"a","index":0,"logprobs":null,"finish_reason":null}`, "null") +
		c(`{"text":" b","index":0,"logprobs":null,"finish_reason":null}`, "null") +
		c(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`, "null") +
		c("", usage23) + done
	equal(t, "body", anonymous(got), want)
}

func TestPlainBytes(t *testing.T) {
	t.Parallel()
	tools := []sim.Step{sim.ToolCall(0, 0, "c1", "f", ""), sim.ToolCall(0, 0, "", "", "{}"), sim.ToolCall(0, 1, "c2", "g", "[]"),
		sim.Finish(0, "tool_calls")}
	for _, tc := range []struct {
		name, path string
		script     sim.Script
		want       string
	}{
		{"chat", chatPath, sim.Script{Text: "a b", Reasoning: "r"},
			`{"id":"ID","object":"chat.completion","created":1735689600,"model":"m","choices":[{"index":0,"message":` +
				`{"role":"assistant","content":"a b","reasoning_content":"r","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":` +
				`{"prompt_tokens":2,"completion_tokens":3,"total_tokens":5,"prompt_tokens_details":{"cached_tokens":0},` +
				`"completion_tokens_details":{"reasoning_tokens":1}}}`},
		{"chat, two choices, no usage", chatPath, sim.Script{Text: "a", Choices: 2, UsageShape: sim.UsageNone},
			`{"id":"ID","object":"chat.completion","created":1735689600,"model":"m","choices":[` +
				`{"index":0,"message":{"role":"assistant","content":"a","refusal":null},"logprobs":null,"finish_reason":"stop"},` +
				`{"index":1,"message":{"role":"assistant","content":"a","refusal":null},"logprobs":null,"finish_reason":"stop"}]}`},
		{"chat, tools", chatPath, sim.Script{Steps: tools, UsageShape: sim.UsageNone},
			`{"id":"ID","object":"chat.completion","created":1735689600,"model":"m","choices":[{"index":0,"message":` +
				`{"role":"assistant","content":null,"refusal":null,"tool_calls":[` +
				`{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},` +
				`{"id":"c2","type":"function","function":{"name":"g","arguments":"[]"}}]},"logprobs":null,"finish_reason":"tool_calls"}]}`},
		{"chat, error step", chatPath, sim.Script{Steps: []sim.Step{sim.Error("c", "t", "m")}},
			`{"error":{"message":"m","type":"t","param":null,"code":"c"}}`},
		{"completions", completionsPath, sim.Script{Text: "a b"},
			`{"id":"ID","object":"text_completion","created":1735689600,"model":"m","choices":[` +
				`{"text":"a b","index":0,"logprobs":null,"finish_reason":"stop"}],"usage":` + usage23 + `}`},
		{"responses", responsesPath, sim.Script{Text: "a b", FinishReason: "length"},
			`{"id":"ID","object":"response","created_at":1735689600,"status":"incomplete","error":null,` +
				`"incomplete_details":{"reason":"max_output_tokens"},"model":"m","output":[{"id":"ID","type":"message",` +
				`"status":"incomplete","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"a b"}]}],` +
				`"usage":{"input_tokens":2,"input_tokens_details":{"cached_tokens":0},"output_tokens":2,` +
				`"output_tokens_details":{"reasoning_tokens":0},"total_tokens":4}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := sim.New(t, sim.WithScript(tc.script))
			resp, got := fetch(t, s, s.Client(), tc.path, plainBody)
			equal(t, "body", anonymous(got), tc.want)
			equal(t, "content type", resp.Header.Get("Content-Type"), "application/json")
			equal(t, "length", resp.ContentLength, int64(len(got)))
		})
	}
}
