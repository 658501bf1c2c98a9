// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
)

// side is a transport and what a call's context is made of.
type side struct {
	rt   http.RoundTripper
	with func(context.Context) context.Context
}

func (s side) call(b *testing.B, body, buf []byte) {
	ctx := context.Background()
	if s.with != nil {
		ctx = s.with(ctx)
	}
	call(ctx, b, s.rt, body, buf)
}

// variant is an option, or a helper of the context: calls without and with it.
type variant struct {
	name, to      string // what it is, and what it is added to
	without, with side
}

// variants are those that may cost something in each call. Left out are
// WithProvider, WithAtOnce and WithStallLimit, which set a value, and WithoutDrain,
// which is about streams that are closed before their end.
func variants(b *testing.B, response []byte) []variant {
	b.Helper()
	base, loopback := canned(b, response), overLoopback(b, response)
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(dropping{}))
	old := otel.GetTextMapPropagator()
	otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}))
	b.Cleanup(func() { otel.SetTextMapPropagator(old) })
	objectives, err := budget.Objectives(
		budget.MustParse("ttft p99 <= 500ms"), budget.MustParse("duration p99 <= 10s"), budget.MustParse("errors <= 1%"))
	if err != nil {
		b.Fatal(err)
	}

	// Each is made anew: a provider keeps the series of all that it was given.
	off := func() []tacho.Option { return []tacho.Option{tacho.WithoutTracing(), tacho.WithoutMetrics()} }
	spans := func() []tacho.Option { return append(off(), tacho.WithTracerProvider(tp)) }
	metrics := func() []tacho.Option {
		mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
		return append(off(), tacho.WithMeterProvider(mp), tacho.WithConventions(tacho.ConventionsLatest))
	}
	logger := func() []tacho.Option {
		return append(off(), tacho.WithLogger(slog.New(slog.NewJSONHandler(io.Discard, nil))))
	}
	labels := func(ctx context.Context) context.Context {
		return tacho.ContextWithLabels(ctx, "team", "search", "region", "eu")
	}

	to := func(name string, options func() []tacho.Option, added string, add ...tacho.Option) variant {
		return variant{added, name, side{rt: tacho.NewTransport(base, options()...)}, side{rt: tacho.NewTransport(base, append(options(), add...)...)}}
	}
	inContext := func(name string, options func() []tacho.Option, added string, with func(context.Context) context.Context) variant {
		v := to(name, options, added)
		v.with.with = with
		return v
	}
	labelled := func(v variant) variant {
		v.without.with, v.with.with = labels, labels
		return v
	}

	return []variant{
		{"all off", "bare", side{rt: base}, side{rt: tacho.NewTransport(base, off()...)}},
		to("off", off, "nothing"), // what the difference of equals is: noise
		{
			"WithoutTCPInfo", "off, TCP", side{rt: tacho.NewTransport(loopback, off()...)},
			side{rt: tacho.NewTransport(loopback, append(off(), tacho.WithoutTCPInfo())...)},
		},
		to("off", off, "WithRecorder", tacho.WithRecorder(tacho.NewRecorder())),
		to("off", off, "WithTracerProvider", spans()...),
		to("off", off, "WithMeterProvider", metrics()...),
		to("metrics", metrics, "WithTracerProvider", tacho.WithTracerProvider(tp)),
		to("metrics", metrics, "ConventionsBoth", tacho.WithConventions(tacho.ConventionsBoth)),
		to("metrics", metrics, "WithChunkMetrics", tacho.WithChunkMetrics()),
		to("metrics", metrics, "WithHTTPMetrics", tacho.WithHTTPMetrics()),
		to("metrics", metrics, "WithBudgets", tacho.WithBudgets(objectives...)),
		labelled(to("metrics, labels", metrics, "WithMetricLabels", tacho.WithMetricLabels("team", "region"))),
		to("spans", spans, "WithPropagationTo", tacho.WithPropagationTo("host.invalid")),
		to("off", off, "WithLogger", logger()...),
		to("logger", logger, "WithSlowLimit", tacho.WithSlowLimit(time.Nanosecond)), // logs each call
		to("off", off, "WithStreamUsage", tacho.WithStreamUsage()),
		to("off", off, "WithObserver", tacho.WithObserver(func(*tacho.Call) {})),
		inContext("off", off, "Track", func(ctx context.Context) context.Context {
			ctx, _ = tacho.Track(ctx)
			return ctx
		}),
		inContext("off", off, "ContextWithLabels", labels),
		inContext("spans", spans, "ContextWithConversation", func(ctx context.Context) context.Context {
			return tacho.ContextWithConversation(ctx, "conv_1")
		}),
		inContext("spans", spans, "ContextWithAttributes", func(ctx context.Context) context.Context {
			return tacho.ContextWithAttributes(ctx, attribute.String("team", "search"), attribute.String("region", "eu"))
		}),
	}
}

// overLoopback answers as canned does, on sockets: pipes have no TCP_INFO.
func overLoopback(b *testing.B, response []byte) *http.Transport {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn, response)
		}
	}()
	tr := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, l.Addr().String())
	}}
	b.Cleanup(tr.CloseIdleConnections)
	return tr
}

// BenchmarkOptions reports what each option adds to a call, the median over the
// same transport without it: small batches of both next to each other, in an order
// that is another in each round, for the reasons that over has.
func BenchmarkOptions(b *testing.B) {
	const batch = 5
	for _, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			all := variants(b, kind.response)
			buf := make([]byte, 4096)
			took := func(s side) float64 {
				start := time.Now()
				for range batch {
					s.call(b, kind.request, buf)
				}
				return float64(time.Since(start).Nanoseconds()) / batch
			}
			added := make([][]float64, len(all))
			for b.Loop() {
				for _, i := range rand.Perm(len(all)) {
					v := all[i]
					var without, with float64
					if rand.IntN(2) == 0 {
						without, with = took(v.without), took(v.with)
					} else {
						with, without = took(v.with), took(v.without)
					}
					added[i] = append(added[i], with-without)
				}
			}
			for i, v := range all {
				b.ReportMetric(median(added[i]), unit("ns", v.name+" to "+v.to))
			}
		})
	}
}

// BenchmarkOptionAllocs counts the allocations of a call with each option, and
// those that it has over one without it.
func BenchmarkOptionAllocs(b *testing.B) {
	for _, kind := range kinds {
		all := variants(b, kind.response)
		buf := make([]byte, 4096)
		for _, v := range all {
			b.Run(kind.name+"/"+v.name+" to "+v.to, func(b *testing.B) {
				const runs = 200
				without := testing.AllocsPerRun(runs, func() { v.without.call(b, kind.request, buf) })
				with := testing.AllocsPerRun(runs, func() { v.with.call(b, kind.request, buf) })
				b.ReportAllocs()
				for b.Loop() {
					v.with.call(b, kind.request, buf)
				}
				b.ReportMetric(with-without, "allocs:added")
			})
		}
	}
}
