// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	for b := range h.Buckets() {
		t.Errorf("nothing has a bucket %v", b)
	}
	if _, _, low, high := h.QuantileInterval(0.5, 0.95); low || high {
		t.Error("nothing has an interval")
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
	for _, digits := range []int{-1, 0, 5} {
		if _, err := tacho.NewHistogram(digits); err == nil {
			t.Errorf("%d digits are no error", digits)
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
	// Values below 2048 ns are kept exactly; a negative one is a 0.
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
	if n := h.CountAbove(50); n != 2 {
		t.Errorf("%d above 50, want 2", n)
	}
	if n := h.CountAbove(-1); n != 6 {
		t.Errorf("%d above -1, want all 6", n)
	}
	h.Record(1000 * time.Hour)
	d, ok = h.Max()
	want("max", d, ok, time.Hour)
	if low, high := h.OutOfRange(); low != 1 || high != 1 {
		t.Errorf("%d below, %d above; want 1 and 1", low, high)
	}
	h.Reset()
	if n := h.Count(); n != 0 {
		t.Errorf("%d values after Reset", n)
	}
	if _, ok := h.Max(); ok {
		t.Error("a max after Reset")
	}
}

// TestNearestRank: a product that a float makes a hair too large moves no rank.
func TestNearestRank(t *testing.T) {
	t.Parallel()
	var h tacho.Histogram
	for i := range 1000 {
		h.Record(time.Duration(i + 1))
	}
	for q, want := range map[float64]time.Duration{0.001: 1, 0.29: 290, 0.57: 570, 0.58: 580, 0.9: 900, 0.99: 990, 0.999: 999, 0.9991: 1000} {
		if d, _ := h.Quantile(q); d != want {
			t.Errorf("the quantile %v of 1 … 1000 is %d, want %d", q, d, want)
		}
	}
}

// sources are distributions of durations.
var sources = map[string]func(*rand.Rand, int) time.Duration{
	"lognormal":  func(r *rand.Rand, _ int) time.Duration { return time.Duration(8e8 * math.Exp(0.5*r.NormFloat64())) },
	"heavy tail": func(r *rand.Rand, _ int) time.Duration { return time.Duration(1e7 * math.Pow(1-r.Float64(), -1/1.1)) },
	"constant":   func(*rand.Rand, int) time.Duration { return 123456789 },
	"bimodal": func(r *rand.Rand, _ int) time.Duration {
		return time.Duration(1e6 + 5e9*float64(r.IntN(2)) + 1e5*r.Float64())
	},
	"adversarial": func(_ *rand.Rand, i int) time.Duration { return 1<<(11+i%31) + time.Duration(i%3) - 1 },
	"everything":  func(r *rand.Rand, _ int) time.Duration { return time.Duration(math.Exp(r.Float64() * 28.9)) },
}

// TestHistogramError compares quantiles with those of the sorted values: never
// below, and at most 0.1 % above, or the digits' share.
func TestHistogramError(t *testing.T) {
	t.Parallel()
	const n, few = 1_000_000, 50_000 // of other digits than 3
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(3, 9))
			values := make([]time.Duration, n)
			var h tacho.Histogram
			var sum, squares float64
			other := map[int64]*tacho.Histogram{}
			for limit, digits := range map[int64]int{16: 1, 128: 2, 16384: 4} {
				other[limit], _ = tacho.NewHistogram(digits)
			}
			for i := range values {
				d := min(source(random, i), time.Hour)
				values[i] = d
				h.Record(d)
				if i < few {
					for _, o := range other {
						o.Record(d)
					}
				}
				sum += float64(d)
			}
			first := slices.Sorted(slices.Values(values[:few]))
			slices.Sort(values)
			other[1024] = &h
			for limit, h := range other {
				values, n := values, float64(n)
				if limit != 1024 {
					values, n = first, few
				}
				for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 0.999, 0.9999, 1} {
					exact := values[max(0, int(math.Ceil(q*n-1e-6))-1)]
					got, ok := h.Quantile(q)
					if !ok || got < exact || got > exact+exact/time.Duration(limit) {
						t.Fatalf("%d digits: the quantile %v is %d, exact %d", h.Digits(), q, got, exact)
					}
				}
			}
			for _, d := range values {
				squares += (float64(d) - sum/n) * (float64(d) - sum/n)
			}
			deviation := math.Sqrt(squares / (n - 1))
			if d, _ := h.StdDev(); math.Abs(float64(d)-deviation) > deviation/1000+float64(values[n-1])/2048 {
				t.Errorf("the deviation is %v, exact %v", d, time.Duration(deviation))
			}
			if d, _ := h.Mean(); math.Abs(float64(d)-sum/n) > 1 {
				t.Errorf("the mean is %v, exact %v", d, time.Duration(sum/n))
			}
			if d, _ := h.Min(); d != values[0] {
				t.Errorf("min %v, want %v", d, values[0])
			}
			if d, _ := h.Max(); d != values[n-1] {
				t.Errorf("max %v, want %v", d, values[n-1])
			}
			limit := values[n/2]
			exact := int64(n - 1 - sort(values, limit))
			if got := h.CountAbove(limit); got > exact || got < int64(n-1-sort(values, limit+limit/512)) {
				t.Errorf("%d values above the median, exact %d", got, exact)
			}
		})
	}
}

// sort returns the place of the last value that is not above d.
func sort(values []time.Duration, d time.Duration) int {
	i, _ := slices.BinarySearch(values, d+1)
	return i - 1
}

// state is all that a histogram says.
func state(h *tacho.Histogram) map[string]any {
	m := map[string]any{"buckets": slices.Collect(h.Buckets()), "count": h.Count()}
	for name, f := range map[string]func() (time.Duration, bool){"mean": h.Mean, "deviation": h.StdDev, "min": h.Min, "max": h.Max} {
		if d, ok := f(); ok {
			m[name] = d
		}
	}
	low, high := h.OutOfRange()
	m["out of range"] = [2]int64{low, high}
	return m
}

// TestHistogramMerge: the parts, merged in any order, are the whole.
func TestHistogramMerge(t *testing.T) {
	t.Parallel()
	for name, source := range sources {
		random := rand.New(rand.NewPCG(1, 2))
		var whole tacho.Histogram
		parts := make([]tacho.Histogram, 7)
		for i := range 20_000 {
			d := source(random, i)
			if i%1000 == 0 {
				d = -d * 1000
			}
			whole.Record(d)
			parts[random.IntN(len(parts))].Record(d)
		}
		for range 5 {
			var merged tacho.Histogram
			for _, i := range random.Perm(len(parts)) {
				merged.Merge(&parts[i])
			}
			merged.Merge(nil)
			for _, h := range []*tacho.Histogram{&merged, merged.Clone()} {
				if diff := cmp.Diff(state(&whole), state(h)); diff != "" {
					t.Fatalf("%s: (-whole +merged)\n%s", name, diff)
				}
			}
		}
		// A finer one merges into a coarser one as if it had recorded all.
		fine, _ := tacho.NewHistogram(4)
		want, _ := tacho.NewHistogram(2)
		got, _ := tacho.NewHistogram(2)
		fine.Merge(&whole)
		for b := range whole.Buckets() {
			want.RecordN(b.High, b.Count)
		}
		got.Merge(&whole)
		if diff := cmp.Diff(slices.Collect(want.Buckets()), slices.Collect(got.Buckets())); diff != "" {
			t.Errorf("%s: of other digits: (-want +got)\n%s", name, diff)
		}
		if fine.Count() != whole.Count() {
			t.Errorf("%s: %d of %d values merged", name, fine.Count(), whole.Count())
		}
	}
}

// TestHistogramNeighbours fills neighbouring buckets, which share a word, far
// beyond what it holds, on several goroutines and in lots of several sizes.
func TestHistogramNeighbours(t *testing.T) {
	t.Parallel()
	var h tacho.Histogram
	var wg sync.WaitGroup
	const rounds = 40_000
	for g := range 8 {
		wg.Go(func() {
			for i := range rounds {
				switch g {
				case 0, 1, 2:
					h.Record(1000)
				case 3, 4, 5:
					h.Record(1001)
				case 6:
					h.RecordN(1000, int64(i%40_000))
				default:
					h.RecordN(1001, 20_000)
				}
			}
		})
	}
	wg.Wait()
	want := []tacho.Bucket[time.Duration]{{Low: 1000, High: 1000, Count: 3*rounds + rounds*(rounds-1)/2}, {Low: 1001, High: 1001, Count: 3*rounds + rounds*20_000}}
	if diff := cmp.Diff(want, slices.Collect(h.Buckets())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestHistogramInUse uses a histogram while it is being read or merged into itself.
func TestHistogramInUse(t *testing.T) {
	t.Parallel()
	var h tacho.Histogram
	h.RecordN(5, 1<<31)
	h.Record(7)
	h.RecordN(1<<40, 1<<62)
	if n := h.CountAbove(1 << 39); n != 1<<48 {
		t.Errorf("recorded 2^62 times, a value is there %d times, want 2^48", n)
	}
	h.Reset()
	h.RecordN(5, 1<<31)
	h.Record(7)
	for range h.Buckets() {
		h.Record(9)
		h.Count()
	}
	h.Merge(&h)
	if n := h.Count(); n != 2*(1<<31+3) {
		t.Errorf("count %d, want twice 2^31 + 3", n)
	}
	h.Reset()
	h.RecordCorrected(time.Hour, 1)
	if n := h.Count(); n != int64(time.Hour) {
		t.Errorf("corrected by 1 ns, an hour is %d values, want %d", n, int64(time.Hour))
	}
}

// TestHistogramPages: a usual figure takes at most 24 KiB.
func TestHistogramPages(t *testing.T) {
	t.Parallel()
	for sigma, values := range map[float64]int{0.3: 1_000_000, 0.5: 100_000, 0.7: 10_000} {
		random := rand.New(rand.NewPCG(1, 2))
		var h tacho.Histogram
		for range values {
			h.Record(time.Duration(8e8 * math.Exp(sigma*random.NormFloat64())))
		}
		if n := tacho.HistogramBytes(&h); n > 24<<10 {
			t.Errorf("%d lognormal values with σ = %v take %d bytes, want 24 KiB at most", values, sigma, n)
		}
	}
}

// TestHistogramMany records one value more often than 32 bits can count.
func TestHistogramMany(t *testing.T) {
	t.Parallel()
	var h tacho.Histogram
	want := int64(0)
	for _, n := range []int64{1, 1<<31 - 1, 1 << 31, 1<<32 + 5, 1<<31 - 2, 1, 1, 0, -3} {
		h.RecordN(5*time.Millisecond, n)
		want += max(n, 0)
	}
	h.Record(time.Second)
	if n := h.Count(); n != want+1 {
		t.Errorf("count %d, want %d", n, want+1)
	}
	if n := h.CountAbove(6 * time.Millisecond); n != 1 {
		t.Errorf("%d above, want 1", n)
	}
	c := h.Clone()
	c.Merge(&h)
	if n := c.Count(); n != 2*(want+1) {
		t.Errorf("merged count %d, want %d", n, 2*(want+1))
	}
	// The sum goes over, the mean does not.
	h.RecordN(time.Hour, 1<<40)
	if d, _ := h.Mean(); d < 50*time.Minute || d > time.Hour {
		t.Errorf("the mean of hours is %v", d)
	}
}

// TestRecordCorrected fills in what a value of 1 s kept from being measured
// every 100 ms.
func TestRecordCorrected(t *testing.T) {
	t.Parallel()
	counts := func(v, interval time.Duration) (n []time.Duration) {
		h, _ := tacho.NewHistogram(1)
		h.RecordCorrected(v, interval)
		for b := range h.Buckets() {
			n = append(n, slices.Repeat([]time.Duration{b.Low}, int(b.Count))...)
		}
		return n
	}
	for _, tc := range []struct {
		v, interval time.Duration
		want        []time.Duration
	}{
		{10, 3, []time.Duration{4, 7, 10}}, {10, 0, []time.Duration{10}}, {10, -1, []time.Duration{10}}, {10, 11, []time.Duration{10}}, {10, 5, []time.Duration{5, 10}}, {-1, 1, []time.Duration{0}},
	} {
		if got := counts(tc.v, tc.interval); !slices.Equal(got, tc.want) {
			t.Errorf("%v by %v is %v, want %v", tc.v, tc.interval, got, tc.want)
		}
	}
}

// TestQuantileInterval has the order statistics of the sign test's tables.
func TestQuantileInterval(t *testing.T) {
	t.Parallel()
	var h tacho.Histogram
	for i := range 20 {
		h.Record(time.Duration(i + 1))
	}
	low, high, lowOK, highOK := h.QuantileInterval(0.5, 0.95)
	if low != 6 || high != 15 || !lowOK || !highOK {
		t.Errorf("the median lies from %v (%v) to %v (%v), want 6 to 15", low, lowOK, high, highOK)
	}
	if _, _, _, ok := h.QuantileInterval(0.99, 0.95); ok {
		t.Error("20 values bound the 0.99-quantile from above")
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
	for range 50 {
		c := h.Clone()
		if d, ok := c.Quantile(0.5); ok && (d < time.Microsecond || d > 5008*time.Microsecond) {
			t.Errorf("median %v", d)
		}
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

// TestHistogramReset resets while others record and read.
func TestHistogramReset(t *testing.T) {
	t.Parallel()
	var h tacho.Histogram
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 3000 {
				h.Record(time.Duration(i * i * 1000))
				h.RecordN(time.Duration(i), 40_000)
				if i%500 == 0 {
					h.Clone()
				}
			}
		})
	}
	for range 300 {
		h.Reset()
	}
	wg.Wait()
	h.Reset()
	if n := h.Count(); n != 0 {
		t.Errorf("%d values after the last Reset", n)
	}
}

// TestCounts is the form for counts.
func TestCounts(t *testing.T) {
	t.Parallel()
	h, err := tacho.NewCounts(3)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(1000) {
		h.Record(i)
	}
	if v, ok := h.Quantile(0.9); !ok || v != 899 {
		t.Errorf("the quantile is %d, %v; want 899", v, ok)
	}
	if v, ok := h.Mean(); !ok || v != 500 { // 499.5
		t.Errorf("the mean is %d, %v; want 500", v, ok)
	}
	if n, mean, deviation := h.Moments(); n != 1000 || mean != 499.5 || math.Abs(deviation-288.8194) > 1e-3 {
		t.Errorf("moments %d, %v, %v", n, mean, deviation)
	}
}

func BenchmarkHistogramRecord(b *testing.B) {
	var h tacho.Histogram
	b.ReportAllocs()
	for i := time.Duration(0); b.Loop(); i++ {
		h.Record(i & 0xfffff)
	}
}
