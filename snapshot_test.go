// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// Snapshots: counts, notes, and the ways to another process.

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
