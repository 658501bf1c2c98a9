// SPDX-License-Identifier: Apache-2.0

package stat

import (
	"math"
	"testing"
)

func near(t *testing.T, name string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v ± %v", name, got, want, tolerance)
	}
}

// TestBinomialCDF compares with the sum of the terms.
func TestBinomialCDF(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{1, 2, 7, 50, 400} {
		for _, p := range []float64{0.001, 0.1, 0.5, 0.9, 0.99, 0.999} {
			sum := 0.0
			for k := range n {
				a, _ := math.Lgamma(float64(n + 1))
				b, _ := math.Lgamma(float64(k + 1))
				c, _ := math.Lgamma(float64(n - k + 1))
				sum += math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
				near(t, "the distribution", BinomialCDF(k, n, p), sum, 1e-10)
			}
			if BinomialCDF(-1, n, p) != 0 || BinomialCDF(n, n, p) != 1 {
				t.Error("the ends are not 0 and 1")
			}
		}
	}
}

// TestRanks has known intervals, and for others that no narrower one would do.
func TestRanks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		n        int64
		q        float64
		l, u     int64
		coverage float64
	}{
		{10, 0.5, 2, 9, 0.9785},  // tables of the sign test
		{20, 0.5, 6, 15, 0.9586}, // the same
		{1, 0.5, 0, 0, 0},
		{100, 0.99, 97, 0, 0}, // P(X ≤ 96) = 0.0184 ≤ 0.025, and 100 values have no upper end
		{0, 0.5, 0, 0, 0},
	} {
		l, u := Ranks(tc.n, tc.q, 0.95)
		if l != tc.l || u != tc.u {
			t.Errorf("ranks of %d values at %v are %d and %d, want %d and %d", tc.n, tc.q, l, u, tc.l, tc.u)
		}
		if u > 0 {
			near(t, "coverage", Coverage(tc.n, l, u, tc.q), tc.coverage, 5e-4)
		}
	}
	for _, n := range []int64{30, 999, 10_000, 3_000_000} {
		for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 0.999} {
			l, u := Ranks(n, q, 0.95)
			if l > 0 && !(BinomialCDF(l-1, n, q) <= 0.025 && BinomialCDF(l, n, q) > 0.025) {
				t.Errorf("n %d, q %v: the lower rank %d is not the greatest", n, q, l)
			}
			if u > 0 && !(BinomialCDF(u-1, n, q) >= 0.975 && BinomialCDF(u-2, n, q) < 0.975) {
				t.Errorf("n %d, q %v: the upper rank %d is not the least", n, q, u)
			}
		}
	}
}

func TestWilson(t *testing.T) {
	t.Parallel()
	low, high, ok := Wilson(15, 148, 0.95) // R. G. Newcombe (1998), table I, method 3
	if !ok {
		t.Fatal("no interval")
	}
	near(t, "low", low, 0.0624, 5e-5)
	near(t, "high", high, 0.1605, 5e-5)
	low, high, _ = Wilson(0, 20, 0.95) // the same
	near(t, "low", low, 0, 1e-12)
	near(t, "high", high, 0.1611, 5e-5)
	for _, bad := range [][3]float64{{0, 0, 0.95}, {2, 1, 0.95}, {-1, 1, 0.95}, {1, 2, 1}, {1, math.NaN(), 0.95}} {
		if _, _, ok := Wilson(bad[0], bad[1], bad[2]); ok {
			t.Errorf("%v has an interval", bad)
		}
	}
}

func TestQuantiles(t *testing.T) {
	t.Parallel()
	near(t, "z", NormalQuantile(0.975), 1.959964, 1e-6)
	near(t, "t with 9", StudentQuantile(0.975, 9), 2.262157, 1e-6)
	near(t, "t with 1", StudentQuantile(0.975, 1), 12.706205, 1e-5)
	near(t, "t with 30", StudentQuantile(0.025, 30), -2.042272, 1e-6)
}
