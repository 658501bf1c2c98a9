// SPDX-License-Identifier: Apache-2.0

package export

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/tacho-go/tacho"
)

const scope = "github.com/tacho-go/tacho/export"

// Producer is a metric producer of OpenTelemetry's SDK. It is safe for
// concurrent use.
type Producer struct{ recorder *tacho.Recorder }

var _ sdkmetric.Producer = (*Producer)(nil)

// NewProducer returns a producer of what r holds. Give it to a reader by
// metric.WithProducer.
func NewProducer(r *tacho.Recorder) *Producer { return &Producer{r} }

// Produce implements metric.Producer.
func (p *Producer) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	s := p.recorder.Total()
	b := builder{start: s.Start, end: s.End}
	for _, one := range merged(s.Series, attributeOf) {
		for k, g := range one.group {
			b.add(one.labels, k == 0, g)
		}
	}
	metrics := b.metrics()
	if len(metrics) == 0 {
		return nil, nil
	}
	return []metricdata.ScopeMetrics{{Scope: instrumentation.Scope{Name: scope, Version: tacho.Version}, Metrics: metrics}}, nil
}

// builder collects the data points of all series.
type builder struct {
	start, end time.Time
	figures    [tacho.ConsumerWait + 1][]metricdata.ExponentialHistogramDataPoint[float64]
	calls      []metricdata.DataPoint[int64]
	tokens     []metricdata.DataPoint[int64]
	classes    []metricdata.DataPoint[int64]
	refused    []metricdata.DataPoint[int64]
}

func (b *builder) add(labels []tacho.Label, stream bool, g tacho.Group) {
	attrs := make([]attribute.KeyValue, 0, len(labels)+2)
	for _, l := range labels {
		attrs = append(attrs, attributeFor(l))
	}
	attrs = append(attrs, attribute.Bool(streamKey, stream))
	set := attribute.NewSet(attrs...)
	for f := range b.figures {
		h := g.Figure(tacho.Figure(f))
		if h.Count() == 0 {
			continue
		}
		e := h.Exponential(buckets, time.Second)
		b.figures[f] = append(b.figures[f], metricdata.ExponentialHistogramDataPoint[float64]{
			Attributes: set, StartTime: b.start, Time: b.end,
			Count: e.Count, Sum: e.Sum, Min: metricdata.NewExtrema(e.Min), Max: metricdata.NewExtrema(e.Max),
			Scale: int32(e.Scale), ZeroCount: e.Zero,
			PositiveBucket: metricdata.ExponentialBucket{Offset: int32(e.Offset), Counts: e.Counts},
		})
	}
	point := func(key, value string, n int64) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Attributes: attribute.NewSet(append(attrs[:len(attrs):len(attrs)], attribute.String(key, value))...),
			StartTime: b.start, Time: b.end, Value: n}
	}
	for o := tacho.Complete; o <= tacho.Dropped; o++ {
		if n := g.Outcome(o); n > 0 {
			b.calls = append(b.calls, point(outcomeKey, o.String(), n))
		}
	}
	for i, name := range classes {
		if n := g.Class(i); n > 0 {
			b.classes = append(b.classes, point(classKey, name, n))
		}
	}
	for code, n := range refusals(g) {
		if n > 0 {
			b.refused = append(b.refused, point(codeKey, code, n))
		}
	}
	for i, n := range tokensOf(g) {
		if n > 0 {
			b.tokens = append(b.tokens, point(tokenKey, tokenKinds[i], n))
		}
	}
}

func (b *builder) metrics() (all []metricdata.Metrics) {
	for f, points := range b.figures {
		if len(points) > 0 {
			f := tacho.Figure(f)
			all = append(all, metricdata.Metrics{Name: "tacho.recorder." + f.String(), Description: help[f], Unit: "s",
				Data: metricdata.ExponentialHistogram[float64]{DataPoints: points, Temporality: metricdata.CumulativeTemporality}})
		}
	}
	sum := func(name, description, unit string, points []metricdata.DataPoint[int64]) {
		if len(points) > 0 {
			all = append(all, metricdata.Metrics{Name: name, Description: description, Unit: unit,
				Data: metricdata.Sum[int64]{DataPoints: points, Temporality: metricdata.CumulativeTemporality, IsMonotonic: true}})
		}
	}
	sum("tacho.recorder.calls", "Calls that have ended, by outcome.", "{call}", b.calls)
	sum("tacho.recorder.responses", "Calls by the class of their status.", "{call}", b.classes)
	sum("tacho.recorder.refusals", "Calls with status 429 or 503.", "{call}", b.refused)
	sum("tacho.recorder.tokens", "Tokens, as servers reported them.", "{token}", b.tokens)
	return all
}

// refusals are the calls with the statuses by which servers shed load.
func refusals(g tacho.Group) map[string]int64 {
	return map[string]int64{"429": g.TooMany(), "503": g.Unavailable()}
}

var tokenKinds = [...]string{"input", "output", "cache_read", "cache_write", "reasoning"}

func tokensOf(g tacho.Group) [5]int64 {
	in, out, read, write, reasoning := g.Tokens()
	return [...]int64{in, out, read, write, reasoning}
}
