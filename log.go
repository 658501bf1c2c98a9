// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// logCall writes a line for a call that failed, was slow or stalled.
func (g *config) logCall(ctx context.Context, l *slog.Logger, c *Call, at trace.SpanContext) {
	why, level := "", slog.LevelInfo
	d, _ := c.Duration()
	switch {
	case c.outcome.Bad():
		why, level = "failed", slog.LevelWarn
	case g.stall > 0 && c.silence() > g.stall:
		why = "stalled"
	case g.slow > 0 && d > g.slow:
		why = "slow"
	default:
		return
	}
	if !l.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.Any("call", c)}
	if why == "stalled" {
		attrs = append(attrs, slog.Duration("longest_gap", c.silence()))
	}
	if at.IsValid() {
		attrs = append(attrs, slog.String("trace_id", at.TraceID().String()), slog.String("span_id", at.SpanID().String()))
	}
	l.LogAttrs(ctx, level, "llm call "+why, attrs...)
}
