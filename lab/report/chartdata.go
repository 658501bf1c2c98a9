// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"slices"
	"time"

	"github.com/tacho-go/tacho"
)

// What the charts show, as tables.

func (q *Quantiles) title() string { return q.Title }
func (l *Lines) title() string     { return l.Title }
func (b *Bars) title() string      { return b.Title }
func (w *Waterfall) title() string { return w.Title }

// told are the quantiles of a distribution's table.
func told() []float64 {
	return []float64{0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 1}
}

// Data returns a row for each quantile of each series, with the interval in which
// the quantile of what made the values lies with 95 % confidence, if they are
// independent. Quantiles of too few values are left out.
func (q *Quantiles) Data() *Table {
	t := NewTable(Column{Name: "series", Kind: Text}, Column{Name: "quantile", Kind: Text}, Column{Name: "value", Kind: Duration},
		Column{Name: "low", Kind: Duration}, Column{Name: "high", Kind: Duration}, Column{Name: "n", Kind: Count})
	t.Title = q.Title
	for _, s := range q.Series {
		h := s.histogram()
		n := h.Count()
		for _, at := range told() {
			if at < 1 && at > 0 && n+s.Censored < tacho.Needed(at) {
				continue
			}
			low, high := Cell{}, Cell{}
			if at > 0 && at < 1 && s.Censored <= 0 {
				l, u, lok, uok := h.QuantileInterval(at, 0.95)
				low, high = Opt(D)(l, lok), Opt(D)(u, uok)
			}
			name := quantileName(at)
			switch at {
			case 0:
				name = "min"
			case 1:
				name = "max"
			}
			t.Row(S(s.Name), S(name), rankedQuantile(h, n, s.Censored, at), low, high, N(n+s.Censored))
		}
	}
	return t
}

// Summary returns a row for each series.
func (q *Quantiles) Summary() *Table {
	quantiles := []float64{0.5, 0.9, 0.99, 0.999}
	columns := []Column{{Name: "series", Kind: Text}, {Name: "n", Kind: Count}, {Name: "mean", Kind: Duration}}
	for _, at := range quantiles {
		columns = append(columns, Column{Name: quantileName(at), Kind: Duration})
	}
	t := NewTable(append(columns, Column{Name: "max", Kind: Duration})...)
	t.Title = q.Title
	for _, s := range q.Series {
		h, late := s.histogram(), max(0, s.Censored)
		cells := []Cell{S(s.Name), N(h.Count() + late), bounded(D, late > 0)(h.Mean())}
		for _, at := range quantiles {
			cells = append(cells, quantile(h, late, at, tooFew(quantiles)))
		}
		t.Row(append(cells, bounded(D, late > 0)(h.Max()))...)
	}
	return t
}

func (s QuantileSeries) histogram() *tacho.Histogram {
	if s.Histogram == nil {
		return new(tacho.Histogram)
	}
	return s.Histogram
}

// kind is that of an axis' values.
func (a Axis) kind() Kind {
	switch a.Kind {
	case Count, Duration, Rate, Share:
		return a.Kind
	}
	return Ratio
}

func (a Axis) cell(v float64) Cell { return finite(a.kind(), v) }

func (a Axis) column(name string) Column {
	if a.Name != "" {
		name = a.Name
	}
	return Column{Name: name, Kind: a.kind(), Unit: a.Unit}
}

// Data returns a row for each X, with a column for each series. Of points of one
// series with the same X the last is told.
func (l *Lines) Data() *Table {
	t := NewTable(l.X.column("x"))
	t.Title = l.Title
	var xs []float64
	for _, s := range l.Series {
		c := l.Y.column("y")
		c.Name = s.Name
		t.Columns = append(t.Columns, c)
		for _, p := range s.Points {
			if finitePoint(p.X) {
				xs = append(xs, p.X)
			}
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	for _, x := range xs {
		t.Row(l.X.cell(x))
	}
	for i, s := range l.Series {
		for k := range t.Rows {
			t.Rows[k] = append(t.Rows[k], Cell{})
		}
		for _, p := range s.Points {
			if at, ok := slices.BinarySearch(xs, p.X); ok {
				t.Rows[at][i+1] = l.Y.cell(p.Y)
			}
		}
	}
	return t
}

func finitePoint(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Summary returns a row for each series: least, mean and greatest value, and
// the course in a line of blocks.
func (l *Lines) Summary() *Table {
	y := func(name string) Column { return Column{Name: name, Kind: l.Y.kind(), Unit: l.Y.Unit} }
	t := NewTable(Column{Name: "series", Kind: Text}, Column{Name: "points", Kind: Count}, y("least"), y("mean"), y("greatest"), Column{Name: "course", Kind: Text})
	t.Title = l.Title
	if l.Y.Name != "" {
		t.Title += ": " + l.Y.Name
	}
	for _, s := range l.Series {
		var values []float64
		sum := 0.0
		for _, p := range s.Points {
			if finitePoint(p.Y) && finitePoint(p.X) {
				values = append(values, p.Y)
				sum += p.Y
			}
		}
		if len(values) == 0 {
			t.Row(S(s.Name), N(0))
			continue
		}
		mean := finite(l.Y.kind(), sum/float64(len(values)))
		t.Row(S(s.Name), N(len(values)), l.Y.cell(slices.Min(values)), mean, l.Y.cell(slices.Max(values)), S(course(values, 20)))
	}
	return t
}

// course draws values on so many cells at most, from 0 or the least to the
// greatest. A cell stands for the greatest value of its share.
func course(values []float64, width int) string {
	const levels = "▁▂▃▄▅▆▇█"
	low, high := min(0, slices.Min(values)), slices.Max(values)
	top := make([]float64, min(width, len(values)))
	for i := range top {
		top[i] = math.Inf(-1)
	}
	for i, v := range values {
		k := i * len(top) / len(values)
		top[k] = max(top[k], v)
	}
	out := make([]rune, len(top))
	all := []rune(levels)
	for i, v := range top {
		if high > low {
			out[i] = all[min(len(all)-1, int((v-low)/(high-low)*float64(len(all))))]
		} else {
			out[i] = all[0]
		}
	}
	return string(out)
}

// Data returns a row for each category.
func (b *Bars) Data() *Table {
	t := NewTable(Column{Name: "category", Kind: Text})
	t.Title = b.Title
	for _, s := range b.Series {
		c := b.Axis.column("value")
		if s.Name != "" {
			c.Name = s.Name
		}
		t.Columns = append(t.Columns, c)
	}
	for i, name := range b.Categories {
		row := []Cell{S(name)}
		for _, s := range b.Series {
			c := Cell{}
			if i < len(s.Values) {
				c = s.Values[i]
			}
			row = append(row, c)
		}
		t.Row(row...)
	}
	return t
}

// Summary is Data.
func (b *Bars) Summary() *Table { return b.Data() }

// Data returns a row for each phase, with its length. The length of one that had
// not come to its end is at least that.
func (w *Waterfall) Data() *Table {
	t := NewTable(Column{Name: "phase", Kind: Text}, Column{Name: "from", Kind: Duration}, Column{Name: "time", Kind: Duration})
	t.Title = w.Title
	for _, p := range w.Rows {
		if p.absent() {
			t.Row(S(p.Name))
			continue
		}
		length := D(p.End - p.Start)
		if p.Open {
			length = length.AtLeast().Note("not finished")
		}
		t.Row(S(p.Name), D(p.Start), length)
	}
	return t
}

// Summary is Data.
func (w *Waterfall) Summary() *Table { return w.Data() }

func (p Phase) absent() bool { return p.End < p.Start || p.Start < 0 }

// end is when the last phase ends.
func (w *Waterfall) end() (top time.Duration) {
	for _, p := range w.Rows {
		if !p.absent() {
			top = max(top, p.End)
		}
	}
	return top
}
