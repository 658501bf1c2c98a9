// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A generator that is some milliseconds behind when the schedule ends makes the
// calls that were due, as in the middle of it; a stop leaves them missed. Neither
// says that there was no room where room is not bounded.
func TestLateAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		late    time.Duration // when the generator comes to its first arrival: then the run is over
		bound   int
		catchUp bool
		want    Counts
	}{
		// Arrivals at 0.05, 0.15 … 9.95 s, of which one is not yet past the tolerance.
		{"at the end", 10 * time.Second, 0, false, Counts{Offered: 100, Missed: 99, Started: 1}},
		{"at the end, caught up", 10 * time.Second, 0, true, Counts{Offered: 100, Late: 99, Started: 100}},
		{"at the end, with room", 10 * time.Second, 3, false, Counts{Offered: 100, Missed: 99, Started: 1}},
		{"stopped", 5 * time.Second, 0, false, Counts{Offered: 50, Missed: 50}},
		{"stopped, with room", 5 * time.Second, 1, false, Counts{Offered: 50, NotStarted: 50}},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, err := Config{
				Stages: []Stage{Constant(10, 10*time.Second)}, CatchUp: tt.catchUp, MaxInFlight: tt.bound,
				Call: func(context.Context, Job) error { return nil },
			}.withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			r := &runner{config: c, recorder: NewRecorder(), observe: true, start: time.Now().Add(-tt.late)}
			if tt.bound > 0 {
				r.room = make(chan struct{}, tt.bound)
			}
			r.begin(t.Context())
			ctx, stop := context.WithCancelCause(t.Context())
			r.over()
			stop(errCut)
			r.open(ctx)
			r.calls.Wait()
			n := r.stages[0].Counts
			got := Counts{Offered: n.Offered, Started: n.Started, Late: n.Late, Missed: n.Missed, NotStarted: n.NotStarted}
			if got != tt.want {
				t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
			}
		})
	}
}
