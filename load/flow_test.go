// SPDX-License-Identifier: Apache-2.0

package load

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Calls come to the count in another order than they read the clock, when
// thousands of them wait for it: the integral is that of their times all the same.
func TestFlowOutOfOrder(t *testing.T) {
	t.Parallel()
	const s = time.Second
	type event struct {
		at, started time.Duration
		end         bool
	}
	calls := [][2]time.Duration{{0, 3 * s}, {2 * s, 9 * s}, {4 * s, 5 * s}, {5 * s, 21 * s}, {11 * s, 12 * s}, {19 * s, 30 * s}, {29 * s, 40 * s}}
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		f := flow{windows: []window{{from: 2 * s, to: 10 * s}, {from: 10 * s, to: 20 * s}}}
		var events []event
		for _, c := range calls {
			events = append(events, event{at: c[0]}, event{at: c[1], started: c[0], end: true})
		}
		// Each call begins before it ends; beyond that any order.
		r.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		begun := map[time.Duration]bool{}
		for len(events) > 0 {
			for i, e := range events {
				if e.end && !begun[e.started] {
					continue
				}
				if e.end {
					f.end(e.at, e.started)
				} else {
					begun[e.at] = true
					f.begin(e.at)
				}
				events = append(events[:i], events[i+1:]...)
				break
			}
		}
		// In the first: 1 + 7 + 1 + 5; in the second: 10 + 1 + 1.
		if a, b := f.of(0), f.of(1); a.Area != 14 || b.Area != 12 || a.Ended != 3 || b.Ended != 1 || a.Stayed != 11 || b.Stayed != 1 {
			t.Fatalf("%+v, %+v", a, b)
		}
	}
}

// A stage that is stopped early ends there: what goes on behind it is not in it.
func TestFlowStopped(t *testing.T) {
	t.Parallel()
	const s = time.Second
	f := flow{windows: []window{{from: 2 * s, to: 10 * s}, {from: 10 * s, to: 20 * s}}}
	f.begin(s)
	f.begin(3 * s)
	f.end(4*s, s)
	f.close(5 * s)
	f.end(30*s, 3*s)
	if a, b := f.of(0), f.of(1); a != (Flow{Area: 4, Most: 2, Ended: 1, Stayed: 3, Window: 3 * s}) || b != (Flow{}) {
		t.Errorf("%+v, %+v", a, b)
	}
}
