// SPDX-License-Identifier: Apache-2.0

package term_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho/examples/internal/term"
)

func TestDuration(t *testing.T) {
	t.Parallel()
	tests := []struct {
		d    time.Duration
		want string
	}{
		{0, "0 ns"},
		{1, "1 ns"},
		{999, "999 ns"},
		{1000, "1.000 µs"},
		{12_345, "12.35 µs"},
		{999_949, "999.9 µs"},
		{999_950, "1.000 ms"},
		{9_999_499, "9.999 ms"},
		{9_999_500, "10.00 ms"},
		{99_995_000, "100.0 ms"},
		{184_200 * time.Microsecond, "184.2 ms"},
		{1043 * time.Millisecond, "1.043 s "},
		{61 * time.Second, "61.00 s "},
		{20_000 * time.Second, "20000 s "},
		{-1500 * time.Microsecond, "−1.500 ms"},
		{math.MinInt64 + 1, "−9223372037 s "},
	}
	for _, tt := range tests {
		if got := term.Duration(tt.d); got != tt.want {
			t.Errorf("Duration(%d) = %q, want %q", int64(tt.d), got, tt.want)
		}
	}
	if got, none := term.Optional(2000, true), term.Optional(2000, false); got != "2.000 µs" || none != term.Absent {
		t.Errorf("Optional = %q, %q", got, none)
	}
	if got := term.Millis(12_250 * time.Microsecond); got != "12.3" {
		t.Errorf("Millis = %q", got)
	}
}

// The unit of one duration does not follow from the others: 414.7 µs stood above
// 2.394 ms.
func TestScale(t *testing.T) {
	t.Parallel()
	const us, ms = time.Microsecond, time.Millisecond
	tests := []struct {
		top  time.Duration
		all  []time.Duration
		want string
	}{
		{2394 * us, []time.Duration{414_700, 2394 * us}, "0.415 ms 2.394 ms"},
		{20_630 * us, []time.Duration{20_630 * us, 161_500, 0}, "20.630 ms 0.162 ms 0.000 ms"},
		{20 * ms, []time.Duration{20 * ms, 0}, "20.00 ms 0.00 ms"},
		{966_100, []time.Duration{966_100, 31_680, 1_029_400}, "966.1 µs 31.7 µs 1029.4 µs"},
		{20 * ms, []time.Duration{20 * ms, 1}, "20.000000 ms 0.000001 ms"},
		{999_949, []time.Duration{999_949}, "999.9 µs"},
		{999_950, []time.Duration{999_950}, "1.0000 ms"},
		{3 * time.Second, []time.Duration{3 * time.Second, 70 * ms}, "3.0000 s 0.0700 s"},
		{0, []time.Duration{0, 0}, "0 ns 0 ns"},
		{-500 * us, []time.Duration{-500 * us}, "−500.0 µs"},
	}
	for _, tt := range tests {
		var got []string
		for _, d := range tt.all {
			got = append(got, term.ScaleOf(tt.top, tt.all...).Duration(d))
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("ScaleOf(%v, %v): %q, want %q", tt.top, tt.all, text, tt.want)
		}
	}
	s := term.ScaleOf(500*us, -49)
	if got, want := s.Signed(500*us)+" "+s.Signed(-49)+" "+s.Signed(0), "+500.000 µs −0.049 µs 0.000 µs"; got != want {
		t.Errorf("Signed: %q, want %q", got, want)
	}
	if got := (term.Scale{}).Duration(1500); got != "1500 ns" {
		t.Errorf("the zero Scale: %q", got)
	}
}

func TestBar(t *testing.T) {
	t.Parallel()
	tests := []struct {
		from, to, total time.Duration
		width           int
		want            string
	}{
		{0, 100, 100, 10, "██████████"},
		{0, 50, 100, 10, "█████"},
		{50, 100, 100, 10, "     █████"},
		{0, 25, 100, 10, "██▌"},
		{50, 50, 100, 10, "     ▏"},
		{100, 100, 100, 10, "         █"},
		{0, 0, 0, 10, ""},
		{0, 10, 10, 0, ""},
		{10, 0, 10, 10, ""},
	}
	for _, tt := range tests {
		if got := term.Bar(tt.from, tt.to, tt.total, tt.width); got != tt.want {
			t.Errorf("Bar(%d, %d, %d, %d) = %q, want %q", tt.from, tt.to, tt.total, tt.width, got, tt.want)
		}
	}
}

func TestSparkline(t *testing.T) {
	t.Parallel()
	tests := []struct {
		values []time.Duration
		width  int
		want   string
	}{
		{nil, 10, ""},
		{[]time.Duration{5}, 0, ""},
		{[]time.Duration{0, 0}, 10, "▁▁"},
		{[]time.Duration{1, 2, 3, 4, 5, 6, 7, 8}, 10, "▂▃▄▅▆▇██"},
		// The outlier stays when two values share a cell.
		{[]time.Duration{1, 8, 1, 1, 1, 1, 1, 1}, 4, "█▂▂▂"},
		{[]time.Duration{8, 1, 1}, 2, "█▂"},
	}
	for _, tt := range tests {
		if got := term.Sparkline(tt.values, tt.width); got != tt.want {
			t.Errorf("Sparkline(%v, %d) = %q, want %q", tt.values, tt.width, got, tt.want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	tab := term.Table{Texts: 1}
	tab.Row("figure", "mean", "n")
	tab.Row("wait", "1.500 µs", "10")
	tab.Row("tls", term.Absent)
	var b bytes.Buffer
	tab.Write(&b)
	const want = "figure      mean   n\n" +
		"wait    1.500 µs  10\n" +
		"tls            –\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text        string
		width       int
		first, rest string
		want        string
	}{
		{"", 10, "a ", "  ", "a "},
		{"one two three", 10, "", "", "one two\nthree"},
		{"one two three", 10, "- ", "  ", "- one two\n  three"},
		{"one twothreefour", 6, "", " ", "one\n twothreefour"},
	}
	for _, tt := range tests {
		if got := term.Wrap(tt.text, tt.width, tt.first, tt.rest); got != tt.want {
			t.Errorf("Wrap(%q, %d, %q, %q) = %q, want %q", tt.text, tt.width, tt.first, tt.rest, got, tt.want)
		}
	}
}

// What is no terminal gets no colour, no progress and 80 cells.
func TestNoTerminal(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	env := func(string) string { return "" }
	s := term.ScreenOf(&b, env)
	if s != (term.Screen{Width: 80}) {
		t.Errorf("%+v", s)
	}
	if got := s.Paint(36, "x"); got != "x" {
		t.Errorf("Paint = %q", got)
	}
	if got := (term.Screen{Colour: true}).Paint(36, "x"); got != "\x1b[36mx\x1b[0m" {
		t.Errorf("Paint = %q", got)
	}
	stop := term.Progress(&b, env, "waiting")
	stop()
	stop()
	if strings.Contains(b.String(), "waiting") {
		t.Errorf("progress: %q", b.String())
	}
}
