// SPDX-License-Identifier: Apache-2.0

package export_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/export"
)

// TestPortApart: host and port of a server were one attribute, so that a gap had
// another server.address than the call that it is of.
func TestPortApart(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"content":"a"}}]}`)
	}))
	defer srv.Close()
	rec := tacho.NewRecorder(tacho.WithSeriesBy("server"))
	base := srv.Client().Transport
	do(t.Context(), t, tacho.NewTransport(base, tacho.WithRecorder(rec), tacho.WithoutMetrics(), tacho.WithoutTracing()), srv.URL+"/v1/chat/completions", `{"model":"m","messages":[]}`)
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}

	reader := sdkmetric.NewManualReader(sdkmetric.WithProducer(export.NewProducer(rec)))
	sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	var got metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	want := attribute.NewSet(attribute.String("server.address", u.Hostname()), attribute.Int("server.port", port),
		attribute.Bool("gen_ai.request.stream", false), attribute.String("tacho.outcome", "complete"))
	found := false
	for _, m := range got.ScopeMetrics[0].Metrics {
		if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "tacho.recorder.calls" {
			found = true
			if set := sum.DataPoints[0].Attributes; !set.Equals(&want) {
				t.Errorf("%v, want %v", set.ToSlice(), want.ToSlice())
			}
		}
	}
	if !found {
		t.Error("no calls are told")
	}

	reg := prometheus.NewRegistry()
	reg.MustRegister(export.NewCollector(rec))
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "tacho_recorder_calls_total" {
			if text := f.GetMetric()[0].String(); !strings.Contains(text, "server_port") || !strings.Contains(text, `"`+u.Port()+`"`) {
				t.Errorf("Prometheus' collector tells %s", text)
			}
		}
	}
}
