// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// TestShutdownInMidCall shuts the providers down at every point of a call: its
// bytes and its record are those of a call of which all is told.
func TestShutdownInMidCall(t *testing.T) {
	t.Parallel()
	s := sim.Script{HeaderDelay: 100 * ms, Gap: 10 * ms, Steps: []sim.Step{sim.Role(0), sim.Text(0, "a"), sim.Text(0, "b"), sim.Finish(0, "stop"), sim.Done()}}
	var want []byte
	for _, at := range []time.Duration{-1, 0, 50 * ms, 105 * ms, 125 * ms, time.Hour} { //nolint:paralleltest // the bytes of the first are those of all
		t.Run(at.String(), func(t *testing.T) { // bare, before, and in the midst of what a call does
			synctest.Test(t, func(t *testing.T) {
				exporter := tracetest.NewInMemoryExporter()
				tp := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter))
				mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(new(lastMetrics), sdkmetric.WithInterval(10*ms))))
				shutdown := func() {
					if err := errors.Join(tp.Shutdown(t.Context()), mp.Shutdown(t.Context())); err != nil {
						t.Error(err)
					}
				}
				opts := []tacho.Option{tacho.WithTracerProvider(tp), tacho.WithMeterProvider(mp), tacho.WithChunkMetrics(), tacho.WithHTTPMetrics()}
				switch {
				case at < 0:
					opts = nil
					shutdown()
				case at == 0:
					shutdown()
				case at < time.Minute:
					time.AfterFunc(at, shutdown)
				}
				r := newRig(t, []sim.Option{sim.WithScript(s)}, opts...)
				ctx, tr := tacho.Track(t.Context())
				resp, err := r.client.Do(r.request(ctx, chatPath, chatStream))
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(resp.Body)
				if err != nil {
					t.Error(err)
				}
				if want == nil {
					want = got
				}
				if !bytes.Equal(want, got) {
					t.Errorf("read %q, want %q", got, want)
				}
				resp.Body.Close()
				c := one(t, tr)
				if d, _ := c.Duration(); c.Outcome() != tacho.Complete || d != 140*ms {
					t.Errorf("%v after %v", c.Outcome(), d)
				}
				if at == time.Hour {
					if err := tp.ForceFlush(t.Context()); err != nil || len(exporter.GetSpans()) != 1 {
						t.Errorf("%d spans, %v", len(exporter.GetSpans()), err)
					}
					shutdown()
				}
			})
		})
	}
}

// lastMetrics is an exporter to nowhere.
type lastMetrics struct{}

func (*lastMetrics) Temporality(sdkmetric.InstrumentKind) metricdata.Temporality {
	return metricdata.CumulativeTemporality
}
func (*lastMetrics) Aggregation(k sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(k)
}
func (*lastMetrics) Export(context.Context, *metricdata.ResourceMetrics) error { return nil }
func (*lastMetrics) ForceFlush(context.Context) error                          { return nil }
func (*lastMetrics) Shutdown(context.Context) error                            { return nil }

// What panics: each is a part of an SDK, or is handed to one.

type badOnStart struct{ sdktrace.SpanProcessor }

func (badOnStart) OnStart(context.Context, sdktrace.ReadWriteSpan) { panic("SECRET") }
func (badOnStart) OnEnd(sdktrace.ReadOnlySpan)                     {}

type badSampler struct{}

func (badSampler) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult { panic("SECRET") }
func (badSampler) Description() string                                              { return "" }

type badSpan struct{ trace.Span }

func (badSpan) SetAttributes(...attribute.KeyValue)   { panic("SECRET") }
func (badSpan) AddEvent(string, ...trace.EventOption) { panic("SECRET") }
func (badSpan) IsRecording() bool                     { return true }

type badTracer struct{ trace.TracerProvider }

func (b badTracer) Tracer(name string, opts ...trace.TracerOption) trace.Tracer {
	return badStart{b.TracerProvider.Tracer(name, opts...)}
}

type badStart struct{ trace.Tracer }

func (b badStart) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	ctx, s := b.Tracer.Start(ctx, name, opts...)
	s = badSpan{s}
	return trace.ContextWithSpan(ctx, s), s
}

type badMeters struct{ metricnoop.MeterProvider }

func (badMeters) Meter(string, ...metric.MeterOption) metric.Meter { return badMeter{} }

type badMeter struct{ metricnoop.Meter }

func (badMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return badHistogram{}, nil
}
func (badMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return badCounter{}, nil
}
func (badMeter) Int64UpDownCounter(string, ...metric.Int64UpDownCounterOption) (metric.Int64UpDownCounter, error) {
	return badLevel{}, nil
}
func (badMeter) Int64Gauge(string, ...metric.Int64GaugeOption) (metric.Int64Gauge, error) {
	return badGauge{}, nil
}

type badHistogram struct{ metricnoop.Float64Histogram }

func (badHistogram) Record(context.Context, float64, ...metric.RecordOption) { panic("SECRET") }

type badCounter struct{ metricnoop.Int64Counter }

func (badCounter) Add(context.Context, int64, ...metric.AddOption) { panic("SECRET") }

type badLevel struct{ metricnoop.Int64UpDownCounter }

func (badLevel) Add(context.Context, int64, ...metric.AddOption) { panic("SECRET") }

type badGauge struct{ metricnoop.Int64Gauge }

func (badGauge) Record(context.Context, int64, ...metric.RecordOption) { panic("SECRET") }

type badHandler struct{ slog.Handler }

func (badHandler) Enabled(context.Context, slog.Level) bool  { return true }
func (badHandler) Handle(context.Context, slog.Record) error { panic("SECRET") }

type badPropagator struct{ propagation.TextMapPropagator }

func (badPropagator) Inject(context.Context, propagation.TextMapCarrier) { panic("SECRET") }

type badObjective struct{}

func (badObjective) Name() string                   { return "bad" }
func (badObjective) Judge(*tacho.Call) (bool, bool) { panic("SECRET") }

// TestPanicsOfTelemetry has parts of SDKs that panic. The application gets its
// bytes and its errors, the very ones, and OpenTelemetry's error handler is told,
// without what was panicked with.
func TestPanicsOfTelemetry(t *testing.T) { //nolint:paralleltest // sets the global error handler and propagator
	var mu sync.Mutex
	var handled []error
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		mu.Lock()
		defer mu.Unlock()
		handled = append(handled, err)
	}))
	defer otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { fmt.Fprintln(os.Stderr, err) })) // as the default one
	spans := func(opts ...sdktrace.TracerProviderOption) tacho.Option {
		return tacho.WithTracerProvider(sdktrace.NewTracerProvider(opts...))
	}
	body := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	for _, tc := range []struct {
		name string
		opts []tacho.Option
	}{
		{"OnStart", []tacho.Option{spans(sdktrace.WithSpanProcessor(badOnStart{}))}},
		{"OnEnd", []tacho.Option{spans(sdktrace.WithSpanProcessor(panicky{}))}},
		{"sampler", []tacho.Option{spans(sdktrace.WithSampler(badSampler{}))}},
		{"span", []tacho.Option{tacho.WithTracerProvider(badTracer{sdktrace.NewTracerProvider()}), tacho.WithStallLimit(1)}},
		{"instruments", []tacho.Option{tacho.WithMeterProvider(badMeters{}), tacho.WithChunkMetrics(), tacho.WithHTTPMetrics()}},
		{"log handler", []tacho.Option{tacho.WithLogger(slog.New(badHandler{})), tacho.WithSlowLimit(1)}},
		{"objective", []tacho.Option{tacho.WithMeterProvider(sdkmetric.NewMeterProvider()), tacho.WithBudgets(badObjective{})}},
		{"propagator", []tacho.Option{tacho.WithPropagationTo("host.invalid")}},
	} {
		if tc.name == "propagator" {
			defer otel.SetTextMapPropagator(otel.GetTextMapPropagator())
			otel.SetTextMapPropagator(badPropagator{})
		}
		for _, fails := range []error{nil, errBroken} {
			mu.Lock()
			handled = nil
			mu.Unlock()
			base := roundTripper(func(*http.Request) (*http.Response, error) {
				if fails != nil {
					return nil, fails
				}
				return &http.Response{StatusCode: 200, Proto: "HTTP/1.1", Header: http.Header{"Content-Type": {"text/event-stream"}, "X-Ratelimit-Remaining-Requests": {"7"}},
					ContentLength: -1, Body: &pieceBody{rest: []byte(body), sizes: []byte{30}, err: io.EOF}}, nil
			})
			ctx, tr := tacho.Track(t.Context())
			resp, err := quiet(base, tc.opts...).RoundTrip(newRequest(ctx, t, hostURL, chatStream))
			if err != fails {
				t.Errorf("%s: error %v, want %v", tc.name, err, fails)
			}
			if fails == nil {
				got, err := io.ReadAll(resp.Body)
				if string(got) != body || err != nil {
					t.Errorf("%s: read %q, %v", tc.name, got, err)
				}
				resp.Body.Close()
			}
			if want := map[bool]tacho.Outcome{true: tacho.Complete, false: tacho.Failed}[fails == nil]; one(t, tr).Outcome() != want {
				t.Errorf("%s: outcome %v, want %v", tc.name, one(t, tr).Outcome(), want)
			}
			if all, output := one(t, tr).Events(); fails == nil && (all != 2 || output != 2) {
				t.Errorf("%s: %d events, %d of output", tc.name, all, output)
			}
			mu.Lock()
			if text := fmt.Sprint(handled); len(handled) == 0 || strings.Contains(text, "SECRET") || !strings.Contains(text, "panicked") {
				t.Errorf("%s, error %v: the error handler was told %s", tc.name, fails, text)
			}
			mu.Unlock()
		}
	}
}

// badProvider panics where a tracer or a meter is asked for.
type badProvider struct {
	trace.TracerProvider
	metric.MeterProvider
}

func (badProvider) Tracer(string, ...trace.TracerOption) trace.Tracer { panic("SECRET") }
func (badProvider) Meter(string, ...metric.MeterOption) metric.Meter  { panic("SECRET") }

// badCurrent is a span that panics when it is looked at.
type badCurrent struct{ trace.Span }

func (badCurrent) IsRecording() bool                    { panic("SECRET") }
func (badCurrent) SpanContext() trace.SpanContext       { panic("SECRET") }
func (badCurrent) Attributes() []attribute.KeyValue     { panic("SECRET") }
func (badCurrent) TracerProvider() trace.TracerProvider { panic("SECRET") }

// TestPanicsBeforeACall has providers that panic when a Transport is made, a current
// span that panics, and an error handler that does when it is told.
func TestPanicsBeforeACall(t *testing.T) { //nolint:paralleltest // sets the global error handler
	told := 0
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) { told++; panic("SECRET") }))
	defer otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
	call := func(ctx context.Context, opts ...tacho.Option) {
		t.Helper()
		told = 0
		rt := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { return answer(`{"id":"c"}`), nil }), opts...)
		resp, err := rt.RoundTrip(newRequest(ctx, t, hostURL, chatPlain))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); string(body) != `{"id":"c"}` || err != nil {
			t.Errorf("read %q, %v", body, err)
		}
		resp.Body.Close()
		if told == 0 {
			t.Error("the error handler was told nothing")
		}
	}
	call(t.Context(), tacho.WithTracerProvider(badProvider{}))
	call(t.Context(), tacho.WithMeterProvider(badProvider{}))
	current := trace.ContextWithSpan(t.Context(), badCurrent{})
	call(current, tacho.WithTracerProvider(sdktrace.NewTracerProvider()))
	ran := false
	if err := tacho.ExecuteTool(current, "f", "id", func(context.Context) error { ran = true; return errBroken }); err != errBroken || !ran {
		t.Errorf("ExecuteTool: %v, ran %v", err, ran)
	}
}
