// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/tacho-go/tacho/internal/conv"
)

// instruments are the OpenTelemetry instruments of a transport. An instrument
// that the provider refuses is a no-op, as the API has it.
type instruments struct {
	duration metric.Float64Histogram
	ttft     metric.Float64Histogram
	calls    metric.Int64Counter
}

func newInstruments(mp metric.MeterProvider) *instruments {
	m := mp.Meter(scope, metric.WithInstrumentationVersion(Version))
	var i instruments
	i.duration, _ = m.Float64Histogram(conv.MetricDuration, metric.WithUnit("s"),
		metric.WithDescription("Duration of a call to a model, from its start to its end."),
		metric.WithExplicitBucketBoundaries(conv.SecondsBounds()...))
	i.ttft, _ = m.Float64Histogram(conv.MetricTTFT, metric.WithUnit("s"),
		metric.WithDescription("Time from the start of a call to its first output in any channel."),
		metric.WithExplicitBucketBoundaries(conv.FirstTokenBounds()...))
	i.calls, _ = m.Int64Counter(conv.MetricCalls, metric.WithUnit("{call}"),
		metric.WithDescription("Calls that have ended, by outcome."))
	return &i
}

func (i *instruments) record(ctx context.Context, g *config, c *Call) {
	attrs := make([]attribute.KeyValue, 0, 8)
	attrs = append(attrs, conv.OperationName.String(c.Operation()), conv.ProviderName.String(c.provider))
	if !c.req.Model.Empty() {
		attrs = append(attrs, conv.RequestModel.String(g.models.word(c.RequestModel())))
	}
	attrs = appendServer(attrs, c.server)
	if t := g.codes.word(c.errorType()); t != "" {
		attrs = append(attrs, conv.ErrorType.String(t))
	}
	for _, m := range g.metricLabels {
		for _, l := range c.labels {
			if l.Name == m.name {
				attrs = append(attrs, attribute.String(m.name, m.words.word(l.Value)))
			}
		}
	}
	set := metric.WithAttributeSet(attribute.NewSet(attrs...))
	if d, ok := c.Duration(); ok {
		i.duration.Record(ctx, inSeconds(d), set)
	}
	if d, ok := c.TTFT(); ok && c.enters(TTFT) {
		i.ttft.Record(ctx, inSeconds(d), set)
	}
	attrs = append(attrs, conv.Outcome.String(c.outcome.String()))
	i.calls.Add(ctx, 1, metric.WithAttributeSet(attribute.NewSet(attrs...)))
}
