// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho/internal/conv"
)

// tellEvents emits the events of a call that has ended.
func (g *config) tellEvents(ctx context.Context, c *Call, s *callSets) {
	content := c.Content()
	if content != nil && g.content.mode&ContentOnEvents != 0 {
		g.tellDetails(ctx, c, s, content)
	}
	if !c.outcome.Bad() {
		return
	}
	for _, e := range [...]struct {
		by   Conventions
		name string
	}{{ConventionsLatest, conv.EventException}, {ConventionsV141, conv.EventException141}} {
		if g.conventions&e.by == 0 || !g.logger.Enabled(ctx, log.EnabledParameters{Severity: log.SeverityWarn, EventName: e.name}) {
			continue
		}
		var r log.Record
		r.SetSeverity(log.SeverityWarn)
		r.SetSeverityText("WARN")
		r.AddAttributes(conv.ExceptionType.String(g.errorWord(c)))
		if content != nil && content.ErrorText != "" && g.content.mode&ContentOnEvents != 0 {
			// What a server says of an error may repeat what it was sent.
			r.AddAttributes(attribute.KeyValue{Key: conv.ExceptionMessage, Value: attributeValue(content.ErrorText)})
		}
		r.AddAttributes(s.first.attributes()...)
		g.emit(ctx, c, e.name, r)
	}
}

// tellDetails emits the event that has all a span has, and the content.
func (g *config) tellDetails(ctx context.Context, c *Call, s *callSets, content *Content) {
	if !g.logger.Enabled(ctx, log.EnabledParameters{Severity: log.SeverityDebug, EventName: conv.EventDetails}) {
		return
	}
	var r log.Record
	r.SetSeverity(log.SeverityDebug)
	r.SetSeverityText("DEBUG")
	r.AddAttributes(s.first.attributes()...)
	kv, _ := c.spanAttributes(g, s) // the span counts what was folded
	if t := g.errorWord(c); t != "" {
		word(&kv, conv.ErrorType, t)
	}
	r.AddAttributes(kv...)
	r.AddAttributes(content.appendContent(nil, true)...)
	g.emit(ctx, c, conv.EventDetails, r)
}

func (g *config) emit(ctx context.Context, c *Call, name string, r log.Record) {
	at := c.start
	if d, ok := c.Duration(); ok {
		at = at.Add(d)
	}
	r.SetEventName(name)
	r.SetTimestamp(at)
	r.SetObservedTimestamp(time.Now())
	g.logger.Emit(ctx, r)
}

// attributes are those that a span has from its begin.
func (s *firstSets) attributes() []attribute.KeyValue {
	begun := trace.NewSpanStartConfig(s.start...)
	return begun.Attributes()
}
