// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"strings"
	"time"

	"github.com/tacho-go/tacho"
)

// The bounds beyond which a run is not to be trusted.
const (
	maxDelayP99 = 10 * time.Millisecond
	maxCPU      = 0.8
	maxStallP99 = 20 * time.Millisecond
	maxStall    = 500 * time.Millisecond // even once: all calls under way then hold it
	maxOpened   = 0.1                    // of calls, beyond one for each in flight
	enoughCalls = 20                     // below, the edges of a window are all there is
)

// Warnings returns the reasons to take the figures with care, those that speak
// against the generator first. None is a run to be trusted.
func (r *Result) Warnings() (w []string) {
	if r.Incomplete != "" {
		w = append(w, "incomplete: "+r.Incomplete)
	}
	if err := r.Err(); err != nil {
		w = append(w, strings.TrimPrefix(err.Error(), "load: "))
	}
	if n, err := segmentsOf(r.Segments); err == nil && len(r.Segments) > 1 && len(r.Segments) < n {
		w = append(w, fmt.Sprintf("of %d segments of the schedule these are %s: what was offered and served is theirs alone", n, strings.Join(r.Segments, ", ")))
	}
	w = append(w, r.Health.Warnings()...)
	for _, c := range []struct {
		what string
		of   func(*StageResult) string
	}{
		{"calls were missed: the generator came too late to them", (*StageResult).missed},
		{"calls were never started: there was no room among those in flight", (*StageResult).notStarted},
		{"no call ended in the measured time", (*StageResult).idle},
		{"calls started late: judge latencies by the intended start; the P99 of the delay", (*StageResult).delayed},
		{"more connections were opened than calls were in flight: keep as many (tacho.WithConcurrency), or handshakes are in the latencies", (*StageResult).dialled},
		{"Little's law is off by more than 5 %: the stage is short for its calls, or not steady", (*StageResult).unsteady},
		{"over-saturated: calls in flight grew without end, so that latencies depend on how long the stage lasts", (*StageResult).saturated},
		{"answers reported tokens from a prompt cache, which flatters first tokens", (*StageResult).cached},
		{"calls took more than one try: refusals and failures before the last one are in no count, and their time is in the latencies", (*StageResult).retried},
		{"calls were not measured: make them through a tacho.Transport, with the context that Call got", (*StageResult).unmeasured},
		{"the limits of a good call decide nothing of calls that have no such figure", (*StageResult).unjudged},
		{"calls were cut off by the end of the run; quantiles among them are bounds from below", (*StageResult).cutOff},
		{"the recorder has none of the calls: give it to Call's transport by tacho.WithRecorder, and make it by load.NewRecorder", (*StageResult).unrecorded},
	} {
		var where []string
		for i := range r.Stages {
			if text := c.of(&r.Stages[i]); text != "" {
				where = append(where, r.Stages[i].Name+" "+text)
			}
		}
		if len(where) > 0 {
			w = append(w, c.what+": "+strings.Join(where, ", "))
		}
	}
	return w
}

// Warnings returns what speaks against the process as a generator.
func (h Health) Warnings() (w []string) {
	if c := h.CPU; c != nil && *c > maxCPU {
		w = append(w, fmt.Sprintf("the process used %.0f %% of its CPUs: latencies hold its own waiting; use more generators (segments) or fewer calls", 100**c))
	}
	s := orEmpty(h.Stalls)
	p99, _ := s.Quantile(0.99)
	most, _ := s.Max()
	const unit = 100 * time.Microsecond
	switch {
	case p99 > maxStallP99 && s.Count() >= tacho.Needed(0.99):
		w = append(w, fmt.Sprintf("sleeps overshot by %v (P99), %v at most: this machine stalls, and latencies below that say little", p99.Round(unit), most.Round(unit)))
	case most > maxStall:
		w = append(w, fmt.Sprintf("a sleep overshot by %v: this machine stood still, and so did the calls under way then", most.Round(unit)))
	}
	if h.Rows != "" {
		w = append(w, "rows were not written: "+h.Rows)
	}
	return w
}

// of is "n of all", empty for none.
func of(n, all int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", n, all)
}

func (s *StageResult) missed() string     { return of(s.Missed, s.Offered) }
func (s *StageResult) notStarted() string { return of(s.NotStarted, s.Offered) }
func (s *StageResult) cached() string     { return of(s.Cached, s.Started) }
func (s *StageResult) retried() string    { return of(s.Retried, s.Started) }
func (s *StageResult) unmeasured() string { return of(s.Unmeasured, s.Started) }

// unjudged are the served calls among those that are undecided.
func (s *StageResult) unjudged() string {
	return of(max(0, s.Undecided-s.CutOff-s.Cancelled), s.Started)
}
func (s *StageResult) cutOff() string { return of(s.CutOff, s.Started) }

// idle is the window of a stage that had calls, and has no figures of them. A
// segment may have had none.
func (s *StageResult) idle() string {
	if s.Window <= 0 || s.Ended > 0 || s.Offered == 0 && s.Flow.Area == 0 {
		return ""
	}
	return "of " + s.Window.Round(time.Millisecond).String()
}

func (s *StageResult) delayed() string {
	if p99, ok := s.Delay.Quantile(0.99); ok && s.Delay.Count() >= tacho.Needed(0.99) && p99 > maxDelayP99 {
		return p99.Round(100 * time.Microsecond).String()
	}
	return ""
}

func (s *StageResult) dialled() string {
	if calls := s.Opened + s.Reused; float64(s.Opened) > float64(s.Flow.Most)+maxOpened*float64(calls) {
		return of(s.Opened, calls)
	}
	return ""
}

func (s *StageResult) unsteady() string {
	steady, ok := s.Flow.Steady()
	if !ok || steady || s.Ended < enoughCalls {
		return ""
	}
	d, _ := s.Flow.Difference()
	return fmt.Sprintf("%+.0f %%", 100*d)
}

func (s *StageResult) saturated() string {
	if !s.Saturated {
		return ""
	}
	return fmt.Sprintf("up to %d", s.Flow.Most)
}

func (s *StageResult) unrecorded() string {
	// Redirects are no calls to a recorder; that nothing was served is told anyway.
	if s.Served == 0 || s.Snapshot.Streams.Calls()+s.Snapshot.Plain.Calls() > 0 {
		return ""
	}
	return of(s.Started-s.Unmeasured, s.Started)
}
