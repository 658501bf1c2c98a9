// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
)

// TestOtherSpellings: capitals and other names of the trade are read, and
// written as tacho has them.
func TestOtherSpellings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"itl p99 <= 50ms": "gap p99 <= 50ms", "ITL P99 <= 50ms": "gap p99 <= 50ms", "TTFT p99 <= 1s": "ttft p99 <= 1s", "Tpot Mean <= 1s": "tpot mean <= 1s", "GAP MAX <= 1s": "gap max <= 1s",
		"Errors <= 1%": "errors <= 1%", "Share(TTFT <= 1s) >= 1%": "share(ttft <= 1s) >= 1%", "GOODPUT(TTFT <= 1s, TPOT <= 1ms) >= 1%": "goodput(ttft <= 1s, tpot <= 1ms) >= 1%", "Longest_Stall <= 1s": "longest_stall <= 1s",
		"e2e p50 <= 1s": "duration p50 <= 1s", "Latency p50 <= 1s": "duration p50 <= 1s",
	} {
		b, err := budget.Parse(text)
		if err != nil || b.String() != want {
			t.Errorf("%q is read as %q, %v; want %q", text, b, err, want)
		}
	}
}

// TestHints: an error of the usual kinds says what was probably meant.
func TestHints(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"errors <= 0.01":               "column 15 of \"errors <= 0.01\": want % behind the number: 0.01 of the calls are 1%",
		"errors <= 0.005":              "0.005 of the calls are 0.5%",
		"429 <= 1":                     "1% is one call in a hundred",
		"share(ttft <= 1s) >= 0.999":   "0.999 of the calls are 99.9%",
		"tttf p99 <= 1s":               `did you mean "ttft"?`,
		"TTFX p99 <= 1s":               `did you mean "ttfb" or "ttfc" or "ttft" or "ttfo"?`,
		"duratoin p50 <= 1s":           `did you mean "duration"?`,
		"error <= 1%":                  `did you mean "errors"?`,
		"goodputs(ttft <= 1s) >= 1%":   `did you mean "goodput"?`,
		"longest_stal <= 1s":           `did you mean "longest_stall"?`,
		"output_token <= 1":            `did you mean "output_tokens"?`,
		"share(tfft <= 1s) >= 1%":      `did you mean "ttft"?`,
		"networkwait p50 <= 1s":        `did you mean "network_wait"?`,
		"ttft 99 <= 1s":                `want mean, max, or a quantile as p99 or p99.9`,
		"gap p99 <= 1":                 `want a time as 500ms or 1.5s`,
		"goodput(itl <= 1s) >= 1%":     `but gap`,
		"completely_different p9 <= 1": `longest_stall`,
	} {
		_, err := budget.Parse(text)
		var syntax *budget.SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", text, err, want)
		}
		if strings.HasPrefix(text, "completely") && strings.Contains(err.Error(), "did you mean") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestMisspeltLabel: a label that no call has is told as such, for it looked like
// calls that had not been made.
func TestMisspeltLabel(t *testing.T) {
	t.Parallel()
	inBubble(t, func(b *bench) {
		b.do(stream(ms), streamed, drain, "side", "VM")
		b.do(stream(ms), streamed, drain, "side", "host")
		for name, r := range map[string]budget.Reading{"calls": budget.Observed(b.all.Calls()), "snapshot": budget.ObservedSnapshot(b.rec.Total())} {
			for text, want := range map[string]string{
				`ttft p50 <= 1s {sied="VM"}`:                `no call carries the label "sied"; the labels there are: `,
				`errors <= 1% {sied="VM"}`:                  `; did you mean "side"?`,
				`output_tokens <= 1 {sied="VM"}`:            `no call carries the label "sied"`,
				`longest_stall <= 1s {sied="VM"}`:           `no call carries the label "sied"`,
				`ttft p50 <= 1s {side="VN"}`:                `no call has side="VN"; calls have "VM", "host"`,
				`ttft p50 <= 1s {side="metal"}`:             `no call has side="metal"; calls have "VM", "host"`,
				`duration p50 <= 1s {model="x"}`:            `no call has model="x"; calls have "m"`,
				`ttfb p50 <= 1s {side="VM",stream="false"}`: `no call`,
				`tpot p50 <= 1s {side="VM"}`:                `no call has the figure`,
			} {
				got := r.Judge(budget.MustParse(text))
				if strings.HasPrefix(text, "tpot") && got.Verdict == budget.Met {
					continue
				}
				if got.Verdict != budget.Undecided || !strings.Contains(got.Why, want) {
					t.Errorf("%s: %s: %v, %q, want %q", name, text, got.Verdict, got.Why, want)
				}
			}
			if got := r.Judge(budget.MustParse(`ttft p50 <= 1s {side="VM"}`)); got.Verdict != budget.Met {
				t.Errorf("%s: %v, %q", name, got.Verdict, got.Why)
			}
		}
	})
	inBubble(t, func(b *bench) {
		if got := budget.Observed(nil).Judge(budget.MustParse(`errors <= 1% {side="VM"}`)); got.Why != "no calls" {
			t.Errorf("without calls: %q", got.Why)
		}
		b.rec = tacho.NewRecorder(tacho.WithSeriesBy())
		b.streams(ms)
		for _, c := range b.all.Calls() {
			b.rec.Observe(c)
		}
		if got := budget.ObservedSnapshot(b.rec.Total()).Judge(budget.MustParse(`ttft p50 <= 1s {side="VM"}`)); got.Why != `no call carries the label "side", nor any other` {
			t.Errorf("without labels: %q", got.Why)
		}
	})
}
