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
	maxOpened   = 0.1 // of calls, beyond one for each in flight
	enoughCalls = 20  // below, the edges of a window are all there is
)

// Warnings returns the reasons to take the figures with care, those that speak
// against the generator first. None is a run to be trusted.
func (r *Result) Warnings() (w []string) {
	say := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	if r.Incomplete != "" {
		say("incomplete: %s", r.Incomplete)
	}
	if err := r.Err(); err != nil {
		say("%s", strings.TrimPrefix(err.Error(), "load: "))
	}
	if c := r.Health.CPU; c != nil && *c > maxCPU {
		say("the process used %.0f %% of its CPUs: latencies hold its own waiting; use more generators (segments) or fewer calls", 100**c)
	}
	if s := r.Health.Stalls; s.Count() >= tacho.Needed(0.99) {
		if p99, ok := s.Quantile(0.99); ok && p99 > maxStallP99 {
			say("sleeps overshot by %v (P99): this machine stalls, and latencies below that say little", p99.Round(100*time.Microsecond))
		}
	}
	if r.Health.Rows != "" {
		say("rows were not written: %s", r.Health.Rows)
	}
	for i := range r.Stages {
		for _, t := range r.Stages[i].warnings() {
			say("%s: %s", r.Stages[i].Name, t)
		}
	}
	return w
}

func (s *StageResult) warnings() (w []string) {
	say := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	if s.Missed > 0 {
		say("%d of %d calls were missed: the generator came too late to them", s.Missed, s.Offered)
	}
	if s.NotStarted > 0 {
		say("%d of %d calls were never started: there was no room among the calls in flight", s.NotStarted, s.Offered)
	}
	if p99, ok := s.Delay.Quantile(0.99); ok && s.Delay.Count() >= tacho.Needed(0.99) && p99 > maxDelayP99 {
		say("calls started %v after their intended start (P99): judge latencies by the intended start", p99.Round(100*time.Microsecond))
	}
	if conns := s.Opened + s.Reused; float64(s.Opened) > float64(s.Flow.Most)+maxOpened*float64(conns) {
		say("%d of %d calls opened a connection, with %d in flight at most: give tacho.WithConcurrency that many, or handshakes are in the latencies",
			s.Opened, conns, s.Flow.Most)
	}
	if d, ok := s.Flow.Difference(); ok {
		if steady, _ := s.Flow.Steady(); !steady && s.Ended >= enoughCalls {
			n, _ := s.Flow.InFlight()
			x, _ := s.Flow.Rate()
			stay, _ := s.Flow.Stay()
			say("Little's law is off by %+.0f %%: %.1f in flight, %.1f/s × %v: the stage is short for its calls, or not steady", 100*d, n, x, stay.Round(time.Millisecond))
		}
	}
	if s.Saturated {
		say("over-saturated: calls in flight grew without end, so that latencies depend on how long the stage lasts")
	}
	if s.Cached > 0 {
		say("%d answers reported tokens from a prompt cache, which flatters first tokens", s.Cached)
	}
	if s.Unmeasured > 0 {
		say("%d calls were not measured: make them through a tacho.Transport, with the context that Call got", s.Unmeasured)
	}
	if s.CutOff > 0 {
		say("%d calls were cut off by the end of the run; quantiles among them are bounds from below", s.CutOff)
	}
	if seen := s.Snapshot.Streams.Calls() + s.Snapshot.Plain.Calls(); seen == 0 && s.Started > s.Unmeasured {
		say("the recorder has none of its calls: give it to Call's transport, tacho.WithRecorder, and make it by load.NewRecorder")
	}
	return w
}
