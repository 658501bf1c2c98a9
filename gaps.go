// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"math"
	"time"
)

// gapStats are the moments of the gaps between output events, by Welford's
// method (Technometrics 4(3), 1962), in nanoseconds.
type gapStats struct {
	n              int
	min, max       time.Duration
	mean, m2       float64
	sum            time.Duration
	network        time.Duration // the part of the sum spent inside Read
	longestNetwork time.Duration // the part of max spent inside Read
}

func (g *gapStats) add(gap, network time.Duration) {
	g.n++
	if g.n == 1 || gap < g.min {
		g.min = gap
	}
	if g.n == 1 || gap > g.max {
		g.max, g.longestNetwork = gap, network
	}
	g.sum += gap
	g.network += network
	d := float64(gap) - g.mean
	g.mean += d / float64(g.n)
	g.m2 += d * (float64(gap) - g.mean)
}

// addNone adds n gaps of no length, behind the first: Chan, Golub and LeVeque's formula for
// two parts (Stanford, STAN-CS-79-773, 1979), of which one has no deviation.
func (g *gapStats) addNone(n int) {
	had := float64(g.n)
	g.n += n
	g.min = 0
	g.m2 += g.mean * g.mean * had * float64(n) / float64(g.n)
	g.mean *= had / float64(g.n)
}

// Gaps are the inter-chunk gaps of a stream: the times between two output
// events in succession, all choices together. Network is the part of their sum
// that passed inside Read, the rest is the application's own; LongestNetwork
// is that part of the longest gap.
type Gaps struct {
	Count                   int
	Min, Mean, Max          time.Duration
	StdDev                  time.Duration // sample deviation; see HasStdDev
	HasStdDev               bool          // two gaps or more
	Network, LongestNetwork time.Duration
}

// Gaps returns the inter-chunk gaps, absent with fewer than two output events.
func (c *Call) Gaps() (Gaps, bool) {
	g := &c.gaps
	if g.n == 0 {
		return Gaps{}, false
	}
	s := Gaps{Count: g.n, Min: g.min, Max: g.max, Mean: time.Duration(math.Round(g.mean)),
		Network: g.network, LongestNetwork: g.longestNetwork}
	if g.n > 1 {
		s.StdDev = time.Duration(math.Round(math.Sqrt(g.m2 / float64(g.n-1))))
		s.HasStdDev = true
	}
	return s, true
}
