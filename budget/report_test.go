// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
)

// Reports, assertions and error budgets.

// TestReport has the judged figure in its table, a chart of a snapshot, the trace
// of a call and how much a limit was passed, and no odd characters of a model.
func TestReport(t *testing.T) {
	t.Parallel()
	inBubble(t, func(b *bench) {
		b.streams(100*ms, 150*ms, 300*ms)
		b.do(stream(ms), strings.Replace(streamed, `"m"`, `"evil\u009b31m\u202e\tx"`, 1), drain)
		text := budget.Observed(b.all.Calls()).Report(budget.MustParse("tpot max <= 9ms")).String()
		for _, want := range []string{"10ms (1ms over), of 4", "tpot  ttft ", "evil_31m__x"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		if text := budget.ObservedSnapshot(b.rec.Total()).Report(budget.MustParse("ttft max <= 200ms")).String(); !strings.Contains(text, "ttft of 4 calls:") || !strings.Contains(text, "← 200ms") {
			t.Errorf("no chart of a snapshot:\n%s", text)
		}
		if text := budget.Observed(b.all.Calls()).Report(budget.MustParse("ttft max >= 400ms")).String(); !strings.Contains(text, "300ms (100ms short)") {
			t.Errorf("not short:\n%s", text)
		}
	})
}

// TestTypedNonsense panics with a word of what is right.
func TestTypedNonsense(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(){
		"P9900":                  func() { budget.Quantile(tacho.TTFT, 99) },
		"P0":                     func() { budget.Quantile(tacho.TTFT, 0) },
		"a rate of 500 ms":       func() { budget.ErrorRate().AtMost(500 * ms) },
		"a time of 1 %":          func() { budget.Max(tacho.TTFT).AtMostN(0.01) },
		"a share of 200 %":       func() { budget.ErrorRate().AtMostN(2) },
		"a time below 0":         func() { budget.Max(tacho.TTFT).Below(-1) },
		"goodput of nothing":     func() { budget.Goodput() },
		"goodput of gaps":        func() { budget.Goodput(budget.Limit{Figure: tacho.Gap, AtMost: 1}) },
		"a share of gaps":        func() { budget.Share(tacho.Gap, 1) },
		"a count that is no one": func() { budget.OutputTokens().AboveN(math.NaN()) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", name)
				}
			}()
			f()
		}()
	}
}

// failure is a TestingT that keeps what it is told.
type failure struct {
	text  string
	ended bool
}

func (*failure) Helper()                          {}
func (f *failure) Errorf(format string, a ...any) { f.text += fmt.Sprintf(format, a...) }
func (f *failure) FailNow()                       { f.ended = true }

func TestRequire(t *testing.T) {
	t.Parallel()
	inBubble(t, func(b *bench) {
		b.streams(100*ms, 200*ms)
		r := budget.Observed(b.all.Calls())
		good, bad, open := budget.MustParse("ttft p50 <= 1s"), budget.MustParse("ttft p50 <= 1ms"), budget.MustParse("gap p50 <= 1s")
		for _, tc := range []struct {
			name    string
			reading budget.Reading
			budgets []budget.Budget
			fails   bool
		}{
			{"met", r, []budget.Budget{good}, false}, {"none", r, nil, false}, {"broken", r, []budget.Budget{good, bad}, true}, {"undecided", r, []budget.Budget{open}, true}, {"allowed", r.AllowUndecided(), []budget.Budget{open, good}, false},
			{"broken though undecided is allowed", r.AllowUndecided(), []budget.Budget{open, bad}, true}, {"zero", r, []budget.Budget{{}}, true},
		} {
			var a, q failure
			if ok := budget.Assert(&a, tc.reading, tc.budgets...); ok == tc.fails || a.ended || (a.text != "") != tc.fails {
				t.Errorf("%s: Assert is %v, told %q", tc.name, ok, a.text)
			}
			budget.Require(&q, tc.reading, tc.budgets...)
			if q.ended != tc.fails || q.text != a.text {
				t.Errorf("%s: Require ends the test: %v", tc.name, q.ended)
			}
		}
	})
	for _, c := range []float64{0, 1, 0.4} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a confidence of %v is taken", c)
				}
			}()
			budget.Estimated(nil).Confidence(c)
		}()
	}
}

// TestErrorBudget: 1 of 100 calls is late, where one in a thousand may be.
func TestErrorBudget(t *testing.T) {
	t.Parallel()
	inBubble(t, func(b *bench) {
		b.streams(repeat(99, 100*ms)...)
		b.streams(900 * ms)
		s := b.rec.Total()
		near := func(name string, got, want float64) {
			t.Helper()
			if got-want > 1e-6 || want-got > 1e-6 {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
		slo := budget.MustParse("share(ttft <= 500ms) >= 98%")
		e, ok := slo.Spent(s)
		if !ok {
			t.Fatal("no error budget")
		}
		near("remaining", e.Remaining(), 0.5)
		near("burn", e.Burn(), 0.5)
		strict := budget.MustParse("share(ttft <= 500ms) >= 99.9%")
		e, _ = strict.Spent(s)
		near("overspent", e.Remaining(), -9)
		if burning, ok := strict.Burning(s, s, 5); !ok || !burning {
			t.Error("ten times the budget is not burning")
		}
		if burning, ok := strict.Burning(s, s, 14); !ok || burning {
			t.Error("burning above 14")
		}
		time.Sleep(time.Hour)
		if _, ok := strict.Burning(s, b.rec.Snapshot(time.Minute), 5); ok {
			t.Error("a verdict on a window without calls")
		}
		for _, text := range []string{"ttft p99 <= 1s", "goodput(ttft <= 1s) >= 9%", "share(ttft <= 500ms) >= 100%"} {
			if _, ok := budget.MustParse(text).Spent(s); ok {
				t.Errorf("%s has an error budget", text)
			}
		}
		if e, ok := budget.MustParse("errors <= 1%").Spent(s); !ok || e.Bad != 0 || e.N != 100 || e.Remaining() != 1 {
			t.Errorf("errors: %+v, %v", e, ok)
		}
	})
	for share, want := range map[float64]int64{0.999: 10_000, 0.9999: 100_000, 0.99: 1000, 0.5: 20} {
		if q, n, ok := budget.SLA(share); !ok || q != share || n != want {
			t.Errorf("%v is P%v, decided by %d calls; want %d", share, q*100, n, want)
		}
	}
	if _, _, ok := budget.SLA(1); ok {
		t.Error("all calls are a quantile")
	}
}
