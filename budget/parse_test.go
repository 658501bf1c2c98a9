// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
)

// TestParse reads texts, writes them as they are written, and finds the typed form the same.
func TestParse(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	for _, tc := range []struct {
		text, want string
		typed      budget.Budget
	}{
		{"ttft p99 <= 500ms", "ttft p99 <= 500ms", budget.Quantile(tacho.TTFT, 0.99).AtMost(500 * ms)},
		{" ttft\tp99.9<=1.5s ", "ttft p99.9 <= 1.5s", budget.Quantile(tacho.TTFT, 0.999).AtMost(1500 * ms)},
		{"gap p50 <= 50µs", "gap p50 <= 50µs", budget.Quantile(tacho.Gap, 0.5).AtMost(50 * time.Microsecond)},
		{"duration mean <= 1m30s", "duration mean <= 1m30s", budget.Mean(tacho.Duration).AtMost(90 * time.Second)},
		{"duration max >= 0s", "duration max >= 0s", budget.Max(tacho.Duration).AtLeast(0)},
		{"errors <= 1%", "errors <= 1%", budget.ErrorRate().AtMostN(0.01)},
		{"429 <= 0.5 %", "429 <= 0.5%", budget.TooMany().AtMostN(0.005)},
		{"share(ttft<=500ms)>=99.9%", "share(ttft <= 500ms) >= 99.9%", budget.Share(tacho.TTFT, 500*ms).AtLeastN(0.999)},
		{"goodput(ttft <= 500ms, tpot <= 50ms) >= 95%", "goodput(ttft <= 500ms, tpot <= 50ms) >= 95%",
			budget.Goodput(budget.Limit{Figure: tacho.TTFT, AtMost: 500 * ms}, budget.Limit{Figure: tacho.TPOT, AtMost: 50 * ms}).AtLeastN(0.95)},
		{"goodput(ttft <= 500ms) >= 10/s", "goodput(ttft <= 500ms) >= 10/s", budget.GoodputRate(budget.Limit{Figure: tacho.TTFT, AtMost: 500 * ms}).AtLeastN(10)},
		{"throughput >= 100", "throughput >= 100/s", budget.Throughput().AtLeastN(100)},
		{"output_tokens <= 1e6", "output_tokens <= 1000000", budget.OutputTokens().AtMostN(1e6)},
		{"input_tokens <= 5", "input_tokens <= 5", budget.InputTokens().AtMostN(5)},
		{"longest_stall <= 2s", "longest_stall <= 2s", budget.LongestStall().AtMost(2 * time.Second)},
		{`ttft p99 <= 500ms {model="gpt-4o", region="e\"u", stream="true"}`, `ttft p99 <= 500ms {model="gpt-4o", region="e\"u", stream="true"}`,
			budget.Quantile(tacho.TTFT, 0.99).AtMost(500*ms).Where("model", "gpt-4o", "region", `e"u`).Streams()},
		{`duration p50 <= 1s {stream="false",}`, `duration p50 <= 1s {stream="false"}`, budget.Quantile(tacho.Duration, 0.5).AtMost(time.Second).Plain()},
		{"share(ttft <= 1s) >= 94.2%", "share(ttft <= 1s) >= 94.2%", budget.Share(tacho.TTFT, time.Second).AtLeastN(0.942)},
		{"errors < 0.07%", "errors < 0.07%", budget.ErrorRate().BelowN(0.0007)}, {"errors > 100%", "errors > 100%", budget.ErrorRate().AboveN(1)}, {"duration max > 1s", "duration max > 1s", budget.Max(tacho.Duration).Above(time.Second)},
		{"input_tokens <= 1234567890123", "input_tokens <= 1234567890123", budget.InputTokens().AtMostN(1234567890123)},
		{"duration max < 2496h0m0.000000001s", "duration max < 2496h0m0.000000001s", budget.Max(tacho.Duration).Below(104*24*time.Hour + 1)},
		{`ttft p50 <= 1s {"team name"="a", ""="b", "stream"="x", "größe"="c"}`, `ttft p50 <= 1s {"team name"="a", ""="b", "stream"="x", "größe"="c"}`,
			budget.Quantile(tacho.TTFT, 0.5).AtMost(time.Second).Where("team name", "a", "", "b", "stream", "x", "größe", "c")},
		{`errors <= 1% {stream="true"}`, `errors <= 1% {stream="true"}`, budget.ErrorRate().AtMostN(0.01).Where("stream", "true")},
		{`errors <= 1% {}`, `errors <= 1%`, budget.ErrorRate().AtMostN(0.01)},
	} {
		b, err := budget.Parse(tc.text)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if got := b.String(); got != tc.want {
			t.Errorf("%q is written %q, want %q", tc.text, got, tc.want)
		}
		if got := tc.typed.String(); got != tc.want {
			t.Errorf("the typed form of %q is written %q", tc.want, got)
		}
		again, err := budget.Parse(b.String())
		if err != nil || !reflect.DeepEqual(again, b) || !reflect.DeepEqual(tc.typed, b) {
			t.Errorf("%q is read again as %q, typed %q, %v", b, again, tc.typed, err)
		}
	}
}

// TestSyntaxErrors names the column and what should stand there.
func TestSyntaxErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "column 1: want a figure (", "ttfb": "column 5: want mean, max, or", "ttfx p99 <= 1s": "column 1: want a figure", "ttft p0 <= 1s": "column 6: want a quantile from",
		"ttft p101 <= 1s": "column 6: want a quantile", "ttft q99 <= 1s": "column 6: want mean", "ttft p99 = 1s": "column 10: want <=, <, >= or >", "ttft p99 <= 500": "column 13: want a time as 500ms",
		"ttft p99 <= -5ms": "column 13: want a time", "errors <= 1": "column 12: want %", "errors <= 101%": "column 11: want a share up to 100%", "errors <= x": "column 11: want a number",
		"share ttft": "column 7: want (", "share(ttft < 1s) >= 1%": "column 12: want <=", "share(gap <= 1s) >= 1%": "column 7: want a figure that a call has one of", "share(ttft <= 1s, tpot <= 1s) >= 1%": "column 17: want ) behind the one limit",
		"goodput(ttft <= 1s; x) >= 1%": "column 19: want , or )", "errors <= 1% extra": "column 14: want the end", `errors <= 1% {model}`: "column 20: want =", `errors <= 1% {model=x}`: "column 21: want a value in double quotes",
		`errors <= 1% {model="x" region="y"}`: "column 25: want , or }", `errors <= 1% {model="x"`: "column 24: want , or }", `errors <= 1% {stream="maybe"}`: `column 22: want "true" or "false"`, `errors <= 1% {="x"}`: "column 15: want a label's name",
		"errors <= 1% {model=`x`}": "column 21: want a value in double quotes", `errors <= 1% {größe="x"}`: "column 17: want =", "throughput >= NaN": "column 15: want a number",
	} {
		b, err := budget.Parse(text)
		var syntax *budget.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%q is read as %q, %v", text, b, err)
			continue
		}
		got := strings.Replace(err.Error(), "of "+quote(text)+": ", "", 1)
		got = strings.Replace(got, " want", ": want", 1)
		if !strings.HasPrefix(got, "budget: "+want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("MustParse takes nonsense")
		}
	}()
	budget.MustParse("nonsense")
}

func quote(s string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`) + `"`
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "budgets")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# the chat\nttft p99 <= 500ms   # first token\n\n" + `errors <= 1% {model="a#b\\"} # note` + "\r\n")
	all, err := budget.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range all {
		got = append(got, b.String())
	}
	if diff := cmp.Diff([]string{"ttft p99 <= 500ms", `errors <= 1% {model="a#b\\"}`}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	write("errors <= 1%\n\nttft p99 < 1\n")
	if _, err := budget.ReadFile(name); err == nil || !strings.Contains(err.Error(), "line 3, column 12") {
		t.Errorf("error %v, want one in line 3, column 12", err)
	}
	if _, err := budget.ReadFile(name + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// FuzzParse: what is read is written and read again the same.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"ttft p99 <= 500ms", "gap max < 50µs", "share(ttft <= 500ms) >= 99.9%", `goodput(ttft <= 1s, tpot <= 5ms) >= 10/s {model="x", stream="false"}`, "errors <= 1%", "throughput > 3/s", "output_tokens <= 1e6",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := budget.Parse(text)
		if err != nil {
			var syntax *budget.SyntaxError
			if !errors.As(err, &syntax) || syntax.Column < 1 || syntax.Column > len(text)+1 || syntax.Want == "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := budget.Parse(b.String())
		if err != nil || again.String() != b.String() {
			t.Fatalf("%q is written %q and read again as %q, %v", text, b, again, err)
		}
	})
}
