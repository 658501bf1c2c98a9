// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"testing"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/sim"
)

// Verdicts on what is known in part.

// TestObservedSnapshot judges the same from a recorder, where single calls are
// not known.
func TestObservedSnapshot(t *testing.T) {
	t.Parallel()
	inBubble(t, func(b *bench) {
		b.streams(repeat(98, 100*ms)...)
		b.streams(500 * ms)
		b.refused(429)
		b.do(sim.Script{HeaderDelay: 70 * ms, Text: "a"}, plain, drain)
		s := b.rec.Total()
		for text, want := range map[string]budget.Verdict{
			"ttft p98 <= 101ms": budget.Met, "ttft p100 <= 499ms": budget.Broken, "ttft p100 <= 500ms": budget.Met, "ttft mean <= 104.1ms": budget.Met, "ttft max <= 499ms": budget.Broken,
			"gap p99 <= 11ms": budget.Met, "gap p99 <= 9ms": budget.Broken, "share(ttft <= 200ms) >= 98%": budget.Met, "share(ttft <= 200ms) >= 99.5%": budget.Broken, "share(ttft <= 500ms) >= 100%": budget.Met,
			"errors <= 1%": budget.Met, "429 <= 0.5%": budget.Broken, "goodput(ttft <= 1s) >= 1%": budget.Undecided, "goodput(ttft <= 1s) >= 1/s": budget.Undecided, "output_tokens <= 400": budget.Met,
			"longest_stall <= 9ms": budget.Broken, "duration p50 <= 1s": budget.Undecided, `duration p50 <= 71ms {stream="false"}`: budget.Met, `ttft p50 <= 1s {region="x"}`: budget.Undecided, "throughput >= 1/s": budget.Met,
		} {
			if r := budget.ObservedSnapshot(s).Judge(budget.MustParse(text)); r.Verdict != want {
				t.Errorf("%s: %v (%v to %v, why %q), want %v", text, r.Verdict, r.Low, r.High, r.Why, want)
			}
		}
		b.upper()
		b.late()
		s = b.rec.Total()
		for text, want := range map[string]budget.Verdict{
			"longest_stall <= 1s": budget.Undecided, "tpot p100 <= 1s": budget.Undecided, `ttft p50 <= 1s {stream="false"}`: budget.Undecided, `ttft p50 <= 1s {region=""}`: budget.Met,
			"ttft p100 <= 5s": budget.Undecided, "ttft p90 <= 101ms": budget.Met, "ttft mean <= 1s": budget.Undecided, "share(ttft <= 5s) >= 97%": budget.Met, "share(ttft <= 5s) >= 99%": budget.Undecided,
		} {
			if r := budget.ObservedSnapshot(s).Judge(budget.MustParse(text)); r.Verdict != want {
				t.Errorf("with unknown values: %s: %v (%v to %v, why %q), want %v", text, r.Verdict, r.Low, r.High, r.Why, want)
			}
		}
	})
}

// TestSnapshotUnknown has snapshots in which not everything is known.
func TestSnapshotUnknown(t *testing.T) {
	t.Parallel()
	judge := func(s tacho.Snapshot, text string) budget.Verdict {
		return budget.ObservedSnapshot(s).Judge(budget.MustParse(text)).Verdict
	}
	inBubble(t, func(b *bench) {
		b.streams(100 * ms)
		b.streams(repeat(3, 900*ms)...)
		b.upper()
		b.upper()
		for text, want := range map[string]budget.Verdict{"share(ttft <= 500ms) >= 40%": budget.Undecided, "share(ttft <= 500ms) <= 40%": budget.Undecided, "share(ttft <= 500ms) >= 90%": budget.Broken} {
			if got := judge(b.rec.Total(), text); got != want {
				t.Errorf("%s: %v, want %v", text, got, want)
			}
		}
	})
	inBubble(t, func(b *bench) { // longer than a histogram counts
		b.streams(2 * time.Hour)
		for _, text := range []string{"ttft max <= 90m", "ttft p50 <= 90m", "share(ttft <= 90m) >= 100%"} {
			if got := judge(b.rec.Total(), text); got == budget.Met {
				t.Errorf("%s is met", text)
			}
		}
	})
	inBubble(t, func(b *bench) { // the limit in a bucket, and a window's greatest gap
		b.do(sim.Script{Steps: []sim.Step{sim.Text(0, "a"), sim.Text(0, "b").After(500 * ms), sim.Finish(0, "stop"), sim.Done()}}, streamed, drain)
		b.streams(100*ms, 100*ms)
		for _, text := range []string{"longest_stall <= 500ms", "ttft p50 <= 0s"} {
			if r := budget.ObservedSnapshot(b.rec.Snapshot(time.Minute)).Judge(budget.MustParse(text)); r.Verdict == budget.Broken != (text == "ttft p50 <= 0s") || r.Verdict == budget.Undecided && r.Why == "" {
				t.Errorf("%s: %v, %s", text, r.Verdict, r.Why)
			}
		}
	})
	inBubble(t, func(b *bench) { // labels that the recorder has lost
		b.rec = tacho.NewRecorder(tacho.WithMaxSeries(1), tacho.WithSeriesBy("region"))
		for _, region := range []string{"eu", "ap"} {
			b.do(stream(ms), streamed, drain, "region", region)
		}
		for _, c := range b.all.Calls() {
			b.rec.Observe(c)
		}
		if got := judge(b.rec.Total(), `ttft p50 <= 1s {region="eu"}`); got != budget.Undecided {
			t.Errorf("with an overflow series: %v", got)
		}
		if got := judge(b.rec.Total(), `ttft p50 <= 1s`); got != budget.Met {
			t.Errorf("of all series: %v", got)
		}
	})
}
