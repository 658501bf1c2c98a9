// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// endAfter makes a streamed call whose context is cancelled, or has its deadline, so
// long after its begin.
func endAfter(d time.Duration, deadline bool) func(*scene) {
	return func(s *scene) {
		ctx, cancel := context.WithCancel(s.t.Context())
		defer cancel()
		if deadline {
			var stop context.CancelFunc
			ctx, stop = context.WithTimeout(ctx, d)
			defer stop()
		} else {
			time.AfterFunc(d, cancel)
		}
		s.call(ctx, chatPath, chatStream)
	}
}

// outcomeCases are the ways that a call ends, but for dropped.
func outcomeCases() []telemetryCase {
	role, a, b, finish, done := sim.Role(0), sim.Text(0, "a"), sim.Text(0, "b"), sim.Finish(0, "stop"), sim.Done()
	hang := streamOf(role, a, b, sim.Hang())
	wait := []sim.Script{{HeaderDelay: time.Hour}}
	usage := sim.Usage(sim.UsageCounts{InputTokens: 9, OutputTokens: 2})
	tail := streamOf(role, a, b, finish) // the call is over 50 ms before its body
	tail[0].TailDelay = 50 * ms
	return []telemetryCase{
		{name: "complete_with_tail", path: responsesPath, body: responsesStream, scripts: tail},
		{name: "complete_without_done", path: chatPath, body: chatStream, scripts: streamOf(role, a, b, finish)},
		{name: "stream_error", path: chatPath, body: chatStream, scripts: streamOf(role, a, sim.Error("server_overloaded", "server_error", "SECRET"), done)},
		{name: "stream_error_typed", path: chatPath, body: chatStream, scripts: streamOf(role, a, sim.Error("", "server_error", "SECRET"), done)},
		{name: "stream_error_bare", path: chatPath, body: chatStream, scripts: streamOf(role, a, sim.Raw([]byte("event: error\ndata: SECRET\n\n")), done)},
		{name: "stream_error_usage", path: chatPath, body: chatStream, scripts: streamOf(role, a, usage, sim.Error("server_overloaded", "server_error", "SECRET"), done),
			opts: []tacho.Option{tacho.WithConventions(tacho.ConventionsBoth)}},
		{name: "stream_error_responses", path: responsesPath, body: responsesStream, scripts: streamOf(a, sim.Finish(0, "failed"))},
		{name: "stream_error_object", path: chatPath, body: chatPlain, scripts: documentOf(`{"error":{"message":"SECRET","type":"invalid_request_error","code":"content_filter"}}`)},

		{name: "error_400", path: chatPath, body: chatPlain, scripts: []sim.Script{refusalOf(400, "context_length_exceeded")}},
		{name: "error_400_no_code", path: chatPath, body: chatPlain, scripts: []sim.Script{refusalOf(400, "")}},
		{name: "error_400_text_for_code", path: chatPath, body: chatPlain, scripts: []sim.Script{refusalOf(400, "my name is Eve")}},
		{name: "error_429_limits", path: chatPath, body: chatStream, scripts: []sim.Script{{HeaderDelay: 50 * ms, Status: 429, ErrorCode: "rate_limit_exceeded", ErrorType: "requests", RetryAfter: 2 * time.Second,
			RateLimit: sim.RateLimit{LimitRequests: 100, RemainingRequests: 0, ResetRequests: time.Minute, LimitTokens: 40_000, RemainingTokens: 1234, ResetTokens: time.Second}}}},
		{name: "error_500_html", path: chatPath, body: chatStream, scripts: []sim.Script{{HeaderDelay: 50 * ms, Status: 500, Body: []byte("<html>SECRET</html>"), ContentType: "text/html"}}},
		{name: "error_embeddings", path: embeddingsPath, body: embeddingsBody, scripts: []sim.Script{refusalOf(400, "too_long")}},
		{name: "error_images", path: imagesPath, body: imagesBody, scripts: []sim.Script{refusalOf(400, "moderation_blocked")}},
		{name: "error_refused", play: func(s *scene) { // no connection
			s.srv.Close()
			s.call(s.t.Context(), chatPath, chatStream)
		}},
		{name: "error_aborted", path: chatPath, body: chatStream, scripts: []sim.Script{{HeaderDelay: 30 * ms, Abort: true}}}, // no response
		{name: "error_no_host", play: func(s *scene) { s.call(s.t.Context(), "http://other.invalid/v1/chat/completions", chatPlain) }},

		{name: "cut_connection", path: chatPath, body: chatStream, scripts: streamOf(role, a, b, sim.Cut())},
		{name: "cut_end", path: chatPath, body: chatStream, scripts: streamOf(role, a, b)},
		{name: "cut_empty", path: chatPath, body: chatStream, scripts: eventsOf()},
		{name: "cut_plain", path: chatPath, body: chatPlain, scripts: streamOf(a, sim.Cut())},

		{name: "cancelled", play: endAfter(125*ms, false), scripts: hang},
		{name: "cancelled_waiting", play: endAfter(40*ms, false), scripts: wait},
		{name: "deadline", play: endAfter(125*ms, true), scripts: hang},
		{name: "deadline_waiting", play: endAfter(40*ms, true), scripts: wait},
		{name: "closed_early", play: closeEarly, scripts: hang},
	}
}

// closeEarly closes a stream behind its second event.
func closeEarly(s *scene) {
	resp := s.send(s.t.Context(), chatPath, chatStream)
	for range 2 {
		resp.Body.Read(make([]byte, 4096))
	}
	resp.Body.Close()
}

// TestTelemetryDropped drops a stream. The collector finds that, so that it plays
// outside a bubble and has no exact times.
func TestTelemetryDropped(t *testing.T) { //nolint:paralleltest // runs the collector again and again
	tc := telemetryCase{name: "dropped", scripts: streamOf(sim.Role(0), sim.Text(0, "a"), sim.Hang()),
		opts: []tacho.Option{tacho.WithAtOnce(-1)}, play: func(s *scene) {
			told := make(chan struct{})
			func() {
				ctx := tacho.ContextWithObserver(s.t.Context(), func(*tacho.Call) { close(told) })
				resp := s.send(ctx, chatPath, chatStream)
				for got, buf := "", make([]byte, 4096); strings.Count(got, "\n\n") < 2; { // both events
					n, err := resp.Body.Read(buf)
					if err != nil {
						s.t.Fatal(err)
					}
					got += string(buf[:n])
				}
			}()
			for {
				runtime.GC()
				select {
				case <-told:
					return
				default:
					runtime.Gosched()
				}
			}
		}}
	tc.run(t, true)
}
