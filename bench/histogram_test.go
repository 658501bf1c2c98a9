// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/DataDog/sketches-go/ddsketch"
	"github.com/HdrHistogram/hdrhistogram-go"
	vm "github.com/VictoriaMetrics/metrics"
	"github.com/prometheus/client_golang/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/tacho-go/tacho"
)

// recorder counts durations, in nanoseconds.
type recorder struct {
	name   string
	record func(d time.Duration)
	// quantile is nil where the library computes none in the process.
	quantile func(q float64) float64
	merge    func()
}

// locked are libraries that are not safe for concurrent use, behind a mutex.
func hdr() recorder {
	h := hdrhistogram.New(1, int64(time.Hour), 3)
	o := hdrhistogram.New(1, int64(time.Hour), 3)
	var mu sync.Mutex
	return recorder{"hdrhistogram-go, mutex", func(d time.Duration) {
		mu.Lock()
		_ = h.RecordValue(int64(d))
		mu.Unlock()
	}, func(q float64) float64 { return float64(h.ValueAtQuantile(q * 100)) }, func() { o.Merge(h) }}
}

func sketch() recorder {
	s, err := ddsketch.NewDefaultDDSketch(0.001)
	if err != nil {
		panic(err)
	}
	o, _ := ddsketch.NewDefaultDDSketch(0.001)
	var mu sync.Mutex
	return recorder{"DDSketch 0.1 %, mutex", func(d time.Duration) {
		mu.Lock()
		_ = s.Add(float64(d))
		mu.Unlock()
	}, func(q float64) float64 { v, _ := s.GetValueAtQuantile(q); return v }, func() { _ = o.MergeWith(s) }}
}

func native() recorder {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "h", NativeHistogramBucketFactor: 1.02, NativeHistogramMaxBucketNumber: 1000})
	return recorder{"Prometheus native 2 %", func(d time.Duration) { h.Observe(d.Seconds()) }, nil, nil}
}

func classic() recorder {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "h", Buckets: prometheus.DefBuckets})
	return recorder{"Prometheus classic, 11 buckets", func(d time.Duration) { h.Observe(d.Seconds()) }, nil, nil}
}

func victoria() recorder {
	h := vm.NewSet().NewHistogram("h")
	return recorder{"VictoriaMetrics, 13 %", func(d time.Duration) { h.Update(d.Seconds()) }, nil, nil}
}

func otelExponential() recorder {
	reader := sdkmetric.NewManualReader(sdkmetric.WithAggregationSelector(func(sdkmetric.InstrumentKind) sdkmetric.Aggregation {
		return sdkmetric.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20}
	}))
	h, err := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("bench").Float64Histogram("h")
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	return recorder{"OpenTelemetry exponential", func(d time.Duration) { h.Record(ctx, d.Seconds()) }, nil, nil}
}

func otelExplicit() recorder {
	h, err := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())).Meter("bench").Float64Histogram("h")
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	return recorder{"OpenTelemetry explicit", func(d time.Duration) { h.Record(ctx, d.Seconds()) }, nil, nil}
}

func ours() recorder {
	var h, o tacho.Histogram
	return recorder{"tacho", h.Record, func(q float64) float64 { d, _ := h.Quantile(q); return float64(d) }, func() { o.Merge(&h) }}
}

var recorders = []func() recorder{ours, hdr, sketch, native, classic, victoria, otelExponential, otelExplicit}

// lognormal durations about 800 ms.
func lognormal(n int) []time.Duration {
	random := rand.New(rand.NewPCG(1, 2))
	d := make([]time.Duration, n)
	for i := range d {
		d[i] = time.Duration(8e8 * math.Exp(0.5*random.NormFloat64()))
	}
	return d
}

// BenchmarkRecord records on 1, 2, 8 and 64 goroutines at once.
func BenchmarkRecord(b *testing.B) {
	values := lognormal(1 << 14)
	for _, make := range recorders {
		for _, goroutines := range []int{1, 2, 8, 64} {
			r := make()
			b.Run(fmt.Sprintf("%s/%d", r.name, goroutines), func(b *testing.B) {
				b.ReportAllocs()
				var wg sync.WaitGroup
				each := b.N / goroutines
				b.ResetTimer()
				for g := range goroutines {
					wg.Go(func() {
						for i := range each {
							r.record(values[(i+g*997)&(len(values)-1)])
						}
					})
				}
				wg.Wait()
			})
		}
	}
}

// BenchmarkMerge merges a histogram of 100,000 values.
func BenchmarkMerge(b *testing.B) {
	values := lognormal(100_000)
	for _, make := range recorders {
		r := make()
		if r.merge == nil {
			continue
		}
		for _, v := range values {
			r.record(v)
		}
		b.Run(r.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.merge()
			}
		})
	}
}

// BenchmarkMemory is what 10,000 values of a usual figure take, and how far the
// quantiles are off. ns/op is of no use here.
func BenchmarkMemory(b *testing.B) {
	values := lognormal(10_000)
	exact := slices.Sorted(slices.Values(values))
	for _, make := range recorders {
		name := make().name
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				runtime.Gosched()
			}
			const copies = 20
			heap := func() uint64 {
				runtime.GC()
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			var all [copies]recorder
			before := heap()
			for i := range all {
				all[i] = make()
				for _, v := range values {
					all[i].record(v)
				}
			}
			b.ReportMetric(float64(heap()-before)/copies, "B/histogram")
			if q := all[0].quantile; q != nil {
				worst := 0.0
				for _, p := range []float64{0.5, 0.9, 0.99, 0.999} {
					want := float64(exact[int(math.Ceil(p*float64(len(exact)))-1)])
					worst = max(worst, math.Abs(q(p)-want)/want*100)
				}
				b.ReportMetric(worst, "%error")
			}
			runtime.KeepAlive(&all)
		})
	}
}
