// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// TestWaitsAtTheEnd books the time up to an end that no Read sees: of a Read
// under way to the network, else to the consumer. Headers come at 100 ms, one
// event with them.
func TestWaitsAtTheEnd(t *testing.T) {
	t.Parallel()
	hang := sim.Script{HeaderDelay: 100 * ms, Steps: []sim.Step{sim.Text(0, "a"), sim.Hang()}}
	for _, tc := range []struct {
		name              string
		body              string
		script            sim.Script
		timeout           time.Duration
		act               func(*http.Response)
		network, consumer time.Duration
		outcome           tacho.Outcome
	}{
		{"deadline in a Read", chatStream, hang, 500 * ms, readAll, 400 * ms, 0, tacho.Deadline},
		{"deadline while away", chatStream, hang, 500 * ms, func(r *http.Response) {
			r.Body.Read(make([]byte, 4096))
			time.Sleep(time.Second)
			r.Body.Close()
		}, 0, 400 * ms, tacho.Deadline},
		{"closed while a Read waits", chatStream, hang, 0, func(r *http.Response) {
			time.AfterFunc(300*ms, func() { r.Body.Close() })
			io.Copy(io.Discard, r.Body)
		}, 300 * ms, 0, tacho.ClosedEarly},
		{"closed while away", chatStream, hang, 0, func(r *http.Response) {
			r.Body.Read(make([]byte, 4096))
			time.Sleep(300 * ms)
			r.Body.Close()
		}, 0, 300 * ms, tacho.ClosedEarly},
		{"a whole document, closed later", chatPlain, sim.Script{HeaderDelay: 100 * ms}, 0, func(r *http.Response) {
			var v any
			json.NewDecoder(r.Body).Decode(&v)
			time.Sleep(time.Minute)
			r.Body.Close()
		}, 0, 0, tacho.Complete},
		{"a plain deadline, closed later", chatPlain, sim.Script{HeaderDelay: 100 * ms, BodyDelay: time.Hour}, 200 * ms, func(r *http.Response) {
			time.Sleep(time.Second)
			r.Body.Close()
		}, 0, time.Second, tacho.Deadline},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, []sim.Option{sim.WithScript(tc.script)})
				ctx, tr := tacho.Track(t.Context())
				if tc.timeout > 0 {
					var stop context.CancelFunc
					ctx, stop = context.WithTimeout(ctx, tc.timeout)
					defer stop()
				}
				resp, err := r.client.Do(r.request(ctx, chatPath, tc.body))
				if err != nil {
					t.Fatal(err)
				}
				tc.act(resp)
				synctest.Wait()
				c := one(t, tr)
				n, _ := c.Figure(tacho.NetworkWait)
				w, _ := c.Figure(tacho.ConsumerWait)
				if n != tc.network || w != tc.consumer || c.Outcome() != tc.outcome {
					t.Errorf("%v, network %v, consumer %v; want %v, %v, %v", c.Outcome(), n, w, tc.outcome, tc.network, tc.consumer)
				}
			})
		})
	}
}

// TestReadAndItsContextEndAtOnce: a Read that ends with its context has waited
// for the network, whichever of the two goroutines comes first; chance says which.
func TestReadAndItsContextEndAtOnce(t *testing.T) {
	t.Parallel()
	for range 5000 {
		synctest.Test(t, func(t *testing.T) {
			ctx, tr := tacho.Track(t.Context())
			ctx, stop := context.WithTimeout(ctx, 400*ms)
			defer stop()
			rt := quiet(roundTripper(func(req *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, ContentLength: -1, Body: doneBody{req.Context()}}, nil
			}))
			resp, err := rt.RoundTrip(newRequest(ctx, t, hostURL, chatStream))
			if err != nil {
				t.Fatal(err)
			}
			readAll(resp)
			synctest.Wait()
			figures{tacho.TTFB: 0, tacho.NetworkWait: 400 * ms, tacho.ConsumerWait: 0, tacho.Duration: 400 * ms}.check(t, one(t, tr))
		})
	}
}

// doneBody has nothing to read until its context ends.
type doneBody struct{ ctx context.Context }

func (b doneBody) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func (doneBody) Close() error { return nil }

// through reads a body through a transport, whole and in pieces, and returns
// the record, which must be the same.
func through(t *testing.T, path string, status int, header http.Header, body, request string, fail error) map[string]any {
	t.Helper()
	var first map[string]any
	for _, sizes := range [][]byte{nil, {0}, {9, 3}} {
		rt := quiet(roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Proto: "HTTP/1.1", Header: header, ContentLength: -1,
				Body: &pieceBody{rest: []byte(body), sizes: sizes, err: fail}}, nil
		}))
		ctx, tr := tacho.Track(t.Context())
		resp, err := rt.RoundTrip(newRequest(ctx, t, "http://host.invalid"+path, request))
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
		rec := record(t, one(t, tr))
		for _, k := range []string{"start", "ttfb", "ttfc", "ttft", "ttfo", "ttlt", "duration", "network_wait", "consumer_wait", "gaps", "tbt", "tpot", "tokens_per_second", "bound", "buffered"} {
			delete(rec, k)
		}
		if first == nil {
			first = rec
		} else if diff := cmp.Diff(first, rec); diff != "" {
			t.Errorf("in pieces of %v: (-whole +pieces)\n%s", sizes, diff)
		}
	}
	return first
}

func TestStrangeEnds(t *testing.T) {
	t.Parallel()
	sse := http.Header{"Content-Type": {"text/event-stream"}}
	const stopped = `data: {"id":"r1","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n"
	for _, tc := range []struct {
		name, path string
		status     int
		header     http.Header
		body       string
		fail       error
		want       map[string]any
	}{
		{"what follows the done mark is none of the call", "/v1/chat/completions", 200, sse,
			stopped + "data: [DONE]\n\n" + `data: {"choices":[{"index":1,"delta":{"content":"b"}}],"usage":{"prompt_tokens":99}}` + "\n\n", io.EOF,
			map[string]any{"outcome": "complete", "events": 1.0, "finish_reasons": []any{"stop"}, "usage": nil, "text_chars": 1.0}},
		{"a second response behind the first", "/v1/responses", 200, sse,
			`data: {"type":"response.completed","response":{"id":"r1","status":"completed"}}` + "\n\n" + `data: {"type":"response.failed","response":{"id":"r2","status":"failed","error":{"code":"c"}}}` + "\n\n", io.EOF,
			map[string]any{"outcome": "complete", "response_id": "r1", "finish_reasons": []any{"stop"}, "error": nil, "terminated": "terminal_event"}},
		{"an error status with a broken body", "/v1/chat/completions", 503, http.Header{}, `{"error":{"code":"overloaded"`, errBroken,
			map[string]any{"outcome": "error", "status": 503.0}},
		{"an encoding that is none", "/v1/chat/completions", 200, http.Header{"Content-Type": {"text/event-stream"}, "Content-Encoding": {"Identity"}}, `data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n", io.EOF,
			map[string]any{"outcome": "cut", "output_events": 1.0}},
		{"a compressed body passes unread", "/v1/chat/completions", 200, http.Header{"Content-Type": {"text/event-stream"}, "Content-Encoding": {"gzip"}}, "\x1f\x8b\x08", io.EOF,
			map[string]any{"outcome": "complete", "stream": true, "events": nil, "output_events": nil, "done_seen": nil, "text_chars": nil, "tool_call_count": nil}},
		{"content in a finish reason", "/v1/chat/completions", 200, sse, `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"my name is Eve"}]}` + "\n\n", io.EOF,
			map[string]any{"outcome": "complete", "finish_reasons": []any{"_OTHER"}}},
		{"a timing with a strange name", "/v1/chat/completions", 200, http.Header{"Content-Type": {"text/event-stream"}, "Server-Timing": {strings.Repeat("n", 1<<20) + ";dur=1, a;dur=2"}}, stopped, io.EOF,
			map[string]any{"server_timing": map[string]any{"_OTHER": 1.0, "server-timing.a": 2.0}}},
		{"more parts at once than are remembered", "/v1/responses", 200, sse, manyParts(), io.EOF,
			map[string]any{"output_events": 12.0, "text_chars": 36.0}},
		{"negative reasoning", "/v1/chat/completions", 200, sse, stopped + `data: {"choices":[],"usage":{"completion_tokens":5,"completion_tokens_details":{"reasoning_tokens":-3}}}` + "\n\n", io.EOF,
			map[string]any{"streamed_tokens": 5.0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			request := chatStream
			if tc.path == "/v1/responses" {
				request = responsesStream
			}
			got := through(t, tc.path, tc.status, tc.header, tc.body, request, tc.fail)
			for k, want := range tc.want {
				if diff := cmp.Diff(want, got[k]); diff != "" {
					t.Errorf("%s: (-want +got)\n%s", k, diff)
				}
			}
		})
	}
}

// manyParts has deltas of 12 parts, and then their ends, which are no output.
func manyParts() string {
	var b strings.Builder
	for _, kind := range []string{`delta","delta`, `done","text`} {
		for i := range 12 {
			fmt.Fprintf(&b, "data: {\"type\":\"response.output_text.%s\":\"abc\",\"output_index\":%d}\n\n", kind, i)
		}
	}
	return b.String()
}

// TestOneEventIsBounded has an event that holds tool calls without end.
func TestOneEventIsBounded(t *testing.T) {
	t.Parallel()
	body := `data: {"choices":[{"delta":{"tool_calls":[` + strings.Repeat(`{"index":1,"id":"x"},{"id":"y"},`, 100_000) + `]}}]}` + "\n\n"
	got := through(t, "/v1/chat/completions", 200, http.Header{"Content-Type": {"text/event-stream"}}, body, chatStream, io.EOF)
	if n, _ := got["tool_call_count"].(float64); n < 1 || n > 128 {
		t.Errorf("%v tool calls", n)
	}
}

type panicky struct{ sdktrace.SpanProcessor }

func (panicky) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (panicky) OnEnd(sdktrace.ReadOnlySpan)                     { panic("processor") }

// TestSDKPanicsAreFenced has a span processor that panics.
func TestSDKPanicsAreFenced(t *testing.T) {
	t.Parallel()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(panicky{}))
	rt := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { return answer(chatAnswer), nil }),
		tacho.WithTracerProvider(tp), tacho.WithoutMetrics())
	ctx, tr := tacho.Track(t.Context())
	resp, err := rt.RoundTrip(newRequest(ctx, t, hostURL, chatPlain))
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
	if o := one(t, tr).Outcome(); o != tacho.Complete {
		t.Errorf("outcome %v", o)
	}
}

// TestAttributesAreBounded asks for more models than are let in.
func TestAttributesAreBounded(t *testing.T) {
	t.Parallel()
	reader := metric.NewManualReader()
	rt := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { return answer(chatAnswer), nil }),
		tacho.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader), metric.WithCardinalityLimit(0))), tacho.WithoutTracing())
	for i := range 1000 {
		resp, err := rt.RoundTrip(newRequest(t.Context(), t, hostURL, fmt.Sprintf(`{"model":"m%d"}`, i)))
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
	}
	var rm metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &rm); err != nil {
		t.Fatal(err)
	}
	for _, m := range rm.ScopeMetrics[0].Metrics {
		if d, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "tacho.client.calls" {
			if n := len(d.DataPoints); n != 201 {
				t.Errorf("%s has %d series, want 200 and the one of _OTHER", m.Name, n)
			}
			for _, p := range d.DataPoints {
				if v, _ := p.Attributes.Value(attribute.Key("gen_ai.request.model")); v.AsString() == "_OTHER" && p.Value != 800 {
					t.Errorf("_OTHER counts %d calls, want 800", p.Value)
				}
			}
		}
	}
}
