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
	for d, want := range map[time.Duration]string{0: "0 ns", 2000: "+2.000 µs", -2000: "−2.000 µs"} {
		if got := term.Signed(d); got != want {
			t.Errorf("Signed(%d) = %q, want %q", int64(d), got, want)
		}
	}
	if got, none := term.Optional(2000, true), term.Optional(2000, false); got != "2.000 µs" || none != term.Absent {
		t.Errorf("Optional = %q, %q", got, none)
	}
	if got := term.Millis(12_250 * time.Microsecond); got != "12.3" {
		t.Errorf("Millis = %q", got)
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
