// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Spread is the random factor by which a quantity differs from its mean: a named
// distribution with mean 1 and coefficient of variation CV (deviation ÷ mean).
// The zero Spread is "constant": the factor is 1 and nothing is drawn.
//
//	constant     always 1; CV is 0
//	exponential  CV is 1, and may be left 0
//	lognormal    0 < CV ≤ 10; σ² of the logarithm is ln(1 + CV²)
//	gamma        0 < CV ≤ 10; the shape is 1 ÷ CV²
//	uniform      0 < CV ≤ 1 ÷ √3; the ends are 1 ± √3 × CV
type Spread struct {
	Name string  // of the distribution; "" means "constant"
	CV   float64 // coefficient of variation
}

const maxCV = 10

// String prints the distribution, as in "lognormal, CV 0.3".
func (s Spread) String() string {
	switch s.Name {
	case "", "constant":
		return "constant"
	case "exponential":
		return "exponential"
	}
	return fmt.Sprintf("%s, CV %g", s.Name, s.CV)
}

func (s Spread) check(field string) error {
	bad := func(rule string) error {
		return fmt.Errorf("sim: Serving.%s: %q with CV %g: %s", field, s.Name, s.CV, rule)
	}
	switch s.Name {
	case "", "constant":
		if s.CV != 0 {
			return bad("a constant has CV 0; name a distribution")
		}
	case "exponential":
		if s.CV != 0 && s.CV != 1 {
			return bad("an exponential distribution has CV 1")
		}
	case "lognormal", "gamma":
		if !(s.CV > 0 && s.CV <= maxCV) {
			return bad("the CV must be above 0 and at most 10")
		}
	case "uniform":
		if !(s.CV > 0 && s.CV <= 1/math.Sqrt(3)) {
			return bad("the CV must be above 0 and at most 0.577, lest the lower end be negative")
		}
	default:
		return bad("the names are constant, exponential, lognormal, gamma, uniform")
	}
	return nil
}

// draw returns a factor. It takes nothing from r when it is constant.
func (s Spread) draw(r *rand.Rand) float64 {
	switch s.Name {
	case "exponential":
		return r.ExpFloat64()
	case "lognormal":
		return lognormal(r, math.Sqrt(math.Log1p(s.CV*s.CV)))
	case "gamma":
		shape := 1 / (s.CV * s.CV)
		return gamma(r, shape) / shape
	case "uniform":
		return 1 + math.Sqrt(3)*s.CV*(2*r.Float64()-1)
	}
	return 1
}

// gamma draws from the gamma distribution with scale 1: by rejection from a
// cubed normal (Marsaglia and Tsang, ACM TOMS 26, 2000), and below shape 1 by
// their factor U^(1÷shape) on a draw of one shape more.
func gamma(r *rand.Rand, shape float64) float64 {
	boost := 1.0
	if shape < 1 {
		boost = math.Pow(1-r.Float64(), 1/shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if u := 1 - r.Float64(); math.Log(u) < x*x/2+d-d*v+d*math.Log(v) {
			return boost * d * v
		}
	}
}
