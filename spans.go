// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho/internal/conv"
)

// scope names the instrumentation.
const scope = "github.com/tacho-go/tacho"

// startSpan begins the call's span and returns the context that carries it. What
// samplers may want is set at creation. A span of the same operation that is
// current already, a framework's own, is enriched in place of a second one.
func (x *exchange) startSpan(ctx context.Context) context.Context {
	if x.config.tracer == nil {
		return ctx
	}
	c := x.call
	first := x.config.first(c)
	more, _ := ctx.Value(attributesKey{}).([]attribute.KeyValue)
	s := trace.SpanFromContext(ctx)
	fenced(func() {
		if lacks, ok := isOurs(s, c.Operation(), append(first.kv[:len(first.kv):len(first.kv)], more...)); ok {
			x.span, x.borrowed = s, true
			s.SetAttributes(lacks...)
		}
	})
	if x.borrowed {
		return ctx
	}
	var room [5]trace.SpanStartOption
	options := append(append(room[:0], first.start...), trace.WithTimestamp(c.start))
	if c.attempt > 1 {
		options = append(options, trace.WithAttributes(conv.Attempt.Int(int(c.attempt))))
	}
	if more != nil {
		options = append(options, trace.WithAttributes(more...))
	}
	fenced(func() { ctx, x.span = x.config.tracer.Start(ctx, first.span, options...) })
	return ctx
}

// isOurs reports whether a span is of an operation of generative AI, as far as
// its SDK lets it be read, and which of the attributes that ours would have it
// lacks: who made it knows better what it has.
func isOurs(s trace.Span, operation string, ours []attribute.KeyValue) (lacks []attribute.KeyValue, ok bool) {
	readable, ok := s.(interface{ Attributes() []attribute.KeyValue })
	if !ok || !s.IsRecording() {
		return nil, false
	}
	has := readable.Attributes()
	at := func(k attribute.Key) int {
		return slices.IndexFunc(has, func(kv attribute.KeyValue) bool { return kv.Key == k })
	}
	if i := at(conv.OperationName); i < 0 || has[i].Value.AsString() != operation {
		return nil, false
	}
	for _, kv := range ours {
		if at(kv.Key) < 0 {
			lacks = append(lacks, kv)
		}
	}
	return lacks, true
}

// lacking leaves out what is said of the request on a span already.
func lacking(s trace.Span, kv []attribute.KeyValue) []attribute.KeyValue {
	has := map[attribute.Key]bool{}
	for _, a := range s.(interface{ Attributes() []attribute.KeyValue }).Attributes() {
		has[a.Key] = true
	}
	return slices.DeleteFunc(kv, func(a attribute.KeyValue) bool {
		ours := strings.HasPrefix(string(a.Key), "tacho.") || strings.HasPrefix(string(a.Key), "gen_ai.response.") ||
			strings.HasPrefix(string(a.Key), "gen_ai.usage.") || strings.HasPrefix(string(a.Key), "openai.response.")
		return has[a.Key] && !ours
	})
}

func appendPeer(attrs []attribute.KeyValue, remote string) []attribute.KeyValue {
	host, port, err := net.SplitHostPort(remote)
	if err != nil {
		word(&attrs, conv.PeerAddress, remote)
		return attrs
	}
	word(&attrs, conv.PeerAddress, host)
	if n, err := strconv.Atoi(port); err == nil {
		attrs = append(attrs, conv.PeerPort.Int(n))
	}
	return attrs
}

// appendServer appends a server's address and its port, which is that of the
// scheme where the URL names none.
func appendServer(attrs []attribute.KeyValue, server string, secure bool) []attribute.KeyValue {
	host, port, err := net.SplitHostPort(server)
	n := 80
	if secure {
		n = 443
	}
	if err != nil {
		host = strings.Trim(server, "[]")
	} else if given, err := strconv.Atoi(port); err == nil {
		n = given
	}
	word(&attrs, conv.ServerAddress, host)
	return append(attrs, conv.ServerPort.Int(n))
}

// endSpan puts what the call has become on its span and ends it. A span that is
// somebody else's has its own end, status and error: the call may be one attempt
// of several. It returns how many values were folded.
func (x *exchange) endSpan(s *callSets) (folded int64) {
	c := x.call
	if !x.borrowed {
		end := c.start
		if d, ok := c.Duration(); ok {
			end = end.Add(d)
		}
		defer fenced(func() { x.span.End(trace.WithTimestamp(end)) })
	}
	if x.span.IsRecording() {
		var kv []attribute.KeyValue
		kv, folded = c.spanAttributes(x.config, s)
		if t := x.config.errorWord(c); t != "" && !x.borrowed {
			word(&kv, conv.ErrorType, t)
		}
		if x.watched != nil && !c.asked().Model.Empty() {
			// It was read while the request was sent: too late for a sampler.
			model := x.config.models.word(c.RequestModel())
			if word(&kv, conv.RequestModel, model); !x.borrowed {
				x.span.SetName(c.Operation() + " " + model)
			}
		}
		if k := c.Content(); k != nil && x.config.content.mode&ContentOnSpans != 0 {
			kv = k.appendContent(kv, false)
		}
		if x.borrowed {
			kv = lacking(x.span, kv)
		}
		x.span.SetAttributes(kv...)
		if d, ok := c.TTFT(); ok {
			x.span.AddEvent(conv.EventFirstToken, trace.WithTimestamp(c.start.Add(d)))
		}
		if gap := c.silence(); gap > 0 && c.ttlt+gap == c.duration {
			x.stall(gap, c.duration) // which no output ended
		}
		if c.outcome.Bad() && !x.borrowed {
			x.span.SetStatus(codes.Error, x.config.errorWord(c))
		}
	}
	return folded
}

// folding counts the values that do not reach telemetry as they are.
type folding int64

func (f *folding) note(s string) string {
	if s == other {
		*f++
	}
	return s
}

func (f *folding) text(s string) string { return f.note(bounded(s)) }

func (f *folding) word(v *vocabulary, s string) string { return f.note(v.word(s)) }

// stall tells the span of a gap beyond the limit, which ended now.
func (x *exchange) stall(gap, at time.Duration) {
	if limit := x.config.stall; x.span == nil || limit <= 0 || gap <= limit {
		return
	}
	fenced(func() {
		x.span.AddEvent(conv.EventStall, trace.WithTimestamp(x.call.start.Add(at)), trace.WithAttributes(conv.StallDuration.Float64(inSeconds(gap))))
	})
}

// errorCode is the server's own code of what went wrong, if it is a plain word.
func (c *Call) errorCode() string {
	if f, _ := c.Failure(); c.outcome.Bad() && f.Code != other {
		return f.Code
	}
	return ""
}

// errorType is the server's error code, else the HTTP status, else the kind of
// the fault, else the outcome; "" when nothing failed.
func (c *Call) errorType() string {
	if code := c.errorCode(); code != "" {
		return code
	}
	return c.errorKind()
}

// errorKind is errorType without the server's words: one of a fixed list.
func (c *Call) errorKind() string {
	switch {
	case !c.outcome.Bad():
		return ""
	case c.status >= 400:
		return strconv.Itoa(int(c.status))
	case !c.byServer && c.fault != "":
		return c.fault
	}
	return c.outcome.String()
}

// errorWord is errorType with as many different codes as are let in.
func (g *config) errorWord(c *Call) string {
	if code := c.errorCode(); code != "" && g.codes.word(code) != other {
		return code
	}
	return c.errorKind()
}
