// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"encoding/binary"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/internal/conv"
	"github.com/tacho-go/tacho/sim"
)

var update = flag.Bool("update", false, "write testdata/telemetry anew: read each line that has changed before it is committed")

// telemetryCase is a play whose whole telemetry is in testdata/telemetry.
type telemetryCase struct {
	name string
	// The play is one call, read to its end, unless play makes others.
	path, body string
	play       func(*scene)
	scripts    []sim.Script
	opts       []tacho.Option // of the transport, besides the exporters and ConventionsLatest
	sim        []sim.Option
	dials      bool // connections are told
}

// TestTelemetry plays each case in a bubble, where times are exact, and compares
// all that it exports, spans, metrics and log, with the file of its name.
func TestTelemetry(t *testing.T) {
	t.Parallel()
	files := map[string]bool{"dropped.txt": true} // of TestTelemetryDropped
	for _, tc := range slices.Concat(operationCases(), outcomeCases(), streamCases(), contextCases(), optionCases()) {
		if files[tc.name+".txt"] {
			t.Fatalf("two cases are named %s", tc.name)
		}
		files[tc.name+".txt"] = true
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { tc.run(t, false) })
		})
	}
	there, err := os.ReadDir("testdata/telemetry")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range there {
		if !files[f.Name()] {
			t.Errorf("testdata/telemetry/%s is of no case", f.Name())
		}
	}
}

// run plays a case and compares.
func (tc *telemetryCase) run(t *testing.T, timeless bool) {
	t.Helper()
	d := &drawing{begin: time.Now(), timeless: timeless}
	var log strings.Builder
	spans, reader := tracetest.NewSpanRecorder(), metric.NewManualReader()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans), sdktrace.WithIDGenerator(new(idCounter)))
	meters := tacho.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	s := &scene{t: t, srv: sim.New(t, tc.sim...), app: tp.Tracer("app")}
	s.srv.Play(tc.scripts...)
	base := s.srv.Transport()
	defer base.CloseIdleConnections()
	if tc.dials {
		base.DialContext = tacho.MeasureDial(base.DialContext, meters)
	}
	s.tr = tacho.NewTransport(detour{base}, append([]tacho.Option{
		tacho.WithTracerProvider(tp), meters,
		tacho.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey || timeless && a.Value.Kind() == slog.KindDuration {
				a.Value = slog.StringValue(d.at(time.Now()))
			}
			return a
		}}))), tacho.WithConventions(tacho.ConventionsLatest),
	}, tc.opts...)...)
	if tc.play == nil {
		s.call(t.Context(), tc.path, tc.body)
	} else {
		tc.play(s)
	}
	if !timeless {
		synctest.Wait()
	}
	var rm metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &rm); err != nil {
		t.Fatal(err)
	}
	d.spans(spans.Started())
	d.metrics(&rm)
	d.line("log:")
	for l := range strings.Lines(log.String()) {
		d.line("  %s", strings.TrimSuffix(l, "\n"))
	}
	checkExemplars(t, &rm, spans.Started())
	checkNames(t, &rm, spans.Started())

	file := filepath.Join("testdata", "telemetry", tc.name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(d.lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(strings.TrimSuffix(string(want), "\n"), "\n"), d.lines); diff != "" {
		t.Errorf("%s (-want +got)\n%s", file, diff)
	}
}

// checkExemplars holds the exemplars to the spans of the calls: from a value of a
// metric one comes to a span that is there.
func checkExemplars(t *testing.T, rm *metricdata.ResourceMetrics, spans []sdktrace.ReadWriteSpan) {
	t.Helper()
	there := map[string]bool{}
	for _, s := range spans {
		id := s.SpanContext().SpanID()
		there[string(id[:])] = s.InstrumentationScope().Name != "app" || s.Name() == "chat"
	}
	exemplars := 0
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			h, _ := m.Data.(metricdata.Histogram[float64])
			for _, p := range h.DataPoints {
				for _, e := range p.Exemplars {
					if exemplars++; !there[string(e.SpanID)] {
						t.Errorf("%s has an exemplar of span %x", m.Name, e.SpanID)
					}
				}
			}
		}
	}
	if exemplars == 0 && len(rm.ScopeMetrics) > 0 && len(spans) > 0 {
		t.Error("no histogram has an exemplar")
	}
}

// checkNames holds each name that is told to the tables of the documentation.
func checkNames(t *testing.T, rm *metricdata.ResourceMetrics, spans []sdktrace.ReadWriteSpan) {
	t.Helper()
	metrics, attrs, events := conv.MetricTable(), conv.AttributeTable(), conv.EventTable()
	check := func(table, name string) {
		if !strings.Contains(table, "| `"+name+"` |") && !strings.HasPrefix(name, "app.") && name != "region" {
			t.Errorf("%s is in no table", name)
		}
	}
	for _, s := range spans {
		for _, kv := range s.Attributes() {
			check(attrs, string(kv.Key))
		}
		for _, e := range s.Events() {
			check(events, e.Name)
			for _, kv := range e.Attributes {
				check(attrs, string(kv.Key))
			}
		}
	}
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			check(metrics, m.Name)
			for _, set := range slices.Concat(sets(m.Data), gaugeSets(m.Data)) {
				for _, kv := range set.ToSlice() {
					check(attrs, string(kv.Key))
				}
			}
		}
	}
}

// scene is what a case plays in.
type scene struct {
	t   *testing.T
	srv *sim.Server
	tr  *tacho.Transport
	app trace.Tracer // of a framework or the application
}

// send sends a request: to a path of the API, or to a URL. The header is names and
// values in turn. The response is nil when none came.
func (s *scene) send(ctx context.Context, path, body string, header ...string) *http.Response {
	s.t.Helper()
	url := path
	if strings.HasPrefix(path, "/") {
		url = s.srv.URL() + path
	}
	req := newRequest(ctx, s.t, url, body)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := s.tr.RoundTrip(req)
	if err != nil {
		return nil
	}
	return resp
}

// call makes a call and reads the response to its end.
func (s *scene) call(ctx context.Context, path, body string, header ...string) {
	s.t.Helper()
	if resp := s.send(ctx, path, body, header...); resp != nil {
		readAll(resp)
	}
}

// detour sends requests for the APIs that sim does not know to its route for
// embeddings, which plays scripts with a Body just so.
type detour struct{ http.RoundTripper }

func (d detour) RoundTrip(r *http.Request) (*http.Response, error) {
	path := r.URL.Path
	if !slices.ContainsFunc([]string{"/images/", "/audio/", "/moderations"}, func(s string) bool { return strings.Contains(path, s) }) {
		return d.RoundTripper.RoundTrip(r)
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	to := r.Clone(r.Context())
	to.URL.Path, to.Body, to.ContentLength = "/v1/embeddings", io.NopCloser(strings.NewReader("{}")), 2
	resp, err := d.RoundTripper.RoundTrip(to)
	if err == nil {
		resp.Request = r
	}
	return resp, err
}

func (d detour) CloseIdleConnections() { d.RoundTripper.(*http.Transport).CloseIdleConnections() }

// idCounter numbers traces and spans.
type idCounter struct{ trace, span atomic.Uint64 }

func (c *idCounter) NewIDs(ctx context.Context) (id trace.TraceID, _ trace.SpanID) {
	binary.BigEndian.PutUint64(id[8:], c.trace.Add(1))
	return id, c.NewSpanID(ctx, id)
}

func (c *idCounter) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	binary.BigEndian.PutUint64(id[:], c.span.Add(1))
	return id
}
