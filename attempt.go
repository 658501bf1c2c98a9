// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho/internal/conv"
)

// Attempt is one exchange of a call that WithRetries may make again.
type Attempt struct {
	Start    time.Duration // since the call's start
	Wait     time.Duration // the pause before it, as decided; 0 before the first
	Duration time.Duration // to its end: of an attempt that failed, when its answer was read
	Status   int           // 0: no answer came
	// Error is the server's code, else its status, else the kind of the fault as
	// Failure.Type has it; "" when nothing failed.
	Error string
}

// Attempts returns the exchanges of a call under WithRetries or WithStreamUsage,
// in their order; nil for one without. The slice must not be changed.
func (c *Call) Attempts() []Attempt {
	if c.more == nil {
		return nil
	}
	return c.more.attempts
}

// OfAttempt returns a figure that counts from the call's start, such as TTFT,
// from the start of the call's last attempt: what it would be without those
// before it and the waits between. Figures that do not count from the call's
// start are as they are; an absent one is absent.
func (c *Call) OfAttempt(f Figure) (time.Duration, bool) {
	d, ok := c.Figure(f)
	if !ok {
		return 0, false
	}
	switch f {
	case TTFB, TTFC, TTFT, TTFO, TTLT, Duration:
		if tries := c.Attempts(); len(tries) > 0 {
			d -= tries[len(tries)-1].Start
		}
	}
	return d, true
}

// tries is the state of a call's attempts. It is nil without WithRetries and
// WithStreamUsage, and set before the request is handed on.
type tries struct {
	// values is the context of the attempt under way, for what is below.
	values atomic.Pointer[context.Context]
	span   trace.Span
	over   bool // the context ended in a pause: there is no further one
	list   []Attempt
}

// attemptCode is what keeps the attempts of calls, as functions.
type attemptCode struct {
	begin func(x *exchange, ctx context.Context, u *url.URL, wait time.Duration) context.Context
	last  func(x *exchange)
}

func (c *config) linkAttempts() {
	c.attempts = &attemptCode{(*exchange).beginAttempt, (*exchange).lastAttempt}
}

// tries is the state of the attempts, nil without WithRetries.
func (x *exchange) tries() *tries {
	if x.extra == nil {
		return nil
	}
	return x.extra.tries
}

// beginAttempt begins the span of an attempt and returns the context that has it.
func (x *exchange) beginAttempt(ctx context.Context, u *url.URL, wait time.Duration) context.Context {
	t := x.tries()
	t.list = append(t.list, Attempt{Start: x.since(), Wait: wait})
	if len(t.list) == 1 {
		t.list[0].Start = 0
	}
	t.span = nil
	if x.config.tracer == nil || x.config.retries == nil {
		return ctx
	}
	kv := appendServer([]attribute.KeyValue{pair(conv.HTTPMethod, http.MethodPost), pair(conv.URL, publicURL(u))}, x.call.server, x.call.secure)
	if n := int(x.call.attempt) + len(t.list) - 2; n > 0 {
		kv = append(kv, conv.ResendCount.Int(n))
	}
	if wait > 0 {
		kv = append(kv, conv.RetryWait.Float64(inSeconds(wait)))
	}
	start := x.call.start.Add(t.list[len(t.list)-1].Start)
	fenced(func() {
		ctx, t.span = x.config.tracer.Start(ctx, http.MethodPost, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(start), trace.WithAttributes(kv...))
	})
	return ctx
}

// nextAttempt begins another attempt, with r.
func (x *exchange) nextAttempt(r *http.Request, wait time.Duration) {
	x.trace.Restart()
	ctx := x.beginAttempt(x.ownContext(), r.URL, wait)
	x.tries().values.Store(&ctx)
	x.httpLevel(ctx, 1)
	if f := x.config.propagate; f != nil {
		fenced(func() { f(x, ctx, r) })
	}
}

// httpLevel counts a request that is under way, or is no longer.
func (x *exchange) httpLevel(ctx context.Context, n int64) {
	if m := x.config.metrics; m != nil && x.config.optIn&conv.HTTP != 0 {
		fenced(func() { m.level(ctx, conv.HTTPActive, n, &x.config.first(x.call).http) })
	}
}

// ownContext is that in which the call's own span is current.
func (x *exchange) ownContext() context.Context {
	if x.tries() == nil || x.span == nil {
		return x.ctx.parent
	}
	return trace.ContextWithSpan(x.ctx.parent, x.span)
}

// failedAttempt ends an attempt that another follows.
func (x *exchange) failedAttempt(resp *http.Response, err error) {
	a := &x.tries().list[len(x.tries().list)-1]
	proto, failed := "", ""
	if err != nil || resp == nil {
		x.mu.Lock()
		_, a.Error = x.fault(err, Failed)
		x.mu.Unlock()
		failed = a.Error
	} else {
		a.Status, proto = resp.StatusCode, resp.Proto
		if failed = strconv.Itoa(a.Status); a.Status >= 400 {
			a.Error = failed
			if e := x.readRefusal(resp); e.Present && e.Code != "" && bounded(e.Code) != other {
				a.Error = e.Code
				if w := x.config.codes.word(e.Code); w != other {
					failed = w
				}
			}
		}
	}
	a.Duration = x.since() - a.Start
	ctx := x.ctx.parent
	if s := x.tries().span; s != nil {
		ctx = trace.ContextWithSpan(ctx, s)
	}
	x.endAttempt(a, proto, failed)
	x.httpLevel(ctx, -1)
	if m := x.config.metrics; m != nil && x.config.optIn&conv.HTTP != 0 {
		known := x.config.servers.admits(x.call.server, maxServers)
		fenced(func() { m.attempt(ctx, known, x.call, a, proto) })
	}
}

// lastAttempt ends the attempt that the call ends with.
func (x *exchange) lastAttempt() {
	c := x.call
	c.extras().attempts = x.tries().list
	if x.tries().over {
		return
	}
	a := &x.tries().list[len(x.tries().list)-1]
	a.Status = int(c.status)
	a.Error = c.errorType()
	if d, ok := c.Duration(); ok {
		a.Duration = max(0, d-a.Start)
	}
	x.endAttempt(a, c.proto, x.config.errorWord(c))
}

// endAttempt ends an attempt's span, with its error as telemetry has it.
func (x *exchange) endAttempt(a *Attempt, proto, failed string) {
	s := x.tries().span
	if s == nil {
		return
	}
	var kv []attribute.KeyValue
	if a.Status > 0 {
		kv = append(kv, conv.HTTPStatus.Int(a.Status))
	}
	if remote := x.trace.Remote(); remote != nil {
		kv = appendPeer(kv, remote.String())
	}
	kv = appendProtocol(kv, proto)
	if failed != "" {
		word(&kv, conv.ErrorType, failed)
	}
	end := x.call.start.Add(a.Start + a.Duration)
	fenced(func() {
		s.SetAttributes(kv...)
		if failed != "" {
			s.SetStatus(codes.Error, failed)
		}
		s.End(trace.WithTimestamp(end))
	})
	x.tries().span = nil
}

// publicURL is a URL without what may be a secret: user, query and fragment are
// left out, and parts of the path that no public API has stand as REDACTED.
func publicURL(u *url.URL) string {
	parts := strings.Split(u.Path, "/")
	for i, p := range parts {
		if p != "" && !isPublicPart(p) {
			parts[i] = "REDACTED"
		}
	}
	return u.Scheme + "://" + u.Host + strings.Join(parts, "/")
}

// isPublicPart knows the parts of the paths of common servers.
func isPublicPart(p string) bool {
	switch p {
	case "api", "openai", "deployments", "inference", "engines", "models", "beta", "compatible-mode", "serving-endpoints", "llm", "proxy", "paas", "endpoints",
		"chat", "completions", "responses", "embeddings", "images", "generations", "edits", "variations", "audio", "speech", "transcriptions", "translations", "moderations":
		return true
	}
	digits := strings.TrimPrefix(p, "v")
	digits = strings.TrimSuffix(strings.TrimSuffix(digits, "beta"), "alpha")
	return len(p) <= len("v1alpha") && len(digits) > 0 && len(digits) < len(p) && strings.Trim(digits, "0123456789") == ""
}
