// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// streamCases are what comes over a stream, and the ways in which usage is told.
func streamCases() []telemetryCase {
	role, a, b, finish, done := sim.Role(0), sim.Text(0, "a"), sim.Text(0, "b"), sim.Finish(0, "stop"), sim.Done()
	burst := streamOf(role, a, b, a, b, a, b, finish, done)
	burst[0].OneBurst, burst[0].FirstDelay = true, 400*ms
	late := func(s *scene) { // the application looks away for half a second
		resp := s.send(s.t.Context(), chatPath, chatStream)
		time.Sleep(500 * ms)
		readAll(resp)
	}
	// The first server says that it does not know the option: the call goes on without it.
	counts := sim.Usage(sim.UsageCounts{InputTokens: 9, OutputTokens: 2})
	refuses := sim.Script{HeaderDelay: 50 * ms, Status: 400, ErrorMessage: "Unrecognized request argument supplied: stream_options"}
	return []telemetryCase{
		{name: "tool_calls", path: chatPath,
			body: `{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"SECRET"}}],"messages":[{"role":"user","content":"SECRET"}]}`,
			scripts: streamOf(role, sim.ToolCall(0, 0, "call_1", "SECRET", ""), sim.ToolCall(0, 0, "", "", `{"a":`), sim.ToolCall(0, 0, "", "", `1}`),
				sim.ToolCall(0, 1, "call_2", "SECRET", `{}`), sim.Finish(0, "tool_calls"), sim.Usage(sim.UsageCounts{InputTokens: 40, OutputTokens: 12}), done)},
		{name: "choices", path: chatPath, body: `{"model":"m","stream":true,"n":2,"messages":[]}`,
			scripts: streamOf(role, sim.Role(1), a, sim.Text(1, "a"), b, sim.Text(1, "b"), finish, sim.Finish(1, "length"), sim.Usage(sim.UsageCounts{InputTokens: 9, OutputTokens: 4}), done)},
		{name: "choices_one_unfinished", path: chatPath, body: `{"model":"m","stream":true,"n":2,"messages":[]}`,
			scripts: streamOf(role, sim.Role(1), a, sim.Text(1, "a"), finish, counts, done)},
		{name: "reasoning", path: chatPath, body: `{"model":"m","stream":true,"reasoning_effort":"high","messages":[]}`,
			scripts: streamOf(role, sim.Reasoning(0, "x"), sim.Reasoning(0, "y"), a, b, finish, sim.Usage(sim.UsageCounts{InputTokens: 9, OutputTokens: 7, ReasoningTokens: 5}), done)},
		{name: "reasoning_hidden", path: chatPath, body: `{"model":"m","stream":true,"messages":[]}`,
			scripts: streamOf(role, a, b, finish, sim.Usage(sim.UsageCounts{InputTokens: 9, OutputTokens: 7, ReasoningTokens: 5}), done)},
		{name: "reasoning_summary", path: responsesPath, body: `{"model":"m","stream":true,"reasoning":{"effort":"low","summary":"auto"},"input":"SECRET"}`,
			scripts: streamOf(sim.ReasoningSummary(0, "x"), a, b, sim.Usage(sim.UsageCounts{InputTokens: 9, OutputTokens: 7, ReasoningTokens: 5}), finish)},
		{name: "refusal", path: chatPath, body: chatStream, scripts: streamOf(role, sim.Refusal(0, "no"), sim.Finish(0, "content_filter"), done)},
		{name: "not_asked", path: chatPath, body: chatPlain, scripts: eventsOf(`{"model":"m-1","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`, `[DONE]`)},
		{name: "not_streamed", path: chatPath, body: chatStream, scripts: documentOf(`{"model":"m-1","choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}]}`)},
		{name: "buffered", path: chatPath, body: chatStream, scripts: burst},
		{name: "upper_bound", play: late, scripts: streamOf(role, a, b, finish, done)},
		{name: "parse_faults", path: chatPath, body: chatStream, scripts: streamOf(role, sim.Raw([]byte("data: SECRET\n\ndata: {SECRET\n\n")), a, b, finish, done)},
		{name: "odd_finish", path: chatPath, body: chatStream, scripts: streamOf(role, a, b, sim.Finish(0, "my name is Eve"), done)},
		{name: "odd_models", path: chatPath,
			body:    `{"model":"my own model","stream":true,"service_tier":"a b","messages":[]}`,
			scripts: eventsOf(`{"id":"an id of words","model":"naïve","service_tier":"c d","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`, `[DONE]`)},
		{name: "no_model", path: chatPath, body: `{"stream":true,"messages":[]}`, scripts: wholeStream()},

		{name: "usage_none", path: chatPath, body: chatStream, scripts: streamOf(role, a, b, finish, done)},
		{name: "usage_asked", path: chatPath, body: chatStreamUsage, scripts: wholeStream()},
		{name: "usage_added", path: chatPath, body: chatStream, scripts: []sim.Script{{HeaderDelay: 100 * ms, Gap: 10 * ms, Model: "m-1", Text: "a b"}}, opts: []tacho.Option{tacho.WithStreamUsage()}},
		{name: "usage_refused", path: chatPath, body: chatStream, scripts: append([]sim.Script{refuses}, streamOf(role, a, b, finish, done)...), opts: []tacho.Option{tacho.WithStreamUsage()}},
		{name: "usage_zero", path: chatPath, body: chatStream, scripts: streamOf(role, finish, sim.Usage(sim.UsageCounts{}), done)},
		{name: "usage_cut", path: chatPath, body: chatStream, scripts: streamOf(role, a, b, counts, sim.Cut())},
		{name: "usage_apart", path: chatPath, body: chatPlain, scripts: documentOf(anthropicAnswer)},
	}
}
