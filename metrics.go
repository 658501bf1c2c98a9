// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"

	"go.opentelemetry.io/otel/metric"

	"github.com/tacho-go/tacho/internal/conv"
	"github.com/tacho-go/tacho/internal/wire"
)

// instruments are the OpenTelemetry instruments of a transport. An instrument
// that the provider refuses is a no-op, as the API has it, and one of a
// generation that is not told is nil.
type instruments struct {
	_          [0]func() // not to be compared: no code for it is linked
	histograms [conv.NumMetrics]metric.Float64Histogram
	counters   [conv.NumMetrics]metric.Int64Counter
	levels     [conv.NumMetrics]metric.Int64UpDownCounter
	remaining  metric.Int64Gauge
	gen        conv.Generation
}

func newInstruments(mp metric.MeterProvider, gen conv.Generation, chosen conv.OptIn) *instruments {
	m := mp.Meter(scope, metric.WithInstrumentationVersion(Version))
	i := &instruments{gen: gen}
	for _, d := range conv.Metrics() {
		if d.Generation != 0 && d.Generation&gen == 0 || d.OptIn != 0 && d.OptIn&chosen == 0 {
			continue
		}
		unit, says := metric.WithUnit(d.Unit), metric.WithDescription(d.Description)
		switch d.Kind {
		case conv.Histogram:
			i.histograms[d.ID], _ = m.Float64Histogram(d.Name, unit, says, metric.WithExplicitBucketBoundaries(d.Bounds...))
		case conv.Counter:
			i.counters[d.ID], _ = m.Int64Counter(d.Name, unit, says)
		case conv.UpDownCounter:
			i.levels[d.ID], _ = m.Int64UpDownCounter(d.Name, unit, says)
		case conv.Gauge:
			i.remaining, _ = m.Int64Gauge(d.Name, unit, says)
		}
	}
	return i
}

// observe records a value if its metric is told.
//
//go:noinline
func (i *instruments) observe(ctx context.Context, id conv.ID, v float64, s *attrs) {
	if h := i.histograms[id]; h != nil {
		h.Record(ctx, v, s.record...)
	}
}

//go:noinline
func (i *instruments) count(ctx context.Context, id conv.ID, n int64, s *attrs) {
	if c := i.counters[id]; c != nil {
		c.Add(ctx, n, s.add...)
	}
}

// level raises or lowers what is counted now.
func (i *instruments) level(ctx context.Context, id conv.ID, n int64, s *attrs) {
	if c := i.levels[id]; c != nil {
		c.Add(ctx, n, s.add...)
	}
}

// begin counts a call that is under way; its end takes it away again, by the
// same attributes: those that are known from the first.
func (i *instruments) begin(ctx context.Context, s *firstSets, n int64) {
	i.level(ctx, conv.ActiveCalls, n, &s.active)
}

// record records a call that has ended.
func (i *instruments) record(ctx context.Context, s *callSets, c *Call, folded int64) {
	i.begin(ctx, s.first, -1)
	if c.status >= 300 && c.status < 400 {
		return // a redirect is no answer: a Recorder leaves it out as well
	}
	i.count(ctx, conv.Calls, 1, &s.calls)
	if d, ok := c.Duration(); ok {
		own := conv.NoMetric
		switch c.api {
		case wire.ChatCompletions, wire.Completions, wire.Responses:
			own = conv.InferenceDuration
		case wire.Embeddings:
			own = conv.EmbeddingsDuration
		}
		i.observe(ctx, own, inSeconds(d), &s.ended)
		if own == conv.NoMetric || i.gen&conv.V141 != 0 {
			i.observe(ctx, conv.OperationDuration, inSeconds(d), &s.ended)
		}
	}
	for _, f := range [...]struct {
		figure Figure
		ids    [2]conv.ID
	}{
		{TTFC, [2]conv.ID{conv.InferenceFirstChunk, conv.OperationFirstChunk}},
		{TTFT, [2]conv.ID{conv.FirstToken}}, {TTFO, [2]conv.ID{conv.FirstOutput}}, {TTLT, [2]conv.ID{conv.LastToken}}, {TPOT, [2]conv.ID{conv.PerToken}},
	} {
		d, ok := c.Figure(f.figure)
		if !ok || !c.enters(f.figure) {
			continue
		}
		for _, id := range f.ids {
			i.observe(ctx, id, inSeconds(d), &s.ended)
		}
	}
	for k, f := range phases {
		if d, ok := c.Figure(f); ok {
			i.observe(ctx, conv.PhaseTime, inSeconds(d), &s.phases[k])
		}
	}
	i.usage(ctx, c, s)
	if l := c.facts.Limits; l != nil {
		if l.RemainingRequests.OK {
			i.remaining.Record(ctx, l.RemainingRequests.N, s.limits[0].record...)
		}
		if l.RemainingTokens.OK {
			i.remaining.Record(ctx, l.RemainingTokens.N, s.limits[1].record...)
		}
	}
	if c.facts.Faults > 0 {
		i.count(ctx, conv.Overflow, int64(c.facts.Faults), &s.faults)
	}
	if c.dropped > 0 {
		i.count(ctx, conv.Overflow, int64(c.dropped), &s.baggage)
	}
	if n := s.folded + folded; n > 0 {
		i.count(ctx, conv.Overflow, n, &s.overflow)
	}
}

// phases are the figures before a response, as the values of tacho.phase.
var phases = [...]Figure{DNS, Connect, TLS, Send, Wait}

// usage records the tokens. A call that failed counts as 0 of the usage
// counters; usage that was not reported is not recorded.
func (i *instruments) usage(ctx context.Context, c *Call, s *callSets) {
	u, input := &c.facts.Usage, c.facts.InputTotal()
	for _, n := range [...]struct {
		id    conv.ID
		count *wire.Count
	}{
		{conv.UsageInput, &input}, {conv.UsageOutput, &u.Output}, {conv.UsageCacheRead, &u.CacheRead}, {conv.UsageCacheWrite, &u.CacheWrite}, {conv.UsageReasoning, &u.Reasoning},
	} {
		switch {
		case c.api == wire.Embeddings:
		case n.count.OK && c.facts.Detail != nil && n.id == conv.UsageInput:
			i.modalities(ctx, n.id, n.count.N, c.facts.Detail.In, s)
		case n.count.OK && c.facts.Detail != nil && n.id == conv.UsageOutput:
			i.modalities(ctx, n.id, n.count.N, c.facts.Detail.Out, s)
		case n.count.OK && n.count.N == 0:
			i.zero(ctx, n.id, s, &s.tokens)
		case n.count.OK:
			i.count(ctx, n.id, n.count.N, &s.tokens)
		case c.outcome.Bad() && c.api.Text():
			i.zero(ctx, n.id, s, &s.unknown)
		}
	}
	if input.OK {
		id := conv.InferenceInput
		if c.api == wire.Embeddings {
			id = conv.EmbeddingsInput
		}
		i.observe(ctx, id, float64(input.N), &s.ended)
		i.observe(ctx, conv.TokenUsage, float64(input.N), &s.kinds[0])
	}
	if u.Output.OK {
		if c.api != wire.Embeddings {
			i.observe(ctx, conv.InferenceOutput, float64(u.Output.N), &s.ended)
		}
		i.observe(ctx, conv.TokenUsage, float64(u.Output.N), &s.kinds[1])
	}
}

// zero tells a counter that it is 0 and not unknown: once, for it is the same
// with every further 0.
func (i *instruments) zero(ctx context.Context, id conv.ID, s *callSets, a *attrs) {
	if bit := uint64(1) << id; s.zeros.Or(bit)&bit == 0 {
		i.count(ctx, id, 0, a)
	}
}

// modalities counts tokens by what they are of, as far as that was reported.
func (i *instruments) modalities(ctx context.Context, id conv.ID, total int64, of wire.Modalities, s *callSets) {
	if of.Sum() == 0 || of.Sum() > total {
		i.count(ctx, id, total, &s.tokens)
		return
	}
	for k, n := range [...]int64{of.Text, of.Image, of.Audio} {
		if n > 0 {
			i.count(ctx, id, n, &s.modal[k])
		}
	}
	if rest := total - of.Sum(); rest > 0 {
		i.count(ctx, id, rest, &s.tokens)
	}
}
