// SPDX-License-Identifier: Apache-2.0

package export_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/export"
	"github.com/tacho-go/tacho/sim"
)

// do makes a call and reads its answer.
func do(ctx context.Context, t *testing.T, rt http.RoundTripper, url, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

// recorded returns a recorder with three streams and a refusal. Their first
// tokens come after 100 ms, 200 ms and 400 ms.
func recorded(t *testing.T) (rec *tacho.Recorder) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := sim.New(t)
		rec = tacho.NewRecorder()
		base := srv.Transport()
		defer base.CloseIdleConnections()
		rt := tacho.NewTransport(base, tacho.WithRecorder(rec), tacho.WithoutMetrics(), tacho.WithoutTracing())
		for i, s := range []sim.Script{
			{HeaderDelay: 100 * time.Millisecond, Text: "a b"}, {HeaderDelay: 200 * time.Millisecond, Text: "a b"}, {HeaderDelay: 400 * time.Millisecond, Text: "a b"},
			{Status: 429, HeaderDelay: time.Millisecond, ErrorCode: "slow_down"},
		} {
			srv.Play(s)
			ctx := tacho.ContextWithLabels(t.Context(), "region", []string{"eu", "eu", "über", "eu"}[i], "gen_ai_request_stream", "x")
			do(ctx, t, rt, srv.URL()+"/chat/completions", `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[]}`)
		}
	})
	return rec
}

// TestProducer reads the recorder through the SDK's own reader.
func TestProducer(t *testing.T) {
	t.Parallel()
	reader := sdkmetric.NewManualReader(sdkmetric.WithProducer(export.NewProducer(recorded(t))))
	sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	var got metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &got); err != nil {
		t.Fatal(err)
	}
	seen := map[string]metricdata.Metrics{}
	for _, s := range got.ScopeMetrics {
		for _, m := range s.Metrics {
			seen[m.Name] = m
		}
	}
	h, ok := seen["tacho.recorder.ttft"].Data.(metricdata.ExponentialHistogram[float64])
	if !ok || seen["tacho.recorder.ttft"].Unit != "s" || h.Temporality != metricdata.CumulativeTemporality {
		t.Fatalf("tacho.recorder.ttft is %+v", seen["tacho.recorder.ttft"])
	}
	want := map[string]struct {
		count uint64
		sum   float64
	}{"eu": {2, 0.3}, "_OTHER": {1, 0.4}}
	for _, p := range h.DataPoints {
		region, _ := p.Attributes.Value("region")
		w := want[region.AsString()]
		delete(want, region.AsString())
		total := p.ZeroCount
		for _, n := range p.PositiveBucket.Counts {
			total += n
		}
		if p.Count != w.count || total != w.count || math.Abs(p.Sum-w.sum) > 1e-9 {
			t.Errorf("%v: %d values, %d in buckets, sum %v; want %d, sum %v", region.AsString(), p.Count, total, p.Sum, w.count, w.sum)
		}
		for key, value := range map[attribute.Key]string{"gen_ai.provider.name": "openai", "gen_ai.request.model": "m"} {
			if v, _ := p.Attributes.Value(key); v.AsString() != value {
				t.Errorf("%s is %q, want %q", key, v.AsString(), value)
			}
		}
		if v, ok := p.Attributes.Value("gen_ai.request.stream"); !ok || !v.AsBool() {
			t.Error("no streams")
		}
	}
	if len(want) > 0 {
		t.Errorf("no points for %v", want)
	}
	var calls []string
	for _, p := range seen["tacho.recorder.calls"].Data.(metricdata.Sum[int64]).DataPoints {
		o, _ := p.Attributes.Value("tacho.outcome")
		calls = append(calls, fmt.Sprint(o.AsString(), " ", p.Value))
	}
	slices.Sort(calls)
	if w := []string{"complete 1", "complete 2", "error 1"}; !slices.Equal(calls, w) {
		t.Errorf("calls %q, want %q", calls, w)
	}
	if _, ok := seen["tacho.recorder.tokens"]; !ok {
		t.Error("no tokens")
	}
}

func TestProducerEmpty(t *testing.T) {
	t.Parallel()
	if got, err := export.NewProducer(tacho.NewRecorder()).Produce(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("nothing is %v, %v", got, err)
	}
}

// TestOdd has labels that become equal when they are told, and names that the
// formats keep for themselves: each point is there once, in both formats.
func TestOdd(t *testing.T) {
	t.Parallel()
	for name, sets := range map[string][][]string{
		"values that are not plain": {{"tenant", "Müller AG"}, {"tenant", "Meier AG"}},
		"another order":             {{"a", "1", "b", "2"}, {"b", "2", "a", "1"}},
		"empty and absent":          {{"tenant", ""}, nil},
		"names that fold":           {{"team.a", "1", "team_a", "x"}, {"team.a", "2", "team_a", "x"}},
		"kept names":                {{"le", "x", "quantile", "y", "gen_ai.request.stream", "z", "tacho.outcome", "o", "__name__", "n", "1st", "f", "", "e"}},
		"the call's own":            {{"model", "x", "provider", "y", "gen_ai.request.model", "v"}},
	} {
		rec := tacho.NewRecorder()
		rt := tacho.NewTransport(answering{}, tacho.WithRecorder(rec), tacho.WithoutMetrics(), tacho.WithoutTracing())
		for _, labels := range sets {
			do(tacho.ContextWithLabels(t.Context(), labels...), t, rt, "http://host.invalid/v1/chat/completions", `{"model":"m@1"}`)
		}
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(export.NewCollector(rec))
		w := httptest.NewRecorder()
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		families, err := registry.Gather()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		total := 0.0
		for _, f := range families {
			for _, m := range f.Metric {
				if f.GetName() == "tacho_recorder_calls_total" {
					total += m.GetCounter().GetValue()
				}
			}
		}
		if total != float64(len(sets)) {
			t.Errorf("%s: %v calls, want %d", name, total, len(sets))
		}
		scopes, err := export.NewProducer(rec).Produce(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range scopes[0].Metrics {
			seen := map[attribute.Distinct]bool{}
			if d, ok := m.Data.(metricdata.Sum[int64]); ok {
				for _, p := range d.DataPoints {
					if seen[p.Attributes.Equivalent()] {
						t.Errorf("%s: %s has two points with %v", name, m.Name, p.Attributes.Encoded(attribute.DefaultEncoder()))
					}
					seen[p.Attributes.Equivalent()] = true
				}
			}
		}
	}
}

// answering is a transport that answers.
type answering struct{}

func (answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Proto: "HTTP/1.1", Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(strings.NewReader(`{"choices":[]}`))}, nil
}

// TestCollector gathers native histograms, and serves them by promhttp.
func TestCollector(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(export.NewCollector(recorded(t)))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var ttft *dto.MetricFamily
	for _, f := range families {
		if f.GetName() == "tacho_recorder_ttft_seconds" {
			ttft = f
		}
	}
	if ttft == nil || len(ttft.Metric) != 2 {
		t.Fatalf("tacho_recorder_ttft_seconds is %v", ttft)
	}
	for _, m := range ttft.Metric {
		h := m.GetHistogram()
		labels := map[string]string{}
		for _, l := range m.Label {
			labels[l.GetName()] = l.GetValue()
		}
		want, sum, values, schema := uint64(2), 0.3, []float64{0.1, 0.2}, int32(7) // one power of two in 160 buckets
		if labels["region"] == "_OTHER" {
			want, sum, values, schema = 1, 0.4, []float64{0.4}, 8
		}
		if h.GetSampleCount() != want || math.Abs(h.GetSampleSum()-sum) > 1e-9 || h.GetSchema() != schema {
			t.Errorf("%v: %d values, sum %v, schema %d", labels, h.GetSampleCount(), h.GetSampleSum(), h.GetSchema())
		}
		if labels["gen_ai_request_stream"] != "true" || labels["label_gen_ai_request_stream"] != "x" {
			t.Errorf("labels %v", labels)
		}
		// Each value lies in its bucket: (b^(i−1), b^i] for the bucket i.
		base := math.Exp2(math.Exp2(-float64(h.GetSchema())))
		var got []float64
		i, n := 0, int64(0)
		d := h.PositiveDelta
		for _, span := range h.PositiveSpan {
			i += int(span.GetOffset())
			for range span.GetLength() {
				n += d[0]
				d = d[1:]
				for range n {
					got = append(got, math.Pow(base, float64(i)))
				}
				i++
			}
		}
		if len(got) != len(values) {
			t.Fatalf("%v: buckets end at %v, want the values %v", labels, got, values)
		}
		for k, v := range values {
			if v > got[k] || v <= got[k]/base {
				t.Errorf("%v: %v is in the bucket up to %v", labels, v, got[k])
			}
		}
	}
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, line := range []string{
		`tacho_recorder_calls_total{gen_ai_provider_name="openai",gen_ai_request_model="m",gen_ai_request_stream="true",label_gen_ai_request_stream="x",region="eu",tacho_outcome="error"} 1`,
		`tacho_recorder_ttft_seconds_count{gen_ai_provider_name="openai",gen_ai_request_model="m",gen_ai_request_stream="true",label_gen_ai_request_stream="x",region="eu"} 2`,
	} {
		if !strings.Contains(w.Body.String(), line) {
			t.Errorf("no line %s in\n%s", line, w.Body)
		}
	}
}
