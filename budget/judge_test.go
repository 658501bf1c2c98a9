// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/sim"
)

const ms = time.Millisecond

// bench makes calls of a simulated endpoint in a bubble.
type bench struct {
	t   *testing.T
	srv *sim.Server
	rt  *tacho.Transport
	rec *tacho.Recorder
	ctx context.Context
	all *tacho.Tracker
}

func inBubble(t *testing.T, f func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := sim.New(t)
		base := srv.Transport()
		defer base.CloseIdleConnections()
		rec := tacho.NewRecorder()
		b := &bench{t: t, srv: srv, rt: tacho.NewTransport(base, tacho.WithRecorder(rec), tacho.WithoutMetrics(), tacho.WithoutTracing()), rec: rec}
		b.ctx, b.all = tacho.Track(t.Context())
		f(b)
	})
}

func (b *bench) do(s sim.Script, body string, use func(*http.Response), labels ...string) {
	b.t.Helper()
	b.srv.Play(s)
	req, err := http.NewRequestWithContext(tacho.ContextWithLabels(b.ctx, labels...), http.MethodPost, b.srv.URL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := b.rt.RoundTrip(req)
	if err != nil {
		return
	}
	use(resp)
	resp.Body.Close()
	synctest.Wait()
}

func drain(r *http.Response) { io.Copy(io.Discard, r.Body) }

const (
	streamed = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[]}`
	plain    = `{"model":"m","messages":[]}`
)

// stream has three tokens, the first after d, the others 10 ms apart.
func stream(d time.Duration) sim.Script {
	return sim.Script{HeaderDelay: d, Steps: []sim.Step{sim.Text(0, "a"), sim.Text(0, "b").After(10 * ms), sim.Text(0, "c").After(10 * ms),
		sim.Finish(0, "stop"), sim.Usage(sim.UsageCounts{InputTokens: 5, OutputTokens: 3}), sim.Done()}}
}

// streams makes streams with the given times to the first token.
func (b *bench) streams(ttfts ...time.Duration) {
	b.t.Helper()
	for _, d := range ttfts {
		b.do(stream(d), streamed, drain)
	}
}

// upper makes a stream whose first token may have come earlier.
func (b *bench) upper() {
	b.t.Helper()
	b.do(stream(ms), streamed, func(r *http.Response) {
		time.Sleep(time.Second)
		drain(r)
	})
}

// upperThenMore is upper with tokens that come while the application waits.
func (b *bench) upperThenMore() {
	b.t.Helper()
	s := stream(ms)
	s.Steps[1] = s.Steps[1].After(2 * time.Second)
	b.do(s, streamed, func(r *http.Response) {
		time.Sleep(time.Second)
		drain(r)
	})
}

// late makes a stream that a deadline ends after 300 ms, before its first token.
func (b *bench) late() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 300*ms)
	defer cancel()
	old := b.ctx
	b.ctx = ctx
	b.do(sim.Script{HeaderDelay: ms, Steps: []sim.Step{sim.Hang()}}, streamed, drain)
	b.ctx = old
	synctest.Wait()
}

// hung makes a stream that falls silent after a token, until a deadline.
func (b *bench) hung() {
	b.t.Helper()
	old := b.ctx
	var cancel context.CancelFunc
	b.ctx, cancel = context.WithTimeout(b.ctx, 300*ms)
	defer cancel()
	b.do(sim.Script{HeaderDelay: ms, Steps: []sim.Step{sim.Text(0, "a"), sim.Hang()}}, streamed, drain)
	b.ctx = old
}

func (b *bench) refused(status int) {
	b.t.Helper()
	b.do(sim.Script{Status: status, HeaderDelay: ms, ErrorCode: "c"}, streamed, drain)
}

func repeat(n int, d time.Duration) []time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = d
	}
	return all
}

// TestObserved has verdicts on small sets of calls that say all there is.
func TestObserved(t *testing.T) {
	t.Parallel()
	hundred := func(b *bench) {
		b.streams(repeat(99, 100*ms)...)
		b.streams(500 * ms)
	}
	for _, tc := range []struct {
		name    string
		calls   func(b *bench)
		text    string
		verdict budget.Verdict
		value   float64 // negative: absent
	}{
		{"a quantile just met", hundred, "ttft p99 <= 100ms", budget.Met, 0.1},
		{"one above it", hundred, "ttft p99.9 <= 499ms", budget.Broken, 0.5},
		{"to the nanosecond", hundred, "ttft p100 <= 500ms", budget.Met, 0.5},
		{"below is not at most", hundred, "ttft p100 < 500ms", budget.Broken, 0.5},
		{"mean", hundred, "ttft mean <= 104ms", budget.Met, 0.104},
		{"max", hundred, "ttft max <= 499ms", budget.Broken, 0.5},
		{"share", hundred, "share(ttft <= 100ms) >= 99%", budget.Met, 0.99},
		{"share broken", hundred, "share(ttft <= 100ms) >= 99.5%", budget.Broken, 0.99},
		{"gaps", hundred, "gap max <= 10ms", budget.Met, 0.01},
		{"gaps' quantile of calls", hundred, "gap p50 <= 10ms", budget.Undecided, -1},
		{"longest stall", hundred, "longest_stall <= 9ms", budget.Broken, 0.01},
		{"errors", func(b *bench) { b.streams(repeat(3, ms)...); b.refused(500) }, "errors <= 25%", budget.Met, 0.25},
		{"errors broken", func(b *bench) { b.streams(repeat(3, ms)...); b.refused(500) }, "errors < 25%", budget.Broken, 0.25},
		{"429", func(b *bench) { b.streams(ms); b.refused(429) }, "429 <= 40%", budget.Broken, 0.5},
		{"goodput: a failed call is bad", func(b *bench) { b.streams(ms, ms, 900*ms); b.refused(500) }, "goodput(ttft <= 500ms, tpot <= 50ms) >= 50%", budget.Met, 0.5},
		{"goodput broken", func(b *bench) { b.streams(ms, ms, 900*ms); b.refused(500) }, "goodput(ttft <= 500ms) >= 51%", budget.Broken, 0.5},
		{"goodput by the second", func(b *bench) { b.streams(980*ms, 980*ms) }, "goodput(ttft <= 2s) >= 1/s", budget.Met, 1},
		{"throughput", func(b *bench) { b.streams(980*ms, 980*ms) }, "throughput >= 3/s", budget.Met, 3},
		{"tokens", func(b *bench) { b.streams(ms, ms) }, "output_tokens <= 5", budget.Broken, 6},
		{"an upper bound is unknown", func(b *bench) { b.streams(ms); b.upper() }, "ttft p100 <= 5s", budget.Undecided, -1},
		{"and may not matter", func(b *bench) { b.streams(ms, ms); b.upper() }, "ttft p50 <= 5s", budget.Met, 0.001},
		{"or leave it broken", func(b *bench) { b.streams(repeat(9, 2*time.Second)...); b.upper() }, "ttft p90 <= 1s", budget.Broken, 2},
		{"an upper bound leaves TPOT unknown", func(b *bench) { b.streams(ms, ms); b.upperThenMore() }, "tpot max <= 5s", budget.Undecided, -1},
		{"and TTFC of the same Read", func(b *bench) { b.streams(ms); b.upper() }, "ttfc max <= 5s", budget.Undecided, -1},
		{"and goodput by it", func(b *bench) { b.streams(ms); b.upperThenMore() }, "goodput(tpot <= 5s) >= 60%", budget.Undecided, -1},
		{"a deadline has its TTFB", func(b *bench) { b.streams(ms); b.late() }, "ttfb max <= 1ms", budget.Met, 0.001},
		{"and no phases that it has not", func(b *bench) { b.streams(ms); b.late() }, "connect max <= 1ms", budget.Met, 0},
		{"and no TPOT", func(b *bench) { b.streams(ms); b.late() }, "tpot max <= 10ms", budget.Met, 0.01},
		{"but its duration is at least", func(b *bench) { b.streams(ms); b.late() }, "duration max <= 400ms", budget.Undecided, -1},
		{"a stall that a deadline ends", func(b *bench) { b.streams(ms); b.hung() }, "longest_stall <= 50ms", budget.Broken, -1},
		{"may be longer", func(b *bench) { b.streams(ms); b.hung() }, "longest_stall <= 1s", budget.Undecided, -1},
		{"99.9 % are 99.9 %", func(b *bench) { b.streams(repeat(999, ms)...); b.streams(time.Second) }, "share(ttft <= 500ms) >= 99.9%", budget.Met, 0.999},
		{"tokens that nobody reported", func(b *bench) {
			b.do(sim.Script{Steps: []sim.Step{sim.Text(0, "a"), sim.Finish(0, "stop"), sim.Done()}}, streamed, drain)
		}, "output_tokens <= 5", budget.Undecided, -1},
		{"tokens of some", func(b *bench) {
			b.streams(ms, ms)
			b.do(sim.Script{Steps: []sim.Step{sim.Text(0, "a"), sim.Finish(0, "stop"), sim.Done()}}, streamed, drain)
		}, "output_tokens <= 5", budget.Broken, -1},
		{"goodput of streams", func(b *bench) { b.streams(ms); b.do(sim.Script{HeaderDelay: time.Minute, Text: "a"}, plain, drain) }, "goodput(ttft <= 500ms) >= 100%", budget.Met, 1},
		{"a label that no call has", func(b *bench) { b.streams(ms) }, `ttft max <= 1s {region=""}`, budget.Met, 0.001},
		{"a deadline is at least", func(b *bench) { b.streams(ms); b.late() }, "ttft p100 <= 200ms", budget.Broken, -1},
		{"a deadline above the rest", func(b *bench) { b.streams(ms); b.late() }, "ttft p100 <= 400ms", budget.Undecided, -1},
		{"a deadline fails a share", func(b *bench) { b.streams(ms); b.late() }, "share(ttft <= 300ms) >= 60%", budget.Undecided, -1},
		{"a deadline is no good", func(b *bench) { b.streams(ms); b.late() }, "goodput(ttft <= 1s) >= 60%", budget.Broken, 0.5},
		{"streams and plain calls", func(b *bench) { b.streams(ms); b.do(sim.Script{HeaderDelay: 70 * ms, Text: "a"}, plain, drain) }, "duration p50 <= 1s", budget.Undecided, -1},
		{"of plain calls", func(b *bench) { b.streams(ms); b.do(sim.Script{HeaderDelay: 70 * ms, Text: "a"}, plain, drain) }, `duration p50 <= 70ms {stream="false"}`, budget.Met, 0.07},
		{"errors of both", func(b *bench) { b.streams(ms); b.do(sim.Script{Status: 500}, plain, drain) }, "errors <= 50%", budget.Met, 0.5},
		{"by label", func(b *bench) {
			b.do(stream(ms), streamed, drain, "region", "eu")
			b.do(stream(900*ms), streamed, drain, "region", "ap")
		}, `ttft max <= 5ms {region="eu", model="m"}`, budget.Met, 0.001},
		{"no calls", func(*bench) {}, "ttft p50 <= 5s", budget.Undecided, -1},
		{"no calls, a rate", func(*bench) {}, "errors <= 5%", budget.Undecided, -1},
		{"no calls, a sum", func(*bench) {}, "output_tokens <= 5", budget.Undecided, -1},
		{"a call closed early has its first token", func(b *bench) {
			b.do(stream(20*ms), streamed, func(r *http.Response) { r.Body.Read(make([]byte, 4096)) })
		}, "ttft p50 <= 20ms", budget.Met, 0.02},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(b *bench) {
				tc.calls(b)
				r := budget.Observed(b.all.Calls()).Judge(budget.MustParse(tc.text))
				if r.Verdict != tc.verdict || r.HasValue != (tc.value >= 0) || r.HasValue && (r.Value-tc.value > 1e-9 || tc.value-r.Value > 1e-9) {
					t.Errorf("%s: %v, value %v (%v), why %q; want %v, %v", tc.text, r.Verdict, r.Value, r.HasValue, r.Why, tc.verdict, tc.value)
				}
				if r.Verdict == budget.Undecided && r.Why == "" {
					t.Error("it does not say why")
				}
			})
		})
	}
}

// TestEstimated decides where enough calls say so, and says how many more would.
func TestEstimated(t *testing.T) {
	t.Parallel()
	inBubble(t, func(b *bench) {
		for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(500) {
			b.streams(time.Duration(50+i) * ms) // 50 ms to 549 ms, in no order
		}
		calls := b.all.Calls()
		for _, tc := range []struct {
			text    string
			verdict budget.Verdict
			more    bool
		}{
			{"ttft p50 <= 400ms", budget.Met, false}, {"ttft p50 <= 200ms", budget.Broken, false}, {"ttft p50 <= 301ms", budget.Undecided, true}, {"ttft p99 <= 547ms", budget.Undecided, true},
			{"ttft p99 <= 600ms", budget.Met, false}, {"ttft p99.9 <= 600ms", budget.Undecided, true}, {"ttft mean <= 350ms", budget.Met, false}, {"ttft mean <= 300ms", budget.Undecided, true}, {"ttft max <= 1s", budget.Undecided, false}, {"ttft max >= 1s", budget.Undecided, false},
			{"ttft max <= 100ms", budget.Broken, false}, {"share(ttft <= 449ms) >= 70%", budget.Met, false}, {"share(ttft <= 449ms) >= 81%", budget.Undecided, true}, {"share(ttft <= 449ms) >= 90%", budget.Broken, false},
			{"errors <= 1%", budget.Met, false}, {"errors <= 0.1%", budget.Undecided, true}, {"goodput(ttft <= 449ms, tpot <= 50ms) >= 70%", budget.Met, false}, {"throughput >= 1/s", budget.Undecided, false},
		} {
			r := budget.Estimated(calls).Judge(budget.MustParse(tc.text))
			if r.Verdict != tc.verdict || r.More > 0 != tc.more {
				t.Errorf("%s: %v, %v to %v, %d more, why %q; want %v", tc.text, r.Verdict, r.Low, r.High, r.More, r.Why, tc.verdict)
			}
		}
		if r := budget.Estimated(calls[:49]).Judge(budget.MustParse("ttft p50 <= 10s")); r.Verdict != budget.Undecided || r.More != 1 {
			t.Errorf("49 calls: %v, %d more", r.Verdict, r.More)
		}
		// What More promises: so many such calls decide.
		if r := budget.Estimated(calls).Judge(budget.MustParse("errors <= 0.1%")); r.More < 3300 || r.More > 3500 {
			t.Errorf("%d more decide, want some 3,340: z² ÷ 0.001", r.More)
		}
		if wide, narrow := budget.Estimated(calls).Confidence(0.99).Judge(budget.MustParse("ttft p50 <= 1s")), budget.Estimated(calls).Judge(budget.MustParse("ttft p50 <= 1s")); wide.Low >= narrow.Low || wide.High <= narrow.High {
			t.Errorf("99 %%: %v to %v; 95 %%: %v to %v", wide.Low, wide.High, narrow.Low, narrow.High)
		}
		s := budget.EstimatedSnapshot(b.rec.Total())
		for text, want := range map[string]budget.Verdict{"ttft p50 <= 400ms": budget.Met, "ttft p50 <= 200ms": budget.Broken, "gap p50 <= 20ms": budget.Met, "errors <= 1%": budget.Met, "ttft mean <= 350ms": budget.Met} {
			if r := s.Judge(budget.MustParse(text)); r.Verdict != want {
				t.Errorf("of a snapshot: %s: %v, %v to %v", text, r.Verdict, r.Low, r.High)
			}
		}
	})
}

// TestDependent has calls that come slow and fast in runs: they count as fewer.
func TestDependent(t *testing.T) {
	t.Parallel()
	inBubble(t, func(b *bench) {
		for i := range 400 {
			b.streams(time.Duration(100+100*(i/40%2))*ms + time.Duration(i%7)*ms)
		}
		r := budget.Estimated(b.all.Calls()).Judge(budget.MustParse("ttft p50 <= 300ms"))
		if r.Effective > 100 || r.Effective < 1 {
			t.Errorf("400 calls in runs of 40 are worth %.0f", r.Effective)
		}
		if text := budget.Estimated(b.all.Calls()).Report(budget.MustParse("ttft p50 <= 150ms")).String(); !strings.Contains(text, "independent ones") {
			t.Errorf("it does not say so:\n%s", text)
		}
	})
}
