// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"math"
	"time"
)

// watch reads the run once a second, until quit is closed: it tells the progress
// and sees calls in flight that grow.
func (r *runner) watch(quit <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var g growth
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		now := time.Since(r.start)
		at := len(r.stages) - 1
		for i := range r.stages {
			if now < r.stages[i].to {
				at = i
				break
			}
		}
		inFlight, area := r.flow.now(now, at)
		// Behind the end of the schedule, or an early one, calls in flight only fall.
		if t := r.stages[at]; t.stage.Open() && now >= t.from+time.Second && now < t.to && r.overAt.Load() == 0 {
			if g.stage != at {
				g = growth{stage: at}
			}
			// The mean since the last time, so that a moment says little: a second, or
			// more after a Progress that took its time.
			if past := now - g.at; g.known && past > 0 {
				g.add((area - g.area) / past.Seconds())
			}
			g.at, g.area, g.known = now, area, true
			if g.growing() {
				t.saturated.Store(true)
				r.saturated(t, now)
			} else {
				t.saturated.Store(false)
			}
		}
		if p := r.config.Progress; p != nil {
			p(Progress{
				Stage: r.stages[at].stage.Name, Elapsed: min(now, r.total()), Total: r.total(), InFlight: inFlight,
				Started: r.all.started.Load(), Served: r.all.served.Load(), Refused: r.all.refused.Load(), Failed: r.all.failed.Load(),
			})
		}
	}
}

// saturated ends the run, if that is asked for.
func (r *runner) saturated(t *stageTally, now time.Duration) {
	if !r.config.StopSaturated {
		return
	}
	why := fmt.Sprintf("stopped after %v of %v: over-saturated in stage %s, calls in flight grow without end",
		now.Round(time.Millisecond), r.total(), t.stage.Name)
	r.stopped.CompareAndSwap(nil, &why)
	r.stop(errCut)
}

// growth are the means of calls in flight of the seconds of a stage, thinned out
// so that a stage of days takes no more room than one of minutes.
type growth struct {
	stage int
	at    time.Duration
	area  float64
	known bool

	values  []float64
	every   int // seconds to a value
	pending float64
	n       int
}

const (
	maxPoints = 240
	minPoints = 10
)

func (g *growth) add(v float64) {
	if g.every == 0 {
		g.every = 1
	}
	g.pending += v
	if g.n++; g.n < g.every {
		return
	}
	g.values = append(g.values, g.pending/float64(g.n))
	g.pending, g.n = 0, 0
	if len(g.values) == maxPoints {
		for i := range maxPoints / 2 {
			g.values[i] = (g.values[2*i] + g.values[2*i+1]) / 2
		}
		g.values = g.values[:maxPoints/2]
		g.every *= 2
	}
}

// growing is the test of StageResult.Saturated (Mann, Nonparametric Tests Against
// Trend, Econometrica 13, 1945).
func (g *growth) growing() bool {
	v := g.values
	n := len(v)
	if n < minPoints {
		return false
	}
	s := 0
	for i := range v {
		for j := i + 1; j < n; j++ {
			switch {
			case v[j] > v[i]:
				s++
			case v[j] < v[i]:
				s--
			}
		}
	}
	deviation := math.Sqrt(float64(n*(n-1)*(2*n+5)) / 18)
	const quantile999 = 3.0902 // of the standard normal distribution
	if float64(s-1)/deviation < quantile999 {
		return false
	}
	third := n / 3
	return sum(v[n-third:]) >= 2*sum(v[:third]) && sum(v[n-third:]) >= float64(third)
}

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}
