// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
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

// observed returns a stream's record with its tokens, to add to recorders.
func answered(t *testing.T, body string, status int) *tacho.Call {
	t.Helper()
	ctx, tr := tacho.Track(t.Context())
	resp, err := quiet(roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Proto: "HTTP/1.1", Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body))}, nil
	})).RoundTrip(newRequest(ctx, t, hostURL, chatPlain))
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
	return one(t, tr)
}

func TestCounters(t *testing.T) {
	t.Parallel()
	rec := tacho.NewRecorder()
	for _, c := range []*tacho.Call{
		answered(t, `{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":100,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens_details":{"reasoning_tokens":7}}}`, 200),
		answered(t, `{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":20,"completion_tokens":30,"cache_creation_input_tokens":3}}`, 200),
		answered(t, `{"usage":{"prompt_tokens":1000}}`, 200), answered(t, "", 429), answered(t, "", 429), answered(t, "", 503), answered(t, "", 400), answered(t, "", 302),
	} {
		rec.Observe(c)
	}
	g := rec.Total().Plain
	for name, tc := range map[string][2]int64{
		"calls": {g.Calls(), 7}, "2xx": {g.Class(2), 3}, "4xx": {g.Class(4), 3}, "5xx": {g.Class(5), 1}, "none": {g.Class(0), 0}, "6xx": {g.Class(6), 0}, "429": {g.TooMany(), 2}, "503": {g.Unavailable(), 1},
	} {
		if tc[0] != tc[1] {
			t.Errorf("%s: %d, want %d", name, tc[0], tc[1])
		}
	}
	in, out, read, write, reasoning := g.Tokens()
	if in != 1120 || out != 60 || read != 40 || write != 3 || reasoning != 7 {
		t.Errorf("tokens %d, %d, %d, %d, %d", in, out, read, write, reasoning)
	}
	if r, ok := g.OutputPerInput(); !ok || r != 0.5 {
		t.Errorf("output ÷ input is %v, %v; want 60 ÷ 120", r, ok)
	}
	if _, ok := (tacho.Group{}).OutputPerInput(); ok {
		t.Error("nothing has output ÷ input")
	}
}

// TestSnapshotMerge carries snapshots through JSON and through histogram logs to
// another process, where they merge exactly.
func TestSnapshotMerge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, both := newPlayed(t), newPlayed(t), newPlayed(t)
		random := rand.New(rand.NewPCG(1, 1))
		for i := range 40 {
			p, region := a, []string{"eu", "ap"}[i%2]
			if i%3 == 0 {
				p = b
			}
			d := time.Duration(random.IntN(1e9))
			p.call(t, d, "region", region)
			both.call(t, d, "region", region)
		}
		want := both.rec.Total()
		carried := func(s tacho.Snapshot) tacho.Snapshot {
			js, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			var out tacho.Snapshot
			if err := json.Unmarshal(js, &out); err != nil {
				t.Fatal(err)
			}
			return out
		}
		for name, got := range map[string]tacho.Snapshot{
			"merged": a.rec.Total().Merge(b.rec.Total()), "through JSON": carried(a.rec.Total()).Merge(carried(b.rec.Total())), "the other way": carried(b.rec.Total()).Merge(a.rec.Total()),
		} {
			if diff := cmp.Diff(snapshotState(want), snapshotState(got)); diff != "" {
				t.Errorf("%s: (-both +merged)\n%s", name, diff)
			}
		}
		var log strings.Builder
		if err := a.rec.Total().WriteHDR(&log); err != nil {
			t.Fatal(err)
		}
		if err := b.rec.Total().WriteHDR(&log); err != nil {
			t.Fatal(err)
		}
		got, err := tacho.ReadHDR(strings.NewReader(log.String()))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(snapshotState(want), snapshotState(got)); diff != "" {
			t.Errorf("through logs: (-both +merged)\n%s", diff)
		}
	})
}

// TestSnapshotRefuses JSON that contradicts itself.
func TestSnapshotRefuses(t *testing.T) {
	t.Parallel()
	rec := tacho.NewRecorder()
	rec.Observe(answered(t, chatAnswer, 200))
	js, err := json.Marshal(rec.Total())
	if err != nil {
		t.Fatal(err)
	}
	var s tacho.Snapshot
	for name, edit := range map[string][2]string{
		"a count below 0": {`"complete":1`, `"complete":-1`}, "extremes of no bucket": {`"max_ns":`, `"max_ns":9`}, "too many out of range": {`"hdr":`, `"above_range":9,"hdr":`},
		"no histogram": {`"hdr":"HIST`, `"hdr":"HISX`}, "a bucket beyond all": {`"hdr":"`, `"hdr":"HISTEwAAAAQAAAAAAAAAAwAAAAAAAAABAAADRjC4oAA/8AAAAAAAAP/fBgI=","x":"`},
	} {
		if err := json.Unmarshal([]byte(strings.Replace(string(js), edit[0], edit[1], 1)), &s); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	if _, err := tacho.ReadHDR(strings.NewReader("#[tacho] {\"streams\":{\"outcomes\":{\"complete\":-1}}}\n")); err == nil {
		t.Error("a comment with a count below 0 is read")
	}
}

// TestReadHDRMany reads a log of a hundred label sets.
func TestReadHDRMany(t *testing.T) {
	t.Parallel()
	rec := tacho.NewRecorder(tacho.WithSeriesBy("n"))
	ctx, tr := tacho.Track(t.Context())
	for i := range 100 {
		resp, err := quiet(roundTripper(func(*http.Request) (*http.Response, error) { return answer(chatAnswer), nil })).
			RoundTrip(newRequest(tacho.ContextWithLabels(ctx, "n", fmt.Sprint(i, " ü,=&\n")), t, hostURL, chatPlain))
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
	}
	for _, c := range tr.Calls() {
		rec.Observe(c)
	}
	var log strings.Builder
	if err := rec.Total().WriteHDR(&log); err != nil {
		t.Fatal(err)
	}
	got, err := tacho.ReadHDR(strings.NewReader(log.String()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(snapshotState(rec.Total()), snapshotState(got)); diff != "" || len(got.Series) != 100 {
		t.Errorf("%d series; (-written +read)\n%s", len(got.Series), diff)
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

// TestNotes has a reason of each kind.
func TestNotes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlayed(t)
		if notes := p.rec.Total().Streams.Notes(tacho.TTFT, 0.99, tacho.NoteLimits{}); notes != nil {
			t.Errorf("nothing has notes: %v", notes)
		}
		for range 9990 {
			p.rec.Observe(answered(t, chatAnswer, 200))
		}
		for i := range 15 {
			p.call(t, time.Duration(i+1)*100*ms)
		}
		p.rig.srv.Play(sim.Script{HeaderDelay: 100 * ms, Steps: []sim.Step{sim.Text(0, "a"), sim.Text(0, "b"), sim.Text(0, "c"), sim.Text(0, "d"), sim.Text(0, "e"), sim.Finish(0, "stop"), sim.Done()}})
		p.rig.do(chatPath, chatStream, func(r *http.Response) { time.Sleep(time.Second); readAll(r) })
		text := func(f tacho.Figure, q float64, l tacho.NoteLimits) (out []string) {
			for _, n := range p.rec.Total().Streams.Notes(f, q, l) {
				out = append(out, n.String())
			}
			return out
		}
		if diff := cmp.Diff([]string{"too few samples: 16 of 1000", "buffered streams: 1", "upper bounds: 1", "stalled machine: timers held up by 200ms"}, text(tacho.TTFT, 0.99, tacho.NoteLimits{Stall: 200 * ms})); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if diff := cmp.Diff([]string(nil), text(tacho.Duration, 0.3, tacho.NoteLimits{Stall: ms})); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	for _, tc := range []struct {
		slow time.Duration
		tail float64
		want string
	}{{time.Second, 0, "[long tail: P99.9 is 10.0 times P99]"}, {200 * ms, 0, "[]"}, {200 * ms, 1.5, "[long tail: P99.9 is 2.0 times P99]"}} {
		g := tacho.GroupOf(tacho.Duration, func(h *tacho.Histogram) {
			h.RecordN(100*ms, 9980)
			h.RecordN(tc.slow, 20)
		})
		if got := fmt.Sprint(g.Notes(tacho.Duration, 0.99, tacho.NoteLimits{Tail: tc.tail})); got != tc.want {
			t.Errorf("%v, %v: %s, want %s", tc.slow, tc.tail, got, tc.want)
		}
	}
	g := tacho.GroupOf(tacho.Duration, func(h *tacho.Histogram) { h.RecordN(2*time.Hour, 5); h.Record(-1) })
	if got, want := fmt.Sprint(g.Notes(tacho.Duration, 0.1, tacho.NoteLimits{})), "[too few samples: 6 of 12 out of range: 6]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	coarse := tacho.GroupOf(tacho.Duration, func(h *tacho.Histogram) {
		two, _ := tacho.NewHistogram(2)
		two.RecordN(time.Second, 100)
		h.Merge(two)
	})
	if got, want := fmt.Sprint(coarse.Notes(tacho.Duration, 0.5, tacho.NoteLimits{})), "[rounded to 2 significant digits]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func snapshotState(s tacho.Snapshot) map[string]any {
	m := map[string]any{}
	group := func(name string, g tacho.Group) {
		for f := range tacho.ConsumerWait + 1 {
			if f == tacho.Connect {
				continue // each of two clients connects
			}
			m[name+f.String()] = state(g.Figure(f))
		}
		in, out, read, write, reasoning := g.Tokens()
		m[name+"counts"] = []int64{g.Calls(), g.Outcome(tacho.Complete), g.Class(2), in, out, read, write, reasoning}
	}
	group("streams ", s.Streams)
	group("plain ", s.Plain)
	for _, one := range s.Series {
		group(fmt.Sprint("streams ", one.Labels), one.Streams)
		group(fmt.Sprint("plain ", one.Labels), one.Plain)
	}
	return m
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
