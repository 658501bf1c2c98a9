// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"strings"
	"testing"
	"time"
)

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// TestColumns: the unit and the decimals of a column follow from its values.
func TestColumns(t *testing.T) {
	t.Parallel()
	times := func(d ...time.Duration) (c []Cell) {
		for _, one := range d {
			c = append(c, D(one))
		}
		return c
	}
	tests := []struct {
		column Column
		cells  []Cell
		want   string // head, then the cells
	}{
		{Column{Kind: Duration}, nil, "ms"},
		{Column{Kind: Duration}, times(0), "ms 0"},
		{Column{Kind: Duration}, times(1, 20), "ns 1 20"},
		{Column{Kind: Duration}, times(999_949, 999_949), "ms 1.00 1.00"},
		{Column{Kind: Duration}, times(1842*ms, 896*ms, 3217*ms), "s 1.842 0.896 3.217"},
		{Column{Kind: Duration}, times(414_700, 2394*us), "ms 0.415 2.394"},
		{Column{Kind: Duration}, times(12_345*ms, 12_345*ms, 500*us), "s 12.3450 12.3450 0.0005"},
		{Column{Kind: Duration, Unit: "ms"}, times(12_345*ms, 500*us), "ms 12,345.0 0.5"},
		{Column{Kind: Duration, Unit: "s"}, times(1234*time.Second, 1), "s 1234.00 <0.01"},
		{Column{Kind: Duration, Unit: "s"}, times(1234*time.Second, -1), "s 1234.00 >−0.01"},
		{Column{Kind: Duration, Unit: "us"}, times(1500), "µs 1.50"},
		{Column{Kind: Duration, Unit: "fortnights"}, times(ms), "ms 1.00"},
		{Column{Kind: Duration, Signed: true}, times(500*us, -49*us, 0), "µs +500.0 −49.0 0.0"},
		{Column{Kind: Duration, Unit: "ns"}, times(1500), "ns 1500"},
		{Column{Kind: Duration, Unit: "s"}, times(time.Hour, 1*us), "s 3600.00 <0.01"},
		{Column{Kind: Share}, []Cell{Part(0.616), Part(0.129), Part(0)}, "% 61.6 12.9 0.0"},
		{Column{Kind: Share}, []Cell{Part(1), Part(0.5)}, "% 100.0 50.0"},
		{Column{Kind: Share}, []Cell{Part(0.9995), Part(1)}, "% 99.950 100.000"},
		{Column{Kind: Share}, []Cell{Part(0.9999999), Part(0.0000001)}, "% >99.999 <0.001"},
		{Column{Kind: Rate}, []Cell{PerSecond(182), PerSecond(1043)}, "/s 182 1043"},
		{Column{Kind: Rate, Unit: "tokens/s"}, []Cell{PerSecond(38.2), PerSecond(87.6)}, "tokens/s 38.2 87.6"},
		{Column{Kind: Ratio}, []Cell{Number(1.12), Number(0.94)}, " 1.120 0.940"},
		{Column{Kind: Ratio}, []Cell{N(3), Number(0.5)}, " 3.000 0.500"},
		{Column{Kind: Count}, []Cell{N(0), N(9999), N(10_000), N(1_234_567)}, " 0 9999 10,000 1,234,567"},
		{Column{Kind: Count, Unit: "calls"}, []Cell{N(-5)}, "calls −5"},
		{Column{Kind: Duration}, []Cell{{}, D(ms), Number(5), S("x")}, "ms – 1.00 –¹ –²"},
		{Column{Kind: Text}, []Cell{S("a"), {}, N(12_345), D(1500 * us), Part(0.5), S("")}, " a – 12,345 1.500 ms 50.0 % –"},
		{Column{}, []Cell{D(184_200 * us), Part(0.0123), N(7), PerSecond(12.34), D(0), D(12)}, " 184.2 ms 1.23 % 7 12.3/s 0 ms 12 ns"},
		{Column{Kind: Duration}, []Cell{D(ms).AtLeast(), D(2 * ms).AtMost().Estimated(), D(3 * ms).Estimated()}, "ms ≥ 1.00 ≤ ~2.00 ~3.00"},
		{Column{Kind: Rate}, []Cell{PerSecond(math.NaN()), PerSecond(math.Inf(1)), Part(math.Inf(-1))}, "/s – – –"},
		{Column{Kind: Rate}, []Cell{PerSecond(1e300), PerSecond(1e-300)}, ""},
	}
	for _, tt := range tests {
		table := NewTable(tt.column)
		for _, c := range tt.cells {
			table.Row(c)
		}
		clean := table.clean()
		v := clean.layout()
		parts := []string{v.heads[0].unit}
		for _, r := range v.rows {
			parts = append(parts, r[0].text+superscript(r[0].notes))
		}
		got := strings.Join(parts, " ")
		if tt.want != "" && got != tt.want {
			t.Errorf("%v: %q, want %q", tt.column.Kind, got, tt.want)
		}
		if strings.ContainsAny(got, "NI") {
			t.Errorf("%q has a NaN or an infinity", got)
		}
	}
}

// TestTimesOfATable: times share a unit across columns, so that p50 and p99 can
// be compared; a column that names one has its own.
func TestTimesOfATable(t *testing.T) {
	t.Parallel()
	table := NewTable(Column{Name: "p50", Kind: Duration}, Column{Name: "p99", Kind: Duration}, Column{Name: "gap", Kind: Duration, Unit: "µs"})
	table.Row(D(20*ms), D(1500*ms), D(12*us))
	table.Row(D(30*ms), D(800*ms), D(15*us))
	var b strings.Builder
	if err := table.WriteText(&b, 0); err != nil {
		t.Fatal(err)
	}
	const want = "p50 ms  p99 ms  gap µs\n" +
		"  20.0  1500.0    12.0\n" +
		"  30.0   800.0    15.0\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestRaw(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Cell{
		"0.0141": D(14100 * us), "0.3": {kind: Duration, number: 0.1 + 0.2}, "1e-09": D(1), "12345678": N(12_345_678), "-5": N(-5),
		"0.05": Part(0.05), "1e+300": Number(1e300), "0": N(0),
	} {
		if got := c.raw(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add(0.5, 1e9, uint8(3))
	f.Add(-1e-12, 0.99999, uint8(5))
	f.Fuzz(func(t *testing.T, a, b float64, kind uint8) {
		k := Count + Kind(kind%uint8(Ratio-Text))
		table := NewTable(Column{Kind: k})
		table.Row(finite(Duration, a))
		table.Row(finite(k, a))
		table.Row(finite(k, b))
		clean := table.clean()
		for _, row := range clean.layout().rows {
			if strings.Contains(row[0].text, "NaN") || strings.Contains(row[0].text, "Inf") || row[0].text == "" {
				t.Errorf("%g, %g of kind %v: %q", a, b, k, row[0].text)
			}
		}
	})
}
