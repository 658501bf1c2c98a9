// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/log/embedded"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho"
)

// logKeeper is a provider of loggers that keeps what they emit.
type logKeeper struct {
	embedded.LoggerProvider

	mu      sync.Mutex
	records []logged
}

// logged is a record as plain values.
type logged struct {
	Name, Severity string
	Attributes     map[string]any
	Traced         bool // within a trace, its context's
}

func (k *logKeeper) Logger(string, ...log.LoggerOption) log.Logger { return keptLogger{k: k} }

func (k *logKeeper) named(name string) (list []logged) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.records {
		if r.Name == name {
			list = append(list, r)
		}
	}
	return list
}

type keptLogger struct {
	embedded.Logger
	k *logKeeper
}

func (keptLogger) Enabled(context.Context, log.EnabledParameters) bool { return true }

func (l keptLogger) Emit(ctx context.Context, r log.Record) {
	out := logged{r.EventName(), r.SeverityText(), map[string]any{}, trace.SpanContextFromContext(ctx).IsValid()}
	r.WalkAttributes(func(kv attribute.KeyValue) bool {
		out.Attributes[string(kv.Key)] = plainValue(kv.Value)
		return true
	})
	l.k.mu.Lock()
	l.k.records = append(l.k.records, out)
	l.k.mu.Unlock()
}

// plainValue is a value, and what is in it as encoding/json would read it.
func plainValue(v attribute.Value) any {
	switch v.Type() {
	case attribute.SLICE:
		list := []any{}
		for _, e := range v.AsSlice() {
			list = append(list, inner(e))
		}
		return list
	case attribute.MAP:
		m := map[string]any{}
		for _, kv := range v.AsMap() {
			m[string(kv.Key)] = inner(kv.Value)
		}
		return m
	}
	return v.AsInterface()
}

func inner(v attribute.Value) any {
	if v.Type() == attribute.INT64 {
		return float64(v.AsInt64())
	}
	return plainValue(v)
}

// observed is all that one call told.
type observed struct {
	call *tacho.Call
	span map[string]any
	logs *logKeeper
}

// observe makes a call against an answer of a status and type.
func observe(t *testing.T, path, request string, status int, contentType, body string, opts ...tacho.Option) observed {
	t.Helper()
	return observeBody(t, path, request, func() *http.Response {
		return &http.Response{StatusCode: status, Proto: "HTTP/1.1", Header: http.Header{"Content-Type": {contentType}},
			ContentLength: -1, Body: io.NopCloser(strings.NewReader(body))}
	}, opts...)
}

// requestKey is the credential of the requests that observe makes.
const requestKey = "sk-0123456789abcdef"

// observeBody is observe with a response of any kind.
func observeBody(t *testing.T, path, request string, answer func() *http.Response, opts ...tacho.Option) observed {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	logs := new(logKeeper)
	rt := tacho.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		io.Copy(io.Discard, r.Body)
		return answer(), nil
	}), append([]tacho.Option{tacho.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))),
		tacho.WithoutMetrics(), tacho.WithLoggerProvider(logs)}, opts...)...)
	ctx, tr := tacho.Track(t.Context())
	req := newRequest(ctx, t, "http://host.invalid/v1"+path, request)
	req.Header.Set("Authorization", "Bearer "+requestKey)
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
	return observed{one(t, tr), attributes(spans.Ended()[0].Attributes()), logs}
}

// events is a stream of the given data.
func events(data ...string) string { return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n" }

const (
	plainType  = "application/json"
	streamType = "text/event-stream"
)
