// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/sim"
)

// optionCases are what options add, and what requests say.
func optionCases() []telemetryCase {
	const all = `{"model":"m","n":2,"max_tokens":9,"temperature":0.5,"top_p":1,"top_k":40,"seed":7,"frequency_penalty":0.1,"presence_penalty":-0.2,"stop":["SECRET","two words"],` +
		`"service_tier":"flex","previous_response_id":"resp_1","reasoning_effort":"low","response_format":{"type":"json_schema","json_schema":{"name":"SECRET"}},"user":"SECRET","messages":[{"role":"system","content":"SECRET"}]}`
	role, a, b, finish, done := sim.Role(0), sim.Text(0, "a"), sim.Text(0, "b"), sim.Finish(0, "stop"), sim.Done()
	stalls := streamOf(role, a, b.After(2*time.Second), a, b.After(6*time.Second), finish, done)
	slow := streamOf(role.After(2*time.Second), a, finish, done)
	tier := documentOf(`{"id":"c-1","model":"m-1","service_tier":"default","system_fingerprint":"fp_1","choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}]}`)
	objectives, err := budget.Objectives(budget.Quantile(tacho.TTFT, 0.99).AtMost(105*ms), budget.ErrorRate().AtMostN(0.01))
	if err != nil {
		panic(err)
	}
	twice := func(path, first, second string) func(*scene) {
		return func(s *scene) {
			s.call(s.t.Context(), path, first)
			s.call(s.t.Context(), path, second)
		}
	}
	return []telemetryCase{
		{name: "request", path: chatPath, body: all, scripts: documentOf(`{"id":"c-1","model":"m-1","service_tier":"flex","choices":[{"index":0,"finish_reason":"stop"},{"index":1,"finish_reason":"stop"}]}`)},
		{name: "request_tier_auto", path: chatPath, body: `{"model":"m","n":1,"service_tier":"auto","max_completion_tokens":1,"temperature":0,"seed":0,"response_format":{"type":"json_object"},"messages":[]}`, scripts: tier},
		{name: "request_responses", path: responsesPath, body: `{"model":"m","max_output_tokens":9,"previous_response_id":"resp_1","text":{"format":{"type":"text"}},"reasoning":{"effort":"minimal"},"input":"SECRET","instructions":"SECRET"}`,
			scripts: []sim.Script{{HeaderDelay: 200 * ms, Model: "m-1", Text: "a", FinishReason: "length"}}},
		{name: "request_null", path: chatPath, body: `{"model":"m","n":null,"max_tokens":null,"temperature":"hot","seed":1.5,"top_k":-1,"service_tier":null,"response_format":null,"messages":[]}`, scripts: tier},

		{name: "stall_default", path: chatPath, body: chatStream, scripts: stalls},
		{name: "stall_limit", path: chatPath, body: chatStream, scripts: stalls, opts: []tacho.Option{tacho.WithStallLimit(time.Second)}},
		{name: "stall_off", path: chatPath, body: chatStream, scripts: stalls, opts: []tacho.Option{tacho.WithStallLimit(0)}},
		{name: "slow", path: chatPath, body: chatStream, scripts: slow, opts: []tacho.Option{tacho.WithSlowLimit(time.Second)}},

		{name: "chunks", path: chatPath, body: chatStream, scripts: wholeStream(), opts: []tacho.Option{tacho.WithChunkMetrics()}},
		{name: "chunks_v141", path: chatPath, body: chatStream, scripts: wholeStream(), opts: []tacho.Option{tacho.WithChunkMetrics(), tacho.WithConventions(tacho.ConventionsV141)}},
		{name: "chunks_both", path: responsesPath, body: responsesStream, scripts: streamOf(a, b, finish), opts: []tacho.Option{tacho.WithChunkMetrics(), tacho.WithConventions(tacho.ConventionsBoth)}},
		{name: "chunks_one", path: chatPath, body: chatStream, scripts: eventsOf(`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`, `[DONE]`), opts: []tacho.Option{tacho.WithChunkMetrics()}},
		{name: "http", path: chatPath, body: chatStream, scripts: wholeStream(), opts: []tacho.Option{tacho.WithHTTPMetrics()}},
		{name: "http_error", play: twice(chatPath, chatStream, chatPlain), scripts: []sim.Script{refusalOf(429, "slow_down"), {HeaderDelay: 30 * ms, Abort: true}}, opts: []tacho.Option{tacho.WithHTTPMetrics()}},
		{name: "http_2", path: chatPath, body: chatPlain, scripts: tier, sim: []sim.Option{sim.WithHTTP2()}, opts: []tacho.Option{tacho.WithHTTPMetrics()}},
		{name: "connections", play: func(s *scene) {
			s.call(s.t.Context(), chatPath, chatPlain)
			time.Sleep(time.Second)
			s.tr.CloseIdleConnections()
			resp := s.send(s.t.Context(), chatPath, chatStream) // which is still under way
			s.t.Cleanup(func() { resp.Body.Close() })
		}, scripts: append(documentOf(`{}`), streamOf(role, sim.Hang())...), sim: []sim.Option{sim.WithDialDelay(20 * ms)}, opts: []tacho.Option{tacho.WithHTTPMetrics()}, dials: true},
		{name: "fingerprint", path: chatPath, body: chatPlain, scripts: tier, opts: []tacho.Option{tacho.WithFingerprintMetrics()}},
		{name: "budgets", play: twice(chatPath, chatStream, chatStream), scripts: append(wholeStream(), refusalOf(503, "overloaded")), opts: []tacho.Option{tacho.WithBudgets(objectives...)}},
		{name: "metric_labels", play: func(s *scene) {
			for _, labels := range [][]string{{"region", "eu", "user", "eve"}, {"region", "a b"}} {
				s.call(tacho.ContextWithLabels(s.t.Context(), labels...), chatPath, chatPlain)
			}
		}, scripts: append(documentOf(`{}`), documentOf(`{}`)...), opts: []tacho.Option{tacho.WithMetricLabels("region")}},
		{name: "without_tracing", play: twice(chatPath, chatStream, chatPlain), scripts: append(wholeStream(), refusalOf(503, "overloaded")), opts: []tacho.Option{tacho.WithoutTracing()}},
		{name: "without_metrics", play: twice(chatPath, chatStream, chatPlain), scripts: append(wholeStream(), refusalOf(503, "overloaded")), opts: []tacho.Option{tacho.WithoutMetrics(), tacho.WithChunkMetrics(), tacho.WithHTTPMetrics()}},
	}
}
