// SPDX-License-Identifier: Apache-2.0

// Package stat has the distributions and intervals that verdicts on quantiles
// and rates rest on.
package stat

import "math"

// Ranks returns the order statistics between which the q-quantile of a
// distribution lies with at least the given confidence, whatever the
// distribution, when n values are independent: the l-th and the u-th least, l and
// u from 1. Each end alone holds with (1 + confidence) ÷ 2. An end is 0 where n
// is too small for it to exist.
//
// The number of values at or below the quantile is binomial(n, q): H. A. David,
// H. N. Nagaraja, Order Statistics (2003), 7.1.
func Ranks(n int64, q, confidence float64) (l, u int64) {
	if n < 1 || !(q > 0 && q < 1) || !(confidence > 0 && confidence < 1) {
		return 0, 0
	}
	tail := (1 - confidence) / 2
	// The greatest l with P(X ≤ l − 1) ≤ tail.
	l = least(n, q, func(k int64) bool { return BinomialCDF(k, n, q) > tail })
	// The least u with P(X ≤ u − 1) ≥ 1 − tail.
	u = 1 + least(n, q, func(k int64) bool { return BinomialCDF(k, n, q) >= 1-tail })
	if u > n {
		u = 0
	}
	return l, u
}

// least returns the least k in 0 … n for which a condition holds that holds for
// all greater ones. It begins where a binomial(n, q) has its mass.
func least(n int64, q float64, holds func(k int64) bool) int64 {
	middle := int64(float64(n) * q)
	step := int64(math.Sqrt(float64(n)*q*(1-q))) + 1
	lo, hi := middle, middle // holds not at lo − 1, holds at hi, in the end
	for lo > 0 && holds(lo-1) {
		lo = max(0, lo-step)
	}
	for hi < n && !holds(hi) {
		hi = min(n, hi+step)
	}
	for lo < hi {
		if mid := lo + (hi-lo)/2; holds(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// Coverage returns the probability that the q-quantile lies from the l-th to
// the u-th of n independent values.
func Coverage(n, l, u int64, q float64) float64 {
	return BinomialCDF(u-1, n, q) - BinomialCDF(l-1, n, q)
}

// BinomialCDF returns P(X ≤ k) for X binomial(n, p).
func BinomialCDF(k, n int64, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return betaInc(float64(n-k), float64(k+1), 1-p)
}

// betaInc is the regularised incomplete beta function Iₓ(a, b), by its
// continued fraction (DLMF 8.17.22, https://dlmf.nist.gov/8.17) evaluated by
// Lentz's method.
func betaInc(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - betaInc(b, a, 1-x)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	const tiny, enough = 1e-300, 1e-15
	f, c, d := 1.0, 1.0, 0.0
	for i := 0; i < 100_000; i++ {
		m := float64(i / 2)
		var num float64
		switch {
		case i == 0:
			num = 1
		case i%2 == 0:
			num = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		default:
			num = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		if d = 1 + num*d; math.Abs(d) < tiny {
			d = tiny
		}
		d = 1 / d
		if c = 1 + num/c; math.Abs(c) < tiny {
			c = tiny
		}
		f *= c * d
		if math.Abs(1-c*d) < enough {
			break
		}
	}
	return min(1, max(0, front*(f-1)))
}

// Wilson returns the score interval of a rate of which k of n were seen
// (E. B. Wilson, 1927). n may be an effective number, and need not be whole.
func Wilson(k, n, confidence float64) (low, high float64, ok bool) {
	if !(n > 0) || k < 0 || k > n || !(confidence > 0 && confidence < 1) {
		return 0, 0, false
	}
	low, high = WilsonAt(k, n, NormalQuantile((1+confidence)/2))
	return low, high, true
}

// WilsonAt is Wilson at so many standard deviations, of k and n in its range.
func WilsonAt(k, n, z float64) (low, high float64) {
	p := k / n
	centre := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	scale := 1 + z*z/n
	return max(0, (centre-half)/scale), min(1, (centre+half)/scale)
}

// NormalQuantile returns the p-quantile of the standard normal distribution.
func NormalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// StudentQuantile returns the p-quantile of Student's t with the given degrees
// of freedom.
func StudentQuantile(p, df float64) float64 {
	if p < 0.5 {
		return -StudentQuantile(1-p, df)
	}
	cdf := func(t float64) float64 { return 1 - betaInc(df/2, 0.5, df/(df+t*t))/2 }
	lo, hi := 0.0, 1.0
	for cdf(hi) < p && hi < 1e9 {
		hi *= 2
	}
	for range 100 {
		if mid := (lo + hi) / 2; cdf(mid) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
