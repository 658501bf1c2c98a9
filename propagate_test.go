// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// TestPropagation lets trace context leave to the named hosts alone, and never
// more headers than servers take. The caller's request is not changed.
func TestPropagation(t *testing.T) { //nolint:paralleltest // sets the global propagator
	before := otel.GetTextMapPropagator()
	otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}))
	defer otel.SetTextMapPropagator(before)
	tp := sdktrace.NewTracerProvider()
	for _, tc := range []struct {
		name             string
		to               []string
		members, size    int
		trace            bool
		baggage, dropped int
	}{
		{"not by default", nil, 1, 9, false, 0, 0}, {"to another host", []string{"other.invalid", ""}, 1, 9, false, 0, 0},
		{"to the host", []string{"other.invalid", "HOST.invalid"}, 2, 9, true, 2, 0}, {"to a domain", []string{".invalid"}, 1, 9, true, 1, 0},
		{"as much as fits", []string{"host.invalid"}, 8, 1000, true, 6, 2},
	} {
		ctx, span := tp.Tracer("app").Start(t.Context(), "app")
		var members []baggage.Member
		for i := range tc.members {
			m, err := baggage.NewMember(fmt.Sprint("k", i), strings.Repeat("v", tc.size))
			if err != nil {
				t.Fatal(err)
			}
			members = append(members, m)
		}
		b, err := baggage.New(members...)
		if err != nil {
			t.Fatal(err)
		}
		ctx, tr := tacho.Track(baggage.ContextWithBaggage(ctx, b))
		var sent http.Header
		rt := tacho.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
			sent = r.Header
			return answer(chatAnswer), nil
		}), tacho.WithTracerProvider(tp), tacho.WithPropagationTo(tc.to...))
		req := newRequest(ctx, t, "http://host.invalid:8080/v1/chat/completions", chatPlain)
		req.Header.Set("X-Key", strings.Repeat("k", 1500))
		own := req.Header.Clone()
		resp, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
		span.End()
		if got := sent.Get("Traceparent") != ""; got != tc.trace {
			t.Errorf("%s: trace context %q", tc.name, sent.Get("Traceparent"))
		}
		if tc.trace && !strings.Contains(sent.Get("Traceparent"), span.SpanContext().TraceID().String()) {
			t.Errorf("%s: the trace is %q", tc.name, sent.Get("Traceparent"))
		}
		got := 0
		if s := sent.Get("Baggage"); s != "" {
			got = strings.Count(s, ",") + 1
		}
		if dropped := one(t, tr).Dropped(); got != tc.baggage || dropped != tc.dropped {
			t.Errorf("%s: %d members sent, %d dropped; want %d and %d", tc.name, got, dropped, tc.baggage, tc.dropped)
		}
		if diff := cmp.Diff(own, req.Header); diff != "" {
			t.Errorf("%s: the caller's request has changed\n%s", tc.name, diff)
		}
	}
}

// TestLogger writes a line for a call that failed, was slow or stalled, and none
// for others. It has no content.
func TestLogger(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		script sim.Script
		want   map[string]any
	}{
		{"fine", sim.Script{Steps: []sim.Step{sim.Text(0, "SECRET"), sim.Finish(0, "stop"), sim.Done()}}, nil},
		{"failed", sim.Script{HeaderDelay: 10 * ms, Status: 429, ErrorCode: "slow_down"}, map[string]any{"level": "WARN", "msg": "llm call failed", "outcome": "error"}},
		{"slow", sim.Script{HeaderDelay: 2 * time.Second, Steps: []sim.Step{sim.Text(0, "SECRET"), sim.Finish(0, "stop"), sim.Done()}}, map[string]any{"level": "INFO", "msg": "llm call slow", "outcome": "complete"}},
		{"stalled", sim.Script{Steps: []sim.Step{sim.Text(0, "SECRET"), sim.Text(0, "b").After(7 * time.Second), sim.Finish(0, "stop"), sim.Done()}}, map[string]any{"level": "INFO", "msg": "llm call stalled", "outcome": "complete", "longest_gap": 7e9}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				tp := sdktrace.NewTracerProvider()
				ctx, span := tp.Tracer("app").Start(t.Context(), "app")
				r := newRig(t, []sim.Option{sim.WithScript(tc.script)}, tacho.WithTracerProvider(tp), tacho.WithLogger(slog.New(slog.NewJSONHandler(&out, nil))), tacho.WithSlowLimit(time.Second))
				resp, err := r.client.Do(r.request(context.WithoutCancel(ctx), chatPath, chatStream))
				if err != nil {
					t.Fatal(err)
				}
				readAll(resp)
				if tc.want == nil {
					if out.Len() > 0 {
						t.Errorf("logged %s", &out)
					}
					return
				}
				var line map[string]any
				if err := json.Unmarshal(out.Bytes(), &line); err != nil {
					t.Fatalf("%v: %s", err, &out)
				}
				call, _ := line["call"].(map[string]any)
				got := map[string]any{"level": line["level"], "msg": line["msg"], "outcome": call["outcome"]}
				if g, ok := line["longest_gap"]; ok {
					got["longest_gap"] = g
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if line["trace_id"] != span.SpanContext().TraceID().String() || line["span_id"] == "" || strings.Contains(out.String(), "SECRET") {
					t.Errorf("logged %s", &out)
				}
			})
		})
	}
}
