// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// metered returns the options for metrics alone, and what has been recorded of a
// metric, by attributes: the sums, or how many values.
func metered(t *testing.T) ([]tacho.Option, func(name string) map[string]int64) {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	read := func(name string) map[string]int64 {
		var rm metricdata.ResourceMetrics
		if err := reader.Collect(t.Context(), &rm); err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for _, m := range rm.ScopeMetrics[0].Metrics {
			if m.Name != name {
				continue
			}
			switch d := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					got[p.Attributes.Encoded(attribute.DefaultEncoder())] += int64(p.Count)
				}
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					got[p.Attributes.Encoded(attribute.DefaultEncoder())] += p.Value
				}
			}
		}
		return got
	}
	return []tacho.Option{tacho.WithoutTracing(), tacho.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithCardinalityLimit(0)))}, read
}

// TestErrorTypesStayTold lets in 200 codes of servers: after them, and after 2,000
// words that are not let in, what is known is told as it is.
func TestErrorTypesStayTold(t *testing.T) {
	t.Parallel()
	opts, read := metered(t)
	var status int
	var body string
	var fails error
	rt := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
		resp := answer(body)
		resp.StatusCode = status
		return resp, fails
	}), opts...)
	call := func() {
		if resp, err := rt.RoundTrip(newRequest(t.Context(), t, hostURL, chatPlain)); err == nil {
			readAll(resp)
		}
	}
	for i := range 2300 {
		status, body = 400, fmt.Sprintf(`{"error":{"code":"req-%d"}}`, i)
		if i >= 201 {
			status, body = 200, fmt.Sprintf(`{"model":"a model with spaces %d"}`, i)
		}
		call()
	}
	status, body = 429, `{}`
	call()
	fails = errBroken
	call()
	calls := read("tacho.client.calls")
	for of, want := range map[string]int64{
		"error.type=req-199,": 1, "error.type=req-200,": 0, "error.type=400,": 1, "error.type=429,": 1, "error.type=protocol,": 1, "gen_ai.request.model=_OTHER": 0, "gen_ai.response.model=_OTHER": 2099,
	} {
		got := int64(0)
		for k, n := range calls {
			if strings.Contains(k, of) {
				got += n
			}
		}
		if got != want {
			t.Errorf("%s: %d calls, want %d", of, got, want)
		}
	}
}

// TestManyServers tells the first 1,000 hosts: redirects lead to any number.
func TestManyServers(t *testing.T) {
	t.Parallel()
	opts, read := metered(t)
	rt := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { return answer(`{}`), nil }), append(opts, tacho.WithHTTPMetrics())...)
	for i := range 1500 {
		resp, err := rt.RoundTrip(newRequest(t.Context(), t, fmt.Sprintf("http://h%d.invalid/v1/chat/completions", i), chatPlain))
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
	}
	for _, name := range []string{"tacho.client.calls", "tacho.client.active_calls", "gen_ai.client.inference.duration", "http.client.request.duration", "http.client.active_requests"} {
		if got := read(name); len(got) != 1001 {
			t.Errorf("%s has %d series, want 1,000 and one", name, len(got))
		}
	}
}

// TestLastStall tells a silence that the call's end cut off.
func TestLastStall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var line strings.Builder
		spans := tracetest.NewSpanRecorder()
		r := newRig(t, nil, tacho.WithStallLimit(time.Second), tacho.WithLogger(slog.New(slog.NewTextHandler(&line, nil))),
			tacho.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))))
		r.srv.Play(sim.Script{Steps: []sim.Step{sim.Text(0, "a"), sim.Text(0, "b").After(time.Hour), sim.Done()}})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(time.Minute-1, cancel)
		resp, err := r.tr.RoundTrip(r.request(ctx, chatPath, chatStream))
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
		synctest.Wait()
		s := spans.Ended()[0]
		if n := len(s.Events()); n != 2 || s.Events()[1].Name != "tacho.stall" || s.Events()[1].Time.Sub(s.StartTime()) != time.Minute-1 {
			t.Errorf("events %v", s.Events())
		}
		if !strings.Contains(line.String(), "llm call stalled") || !strings.Contains(line.String(), "longest_gap=59.999999999s") {
			t.Errorf("line %q", line.String())
		}
	})
}

// endless is a body that ends, cleanly, with its context alone.
type endless struct {
	ctx  context.Context
	data io.Reader
}

func (b *endless) Read(p []byte) (int, error) {
	if n, _ := b.data.Read(p); n > 0 {
		return n, nil
	}
	<-b.ctx.Done()
	return 0, io.EOF
}

func (b *endless) Close() error { return nil }

// TestGuardOverEOF returns the guard's error where the base says that all is well.
func TestGuardOverEOF(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := tacho.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: &endless{r.Context(), strings.NewReader(chunkOf("a"))}}, nil
		}), tacho.WithStallTimeout(time.Second), tacho.WithoutTracing(), tacho.WithoutMetrics())
		resp, err := rt.RoundTrip(newRequest(t.Context(), t, hostURL, chatStream))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = io.ReadAll(resp.Body); fmt.Sprint(err) != "tacho: the stream stalled for 1s" {
			t.Errorf("read: %v", err)
		}
		resp.Body.Close()
	})
}

// TestHTTPOfAttempts records each request once, and none in a pause.
func TestHTTPOfAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opts, read := metered(t)
		server := &replies{t: t, list: []reply{{status: 500, after: 10 * ms}}, start: time.Now()}
		rt := tacho.NewTransport(server, append(opts, tacho.WithRetries(exact), tacho.WithHTTPMetrics())...)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(300*ms, func() {
			if got := read("http.client.active_requests"); fmt.Sprint(got) != "map[http.request.method=POST,server.address=host.invalid,server.port=80:0]" {
				t.Errorf("in the pause %v are active", got)
			}
			cancel()
		})
		if _, err := rt.RoundTrip(newRequest(ctx, t, hostURL, chatPlain)); err == nil {
			t.Fatal("no error")
		}
		if got := read("http.client.request.duration"); fmt.Sprint(got) != "map[error.type=500,http.request.method=POST,http.response.status_code=500,network.protocol.name=http,network.protocol.version=1.1,server.address=host.invalid,server.port=80:1]" {
			t.Errorf("recorded %v", got)
		}
		if got := read("http.client.active_requests"); fmt.Sprint(got) != "map[http.request.method=POST,server.address=host.invalid,server.port=80:0]" {
			t.Errorf("after the call %v are active", got)
		}
	})
}

// TestRefusedUsageIsARequest counts the request that a server refused for its
// stream_options beside the one that it answered.
func TestRefusedUsageIsARequest(t *testing.T) {
	t.Parallel()
	opts, read := metered(t)
	server := &replies{t: t, list: []reply{{status: 400, body: `{"error":{"message":"stream_options is not known"}}`}, {status: 200, body: whole}}, start: time.Now()}
	rt := tacho.NewTransport(server, append(opts, tacho.WithStreamUsage(), tacho.WithHTTPMetrics())...)
	ctx, tr := tacho.Track(t.Context())
	resp, err := rt.RoundTrip(newRequest(ctx, t, hostURL, askStream))
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
	n := int64(0)
	got := read("http.client.request.duration")
	for _, v := range got {
		n += v
	}
	if n != 2 || len(got) != 2 {
		t.Errorf("recorded %v", got)
	}
	if a := one(t, tr).Attempts(); len(a) != 2 || a[0].Status != 400 || a[1].Status != 200 {
		t.Errorf("attempts %+v", a)
	}
}

// TestRedirectsAreNoAnswers counts the answer behind a redirect alone.
func TestRedirectsAreNoAnswers(t *testing.T) {
	t.Parallel()
	opts, read := metered(t)
	rt := tacho.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		resp := answer(whole)
		if resp.Request = r; r.URL.Host == "host.invalid" {
			resp.StatusCode = 307
			resp.Header.Set("Location", "http://other.invalid/v1/chat/completions")
		}
		return resp, nil
	}), opts...)
	resp, err := (&http.Client{Transport: rt}).Do(newRequest(t.Context(), t, hostURL, chatPlain))
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
	for _, name := range []string{"tacho.client.calls", "gen_ai.client.inference.duration"} {
		if got := read(name); len(got) != 1 || !strings.Contains(fmt.Sprint(got), "other.invalid") {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestEnrichedKeepsItsRequest leaves what a framework says of the request.
func TestEnrichedKeepsItsRequest(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewSpanRecorder()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	ctx, s := tp.Tracer("app").Start(t.Context(), "chat", trace.WithAttributes(attribute.String("gen_ai.operation.name", "chat"),
		attribute.String("gen_ai.request.model", "accounts/x/a model"), attribute.String("gen_ai.conversation.id", "own one")))
	rt := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { return answer(whole), nil }), tacho.WithTracerProvider(tp), tacho.WithoutMetrics())
	resp, err := rt.RoundTrip(newRequest(tacho.ContextWithConversation(ctx, "conv-1"), t, hostURL, `{"model":"a model","max_tokens":5}`))
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
	s.End()
	got := attributes(spans.Ended()[0].Attributes())
	for k, want := range map[string]any{"gen_ai.request.model": "accounts/x/a model", "gen_ai.conversation.id": "own one", "gen_ai.request.max_tokens": int64(5), "gen_ai.response.id": "c", "tacho.outcome": "complete"} {
		if diff := cmp.Diff(want, got[k]); diff != "" {
			t.Errorf("%s (-want +got)\n%s", k, diff)
		}
	}
}

// TestBasePanics ends the call of a base that panics, which the application sees.
func TestBasePanics(t *testing.T) {
	t.Parallel()
	opts, read := metered(t)
	spans := tracetest.NewSpanRecorder()
	rt := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { panic("base") }),
		append(opts, tacho.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))))...)
	func() {
		defer func() {
			if p := recover(); p != "base" {
				t.Errorf("recovered %v", p)
			}
		}()
		rt.RoundTrip(newRequest(t.Context(), t, hostURL, chatPlain)) //nolint:bodyclose // there is none
	}()
	if s := spans.Ended(); len(s) != 1 || s[0].Status().Code != codes.Error {
		t.Errorf("spans %v", s)
	}
	for k, n := range read("tacho.client.active_calls") {
		if n != 0 {
			t.Errorf("%s: %d", k, n)
		}
	}
}

// TestPanickingObjective counts the objectives beside one that panics.
func TestPanickingObjective(t *testing.T) {
	t.Parallel()
	opts, read := metered(t)
	rt := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { return answer(whole), nil }), append(opts, tacho.WithBudgets(badObjective{}, goodObjective{}))...)
	resp, err := rt.RoundTrip(newRequest(t.Context(), t, hostURL, chatPlain))
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
	if got := read("tacho.client.slo.calls"); fmt.Sprint(got) != "map[gen_ai.operation.name=chat,gen_ai.provider.name=openai,tacho.slo=good,tacho.slo.met=true:1]" {
		t.Errorf("counted %v", got)
	}
}

type goodObjective struct{}

func (goodObjective) Name() string                   { return "good" }
func (goodObjective) Judge(*tacho.Call) (bool, bool) { return true, true }
