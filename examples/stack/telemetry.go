// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"log/slog"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/export"
)

// telemetry are the three providers of OpenTelemetry's SDK.
type telemetry struct {
	traces  *sdktrace.TracerProvider
	metrics *sdkmetric.MeterProvider
	logs    *sdklog.LoggerProvider
}

// newTelemetry sends all three by OTLP over HTTP. The recorder's histograms are
// exponential ones, among them the gaps, which are no instrument.
func newTelemetry(ctx context.Context, s settings, r *tacho.Recorder) (*telemetry, error) {
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(s.otlp+"/v1/traces"))
	if err != nil {
		return nil, err
	}
	points, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(s.otlp+"/v1/metrics"))
	if err != nil {
		return nil, err
	}
	lines, err := otlploghttp.New(ctx, otlploghttp.WithEndpointURL(s.otlp+"/v1/logs"))
	if err != nil {
		return nil, err
	}
	who := resource.NewSchemaless(attribute.String("service.name", "stack"), attribute.String("service.instance.id", "1"))
	return &telemetry{
		// All spans go out: which to keep the collector says, when a trace is whole.
		traces: sdktrace.NewTracerProvider(sdktrace.WithResource(who), sdktrace.WithBatcher(spans)),
		metrics: sdkmetric.NewMeterProvider(sdkmetric.WithResource(who), sdkmetric.WithReader(
			sdkmetric.NewPeriodicReader(points, sdkmetric.WithInterval(s.interval), sdkmetric.WithProducer(export.NewProducer(r))))),
		logs: sdklog.NewLoggerProvider(sdklog.WithResource(who), sdklog.WithProcessor(sdklog.NewBatchProcessor(lines))),
	}, nil
}

// logger writes to the collector. A line has the span of its context.
func (t *telemetry) logger() *slog.Logger {
	return otelslog.NewLogger("stack", otelslog.WithLoggerProvider(t.logs))
}

func (t *telemetry) shutdown(ctx context.Context) error {
	return errors.Join(t.traces.Shutdown(ctx), t.metrics.Shutdown(ctx), t.logs.Shutdown(ctx))
}
