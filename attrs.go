// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

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

// callSets are those of calls that have all attributes in common.
type callSets struct {
	active  attrs // known from the first
	ended   attrs // durations and the like, with error.type
	calls   attrs // with the outcome besides
	tokens  attrs // of usage, by modality
	unknown attrs
	kinds   [2]attrs // input and output
	phases  [len(phases)]attrs
	limits  [2]attrs // requests and tokens
	faults  attrs
	baggage attrs
	http    attrs

	overflow attrs
	folded   int64 // values that are _OTHER
}

// maxSets bounds the sets that are kept.
const maxSets = 2000

// setCache keeps sets by what they are made of. The zero value is ready.
type setCache struct {
	mu   sync.RWMutex
	sets map[string]*callSets
}

// of returns the sets of a call; without g, of what is known of it at its begin.
func (s *setCache) of(c *Call, g *config) *callSets {
	var room [256]byte
	key := append(room[:0], byte(c.api), flag(c.secure))
	key = append(append(append(key, c.provider...), 0), c.server...)
	if g != nil {
		key = append(append(c.req.Model.Append(append(key, 1)), 0), c.errorType()...)
		key = c.facts.Model.Append(append(key, 0))
		key = append(append(append(key, 0, byte(c.outcome), flag(c.stream)), c.facts.Tier...), 0)
		if g.optIn&conv.HTTP != 0 {
			key = append(append(key, byte(c.status>>8), byte(c.status)), c.proto...)
		}
		for _, m := range g.metricLabels {
			for _, l := range c.labels {
				if l.Name == m.name {
					key = append(append(append(append(key, l.Name...), 0), l.Value...), 0)
				}
			}
		}
	}
	s.mu.RLock()
	found := s.sets[string(key)]
	s.mu.RUnlock()
	if found != nil {
		return found
	}
	made := newSets(c, g)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sets == nil {
		s.sets = map[string]*callSets{}
	}
	if len(s.sets) < maxSets {
		s.sets[string(key)] = made
	}
	return made
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func newSets(c *Call, g *config) *callSets {
	s := new(callSets)
	first := []attribute.KeyValue{conv.OperationName.String(c.Operation()), conv.ProviderName.String(c.provider)}
	first = appendServer(first, c.server)
	if g == nil {
		s.active = newAttrs(first...)
		s.http = newAttrs(httpServer(c)...)
		return s
	}
	if g.optIn&conv.HTTP != 0 {
		s.http = newAttrs(httpAttributes(c)...)
	}
	word := func(v *vocabulary, w string) string {
		if w = v.word(w); w == other {
			s.folded++
		}
		return w
	}
	base := first
	if !c.req.Model.Empty() {
		base = append(base, conv.RequestModel.String(word(&g.models, c.RequestModel())))
	}
	if !c.facts.Model.Empty() {
		base = append(base, conv.ResponseModel.String(word(&g.answers, c.ResponseModel())))
	}
	if t := c.facts.Tier; t != "" && c.provider == "openai" {
		base = append(base, conv.ServiceTier.String(word(&g.tiers, t)))
	}
	for _, m := range g.metricLabels {
		for _, l := range c.labels {
			if l.Name == m.name {
				base = append(base, attribute.String(m.name, word(&m.words, l.Value)))
			}
		}
	}
	with := func(kv ...attribute.KeyValue) attrs { return newAttrs(append(base[:len(base):len(base)], kv...)...) }
	modality := "unknown"
	if c.api == wire.Completions {
		modality = "text"
	}
	s.tokens, s.unknown = with(conv.TokenModality.String(modality)), with(conv.TokenModality.String("unknown"))
	s.limits = [2]attrs{with(conv.RateLimitKind.String("requests")), with(conv.RateLimitKind.String("tokens"))}
	s.baggage = newAttrs(conv.OverflowKind.String("baggage"))
	s.faults, s.overflow = newAttrs(conv.OverflowKind.String("parse_fault")), newAttrs(conv.OverflowKind.String("attribute"))
	for k, f := range phases {
		s.phases[k] = with(conv.PhaseKey.String(f.String()))
	}
	if t := c.errorType(); t != "" {
		base = append(base, conv.ErrorType.String(word(&g.codes, t)))
	}
	s.ended = with()
	s.kinds = [2]attrs{with(conv.TokenType.String("input")), with(conv.TokenType.String("output"))}
	s.calls = with(conv.Outcome.String(c.outcome.String()), conv.RequestStream.Bool(c.stream || c.req.Stream))
	return s
}
