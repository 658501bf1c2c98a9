// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// TestRecorderMembership records calls of every kind and looks who is in which
// figure.
func TestRecorderMembership(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rec := tacho.NewRecorder()
		r := newRig(t, nil, tacho.WithRecorder(rec))
		script := func(steps ...sim.Step) sim.Script {
			return sim.Script{HeaderDelay: 100 * ms, Gap: 10 * ms, Steps: steps}
		}
		for _, s := range []sim.Script{
			script(sim.Text(0, "a"), sim.Text(0, "b"), sim.Text(0, "c"), sim.Finish(0, "stop"), sim.Done()), // complete
			script(sim.Text(0, "a"), sim.Text(0, "b")),                                                      // cut
			script(sim.Text(0, "a"), sim.Error("c", "t", "m")),                                              // stream error
			{HeaderDelay: 100 * ms, Status: 503, ErrorCode: "overloaded"},                                   // error
		} {
			r.srv.Play(s)
			r.do(chatPath, chatStream, readAll)
		}
		r.srv.Play(script(sim.Text(0, "a"), sim.Hang()))
		r.do(chatPath, chatStream, func(resp *http.Response) { readEvents(t, resp, 1); resp.Body.Close() })
		r.srv.Play(sim.Script{HeaderDelay: 30 * ms, Text: "a"})
		r.do(chatPath, chatPlain, readAll)

		s := rec.Total()
		for _, tc := range []struct {
			figure         tacho.Figure
			streams, plain int64
		}{
			{tacho.Duration, 1, 1}, {tacho.TTFB, 1, 1}, {tacho.TTLT, 1, 0}, {tacho.Wait, 1, 1},
			{tacho.TTFC, 3, 0}, {tacho.TTFT, 3, 0}, {tacho.TTFO, 3, 0},
			{tacho.Gap, 3, 0}, // two of the complete call, one of the cut one
			{tacho.TPOT, 0, 0},
		} {
			if a, b := s.Streams.Figure(tc.figure).Count(), s.Plain.Figure(tc.figure).Count(); a != tc.streams || b != tc.plain {
				t.Errorf("%v has %d streams and %d plain calls, want %d and %d", tc.figure, a, b, tc.streams, tc.plain)
			}
		}
		for o, want := range map[tacho.Outcome]int64{tacho.Complete: 1, tacho.Cut: 1, tacho.StreamError: 1, tacho.ClosedEarly: 1, tacho.Failed: 1} {
			if got := s.Streams.Outcome(o); got != want {
				t.Errorf("%d streams ended %v, want %d", got, o, want)
			}
		}
		if got := s.Plain.Calls(); got != 1 {
			t.Errorf("%d plain calls, want 1: the refused one asked for a stream", got)
		}
		if rate, ok := s.Streams.ErrorRate(); !ok || rate != 3.0/4 {
			t.Errorf("error rate %v, %v; want 3 of 4, the one closed early left out", rate, ok)
		}
		if d, ok := s.Streams.Figure(tacho.Duration).Quantile(0.99); !ok || d != 140*ms {
			t.Errorf("P99 of the duration is %v, %v; want 140 ms", d, ok)
		}
		if d, ok := s.Streams.Figure(tacho.Gap).Quantile(0.5); !ok || d < 10*ms || d > 10*ms+10*ms/128 {
			t.Errorf("median gap %v, %v", d, ok)
		}
	})
}

func TestRecorderEmpty(t *testing.T) {
	t.Parallel()
	var rec tacho.Recorder
	if _, ok := rec.Total().Plain.ErrorRate(); ok {
		t.Error("nothing has an error rate")
	}
	var zero tacho.Group
	if zero.Calls() != 0 || zero.Figure(tacho.TTFT).Count() != 0 || zero.Outcome(tacho.Complete) != 0 {
		t.Error("the zero group holds something")
	}
}
