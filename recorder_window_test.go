// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// played is a recorder with calls of a simulated endpoint.
type played struct {
	rec *tacho.Recorder
	rig *rig
}

func newPlayed(t *testing.T, opts ...tacho.RecorderOption) *played {
	t.Helper()
	rec := tacho.NewRecorder(opts...)
	return &played{rec, newRig(t, nil, tacho.WithRecorder(rec))}
}

// call makes a streamed call whose first token comes after the delay, with labels.
func (p *played) call(t *testing.T, delay time.Duration, labels ...string) {
	t.Helper()
	p.rig.srv.Play(sim.Script{HeaderDelay: delay, Gap: ms, Steps: []sim.Step{sim.Text(0, "a"), sim.Text(0, "b"), sim.Finish(0, "stop"), sim.Done()}})
	resp, err := p.rig.client.Do(p.rig.request(tacho.ContextWithLabels(t.Context(), labels...), chatPath, chatStream))
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
}

// TestWindows lets windows of 10 s pass: a snapshot has what was recorded in
// them, and the total has all.
func TestWindows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlayed(t, tacho.WithWindows(10*time.Second, 3))
		start := time.Now()
		at := func(s float64) { time.Sleep(time.Until(start.Add(time.Duration(s * 1e9)))) }
		at(1)
		p.call(t, 100*ms) // in window 0
		at(12)
		p.call(t, 200*ms) // in window 1
		p.call(t, 300*ms)
		at(45)
		p.call(t, 400*ms) // in window 4
		at(48)
		for _, tc := range []struct {
			last   time.Duration
			counts int64
			start  float64
		}{
			{0, 1, 40}, {5 * time.Second, 1, 40}, {20 * time.Second, 1, 20}, {29 * time.Second, 3, 10}, {time.Hour, 3, 10}, // three windows and the one under way are kept
		} {
			s := p.rec.Snapshot(tc.last)
			if n := s.Streams.Figure(tacho.TTFT).Count(); n != tc.counts || s.Streams.Calls() != tc.counts {
				t.Errorf("the last %v: %d first tokens, %d calls; want %d", tc.last, n, s.Streams.Calls(), tc.counts)
			}
			if got := s.Start.Sub(start).Seconds(); got != tc.start || !s.End.Equal(time.Now()) {
				t.Errorf("the last %v begins at %v s, want %v", tc.last, got, tc.start)
			}
		}
		s := p.rec.Snapshot(29 * time.Second)
		if d, ok := s.Streams.Figure(tacho.TTFT).Quantile(1); !ok || d < 400*ms || d > 400*ms+400*ms/1024 {
			t.Errorf("the greatest TTFT is %v, %v", d, ok)
		}
		if d, ok := s.Streams.Figure(tacho.TTFT).Mean(); !ok || d != 300*ms {
			t.Errorf("the mean TTFT is %v, %v; want 300 ms exactly", d, ok)
		}
		if n := s.Streams.Figure(tacho.Gap).Count(); n != 3 {
			t.Errorf("%d gaps, want 3", n)
		}
		total := p.rec.Total()
		if n := total.Streams.Figure(tacho.TTFT).Count(); n != 4 {
			t.Errorf("%d in all, want 4", n)
		}
		p.call(t, ms)
		if n := total.Streams.Calls(); n != 4 {
			t.Errorf("a snapshot follows its recorder: %d calls", n)
		}
		at(500)
		if n := p.rec.Snapshot(time.Hour).Streams.Calls(); n != 0 {
			t.Errorf("%d calls of minutes ago, want none", n)
		}
		if n := len(p.rec.Snapshot(time.Hour).Series); n != 0 {
			t.Errorf("%d series without a call", n)
		}
	})
}

// TestGapsInWindows: a stream's gaps count in the windows in which they end,
// though the stream goes on.
func TestGapsInWindows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlayed(t, tacho.WithWindows(10*time.Second, 6))
		steps := make([]sim.Step, 0, 30)
		for range 30 {
			steps = append(steps, sim.Text(0, "a"))
		}
		p.rig.srv.Play(sim.Script{Gap: time.Second, Steps: append(steps, sim.Done())})
		resp, err := p.rig.client.Do(p.rig.request(t.Context(), chatPath, chatStream))
		if err != nil {
			t.Fatal(err)
		}
		go readAll(resp)
		time.Sleep(25*time.Second + 500*ms) // gaps ended at 1 s to 25 s
		synctest.Wait()
		for last, want := range map[time.Duration]int64{0: 6, 10 * time.Second: 16, 20 * time.Second: 25} {
			if n := p.rec.Snapshot(last).Streams.Figure(tacho.Gap).Count(); n != want {
				t.Errorf("%d gaps in the last %v, want %d", n, last, want)
			}
		}
		time.Sleep(time.Minute)
	})
}

// TestSeries tells calls apart by their labels, up to a bound.
func TestSeries(t *testing.T) {
	t.Parallel()
	labels := func(s tacho.Snapshot) (out []string) {
		for _, one := range s.Series {
			var b strings.Builder
			for _, l := range one.Labels {
				b.WriteString(l.Name + "=" + l.Value + " ")
			}
			out = append(out, fmt.Sprint(b.String(), one.Streams.Calls()))
		}
		return out
	}
	for _, tc := range []struct {
		name string
		opts []tacho.RecorderOption
		want []string
	}{
		{"default", nil, []string{"model=m provider=openai region=ap 1", "model=m provider=openai region=eu tenant=1 1", "model=m provider=openai region=eu tenant=2 2"}},
		{"by region", []tacho.RecorderOption{tacho.WithSeriesBy("region")}, []string{"region=ap 1", "region=eu 3"}},
		{"by the call's", []tacho.RecorderOption{tacho.WithSeriesBy("operation", "api", "model", "response_model", "nothing")}, []string{"api=chat_completions model=m operation=chat response_model=m 4"}},
		{"not at all", []tacho.RecorderOption{tacho.WithSeriesBy()}, []string{"4"}},
		{"two at most", []tacho.RecorderOption{tacho.WithMaxSeries(1), tacho.WithSeriesBy("tenant")}, []string{"overflow=true 3", "tenant=1 1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlayed(t, tc.opts...)
				p.call(t, ms, "region", "eu", "tenant", "1")
				p.call(t, ms, "region", "eu", "tenant", "2")
				p.call(t, ms, "region", "eu", "tenant", "2")
				p.call(t, ms, "region", "ap")
				total := p.rec.Total()
				if diff := cmp.Diff(tc.want, labels(total)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if diff := cmp.Diff(tc.want, labels(p.rec.Snapshot(time.Minute))); diff != "" {
					t.Errorf("of a minute: (-want +got)\n%s", diff)
				}
				if n := total.Streams.Calls(); n != 4 {
					t.Errorf("%d calls of all series, want 4", n)
				}
				if tc.opts == nil {
					if n := total.Where("region", "eu").Streams.Calls(); n != 3 {
						t.Errorf("%d calls in eu, want 3", n)
					}
					if n := total.Where("region", "eu", "tenant", "1").Streams.Figure(tacho.TTFT).Count(); n != 1 {
						t.Errorf("%d first tokens of tenant 1, want 1", n)
					}
					if n := total.Where("region", "us").Streams.Calls(); n != 0 {
						t.Errorf("%d calls in us, want none", n)
					}
				}
			})
		})
	}
}

// TestLabelsInAnyOrder: the order in which labels were given tells no series
// from another, and no label looks like two.
func TestLabelsInAnyOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlayed(t)
		p.call(t, ms, "a", "1", "b", "2")
		p.call(t, ms, "b", "2", "a", "1")
		p.call(t, ms, "a", "1\x00b\x002")
		p.call(t, ms, "model", "x")
		p.call(t, ms)
		s := p.rec.Total()
		if n := len(s.Series); n != 4 {
			t.Errorf("%d series, want 4: %v", n, s.Series)
		}
		if n := s.Where("a", "1", "b", "2").Streams.Calls(); n != 2 {
			t.Errorf("%d calls with both labels, want 2", n)
		}
		if n := s.Where("model", "m", "label.model", "x").Streams.Calls(); n != 1 {
			t.Errorf("%d calls with a label of the model's name, want 1", n)
		}
		if n := s.Where("a", "").Streams.Calls(); n != 2 {
			t.Errorf("%d calls without a, want 2", n)
		}
	})
}

// TestBurst: after an idle time a burst of calls counts in the present window.
func TestBurst(t *testing.T) {
	t.Parallel()
	rec := tacho.NewRecorder(tacho.WithWindows(time.Hour, 3))
	c := answered(t, chatAnswer, 200)
	rec.Observe(c)
	tacho.Age(rec, 30*time.Hour) // as if so much had passed
	late := answered(t, chatAnswer, 200)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() { rec.Observe(late) })
	}
	wg.Wait()
	if n := rec.Snapshot(time.Minute).Plain.Calls(); n != 64 {
		t.Errorf("%d calls in the present window, want 64", n)
	}
}

// TestRecorderRace records on 64 goroutines while others take snapshots, merge
// them, and windows pass: nothing is lost, nothing counted twice.
func TestRecorderRace(t *testing.T) {
	t.Parallel()
	rec := tacho.NewRecorder(tacho.WithWindows(time.Millisecond, 100_000))
	c := answered(t, chatAnswer, 200)
	const workers, each = 64, 500
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				rec.Observe(c)
			}
		})
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				s := rec.Snapshot(time.Hour)
				m := s.Merge(rec.Total())
				if n := m.Plain.Calls(); n > 2*workers*each {
					t.Errorf("%d calls seen", n)
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	readers.Wait()
	for name, s := range map[string]tacho.Snapshot{"total": rec.Total(), "windows": rec.Snapshot(time.Hour)} {
		if n := s.Plain.Calls(); n != workers*each {
			t.Errorf("%s: %d calls, want %d", name, n, workers*each)
		}
		if n := s.Plain.Figure(tacho.Duration).Count(); n != workers*each {
			t.Errorf("%s: %d durations, want %d", name, n, workers*each)
		}
		if d, ok := s.Plain.Figure(tacho.Duration).Mean(); !ok || math.Abs(float64(d-mustDuration(c))) > 1 {
			t.Errorf("%s: the mean is %v, want %v", name, d, mustDuration(c))
		}
	}
}

func mustDuration(c *tacho.Call) time.Duration {
	d, _ := c.Duration()
	return d
}

func TestRecorderOptions(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(){
		"no window": func() { tacho.WithWindows(time.Second, 0) }, "a short one": func() { tacho.WithWindows(0, 5) }, "no series": func() { tacho.WithMaxSeries(0) },
	} {
		func() {
			defer func() {
				if p := recover(); p == nil {
					t.Errorf("%s is taken", name)
				}
			}()
			f()
		}()
	}
}
