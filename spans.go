// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"net"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho/internal/conv"
)

// scope names the instrumentation.
const scope = "github.com/tacho-go/tacho"

// startSpan begins the call's span and returns the context that carries it.
func (x *exchange) startSpan(ctx context.Context) context.Context {
	if x.config.tracer == nil {
		return ctx
	}
	c := x.call
	name := c.Operation()
	attrs := make([]attribute.KeyValue, 0, 5)
	attrs = append(attrs, conv.OperationName.String(c.Operation()), conv.ProviderName.String(c.provider))
	if !c.req.Model.Empty() {
		model := x.config.models.word(c.RequestModel())
		name += " " + model
		attrs = append(attrs, conv.RequestModel.String(model))
	}
	attrs = appendServer(attrs, c.server)
	fenced(func() {
		ctx, x.span = x.config.tracer.Start(ctx, name,
			trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(c.start), trace.WithAttributes(attrs...))
	})
	return ctx
}

func appendServer(attrs []attribute.KeyValue, server string) []attribute.KeyValue {
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		return append(attrs, conv.ServerAddress.String(strings.Trim(server, "[]")))
	}
	attrs = append(attrs, conv.ServerAddress.String(host))
	if n, err := strconv.Atoi(port); err == nil {
		attrs = append(attrs, conv.ServerPort.Int(n))
	}
	return attrs
}

// endSpan puts what the call has become on its span and ends it.
func (x *exchange) endSpan() {
	c := x.call
	end := c.start
	if d, ok := c.Duration(); ok {
		end = end.Add(d)
	}
	if x.span.IsRecording() {
		x.span.SetAttributes(c.spanAttributes(x.config)...)
		if x.watched != nil && !c.req.Model.Empty() {
			// It was read while the request was sent: too late for a sampler.
			model := x.config.models.word(c.RequestModel())
			x.span.SetName(c.Operation() + " " + model)
			x.span.SetAttributes(conv.RequestModel.String(model))
		}
		if c.outcome.Bad() {
			x.span.SetStatus(codes.Error, x.config.codes.word(c.errorType()))
		}
	}
	x.span.End(trace.WithTimestamp(end))
}

func (c *Call) spanAttributes(g *config) []attribute.KeyValue {
	a := make([]attribute.KeyValue, 0, 16)
	a = append(a, conv.Outcome.String(c.outcome.String()))
	if c.stream || c.req.Stream {
		a = append(a, conv.RequestStream.Bool(true))
	}
	if !c.facts.Model.Empty() {
		a = append(a, conv.ResponseModel.String(g.models.word(c.ResponseModel())))
	}
	if !c.facts.ID.Empty() {
		a = append(a, conv.ResponseID.String(bounded(c.ResponseID())))
	}
	if n := len(c.facts.Finish); n > 0 {
		reasons := make([]string, n)
		for i, f := range c.facts.Finish {
			if reasons[i] = bounded(f.Reason); f.Reason == "" {
				reasons[i] = "error"
			}
		}
		a = append(a, conv.FinishReasons.StringSlice(reasons))
	}
	u := &c.facts.Usage
	if u.Input.OK {
		a = append(a, conv.InputTokens.Int64(u.Input.N))
	}
	if u.Output.OK {
		a = append(a, conv.OutputTokens.Int64(u.Output.N))
	}
	if d, ok := c.TTFC(); ok {
		a = append(a, conv.TimeToFirstChunk.Float64(inSeconds(d)))
	}
	if d, ok := c.TTFT(); ok {
		a = append(a, conv.TimeToFirstToken.Float64(inSeconds(d)))
	}
	if t := g.codes.word(c.errorType()); t != "" {
		a = append(a, conv.ErrorType.String(t))
	}
	return a
}

// errorType is the server's error code, else the HTTP status, else the kind of
// the fault; "" when nothing failed.
func (c *Call) errorType() string {
	f, _ := c.Failure()
	switch {
	case !c.outcome.Bad():
		return ""
	case f.Code != "":
		return f.Code
	case c.status >= 400:
		return strconv.Itoa(int(c.status))
	case f.Type != "":
		return f.Type
	}
	return c.outcome.String()
}
