// SPDX-License-Identifier: Apache-2.0

package compat_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/tacho-go/tacho"
)

// bars are the buckets that are not empty, by their highest value.
func bars(h *tacho.Histogram) string {
	var b strings.Builder
	for bar := range h.Buckets() {
		fmt.Fprintf(&b, "%d: %d\n", int64(bar.High), bar.Count)
	}
	return b.String()
}

func hdrBars(h *hdrhistogram.Histogram) string {
	var b strings.Builder
	for _, bar := range h.Distribution() {
		if bar.Count > 0 {
			fmt.Fprintf(&b, "%d: %d\n", bar.To, bar.Count)
		}
	}
	return b.String()
}

// TestHDR writes histograms for hdrhistogram-go and reads those that it writes:
// the same buckets, counts and quantiles, with 1 to 4 digits, and in units of
// a nanosecond and of a microsecond.
func TestHDR(t *testing.T) {
	t.Parallel()
	for digits := 1; digits <= 4; digits++ {
		for _, lowest := range []int64{1, 1000} {
			random := rand.New(rand.NewPCG(uint64(digits), 1))
			ours, err := tacho.NewHistogram(digits)
			if err != nil {
				t.Fatal(err)
			}
			theirs := hdrhistogram.New(lowest, int64(time.Hour), digits)
			for range 20_000 {
				d := time.Duration(math.Exp(random.Float64()*15 + 13.8)) // from 1 ms on
				ours.Record(d)
				if err := theirs.RecordValue(int64(d)); err != nil {
					t.Fatal(err)
				}
			}
			text, err := ours.MarshalText()
			if err != nil {
				t.Fatal(err)
			}
			read, err := hdrhistogram.Decode(text)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "what they read of ours", hdrBars(read), bars(ours))
			text, err = theirs.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
			if err != nil {
				t.Fatal(err)
			}
			var back tacho.Histogram
			if err := back.UnmarshalText(text); err != nil {
				t.Fatal(err)
			}
			equal(t, "digits", back.Digits(), digits)
			if lowest == 1 { // buckets of 512 ns are not ours below 2048 of them
				equal(t, "what we read of theirs", bars(&back), hdrBars(theirs))
				equal(t, "buckets", bars(ours), hdrBars(theirs))
			}
			for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 0.999, 0.9999} {
				want := theirs.ValueAtQuantile(q * 100)
				for name, h := range map[string]*tacho.Histogram{"ours": ours, "theirs, read": &back} {
					top, _ := h.Max()
					want := min(want, int64(top)) // ours is never above the greatest value
					d, _ := h.Quantile(q)
					if got := int64(d); got != want && !(lowest > 1 && got <= want && want-got < 512) {
						t.Errorf("%d digits, lowest %d: %s: the quantile %v is %d, theirs %d", digits, lowest, name, q, got, want)
					}
				}
			}
		}
	}
}

// TestHDRLog has logs that either wrote read by the other.
func TestHDRLog(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var ours tacho.Histogram
	theirs := hdrhistogram.New(1, int64(time.Hour), 3)
	for i := range 100 {
		ours.Record(time.Duration(i) * time.Millisecond)
		if err := theirs.RecordValue(int64(i) * 1e6); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := tacho.NewHistogramLog(&out, start).Write(tacho.Interval{Tag: "ttft", Start: start.Add(10 * time.Second), Length: 5 * time.Second, Histogram: &ours}); err != nil {
		t.Fatal(err)
	}
	read, err := hdrhistogram.NewHistogramLogReader(&out).NextIntervalHistogram()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "tag", read.Tag(), "ttft")
	equal(t, "start", read.StartTimeMs(), start.Add(10*time.Second).UnixMilli())
	equal(t, "end", read.EndTimeMs(), start.Add(15*time.Second).UnixMilli())
	equal(t, "what they read of ours", hdrBars(read), bars(&ours))

	out.Reset()
	w := hdrhistogram.NewHistogramLogWriter(&out)
	w.SetBaseTime(start.UnixMilli())
	if err := w.OutputLogFormatVersion(); err != nil {
		t.Fatal(err)
	}
	if err := w.OutputStartTime(start.UnixMilli()); err != nil {
		t.Fatal(err)
	}
	if err := w.OutputBaseTime(start.UnixMilli()); err != nil {
		t.Fatal(err)
	}
	if err := w.OutputLegend(); err != nil {
		t.Fatal(err)
	}
	theirs.SetTag("gap")
	theirs.SetStartTimeMs(start.Add(time.Minute).UnixMilli())
	theirs.SetEndTimeMs(start.Add(2 * time.Minute).UnixMilli())
	if err := w.OutputIntervalHistogram(theirs); err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, err := range tacho.ReadHistogramLog(&out) {
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "tag", i.Tag, "gap")
		equal(t, "start", i.Start.UTC(), start.Add(time.Minute))
		equal(t, "length", i.Length, time.Minute)
		equal(t, "what we read of theirs", bars(i.Histogram), hdrBars(theirs))
		n++
	}
	equal(t, "intervals", n, 1)
}
