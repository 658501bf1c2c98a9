// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tacho-go/tacho/internal/stat"
)

// TestCoverage draws samples again and again, and counts how often the interval
// of a quantile holds the true one. On independent values it must be 95 %, as near
// as the binomial distribution allows; on values of which each resembles the one
// before (ρ = 0.8) at least 93 %.
func TestCoverage(t *testing.T) {
	t.Parallel()
	const runs = 2000
	for _, tc := range []struct {
		name string
		n    int
		q    float64
		rho  float64
	}{
		{"median of 50", 50, 0.5, 0}, {"median of 1000", 1000, 0.5, 0}, {"P90 of 200", 200, 0.9, 0}, {"P99 of 1000", 1000, 0.99, 0},
		{"median of 200, dependent", 200, 0.5, 0.8}, {"median of 1000, dependent", 1000, 0.5, 0.8}, {"P90 of 1000, dependent", 1000, 0.9, 0.8}, {"P99 of 8000, dependent", 8000, 0.99, 0.8},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(tc.n), uint64(tc.q*1000)))
			truth := stat.NormalQuantile(tc.q)
			held, decided := 0, 0
			runs := runs
			if tc.n > 1000 {
				runs /= 10
			}
			for range runs {
				x := make([]float64, tc.n)
				last := random.NormFloat64()
				for i := range x {
					last = tc.rho*last + math.Sqrt(1-tc.rho*tc.rho)*random.NormFloat64()
					x[i] = last
				}
				l, u := ends(int64(tc.n), tc.q, effective(ranks(x)), 0.95)
				if l == 0 || u == 0 {
					continue // no verdict
				}
				decided++
				slices.Sort(x)
				if x[l-1] <= truth && truth <= x[u-1] {
					held++
				}
			}
			got := float64(held) / float64(decided)
			t.Logf("%.2f %% of %d intervals, of %d", got*100, decided, runs)
			switch {
			case decided < runs*9/10:
				t.Errorf("only %d of %d samples have an interval", decided, runs)
			case tc.rho > 0 && got < 0.93:
				t.Errorf("%.4f of the intervals hold the quantile, want 0.93", got)
			case tc.rho == 0:
				l, u := stat.Ranks(int64(tc.n), tc.q, 0.95)
				exact := stat.Coverage(int64(tc.n), l, u, tc.q)
				if got < 0.945 || math.Abs(got-exact) > 0.01 {
					t.Errorf("%.4f of the intervals hold the quantile, exactly it is %.4f", got, exact)
				}
			}
		})
	}
}

// TestDependentCoverage does the same for rates and means of dependent values,
// and, with less demanded, for chains that take turns, as calls to several
// instances do.
func TestDependentCoverage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name        string
		n, chains   int
		rho, p, min float64
	}{
		{"rate of 200", 200, 1, 0.8, 0.5, 0.93}, {"rate of 1000", 1000, 1, 0.8, 0.5, 0.93}, {"a tenth of 1000", 1000, 1, 0.8, 0.9, 0.93},
		{"two chains in turns", 800, 2, 0.9, 0.5, 0.88}, {"four chains in turns", 800, 4, 0.9, 0.5, 0.83},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(9, uint64(tc.n*tc.chains)))
			limit := stat.NormalQuantile(tc.p)
			const runs = 2000
			rates, means := 0, 0
			for range runs {
				last := make([]float64, tc.chains)
				for i := range last {
					last[i] = random.NormFloat64()
				}
				x, within := make([]float64, tc.n), make([]float64, tc.n)
				k := 0.0
				for i := range x {
					c := &last[i%tc.chains]
					*c = tc.rho**c + math.Sqrt(1-tc.rho*tc.rho)*random.NormFloat64()
					if x[i] = *c; *c <= limit {
						within[i] = 1
						k++
					}
				}
				n := float64(tc.n)
				e := effective(within)
				if l, h := rateInterval(k/n, n, e, 0.95); l <= tc.p && tc.p <= h {
					rates++
				}
				m, v := moments(x)
				if e = effective(x); e >= 2 && math.Abs(m) <= stat.StudentQuantile(0.975, e-1)*math.Sqrt(v*n/(n-1)/e) {
					means++
				}
			}
			t.Logf("%s: rates %.2f %%, means %.2f %%", tc.name, float64(rates)/runs*100, float64(means)/runs*100)
			if float64(rates)/runs < tc.min || float64(means)/runs < tc.min {
				t.Errorf("rates %.4f, means %.4f of the intervals hold, want %v", float64(rates)/runs, float64(means)/runs, tc.min)
			}
		})
	}
}

// TestEffective has series of known likeness: an autoregression of the first
// order is worth n·(1 − ρ) ÷ (1 + ρ) independent values.
func TestEffective(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	series := func(n int, rho float64) []float64 {
		x := make([]float64, n)
		last := random.NormFloat64()
		for i := range x {
			last = rho*last + math.Sqrt(1-rho*rho)*random.NormFloat64()
			x[i] = last
		}
		return x
	}
	for _, tc := range []struct{ rho, low, high float64 }{{0.8, 800, 1250}, {0.5, 2600, 3600}, {-0.5, 10000, 10000}} {
		if got := effective(series(10_000, tc.rho)); got < tc.low || got > tc.high {
			t.Errorf("10,000 values with ρ = %v are worth %.0f, want %v to %v", tc.rho, got, tc.low, tc.high)
		}
	}
	full := 0
	for range 1000 {
		if effective(ranks(series(500, 0))) == 500 {
			full++
		}
	}
	if full < 970 {
		t.Errorf("%d of 1000 independent series count in full, want 990 or so", full)
	}
	constant := make([]float64, 100)
	if got := effective(constant); got != 100 {
		t.Errorf("a constant series is worth %v", got)
	}
	if got := ranks([]float64{3, 1, 3, 2}); !slices.Equal(got, []float64{2.5, 0, 2.5, 1}) {
		t.Errorf("ranks %v", got)
	}
}

// TestWilsonCoverage: the interval of a rate holds it in 95 % of the samples, in
// the mean over rates.
func TestWilsonCoverage(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	held, all := 0, 0
	for range 20_000 {
		p, n, k := random.Float64(), 100, 0
		for range n {
			if random.Float64() < p {
				k++
			}
		}
		l, h, _ := stat.Wilson(float64(k), float64(n), 0.95)
		if all++; l <= p && p <= h {
			held++
		}
	}
	if got := float64(held) / float64(all); got < 0.945 || got > 0.96 {
		t.Errorf("%.4f of the intervals hold the rate", got)
	}
}
