// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"go.opentelemetry.io/otel/attribute"

	"github.com/tacho-go/tacho/internal/conv"
	"github.com/tacho-go/tacho/internal/wire"
)

// newSets makes the sets of calls that are like c.
func newSets(c *Call, g *config, w callWords) *callSets {
	s := &callSets{first: g.first(c), folded: w.folded}
	var base []attribute.KeyValue
	word(&base, conv.OperationName, c.Operation())
	word(&base, conv.ProviderName, c.provider)
	plain := base[:2:2] // of what has no server and no model
	if w.server {
		base = appendServer(base, c.server, c.secure)
	} else {
		word(&base, conv.ServerAddress, other)
	}
	if g.optIn&conv.HTTP != 0 {
		failed := ""
		if c.outcome.Bad() && c.outcome != StreamError {
			failed = c.outcome.String()
		}
		s.http = newAttrs(httpAttributes(c, w.server, int(c.status), c.proto, failed)...)
	}
	word(&s.span, conv.Outcome, c.outcome.String())
	if c.asStream() {
		s.span = append(s.span, conv.RequestStream.Bool(true))
	}
	switch c.api {
	case wire.ChatCompletions, wire.Responses:
		word(&s.span, conv.APIType, c.api.String())
	}
	if w.model != "" {
		word(&base, conv.RequestModel, w.model)
	}
	if w.answer != "" {
		word(&base, conv.ResponseModel, w.answer)
		word(&s.span, conv.ResponseModel, w.answer)
	}
	if w.tier != "" {
		if word(&s.span, conv.ServiceTier, w.tier); c.provider == "openai" {
			word(&base, conv.ServiceTier, w.tier)
		}
	}
	if w.print != "" {
		word(&base, conv.Fingerprint, w.print)
	}
	for i, v := range w.labels {
		if v != "" {
			word(&base, attribute.Key(g.metricLabels[i].name), v)
		}
	}
	modality := "unknown"
	if c.api == wire.Completions {
		modality = "text"
	}
	for _, t := range [...]struct {
		to   *attrs
		key  attribute.Key
		word string
	}{
		{&s.tokens, conv.TokenModality, modality}, {&s.unknown, conv.TokenModality, "unknown"},
		{&s.modal[0], conv.TokenModality, "text"}, {&s.modal[1], conv.TokenModality, "image"}, {&s.modal[2], conv.TokenModality, "audio"},
		{&s.limits[0], conv.RateLimitKind, "requests"}, {&s.limits[1], conv.RateLimitKind, "tokens"},
		{&s.kinds[0], conv.TokenType, "input"}, {&s.kinds[1], conv.TokenType, "output"},
	} {
		t.to.fill(base, t.key, t.word)
	}
	s.baggage.fill(plain, conv.OverflowKind, "baggage")
	s.faults.fill(plain, conv.OverflowKind, "parse_fault")
	s.overflow.fill(plain, conv.OverflowKind, "attribute")
	s.slo = make([]verdicts, len(g.objectives))
	for i, o := range g.objectives {
		slo, v := pair(conv.SLO, o.name), &s.slo[i]
		v.met.with(plain, slo, conv.SLOMet.Bool(true))
		v.missed.with(plain, slo, conv.SLOMet.Bool(false))
	}
	for k, f := range phases {
		s.phases[k].fill(base, conv.PhaseKey, f.String())
	}
	if w.code != "" {
		word(&base, conv.ErrorType, w.code)
	}
	s.ended.with(base)
	s.calls.with(base, pair(conv.Outcome, c.outcome.String()), conv.RequestStream.Bool(c.asStream()))
	return s
}
