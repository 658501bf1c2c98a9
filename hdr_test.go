// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tacho-go/tacho"
)

// TestHDR reads what it wrote: the same buckets.
func TestHDR(t *testing.T) {
	t.Parallel()
	for name, source := range sources {
		for digits := 1; digits <= 4; digits++ {
			random := rand.New(rand.NewPCG(5, uint64(digits)))
			h, _ := tacho.NewHistogram(digits)
			for i := range 3000 {
				h.Record(source(random, i))
			}
			h.RecordN(time.Second, 1<<40) // more than 32 bits
			b, err := h.AppendHDR([]byte("before"))
			if err != nil || string(b[:6]) != "before" {
				t.Fatalf("%.10q, %v", b, err)
			}
			got, err := tacho.DecodeHDR(b[6:])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(slices.Collect(h.Buckets()), slices.Collect(got.Buckets())); diff != "" || got.Digits() != digits {
				t.Fatalf("%s, %d digits, read as %d: (-written +read)\n%s", name, digits, got.Digits(), diff)
			}
			// As a member of a JSON document.
			js, err := json.Marshal(map[string]*tacho.Histogram{"h": h})
			if err != nil {
				t.Fatal(err)
			}
			var back map[string]*tacho.Histogram
			if err := json.Unmarshal(js, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(slices.Collect(h.Buckets()), slices.Collect(back["h"].Buckets())); diff != "" {
				t.Fatalf("(-written +read)\n%s", diff)
			}
		}
	}
	empty, err := new(tacho.Histogram).AppendHDR(nil)
	if err != nil {
		t.Fatal(err)
	}
	if h, err := tacho.DecodeHDR(empty); err != nil || h.Count() != 0 {
		t.Errorf("the empty histogram is read as %v, %v", h, err)
	}
}

// plainHDR is an encoding that is not deflated, with a header as given.
func plainHDR(cookie, shift, digits uint32, lowest uint64, ratio float64, counts ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, cookie)
	b = binary.BigEndian.AppendUint32(b, uint32(len(counts)))
	b = binary.BigEndian.AppendUint32(b, shift)
	b = binary.BigEndian.AppendUint32(b, digits)
	b = binary.BigEndian.AppendUint64(b, lowest)
	b = binary.BigEndian.AppendUint64(b, 3600e9)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(ratio))
	return append(b, counts...)
}

// TestDecodeHDR has encodings of others, and what is none.
func TestDecodeHDR(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		b    []byte
		want []tacho.Bucket[time.Duration]
	}{
		"one value, 1": {plainHDR(0x1c849313, 0, 3, 1, 1, 0, 2), []tacho.Bucket[time.Duration]{{Low: 1, High: 1, Count: 1}}},
		// The lowest value is 1000, so that the unit is 512: a value counts as the
		// highest of its bucket.
		"in units of 512": {plainHDR(0x1c849313, 0, 3, 1000, 1, 0, 2), []tacho.Bucket[time.Duration]{{Low: 1023, High: 1023, Count: 1}}},
		"a run of 3":      {plainHDR(0x1c849313, 0, 3, 1, 0, 5, 4), []tacho.Bucket[time.Duration]{{Low: 3, High: 3, Count: 2}}},
		"no digits":       {plainHDR(0x1c849313, 0, 0, 1, 1, 0, 2), []tacho.Bucket[time.Duration]{{Low: 1, High: 1, Count: 1}}},
	} {
		h, err := tacho.DecodeHDR(tc.b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(tc.want, slices.Collect(h.Buckets())); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
	for name, b := range map[string][]byte{
		"nothing": nil, "short": []byte("HIST"), "another cookie": plainHDR(0x1c849301, 0, 3, 1, 1), "a short header": plainHDR(0x1c849313, 0, 3, 1, 1)[:20],
		"shifted": plainHDR(0x1c849313, 7, 3, 1, 1), "doubles": plainHDR(0x1c849313, 0, 3, 1, 0.5), "lowest 0": plainHDR(0x1c849313, 0, 3, 0, 1),
		"6 digits": plainHDR(0x1c849313, 0, 6, 1, 1), "half a number": plainHDR(0x1c849313, 0, 3, 1, 1, 0x80), "a run without end": plainHDR(0x1c849313, 0, 3, 1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
		"a bucket far beyond": plainHDR(0x1c849313, 0, 3, 1, 1, 0xff, 0xdf, 0x06, 2), "a unit beyond": plainHDR(0x1c849313, 0, 5, 1<<41, 1, 0xff, 0xff, 0x3f, 2),
		"a bucket beyond": plainHDR(0x1c849313, 0, 3, 1, 1, 0xff, 0xff, 0xff, 0x7f, 2), "no deflate": []byte("\x1c\x84\x93\x14\x00\x00\x00\x03abc"), "deflated, cut": []byte("\x1c\x84\x93\x14\x00\x00\x00\x09abc"),
	} {
		if h, err := tacho.DecodeHDR(b); err == nil {
			t.Errorf("%s is read as %v", name, slices.Collect(h.Buckets()))
		}
	}
	var h tacho.Histogram
	if err := h.UnmarshalText([]byte("%")); err == nil {
		t.Error("% is base64")
	}
}

// TestHistogramLog reads what it wrote.
func TestHistogramLog(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC)
	var a, b tacho.Histogram
	a.Record(80 * time.Millisecond)
	b.Record(time.Second)
	want := []tacho.Interval{
		{Tag: "ttft", Start: start, Length: 10 * time.Second, Histogram: &a},
		{Start: start.Add(10*time.Second + 5*time.Microsecond), Length: time.Second, Histogram: &b},
	}
	var out bytes.Buffer
	log := tacho.NewHistogramLog(&out, start)
	for _, i := range want {
		if err := log.Write(i); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(out.String(), "\n")
	for i, w := range []string{
		"#[Histogram log format version 1.3]", "#[StartTime: 1767323045.679 (seconds since epoch), 2026-01-02T03:04:05Z]", "#[BaseTime: 1767323045.679 (seconds since epoch)]",
		`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`, "Tag=ttft,0.000000,10.000000,80.000,HISTFAAAA", "9.999905,1.000000,1000.000,HISTFAAAA",
	} {
		if !strings.HasPrefix(lines[i], w) {
			t.Errorf("line %d is %.99q, want %q", i+1, lines[i], w)
		}
	}
	k := 0
	for got, err := range tacho.ReadHistogramLog(&out) {
		if err != nil {
			t.Fatal(err)
		}
		w := want[k]
		if got.Tag != w.Tag || got.Length != w.Length || got.Start.Sub(w.Start).Abs() > 200*time.Microsecond {
			t.Errorf("interval %d: %q at %v for %v, want %q at %v for %v", k, got.Tag, got.Start, got.Length, w.Tag, w.Start, w.Length)
		}
		if diff := cmp.Diff(slices.Collect(w.Histogram.Buckets()), slices.Collect(got.Histogram.Buckets())); diff != "" {
			t.Errorf("interval %d: (-written +read)\n%s", k, diff)
		}
		k++
	}
	if k != 2 {
		t.Errorf("%d intervals, want 2", k)
	}
	for _, tag := range []string{"a,b", "a b", "a\nb"} {
		if err := log.Write(tacho.Interval{Tag: tag, Histogram: &a}); err == nil {
			t.Errorf("the tag %q is written", tag)
		}
	}
	if err := log.Write(tacho.Interval{Start: start.Add(-time.Second), Histogram: &a}); err == nil {
		t.Error("an interval before the log's begin is written")
	}
	if err := log.Write(tacho.Interval{}); err == nil {
		t.Error("no histogram is written")
	}
}

// TestReadHistogramLog tells where a log is broken, and where its times begin.
func TestReadHistogramLog(t *testing.T) {
	t.Parallel()
	text, err := new(tacho.Histogram).MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string]string{
		"1,2,3": "line 1 of the histogram log: 3 fields in place of 4", "#x\n\nx,2,3,4": "line 3 of the histogram log: field 1 is no time in seconds: \"x\"",
		"1,NaN,3,4": "field 2", "1,2,3,HIST": "no histogram",
	} {
		n := 0
		for _, err := range tacho.ReadHistogramLog(strings.NewReader(src)) {
			if n++; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", src, err, want)
			}
		}
		if n != 1 {
			t.Errorf("%q: %d errors", src, n)
		}
	}
	for src, want := range map[string]float64{
		"#[StartTime: 1767323045.5 (seconds since epoch), x]\n2,1,1,": 1767323047.5, // from the start, for want of a base
		"#[StartTime: 1767323045.5]\n1767323050,1,1,":                 1767323050,
		"#[BaseTime: 1000 (seconds since epoch)]\n2,1,1,":             1002,
		"Tag=x,2,1,1,": 2,
	} {
		for i, err := range tacho.ReadHistogramLog(strings.NewReader(src + string(text))) {
			if got := float64(i.Start.UnixMicro()) / 1e6; err != nil || got != want {
				t.Errorf("%q begins at %v, want %v (%v)", src, got, want, err)
			}
		}
	}
}

// FuzzDecodeHDR: what is read is written and read again the same, and nothing
// makes the reader panic or use memory without bound.
func FuzzDecodeHDR(f *testing.F) {
	var h tacho.Histogram
	for i := range 100 {
		h.Record(time.Duration(i) * time.Millisecond)
	}
	b, err := h.AppendHDR(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(plainHDR(0x1c849313, 0, 3, 1000, 1, 0, 2, 5, 4))
	f.Add(plainHDR(0x1c849313, 0, 5, 1, 1, 0x80, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := tacho.DecodeHDR(b)
		if err != nil {
			return
		}
		for q := range 11 {
			h.Quantile(float64(q) / 10)
		}
		text, err := h.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		again, err := base64.StdEncoding.DecodeString(string(text))
		if err != nil {
			t.Fatal(err)
		}
		back, err := tacho.DecodeHDR(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slices.Collect(h.Buckets()), slices.Collect(back.Buckets())); diff != "" {
			t.Errorf("(-read +read again)\n%s", diff)
		}
	})
}
