// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSpread compares mean and coefficient of variation of a million draws with
// what they are to be; the third moment tells the distributions apart.
func TestSpread(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		s        Spread
		cv, skew float64
	}{
		{Spread{}, 0, 0},
		{Spread{"constant", 0}, 0, 0},
		{Spread{"exponential", 0}, 1, 2},
		{Spread{"lognormal", 0.5}, 0.5, 1.625}, // (2 + e^σ²) √(e^σ² − 1), where e^σ² is 1 + CV²
		{Spread{"gamma", 0.5}, 0.5, 1},         // 2 CV
		{Spread{"gamma", 1.5}, 1.5, 3},
		{Spread{"uniform", 0.5}, 0.5, 0},
	} {
		t.Run(tc.s.String(), func(t *testing.T) {
			t.Parallel()
			if err := tc.s.check("X"); err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			const n = 1_000_000
			var sum, squares, cubes, least float64
			for range n {
				x := tc.s.draw(r)
				least = min(least, x)
				sum += x
				squares += (x - 1) * (x - 1)
				cubes += (x - 1) * (x - 1) * (x - 1)
			}
			mean, cv := sum/n, math.Sqrt(squares/n)
			skew := 0.0
			if tc.cv > 0 {
				skew = cubes / n / (tc.cv * tc.cv * tc.cv)
			}
			if least < 0 || math.Abs(mean-1) > 0.005 || math.Abs(cv-tc.cv) > 0.01 || math.Abs(skew-tc.skew) > 0.1 {
				t.Errorf("least %v, mean %v, CV %v, skewness %v, not %v, %v", least, mean, cv, skew, tc.cv, tc.skew)
			}
		})
	}
}
