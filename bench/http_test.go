// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	ddhttp "github.com/DataDog/dd-trace-go/contrib/net/http/v2"
	"github.com/tcnksm/go-httpstat"
	"go.opentelemetry.io/contrib/instrumentation/net/http/httptrace/otelhttptrace"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/tacho-go/tacho"
)

// canned answers every request on a pipe in memory with the same bytes, without
// allocating, so that what is counted is the client's.
func canned(b *testing.B, response []byte) *http.Transport {
	b.Helper()
	tr := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go serve(server, response)
		return client, nil
	}}
	b.Cleanup(tr.CloseIdleConnections)
	return tr
}

func serve(conn net.Conn, response []byte) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		length := 0
		for {
			line, err := r.ReadSlice('\n')
			if err != nil {
				return
			}
			if n, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
				for _, c := range bytes.TrimSpace(n) {
					length = length*10 + int(c-'0')
				}
			}
			if len(line) <= 2 {
				break
			}
		}
		if _, err := r.Discard(length); err != nil {
			return
		}
		if _, err := conn.Write(response); err != nil {
			return
		}
	}
}

func answer(contentType, body string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", contentType, len(body), body)
}

const chatAnswer = `{"id":"chatcmpl-BpUinPP6uoKQ7wujISoeiCaI3hAIf","object":"chat.completion","created":1751612521,"model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,"message":{"role":"assistant","content":"Atlantic Ocean","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":22,"completion_tokens":2,"total_tokens":24,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"service_tier":"default","system_fingerprint":"fp_34a54ae93c"}`

const streamEvents = 200

func streamAnswer() string {
	var body strings.Builder
	for i := range streamEvents {
		fmt.Fprintf(&body, "data: {\"id\":\"chatcmpl-BpUinPP6uoKQ7wujISoeiCaI3hAIf\",\"object\":\"chat.completion.chunk\",\"created\":1751612521,\"model\":\"gpt-4o-mini-2024-07-18\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word%d\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n\n", i)
	}
	return body.String() + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
}

// instrument is a way to measure calls.
type instrument struct {
	name string
	rt   http.RoundTripper
}

// instruments are the ways to measure calls over one base. Spans are made by the
// SDK, always sampled, and dropped at their end, those of dd-trace-go after they
// were encoded; metrics are aggregated.
func instruments(b *testing.B, base http.RoundTripper) []instrument {
	b.Helper()
	startDatadog(b)
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(dropping{}))
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	httpTrace := func(opts ...otelhttptrace.ClientTraceOption) http.RoundTripper {
		return otelhttp.NewTransport(base, otelhttp.WithTracerProvider(tp), otelhttp.WithMeterProvider(mp), otelhttp.WithClientTrace(func(ctx context.Context) *httptrace.ClientTrace {
			return otelhttptrace.NewClientTrace(ctx, append(opts, otelhttptrace.WithTracerProvider(tp))...)
		}))
	}
	return []instrument{
		{"bare", base},
		{"tacho, recorder", tacho.NewTransport(base, tacho.WithRecorder(tacho.NewRecorder()), tacho.WithoutTracing(), tacho.WithoutMetrics())},
		{"tacho, full", tacho.NewTransport(base, tacho.WithRecorder(tacho.NewRecorder()), tacho.WithTracerProvider(tp), tacho.WithMeterProvider(mp))},
		{"go-httpstat", statted{base}},
		{"otelhttp", otelhttp.NewTransport(base, otelhttp.WithTracerProvider(tp), otelhttp.WithMeterProvider(mp))},
		{"otelhttp, otelhttptrace", httpTrace()},
		{"otelhttp, otelhttptrace without sub-spans", httpTrace(otelhttptrace.WithoutSubSpans())},
		{"dd-trace-go", ddhttp.WrapRoundTripper(base)},
		{"dd-trace-go, client timings", ddhttp.WrapRoundTripper(base, ddhttp.WithClientTimings(true))},
	}
}

// statted uses go-httpstat as its documentation does: a result for each request.
type statted struct{ base http.RoundTripper }

func (s statted) RoundTrip(req *http.Request) (*http.Response, error) {
	var result httpstat.Result
	resp, err := s.base.RoundTrip(req.WithContext(httpstat.WithHTTPStat(req.Context(), &result)))
	result.End(time.Now())
	return resp, err
}

// dropping is a processor that keeps nothing.
type dropping struct{}

func (dropping) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (dropping) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (dropping) Shutdown(context.Context) error                  { return nil }
func (dropping) ForceFlush(context.Context) error                { return nil }

func call(ctx context.Context, b *testing.B, rt http.RoundTripper, body, buf []byte) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://host.invalid/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := rt.RoundTrip(req)
	if err != nil {
		b.Fatal(err)
	}
	for {
		if _, err := resp.Body.Read(buf); err == io.EOF {
			break
		} else if err != nil {
			b.Fatal(err)
		}
	}
	resp.Body.Close()
}

// BenchmarkHTTP counts allocations; for the times, which wander with the machine,
// see BenchmarkHTTPOver.
func BenchmarkHTTP(b *testing.B) {
	for _, kind := range kinds {
		base := canned(b, kind.response)
		buf := make([]byte, 4096)
		for _, i := range instruments(b, base) {
			b.Run(kind.name+"/"+i.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					call(context.Background(), b, i.rt, kind.request, buf)
				}
			})
		}
	}
}

var kinds = []struct {
	name              string
	request, response []byte
}{
	{"chat", []byte(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"` + prompt + `"}],"max_tokens":50,"temperature":0.3}`), answer("application/json", chatAnswer)},
	{"stream of 200", []byte(`{"stream":true,"model":"gpt-4o-mini","messages":[{"role":"user","content":"` + prompt + `"}]}`), answer("text/event-stream", streamAnswer())},
}

var prompt = strings.Repeat("x", 400)

// BenchmarkHTTPOver reports the medians over bare.
func BenchmarkHTTPOver(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			all := instruments(b, canned(b, kind.response))
			buf := make([]byte, 4096)
			times := over(b, len(all), 50, func(i int) { call(context.Background(), b, all[i].rt, kind.request, buf) })
			for i, x := range all {
				b.ReportMetric(times[i], unit("ns", x.name))
			}
		})
	}
}

// over runs small batches of n things in turns, so that a machine whose speed
// wanders wanders for all, and in an order that is another in each round, so that
// collections of garbage fall on all alike. It returns the median nanoseconds of CPU time of
// the first, and of the others what they took over it in the same round. ns/op is
// of no use here.
func over(b *testing.B, n, batch int, do func(i int)) []float64 {
	times := make([][]float64, n)
	round := make([]float64, n)
	for b.Loop() {
		for _, i := range rand.Perm(n) {
			start := cpuTime(b)
			for range batch {
				do(i)
			}
			round[i] = float64((cpuTime(b) - start).Nanoseconds()) / float64(batch)
		}
		times[0] = append(times[0], round[0])
		for i := 1; i < n; i++ {
			times[i] = append(times[i], round[i]-round[0])
		}
	}
	medians := make([]float64, n)
	for i := range times {
		medians[i] = median(times[i])
	}
	return medians
}

// cpuTime is the time that the process has had of the processors, client, server and
// collector together: what others take of them meanwhile is not in it.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// unit is one of a metric with a name in it, which may have no spaces.
func unit(of, name string) string {
	return of + ":" + strings.NewReplacer(" ", "_", ",", "").Replace(name)
}
