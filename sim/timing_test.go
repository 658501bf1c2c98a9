// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho/sim"
)

const ms = time.Millisecond

// times returns the times of the lines.
func times(got []arrival) []time.Duration {
	var d []time.Duration
	for _, a := range got {
		d = append(d, a.at)
	}
	return d
}

func TestStreamTimes(t *testing.T) {
	t.Parallel()
	script := sim.Script{HeaderDelay: 100 * ms, FirstDelay: 50 * ms, Gap: 7*ms + 1, Text: "a b c"}
	with := func(f func(*sim.Script)) sim.Script {
		s := script
		f(&s)
		return s
	}
	const g = 7*ms + 1
	for _, tc := range []struct {
		name   string
		script sim.Script
		want   []time.Duration // role, a, b, c, finish, [DONE], end
	}{
		{"each event at its time", script,
			[]time.Duration{150 * ms, 150*ms + g, 150*ms + 2*g, 150*ms + 3*g, 150*ms + 4*g, 150*ms + 5*g, 150*ms + 5*g}},
		{"late end", with(func(s *sim.Script) { s.TailDelay = 3 * ms }),
			[]time.Duration{150 * ms, 150*ms + g, 150*ms + 2*g, 150*ms + 3*g, 150*ms + 4*g, 150*ms + 5*g, 153*ms + 5*g}},
		{"one burst", with(func(s *sim.Script) { s.OneBurst = true }),
			[]time.Duration{150*ms + 5*g, 150*ms + 5*g, 150*ms + 5*g, 150*ms + 5*g, 150*ms + 5*g, 150*ms + 5*g, 150*ms + 5*g}},
		{"four in a write", with(func(s *sim.Script) { s.Coalesce = 4 }),
			[]time.Duration{150*ms + 3*g, 150*ms + 3*g, 150*ms + 3*g, 150*ms + 3*g, 150*ms + 5*g, 150*ms + 5*g, 150*ms + 5*g}},
		{"own delays", sim.Script{FirstDelay: ms, Gap: 2 * ms, Steps: []sim.Step{
			sim.Role(0), sim.Text(0, "a").After(10 * ms), sim.Text(0, "b"), sim.Text(0, "c").After(0), sim.Finish(0, "stop"), sim.Done()}},
			[]time.Duration{1 * ms, 11 * ms, 13 * ms, 13 * ms, 15 * ms, 17 * ms, 17 * ms}},
		{"no delay", sim.Script{Text: "a b c"}, make([]time.Duration, 7)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := sim.New(t, sim.WithScript(tc.script))
				start := time.Now()
				resp := post(t, s, s.Client(), chatPath, streamBody)
				equal(t, "headers", time.Since(start), tc.script.HeaderDelay)
				got := times(arrivals(t, start, resp.Body))
				resp.Body.Close()
				if len(got) != len(tc.want) {
					t.Fatalf("got %d lines: %v", len(got), got)
				}
				for i := range got {
					equal(t, "line", got[i], tc.want[i])
				}
			})
		})
	}
}

func TestPlainTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(t, sim.WithScript(sim.Script{HeaderDelay: 11 * ms, BodyDelay: 5*ms + 3}))
		start := time.Now()
		resp := post(t, s, s.Client(), chatPath, plainBody)
		equal(t, "headers", time.Since(start), 11*ms)
		arrivals(t, start, resp.Body)
		resp.Body.Close()
		equal(t, "body", time.Since(start), 16*ms+3)
	})
}
