// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/load"
)

// A quantile is exact or at least, as brute force has it with the calls that were
// cut off at their least, and at infinity.
func TestCensored(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for range 40 {
		var l load.Latency
		var low, high []time.Duration
		for range 1 + r.IntN(60) {
			v := time.Duration(1+r.IntN(100)) * time.Microsecond // exact in a histogram
			if r.IntN(4) == 0 {
				l.Censored().Record(v)
				low, high = append(low, v), append(high, math.MaxInt64)
			} else {
				l.Known().Record(v)
				low, high = append(low, v), append(high, v)
			}
		}
		slices.Sort(low)
		slices.Sort(high)
		for _, q := range []float64{0, 0.1, 0.5, 0.9, 0.99, 1} {
			rank := max(0, int(math.Ceil(q*float64(len(low))-1e-9))-1)
			d, atLeast, ok := l.Quantile(q)
			if !ok || d.Round(time.Microsecond) != low[rank] || atLeast != (low[rank] != high[rank]) {
				t.Fatalf("q %v of %v, %v: %v, at least %v", q, low, high, d, atLeast)
			}
		}
		text, err := json.Marshal(&l)
		if err != nil {
			t.Fatal(err)
		}
		var back load.Latency
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		// Counts come back; the mean and the extremes are those of the buckets.
		for _, h := range [][2]*tacho.Histogram{{l.Known(), back.Known()}, {l.Censored(), back.Censored()}} {
			want, err := h[0].MarshalText()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := h[1].MarshalText(); err != nil || string(got) != string(want) {
				t.Fatalf("%v: %s, want %s", err, got, want)
			}
		}
	}
	var none load.Latency
	if d, atLeast, ok := none.Quantile(0.5); ok || atLeast || d != 0 {
		t.Errorf("of nothing: %v, %v, %v", d, atLeast, ok)
	}
	if text, err := json.Marshal(&none); err != nil || string(text) != `{"count":0}` {
		t.Errorf("of nothing: %s, %v", text, err)
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n        int
		w, z     time.Duration
		capacity float64
		want     float64
		ok       bool
	}{
		{50, time.Second, 0, 0, 50, true},
		{50, time.Second, time.Second, 0, 25, true},
		{50, time.Second, 0, 38.2, 38.2, true},
		{0, time.Second, 0, 0, 0, false},
		{50, 0, time.Second, 0, 0, false},
	} {
		if got, ok := load.Bound(tt.n, tt.w, tt.z, tt.capacity); got != tt.want || ok != tt.ok {
			t.Errorf("%+v: %v, %v", tt, got, ok)
		}
	}
}
