// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho/internal/conv"
	"github.com/tacho-go/tacho/internal/wire"
)

// The attributes of a call's metrics. Making a set costs more than recording a
// value, and calls of one kind have the same: sets are made once and kept.

// attrs is a set in the forms in which instruments take it.
type attrs struct {
	record []metric.RecordOption
	add    []metric.AddOption
}

func newAttrs(kv ...attribute.KeyValue) attrs {
	o := metric.WithAttributeSet(attribute.NewSet(kv...))
	return attrs{[]metric.RecordOption{o}, []metric.AddOption{o}}
}

// firstSets are of calls that have in common what is known from the first.
type firstSets struct {
	active, http attrs
	span         string // its name
	kv           []attribute.KeyValue
	start        []trace.SpanStartOption
}

// callSets are of calls that have ended and have all attributes in common.
type callSets struct {
	first   *firstSets
	span    []attribute.KeyValue // those of the span that such calls have in common
	ended   attrs                // durations and the like, with error.type
	calls   attrs                // with the outcome besides
	tokens  attrs                // of usage whose modality was not reported
	modal   [3]attrs             // text, image, audio
	unknown attrs
	kinds   [2]attrs // input and output
	phases  [len(phases)]attrs
	limits  [2]attrs // requests and tokens
	faults  attrs
	baggage attrs
	http    attrs
	slo     []verdicts // by objective

	overflow attrs
	folded   int64         // values that are _OTHER
	zeros    atomic.Uint64 // the counters that were told 0, by their ids
}

// maxSets bounds the sets that are kept.
const maxSets = 2000

// setCache keeps sets by what they are made of. The zero value is ready. One that
// is full makes no further ones: nil is returned.
type setCache[T any] struct {
	mu   sync.RWMutex
	sets map[string]*T
}

func (s *setCache[T]) of(key []byte, make func() *T) *T {
	s.mu.RLock()
	found := s.sets[string(key)]
	s.mu.RUnlock()
	if found != nil {
		return found
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sets == nil {
		s.sets = map[string]*T{}
	}
	if found = s.sets[string(key)]; found == nil && len(s.sets) < maxSets {
		found = make()
		s.sets[string(key)] = found
	}
	return found
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// appendFirst appends what is known of a call from the first.
func (c *Call) appendFirst(key []byte) []byte {
	key = append(append(key, byte(c.api), flag(c.secure)), c.provider...)
	key = append(append(append(key, 0), c.server...), 0)
	return append(c.req.Model.Append(key), 0)
}

// first returns the sets of a call that begins.
func (g *config) first(c *Call) *firstSets {
	var room [256]byte
	if s := g.firsts.of(c.appendFirst(room[:0]), func() *firstSets { return newFirstSets(c, g) }); s != nil {
		return s
	}
	return newFirstSets(c, g)
}

func newFirstSets(c *Call, g *config) *firstSets {
	s := &firstSets{http: newAttrs(httpServer(c)...), span: c.Operation()}
	kv := appendServer([]attribute.KeyValue{conv.OperationName.String(c.Operation()), conv.ProviderName.String(c.provider)}, c.server, c.secure)
	s.active = newAttrs(kv...)
	if !c.req.Model.Empty() {
		model := g.models.word(c.RequestModel())
		s.span += " " + model
		kv = append(kv, conv.RequestModel.String(model))
	}
	s.kv = kv
	s.start = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(kv...)}
	return s
}

// ended returns the sets of a call that has ended. Each of the values that come
// from the wire is bounded by its vocabulary; their mixtures are by the number of
// sets: calls beyond that have all of them folded.
func (g *config) ended(c *Call) *callSets {
	var room [256]byte
	key := append(c.appendFirst(room[:0]), c.errorType()...)
	key = c.facts.Model.Append(append(key, 0))
	key = append(append(append(key, 0, byte(c.outcome), flag(c.asStream())), c.facts.Tier...), 0)
	if g.optIn&conv.HTTP != 0 {
		key = append(append(append(key, byte(c.status>>8), byte(c.status)), c.proto...), 0)
	}
	if d := c.facts.Detail; d != nil && g.metricPrints {
		key = append(append(key, d.Fingerprint...), 0)
	}
	for _, m := range g.metricLabels {
		for _, l := range c.labels {
			if l.Name == m.name {
				key = append(append(append(append(key, l.Name...), 0), l.Value...), 0)
			}
		}
	}
	if s := g.sets.of(key, func() *callSets { return newSets(c, g, false) }); s != nil {
		return s
	}
	key = append(append(append(key[:0], byte(c.api), flag(c.secure)), c.provider...), 0)
	key = append(append(key, c.server...), 0, byte(c.outcome), flag(c.asStream()), flag(c.errorType() == ""))
	if s := g.rest.of(key, func() *callSets { return newSets(c, g, true) }); s != nil {
		return s
	}
	return newSets(c, g, true)
}

// asStream reports whether a call asked for a stream or, where nobody read its
// request, got one.
func (c *Call) asStream() bool { return c.req.Stream || !c.req.Read && c.stream }

func newSets(c *Call, g *config, fold bool) *callSets {
	s := &callSets{first: g.first(c)}
	base := appendServer([]attribute.KeyValue{conv.OperationName.String(c.Operation()), conv.ProviderName.String(c.provider)}, c.server, c.secure)
	plain := base[:2:2] // of what has no server and no model
	if g.optIn&conv.HTTP != 0 {
		failed := ""
		if c.outcome.Bad() && c.outcome != StreamError {
			failed = c.outcome.String()
		}
		s.http = newAttrs(httpAttributes(c, int(c.status), c.proto, failed)...)
	}
	word := func(key attribute.Key, v *vocabulary, w string) attribute.KeyValue {
		if w = v.word(w); fold && w != "" {
			w = other
		}
		if w == other {
			s.folded++
		}
		return key.String(w)
	}
	s.span = append(s.span, conv.Outcome.String(c.outcome.String()))
	if c.asStream() {
		s.span = append(s.span, conv.RequestStream.Bool(true))
	}
	switch c.api {
	case wire.ChatCompletions, wire.Responses:
		s.span = append(s.span, conv.APIType.String(c.api.String()))
	}
	if !c.req.Model.Empty() {
		base = append(base, word(conv.RequestModel, &g.models, c.RequestModel()))
	}
	if !c.facts.Model.Empty() {
		model := word(conv.ResponseModel, &g.answers, c.ResponseModel())
		base, s.span = append(base, model), append(s.span, model)
	}
	if t := c.facts.Tier; t != "" {
		tier := word(conv.ServiceTier, &g.tiers, t)
		if s.span = append(s.span, tier); c.provider == "openai" {
			base = append(base, tier)
		}
	}
	if d := c.facts.Detail; d != nil && d.Fingerprint != "" && g.metricPrints {
		base = append(base, word(conv.Fingerprint, &g.prints, d.Fingerprint))
	}
	for _, m := range g.metricLabels {
		for _, l := range c.labels {
			if l.Name == m.name {
				base = append(base, word(attribute.Key(m.name), &m.words, l.Value))
			}
		}
	}
	with := func(kv ...attribute.KeyValue) attrs { return newAttrs(append(base[:len(base):len(base)], kv...)...) }
	modality := "unknown"
	if c.api == wire.Completions {
		modality = "text"
	}
	s.tokens, s.unknown = with(conv.TokenModality.String(modality)), with(conv.TokenModality.String("unknown"))
	for k, m := range [...]string{"text", "image", "audio"} {
		s.modal[k] = with(conv.TokenModality.String(m))
	}
	s.limits = [2]attrs{with(conv.RateLimitKind.String("requests")), with(conv.RateLimitKind.String("tokens"))}
	s.kinds = [2]attrs{with(conv.TokenType.String("input")), with(conv.TokenType.String("output"))}
	of := func(kv ...attribute.KeyValue) attrs { return newAttrs(append(plain, kv...)...) }
	s.baggage = of(conv.OverflowKind.String("baggage"))
	s.faults, s.overflow = of(conv.OverflowKind.String("parse_fault")), of(conv.OverflowKind.String("attribute"))
	for _, o := range g.objectives {
		slo := conv.SLO.String(o.name)
		s.slo = append(s.slo, verdicts{of(slo, conv.SLOMet.Bool(true)), of(slo, conv.SLOMet.Bool(false))})
	}
	for k, f := range phases {
		s.phases[k] = with(conv.PhaseKey.String(f.String()))
	}
	if t := c.errorType(); t != "" {
		base = append(base, word(conv.ErrorType, &g.codes, t))
	}
	s.ended = with()
	s.calls = with(conv.Outcome.String(c.outcome.String()), conv.RequestStream.Bool(c.asStream()))
	return s
}
