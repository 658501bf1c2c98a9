// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// In a bubble a sleep takes exactly its length.
func TestStallMeter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		interval time.Duration
		run      time.Duration
		want     string
	}{
		{"exact", time.Millisecond, 100 * time.Millisecond,
			`{"interval_s":0.001,"run_s":0.1,"count":100,"overshoot_mean_s":0,"overshoot_p50_s":0,"overshoot_p99_s":0,"overshoot_max_s":0,"stalled_above_10ms_share":0}`},
		{"the last sleep is cut short", time.Millisecond, 2500 * time.Microsecond,
			`{"interval_s":0.001,"run_s":0.0025,"count":2,"overshoot_mean_s":0,"overshoot_p50_s":0,"overshoot_p99_s":0,"overshoot_max_s":0,"stalled_above_10ms_share":0}`},
		{"no sleep ends", 10 * time.Millisecond, 9 * time.Millisecond, `{"interval_s":0.01,"run_s":0.009,"count":0}`},
		{"stopped at once", time.Second, 0, `{"interval_s":1,"run_s":0,"count":0}`},
		{"default interval", 0, time.Millisecond / 2, `{"interval_s":0.001,"run_s":0.0005,"count":0}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// The bubble also fails the test when the goroutine outlives it.
			synctest.Test(t, func(t *testing.T) {
				m := StartStall(c.interval)
				time.Sleep(c.run)
				checkJSON(t, m.Stop(), c.want)
				time.Sleep(time.Second)
				checkJSON(t, m.Stop(), c.want)
			})
		})
	}
}

func TestStallMeterStopConcurrently(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := StartStall(time.Millisecond)
		time.Sleep(10 * time.Millisecond)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if r := m.Stop(); r.Count != 10 || r.Run != 10*time.Millisecond {
					t.Errorf("%v", r)
				}
			})
		}
		wg.Wait()
	})
}

func TestStallReportAbsent(t *testing.T) {
	t.Parallel()
	var r StallReport
	for name, f := range map[string]func() (time.Duration, bool){"Mean": r.Mean, "P50": r.P50, "P99": r.P99, "Max": r.Max} {
		if d, ok := f(); ok || d != 0 {
			t.Errorf("%s is %v, %v", name, d, ok)
		}
	}
	if share, ok := r.LongShare(); ok {
		t.Errorf("LongShare is %v", share)
	}
	if got, want := r.String(), "0 sleeps of 0s over 0s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOvershootsReport(t *testing.T) {
	t.Parallel()
	var o overshoots
	for range 98 {
		o.add(100 * time.Nanosecond)
	}
	o.add(10 * time.Millisecond) // not above
	o.add(25 * time.Millisecond)
	r := o.report(time.Millisecond, time.Second)
	// 10 ms falls into the bucket from 9961472 to 10092543 ns.
	checkJSON(t, r, `{"interval_s":0.001,"run_s":1,"count":100,"overshoot_mean_s":0.000350098,"overshoot_p50_s":1e-7,`+
		`"overshoot_p99_s":0.010092543,"overshoot_max_s":0.025,"stalled_above_10ms_share":0.025}`)
	if got, want := r.String(), "100 sleeps of 1ms over 1s, overshoot mean 350µs, p50 100ns, p99 10.093ms, max 25ms, 2.50 % of the run stalled above 10ms"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBuckets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d     time.Duration
		index int
		upper time.Duration
	}{
		{0, 0, 0},
		{1, 1, 1},
		{63, 63, 63},
		{64, 64, 64},
		{127, 127, 127},
		{128, 128, 129},
		{129, 128, 129},
		{130, 129, 131},
		{255, 191, 255},
		{256, 192, 259},
		{1e6, 64*13 + 122, 123<<13 - 1},
		{1<<40 - 1, buckets - 1, 1<<40 - 1},
		{1 << 40, buckets - 1, 1<<40 - 1},
		{1<<63 - 1, buckets - 1, 1<<40 - 1},
	} {
		if got := bucket(c.d); got != c.index {
			t.Errorf("bucket(%d) is %d, want %d", c.d, got, c.index)
			continue
		}
		if got := upper(c.index); got != c.upper {
			t.Errorf("upper(%d) is %d, want %d", c.index, got, c.upper)
		}
	}
}

// The buckets cover every value once, in order, and none is wider than 1/64 of
// its least value.
func TestBucketsTile(t *testing.T) {
	t.Parallel()
	next := time.Duration(0)
	for i := range buckets {
		least, most := next, upper(i)
		if bucket(least) != i || bucket(most) != i || most < least {
			t.Fatalf("bucket %d spans %d to %d, but those fall into %d and %d", i, least, most, bucket(least), bucket(most))
		}
		if (most-least)*64 > least {
			t.Fatalf("bucket %d spans %d to %d", i, least, most)
		}
		next = most + 1
	}
	if next != 1<<topBits {
		t.Errorf("the buckets end at %d", next)
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		values   []time.Duration
		p50, p99 time.Duration
	}{
		{"one", []time.Duration{1000}, 1000, 1000},
		{"two", []time.Duration{10, 20}, 10, 20},
		{"three", []time.Duration{30, 10, 20}, 20, 30},
		{"below 0", []time.Duration{-5}, 0, 0},
		{"above the top", []time.Duration{5, 1 << 41, 1 << 42}, 1 << 42, 1 << 42},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var o overshoots
			for _, v := range c.values {
				o.add(v)
			}
			if p50, p99 := o.quantile(50), o.quantile(99); p50 != c.p50 || p99 != c.p99 {
				t.Errorf("got %d and %d, want %d and %d", p50, p99, c.p50, c.p99)
			}
		})
	}
}
