// SPDX-License-Identifier: Apache-2.0

package compat_test

import (
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/openai/openai-go/v3"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// TestAccumulator compares the record of a stream with what openai-go v3's own
// accumulator makes of the same stream.
func TestAccumulator(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		script  sim.Script
		n       int64
		usage   bool
		finish  []string
		tools   int // of choice 0, as all below
		text    string
		refusal string
		output  int // events
	}{
		{name: "one choice", script: sim.Script{Text: "to be or not"}, n: 1, usage: true,
			finish: []string{"stop"}, text: "to be or not", output: 4},
		{name: "three choices", n: 3, usage: true,
			script: sim.Script{UsageShape: sim.UsageOnLastChunk, Steps: []sim.Step{
				sim.Role(0), sim.Role(1), sim.Role(2),
				sim.Text(1, "one"), sim.Text(0, "zéro "), sim.Text(2, "two"), sim.Text(0, "null 🙂"),
				sim.Finish(1, "length"), sim.Finish(0, "stop"), sim.Finish(2, "content_filter"), sim.Done(),
			}},
			finish: []string{"stop", "length", "content_filter"}, text: "zéro null 🙂", output: 4},
		{name: "two tool calls", n: 1, usage: true,
			script: sim.Script{UsageShape: sim.UsageOnLastChunk, Steps: []sim.Step{
				sim.Role(0),
				sim.ToolCall(0, 0, "call_a", "weather", ""), sim.ToolCall(0, 0, "", "", `{"city":`), sim.ToolCall(0, 0, "", "", `"Bonn"}`),
				sim.ToolCall(0, 1, "call_b", "time", ""), sim.ToolCall(0, 1, "", "", `{}`),
				sim.Finish(0, "tool_calls"), sim.Done(),
			}},
			finish: []string{"tool_calls"}, tools: 2, output: 5},
		{name: "text, then tool calls on two choices", n: 2,
			script: sim.Script{Steps: []sim.Step{
				sim.Role(0), sim.Role(1), sim.Text(0, "let me see"),
				sim.ToolCall(1, 0, "call_c", "time", "{}"), sim.ToolCall(0, 0, "call_a", "weather", "{}"),
				sim.ToolCall(1, 1, "call_d", "time", "{}"), sim.ToolCall(1, 2, "call_e", "time", "{}"),
				sim.Finish(0, "tool_calls"), sim.Finish(1, "tool_calls"), sim.Done(),
			}},
			finish: []string{"tool_calls", "tool_calls"}, tools: 1, text: "let me see", output: 5},
		{name: "refusal", n: 1,
			script: sim.Script{Steps: []sim.Step{sim.Role(0), sim.Refusal(0, "I "), sim.Refusal(0, "won't"), sim.Finish(0, "stop"), sim.Done()}},
			finish: []string{"stop"}, refusal: "I won't", output: 2},
		{name: "usage as the server pleases", n: 1,
			script: sim.Script{Text: "a b", UsageShape: sim.UsageOnLastChunk,
				Usage: &sim.UsageCounts{InputTokens: 120, OutputTokens: 40, CachedTokens: 100, ReasoningTokens: 30}},
			usage: true, finish: []string{"stop"}, text: "a b", output: 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				srv := sim.New(t, sim.WithScript(tc.script))
				client, _ := measuredV3(t, srv, "transport")
				params := chatParams()
				params.N = openai.Int(tc.n)
				if tc.usage {
					params.StreamOptions.IncludeUsage = openai.Bool(true)
				}
				ctx, tracker := tacho.Track(t.Context())
				s := client.Chat.Completions.NewStreaming(ctx, params)
				defer s.Close()
				var acc openai.ChatCompletionAccumulator
				for s.Next() {
					if !acc.AddChunk(s.Current()) {
						t.Fatal("the accumulator takes no chunk")
					}
				}
				if err := s.Err(); err != nil {
					t.Fatal(err)
				}
				c := only(t, tracker)
				r := record(t, c)
				var finish []string
				for _, choice := range acc.Choices {
					finish = append(finish, choice.FinishReason)
				}
				if !slices.Equal(finish, tc.finish) || !slices.Equal(c.FinishReasons(), tc.finish) {
					t.Errorf("finish reasons: SDK %q, tacho %q, want %q", finish, c.FinishReasons(), tc.finish)
				}
				m := acc.Choices[0].Message
				equal(t, "SDK: text", m.Content, tc.text)
				equal(t, "SDK: refusal", m.Refusal, tc.refusal)
				equal(t, "SDK: tool calls", len(m.ToolCalls), tc.tools)
				equal(t, "tool_call_count", r["tool_call_count"], any(float64(tc.tools)))
				// A refusal is output, and no text.
				equal(t, "text_chars", r["text_chars"], any(float64(utf8.RuneCountInString(tc.text))))
				equal(t, "response id", c.ResponseID(), acc.ID)
				equal(t, "response model", c.ResponseModel(), acc.Model)
				equal(t, "request n", r["request"].(map[string]any)["n"], any(float64(tc.n)))
				equal(t, "outcome", c.Outcome(), tacho.Complete)
				_, output := c.Events()
				equal(t, "output events", output, tc.output)

				u := c.Usage()
				equal(t, "usage reported", u.Output.Reported, tc.usage)
				equal(t, "input tokens", u.Input.N, acc.Usage.PromptTokens)
				equal(t, "output tokens", u.Output.N, acc.Usage.CompletionTokens)
				equal(t, "total tokens", u.Total.N, acc.Usage.TotalTokens)
				equal(t, "cached tokens", u.CacheRead.N, acc.Usage.PromptTokensDetails.CachedTokens)
				equal(t, "reasoning tokens", u.Reasoning.N, acc.Usage.CompletionTokensDetails.ReasoningTokens)
				if tc.script.Usage != nil {
					equal(t, "output tokens", u.Output.N, int64(tc.script.Usage.OutputTokens))
					equal(t, "cached tokens", u.CacheRead.N, int64(tc.script.Usage.CachedTokens))
					equal(t, "reasoning tokens", u.Reasoning.N, int64(tc.script.Usage.ReasoningTokens))
				}
			})
		})
	}
}
