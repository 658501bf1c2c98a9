// SPDX-License-Identifier: Apache-2.0

package load

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Process is how the gaps between arrivals vary. The zero Process is Steady.
type Process struct {
	kind processKind
	cv   float64
}

type processKind uint8

const (
	steady processKind = iota
	poisson
	gamma
)

// Steady has equal gaps.
func Steady() Process { return Process{} }

// Random has exponential gaps: arrivals that know nothing of each other, a
// Poisson process.
func Random() Process { return Process{kind: poisson} }

// Bursty has gaps from a gamma distribution whose standard deviation is cv times
// their mean: 1 is Random, above it arrivals come in bursts, below it they come
// more evenly. The burstiness of vLLM's benchmark is 1 ÷ cv².
func Bursty(cv float64) Process { return Process{kind: gamma, cv: cv} }

// String names the process.
func (p Process) String() string {
	switch p.kind {
	case poisson:
		return "Poisson"
	case gamma:
		return fmt.Sprintf("gamma (cv %g)", p.cv)
	}
	return "constant"
}

// Stage is a part of a load. It lasts Warmup + For. What begins in its warm-up is
// made as all else is and enters no figure; the load does not pause between
// warm-up and measurement, nor between stages.
//
// One of Rate, Workers and Trace says what it does.
type Stage struct {
	Name   string // in reports; empty: made of the rest
	Warmup time.Duration
	For    time.Duration

	// An open stage: arrivals a second at its beginning and its end, between which
	// the rate changes linearly. EndRate 0: the rate stays; RampTo(0) takes it down.
	Rate, EndRate float64
	Process       Process

	// A closed stage: calls at a time at its beginning and its end, between which
	// their number changes linearly. EndWorkers 0: it stays; RampTo(0) takes it down.
	// A worker thinks for Think between the end of a call and the next.
	Workers, EndWorkers int
	Think               time.Duration

	// A stage that replays arrivals. It ends behind the last if For is 0.
	Trace []Request

	toNothing bool // by RampTo
}

// Request is an arrival of a trace.
type Request struct {
	At           time.Duration // since the beginning of the stage
	PromptTokens int           // 0: as the prompts have it
	OutputTokens int           // the limit of tokens; 0: as the call has it
}

// Constant is an open stage with equal gaps.
func Constant(rate float64, d time.Duration) Stage { return Stage{Rate: rate, For: d} }

// Poisson is an open stage with random arrivals.
func Poisson(rate float64, d time.Duration) Stage {
	return Stage{Rate: rate, For: d, Process: Random()}
}

// Gamma is an open stage with arrivals in bursts; see Bursty.
func Gamma(rate, cv float64, d time.Duration) Stage {
	return Stage{Rate: rate, For: d, Process: Bursty(cv)}
}

// Workers is a closed stage of n workers that do not think.
func Workers(n int, d time.Duration) Stage { return Stage{Workers: n, For: d} }

// Replay is a stage of the arrivals of a trace, in order of their moments.
func Replay(trace []Request) Stage { return Stage{Trace: trace} }

// After returns the stage with a warm-up before it.
func (s Stage) After(warmup time.Duration) Stage { s.Warmup = warmup; return s }

// RampTo returns the stage with a rate, or a number of workers, that changes
// linearly to the given one, which may be 0, over the whole stage, its warm-up
// included.
func (s Stage) RampTo(n float64) Stage {
	s.EndRate, s.EndWorkers = 0, 0
	if s.Workers > 0 {
		n = math.Round(n)
		s.EndWorkers = -1 // no number of workers, as a NaN is none
		if n >= 0 {
			s.EndWorkers = int(min(n, maxWorkers+1))
		}
	} else {
		s.EndRate = n
	}
	s.toNothing = n == 0
	return s
}

// endRate is the arrivals a second at the end.
func (s Stage) endRate() float64 {
	if s.EndRate == 0 && !s.toNothing {
		return s.Rate
	}
	return s.EndRate
}

// endWorkers is the calls at a time at the end.
func (s Stage) endWorkers() int {
	if s.EndWorkers == 0 && !s.toNothing {
		return s.Workers
	}
	return s.EndWorkers
}

// Named returns the stage with a name.
func (s Stage) Named(name string) Stage { s.Name = name; return s }

// Thinking returns the closed stage with a think time.
func (s Stage) Thinking(d time.Duration) Stage { s.Think = d; return s }

// Open reports whether arrivals do not wait for the end of calls.
func (s Stage) Open() bool { return s.Workers == 0 }

// String is the name, or what the stage does.
func (s Stage) String() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Trace != nil:
		return fmt.Sprintf("trace of %d", len(s.Trace))
	case s.Workers > 0 && (s.EndWorkers > 0 || s.toNothing):
		return fmt.Sprintf("%d→%d workers", s.Workers, s.EndWorkers)
	case s.Workers > 0:
		return fmt.Sprintf("%d workers", s.Workers)
	case s.EndRate > 0 || s.toNothing:
		return fmt.Sprintf("%g→%g/s %v", s.Rate, s.EndRate, s.Process)
	}
	return fmt.Sprintf("%g/s %v", s.Rate, s.Process)
}

// length is how long the stage lasts.
func (s Stage) length() time.Duration {
	if s.Trace != nil && s.For == 0 && len(s.Trace) > 0 {
		return max(s.Warmup, s.Trace[len(s.Trace)-1].At) + time.Nanosecond
	}
	return s.Warmup + s.For
}

// Bounds on what a machine can be asked for.
const (
	maxRate    = 1e6
	maxWorkers = 1 << 20
)

func (s Stage) check() error {
	kinds := 0
	for _, has := range []bool{s.Rate != 0 || s.EndRate != 0, s.Workers != 0 || s.EndWorkers != 0, s.Trace != nil} {
		if has {
			kinds++
		}
	}
	bad := func(f float64) bool { return math.IsNaN(f) || f < 0 || f > maxRate }
	switch {
	case kinds != 1:
		return errors.New("give one of a rate, a number of workers and a trace")
	case s.Warmup < 0 || s.For < 0 || s.Think < 0:
		return errors.New("a time is negative")
	case s.Trace != nil && s.toNothing:
		return errors.New("a trace has no rate that RampTo changes")
	case s.Trace != nil && s.For == 0 && s.length() <= s.Warmup+time.Nanosecond:
		return errors.New("no arrival of the trace lies behind its first moment and the warm-up: set For")
	case s.Trace == nil && s.For == 0:
		return errors.New("it has no measured time: set For")
	case bad(s.Rate) || bad(s.EndRate):
		return fmt.Errorf("the rate %g→%g is not within 0 to %g a second", s.Rate, s.EndRate, maxRate)
	case s.Workers < 0 || s.EndWorkers < 0 || s.Workers > maxWorkers || s.EndWorkers > maxWorkers:
		return fmt.Errorf("%d→%d workers: there are 1 to %d", s.Workers, s.EndWorkers, maxWorkers)
	case s.Workers == 0 && s.EndWorkers > 0:
		return errors.New("EndWorkers needs Workers to begin with")
	case s.Process.kind == gamma && !(s.Process.cv >= 0.01 && s.Process.cv <= 100):
		return fmt.Errorf("the coefficient of variation of Bursty(%g) is not within 0.01 to 100", s.Process.cv)
	case s.Think > 0 && s.Open():
		return errors.New("only workers think")
	case s.Process.kind != steady && (s.Workers > 0 || s.Trace != nil):
		return errors.New("a Process needs a rate")
	}
	last := time.Duration(0)
	for i, r := range s.Trace {
		if r.At < last || r.PromptTokens < 0 || r.OutputTokens < 0 {
			return fmt.Errorf("arrival %d of the trace: moments do not fall and counts are not negative", i)
		}
		last = r.At
	}
	if s.Trace != nil && len(s.Trace) == 0 {
		return errors.New("the trace is empty")
	}
	return nil
}
