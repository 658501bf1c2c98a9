// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
)

func TestHistogramEmpty(t *testing.T) {
	t.Parallel()
	var h tacho.Histogram
	for name, f := range map[string]func() (time.Duration, bool){
		"mean": h.Mean, "deviation": h.StdDev, "min": h.Min, "max": h.Max,
		"median": func() (time.Duration, bool) { return h.Quantile(0.5) },
	} {
		if d, ok := f(); ok || d < 0 {
			t.Errorf("%s of nothing is %v, %v", name, d, ok)
		}
	}
	h.Record(7)
	if _, ok := h.StdDev(); ok {
		t.Error("one value has a deviation")
	}
	for _, q := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		if d, ok := h.Quantile(q); ok {
			t.Errorf("the quantile %v is %v", q, d)
		}
	}
}

func TestHistogramFewValues(t *testing.T) {
	t.Parallel()
	var h tacho.Histogram
	for _, d := range []time.Duration{100, 50, 75, 25, 0, -3} {
		h.Record(d)
	}
	want := func(name string, got time.Duration, ok bool, want time.Duration) {
		t.Helper()
		if !ok || got != want {
			t.Errorf("%s is %v (%v), want %v", name, got, ok, want)
		}
	}
	// Values below 128 ns are kept exactly; a negative one is a 0.
	for q, w := range map[float64]time.Duration{0: 0, 0.33: 0, 0.34: 25, 0.5: 25, 0.51: 50, 0.8: 75, 0.84: 100, 1: 100} {
		d, ok := h.Quantile(q)
		want("quantile", d, ok, w)
	}
	d, ok := h.Mean()
	want("mean", d, ok, 42) // 250 ÷ 6
	d, ok = h.Min()
	want("min", d, ok, 0)
	d, ok = h.Max()
	want("max", d, ok, 100)
	d, ok = h.StdDev()
	want("deviation", d, ok, 41) // √(8333.3 ÷ 5)
	if n := h.Count(); n != 6 {
		t.Errorf("count %d", n)
	}
}

// TestHistogramError compares quantiles with those of the sorted values: never
// below, and at most 1/128 above.
func TestHistogramError(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 9))
	for range 20 {
		var h tacho.Histogram
		values := make([]time.Duration, 1+random.IntN(3000))
		for i := range values {
			values[i] = time.Duration(math.Exp(random.Float64() * 28))
			h.Record(values[i])
		}
		slices.Sort(values)
		for _, q := range []float64{0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1} {
			exact := values[max(0, int(math.Ceil(q*float64(len(values))))-1)]
			got, ok := h.Quantile(q)
			if !ok || got < exact || got > exact+exact/128 {
				t.Fatalf("quantile %v of %d values is %v, exact %v", q, len(values), got, exact)
			}
		}
		if d, _ := h.Min(); d != values[0] {
			t.Fatalf("min %v, want %v", d, values[0])
		}
		if d, _ := h.Max(); d != values[len(values)-1] {
			t.Fatalf("max %v, want %v", d, values[len(values)-1])
		}
	}
	var h tacho.Histogram
	h.Record(1000 * time.Hour)
	if d, _ := h.Max(); d != 1<<42-1 {
		t.Errorf("a value out of range counts as %v", d)
	}
}

func TestHistogramConcurrent(t *testing.T) {
	t.Parallel()
	var h tacho.Histogram
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 5000 {
				h.Record(time.Duration(1+i+w) * time.Microsecond)
			}
		})
	}
	wg.Wait()
	if n := h.Count(); n != 40000 {
		t.Errorf("count %d, want 40000", n)
	}
	lo, _ := h.Min()
	hi, _ := h.Max()
	mean, _ := h.Mean()
	if lo != time.Microsecond || hi != 5007*time.Microsecond || mean != 2504*time.Microsecond {
		t.Errorf("min %v, max %v, mean %v", lo, hi, mean)
	}
}

func BenchmarkHistogramRecord(b *testing.B) {
	var h tacho.Histogram
	b.ReportAllocs()
	for i := time.Duration(0); b.Loop(); i++ {
		h.Record(i & 0xfffff)
	}
}
