// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/lab/report"
)

// text tells a table.
func text(t *testing.T, table *report.Table, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := table.WriteText(&b, width); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOddCharts: charts of nothing, of one value, and of values that have no
// place are pictures none the less.
func TestOddCharts(t *testing.T) {
	t.Parallel()
	one := new(tacho.Histogram)
	one.Record(3 * ms)
	zero := new(tacho.Histogram)
	zero.RecordN(0, 5)
	nan := math.NaN()
	for i, c := range []report.Chart{
		&report.Quantiles{}, &report.Quantiles{Log: true}, &report.Quantiles{Series: []report.QuantileSeries{{Name: "nil"}, {Name: "one", Histogram: one}, {Name: "late", Histogram: one, Censored: 5}, {Name: "odd", Histogram: one, Censored: -5}}},
		&report.Quantiles{Log: true, Series: []report.QuantileSeries{{Name: "0", Histogram: zero, Censored: 1}}, Limits: []report.Limit{{Name: "none", Value: nan}, {Name: "0"}}},
		&report.Lines{}, &report.Lines{Series: []report.LineSeries{{}}}, &report.Lines{Series: []report.LineSeries{{Name: "one", Points: []report.Point{{X: 1, Y: 1}}}}},
		&report.Lines{Y: report.Axis{Log: true}, X: report.Axis{Log: true}, Series: []report.LineSeries{{Points: []report.Point{{X: 0, Y: -1}, {X: nan, Y: 1}, {X: 1, Y: math.Inf(1)}, {X: 2, Y: 0}}}}},
		&report.Bars{}, &report.Bars{Categories: []string{"a", ""}}, &report.Bars{Categories: []string{"a"}, Axis: report.Axis{Log: true}, Series: []report.BarSeries{{Values: []report.Cell{report.Number(-5), report.Number(3)}}, {}}},
		&report.Waterfall{}, &report.Waterfall{Rows: []report.Phase{{}, {Name: "back", Start: 2, End: 1}, {Name: "negative", Start: -1, End: 1}}},
	} {
		r := &report.Report{Sections: []report.Section{{Chart: c}}}
		for name, write := range forms(r) {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Error(i, name, err)
			}
			if s := b.String(); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") && !strings.Contains(s, "Inf\"") {
				t.Errorf("chart %d: %s has a number that is none", i, name)
			}
			if name == "report.html" {
				checkPage(t, b.String())
				if strings.Count(b.String(), "<svg role") != 1 {
					t.Errorf("chart %d: no picture", i)
				}
			}
		}
	}
}

// TestCensored: calls that a deadline ended count as greater than all others.
func TestCensored(t *testing.T) {
	t.Parallel()
	h := new(tacho.Histogram)
	for i := range 90 {
		h.Record(time.Duration(i + 1))
	}
	q := &report.Quantiles{Title: "ttft", Series: []report.QuantileSeries{{Name: "a", Histogram: h, Censored: 10}}}
	const want = "ttft\n" +
		"series  quantile  value ns  low ns  high ns    n\n" +
		"a       min              1       –        –  100\n" +
		"a       p10             10       –        –  100\n" +
		"a       p25             25       –        –  100\n" +
		"a       p50             50       –        –  100\n" +
		"a       p75             75       –        –  100\n" +
		"a       p90             90       –        –  100\n" +
		"a       max           ≥ 90       –        –  100\n"
	if got := text(t, q.Data(), 0); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	q.Series[0].Censored = 11
	if got := text(t, q.Summary(), 0); !strings.Contains(got, "a       101     ≥ 46      51    ≥ 90      –¹        –¹    ≥ 90\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestLinesData(t *testing.T) {
	t.Parallel()
	l := &report.Lines{X: report.Axis{Name: "at", Kind: report.Duration}, Y: report.Axis{Kind: report.Count, Unit: "calls"},
		Series: []report.LineSeries{{Name: "a", Points: []report.Point{report.At(time.Second, 1), report.At(3*time.Second, 3)}},
			{Name: "b", Points: []report.Point{report.At(2*time.Second, 5), report.At(time.Second, math.NaN())}}}}
	const want = "at s  a calls  b calls\n" +
		"1.00        1        –\n" +
		"2.00        –        5\n" +
		"3.00        3        –\n"
	if got := text(t, l.Data(), 0); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestNarrow: a table that is too wide is cut into several with the same
// leading columns; wide characters take two cells.
func TestNarrow(t *testing.T) {
	t.Parallel()
	table := report.NewTable(report.Column{Name: "模型", Kind: report.Text}, report.Column{Name: "what was measured", Kind: report.Count}, report.Column{Name: "and something else", Kind: report.Count}, report.Column{Name: "text", Kind: report.Text})
	table.Row(report.S("中文模型"), report.N(1), report.N(20000), report.S("a text that goes on for longer than a column of text may be wide"))
	table.Row(report.S("b"), report.N(1).Note("once"))
	const want = "模型      what was measured\n" +
		"中文模型                 1\n" +
		"b                        1¹\n" +
		"\n" +
		"模型      and something else\n" +
		"中文模型              20,000\n" +
		"b                          –\n" +
		"\n" +
		"模型      text\n" +
		"中文模型  a text that goes\n" +
		"          on for longer\n" +
		"          than a column of\n" +
		"          text may be wide\n" +
		"b         –\n" +
		"¹ once\n"
	if got := text(t, table, 1); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestLatency: series that do not differ in a label are put together, and
// streams are never mixed with plain calls.
func TestLatency(t *testing.T) {
	t.Parallel()
	s := snapshot(t)
	sections := report.Latency{By: []string{}, Figures: []tacho.Figure{tacho.TTFT, tacho.Duration}, Quantiles: []float64{0.5, 2, -1, 0.9}}.Sections(s)
	var headings []string
	for _, one := range sections {
		headings = append(headings, one.Heading)
	}
	if got := strings.Join(headings, ", "); got != "Calls, Latency of streams, Latency of plain calls" {
		t.Errorf("sections %s", got)
	}
	// The 71st and the 128th of 110 to 229 ms, 320 to 339 ms and two more.
	const want = "figure      n  mean ms  p50 ms  p90 ms  max ms\n" +
		"ttft      140    ≥ 192     180     327   ≥ 339\n" +
		"duration  140    ≥ 261     240     447   ≥ 459\n"
	if got := text(t, sections[1].Table, 0); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := (report.Latency{}).Sections(tacho.Snapshot{}); len(got) != 0 {
		t.Errorf("an empty snapshot has %d sections", len(got))
	}
	chart := report.Latency{By: []string{"region", "none"}}.Chart(s, tacho.TTFT, true)
	if len(chart.Series) != 2 || chart.Series[0].Name != "eu, –" || chart.Series[0].Censored != 2 || chart.Series[1].Histogram.Count() != 20 {
		t.Errorf("chart %+v", chart.Series)
	}
}
