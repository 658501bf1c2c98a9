// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho/internal/conv"
)

// ExecuteTool calls f within the span that OpenTelemetry's conventions have for a
// tool that a model asked for: execute_tool NAME, with the call's id. It returns
// f's error, of which the span has the type and not the text. The span is of the
// provider of ctx's span, else of the global one.
func ExecuteTool(ctx context.Context, name, callID string, f func(context.Context) error) error {
	tp := otel.GetTracerProvider()
	fenced(func() {
		if s := trace.SpanFromContext(ctx); s.SpanContext().IsValid() && !s.SpanContext().IsRemote() {
			tp = s.TracerProvider()
		}
	})
	attrs := []attribute.KeyValue{conv.OperationName.String("execute_tool"), conv.ToolName.String(bounded(name))}
	if callID != "" {
		attrs = append(attrs, conv.ToolCallID.String(bounded(callID)))
	}
	span := trace.Span(nil)
	fenced(func() {
		ctx, span = tp.Tracer(scope, trace.WithInstrumentationVersion(Version)).Start(ctx, "execute_tool "+bounded(name),
			trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(attrs...))
	})
	panicked := true
	var err error
	defer func() {
		if span == nil {
			return
		}
		fenced(func() {
			switch {
			case panicked:
				span.SetAttributes(conv.ErrorType.String("panic"))
				span.SetStatus(codes.Error, "panic")
			case err != nil:
				t := typeOf(err)
				span.SetAttributes(conv.ErrorType.String(t))
				span.SetStatus(codes.Error, t)
			}
			span.End()
		})
	}()
	err = f(ctx)
	panicked = false
	return err
}

// typeOf is the type of an error, as far as it is a plain name.
func typeOf(err error) string { return bounded(strings.TrimLeft(fmt.Sprintf("%T", err), "*")) }
