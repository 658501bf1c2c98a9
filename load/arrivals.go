// SPDX-License-Identifier: Apache-2.0

package load

import (
	"iter"
	"math"
	"math/rand/v2"
	"time"
)

// arrival is a moment at which a schedule wants a call.
type arrival struct {
	at      time.Duration // since the run's start
	stage   int
	index   int64 // of all arrivals of the schedule
	request Request
}

// arrivals yields those of the open stages in the order of their moments. The
// same stages and seed give the same, however many generators share them.
func arrivals(stages []Stage, seed uint64) iter.Seq[arrival] {
	return func(yield func(arrival) bool) {
		from, index := time.Duration(0), int64(0)
		for i, s := range stages {
			if s.Open() {
				for r := range s.requests(seed, i) {
					if !yield(arrival{from + r.At, i, index, r}) {
						return
					}
					index++
				}
			}
			from += s.length()
		}
	}
}

// requests yields the arrivals of an open stage.
//
// A process with unit rate is drawn, and its moments are put where the integral
// of the rate reaches them (time change of a renewal process; Cox & Lewis, The
// Statistical Analysis of Series of Events, 1966, ch. 2): a ramp keeps the
// process's character. Steady arrivals begin half a gap from the start, so that
// two stages in succession have no gap of their own between them.
func (s Stage) requests(seed uint64, stage int) iter.Seq[Request] {
	if s.Trace != nil {
		return func(yield func(Request) bool) {
			for _, r := range s.Trace {
				if r.At >= s.length() || !yield(r) {
					return
				}
			}
		}
	}
	return func(yield func(Request) bool) {
		r := rand.New(rand.NewPCG(seed, uint64(stage)))
		length := s.length()
		units := 0.0
		if s.Process.kind == steady {
			units = 0.5
		} else {
			units = s.Process.gap(r)
		}
		for {
			at, ok := reached(units, s.Rate, s.endRate(), length.Seconds())
			// Compared as floats: what lies behind all time is no Duration.
			if at = math.Round(at * 1e9); !ok || !(at < float64(length)) || !yield(Request{At: time.Duration(at)}) {
				return
			}
			units += s.Process.gap(r)
		}
	}
}

// reached returns when the integral of a rate that goes linearly from a to b
// within t seconds is n.
func reached(n, a, b, t float64) (float64, bool) {
	slope := (b - a) / t
	if slope == 0 {
		return n / a, a > 0
	}
	// n = a·x + slope·x²/2, in the form that does not cancel.
	d := a*a + 2*slope*n
	if d < 0 {
		return 0, false
	}
	x := 2 * n / (a + math.Sqrt(d))
	return x, x <= t
}

// gap draws a gap with mean 1.
func (p Process) gap(r *rand.Rand) float64 {
	switch p.kind {
	case poisson:
		return r.ExpFloat64()
	case gamma:
		shape := 1 / (p.cv * p.cv)
		return drawGamma(r, shape) / shape
	}
	return 1
}

// drawGamma draws from the gamma distribution of a shape and scale 1, by the
// method of Marsaglia and Tsang (A Simple Method for Generating Gamma Variables,
// ACM TOMS 26, 2000).
func drawGamma(r *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return drawGamma(r, shape+1) * math.Pow(1-r.Float64(), 1/shape)
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
		if math.Log(1-r.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// workersAt returns how many workers call at a time since the run's start, and
// when a worker that is none of them may next be one, so that each worker waits
// once for its turn in a ramp; ok is false behind the last stage.
func workersAt(stages []Stage, at time.Duration, worker int) (n, stage int, next time.Duration, ok bool) {
	from := time.Duration(0)
	for i, s := range stages {
		length := s.length()
		if at >= from+length {
			from += length
			continue
		}
		if s.Open() {
			return 0, i, from + length, true
		}
		steps := s.endWorkers() - s.Workers
		if steps == 0 {
			return s.Workers, i, from + length, true
		}
		// Each number on the way has an equal part of the time. In floats, since a
		// stage of days times its steps is no int64 any more.
		part := float64(length) / float64(max(steps, -steps)+1)
		k := min(int(float64(at-from)/part), max(steps, -steps))
		if steps < 0 {
			return s.Workers - k, i, from + length, true
		}
		turn := max(k, worker-s.Workers) + 1 // when worker+1 call, or the step behind this one
		next = max(at+1, from+time.Duration(math.Ceil(part*float64(turn))))
		return s.Workers + k, i, min(next, from+length), true
	}
	return 0, 0, 0, false
}
