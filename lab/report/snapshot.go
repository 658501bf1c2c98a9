// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tacho-go/tacho"
)

// Latency says which figures of a snapshot are told, and how. The zero Latency
// tells those that a reader looks for first, of each label set.
type Latency struct {
	// Figures are told in their order; by default TTFT, TPOT, Gap, TTLT and
	// Duration of streams, and TTFB and Duration of plain calls. Figures of streams
	// alone are left out for plain calls.
	Figures []tacho.Figure
	// Quantiles are told in their order; by default 0.5, 0.9, 0.99 and 0.999. One
	// that is not in [0, 1] is left out.
	Quantiles []float64
	// By are the names of the labels that the rows are told apart by, in the order
	// of their columns. By default they are those whose values differ among the
	// series; the calls of series that do not differ in them are put together.
	By []string
}

// Sections returns the sections of a snapshot: the counts of its calls; the
// latencies of its streams; those of its plain calls, which are never mixed with
// streams. A section without a call is left out.
//
// A q-quantile of fewer values than tacho.Needed(q) = 10 ÷ (1 − q) is absent,
// with that number in a footnote. Calls that their deadline ended count as
// greater than all others in the figures from the call's start on: a quantile
// that falls among them is the greatest value, marked at least. Their limit is
// not in the snapshot; where it is less than the greatest value, quantiles are
// too great by as much. The column n has the number of values without them.
func (l Latency) Sections(s tacho.Snapshot) []Section {
	names := l.names(s)
	rows := group(s, names)
	var out []Section
	if t := counts(names, rows); len(t.Rows) > 0 {
		out = append(out, Section{Heading: "Calls", Table: t})
	}
	for _, kind := range [...]struct {
		heading string
		stream  bool
		figures []tacho.Figure
	}{
		{"Latency of streams", true, []tacho.Figure{tacho.TTFT, tacho.TPOT, tacho.Gap, tacho.TTLT, tacho.Duration}},
		{"Latency of plain calls", false, []tacho.Figure{tacho.TTFB, tacho.Duration}},
	} {
		figures := kind.figures
		if len(l.Figures) > 0 {
			figures = l.Figures
		}
		if section := l.section(names, rows, kind.stream, figures); len(section.Table.Rows) > 0 {
			section.Heading = kind.heading
			out = append(out, section)
		}
	}
	return out
}

// Chart returns the distributions of a figure, a line for each label set, of
// streams or of plain calls.
func (l Latency) Chart(s tacho.Snapshot, f tacho.Figure, streams bool) *Quantiles {
	names := l.names(s)
	q := &Quantiles{Title: f.String()}
	for _, r := range group(s, names) {
		g := r.of(streams)
		if h := g.Figure(f); h.Count() > 0 {
			q.Series = append(q.Series, QuantileSeries{Name: r.name(names), Histogram: h, Censored: censored(g, f)})
		}
	}
	return q
}

// row is the calls of series that do not differ in the labels told.
type row struct {
	values         []string
	streams, plain tacho.Group
}

func (r *row) of(streams bool) tacho.Group {
	if streams {
		return r.streams
	}
	return r.plain
}

func (r *row) name(names []string) string {
	if len(names) == 0 {
		return "all calls"
	}
	var parts []string
	for _, v := range r.values {
		if v == "" {
			v = absent
		}
		parts = append(parts, v)
	}
	return strings.Join(parts, ", ")
}

func (r *row) cells() (cells []Cell) {
	for _, v := range r.values {
		cells = append(cells, S(v))
	}
	return cells
}

// names returns the labels that rows are told apart by.
func (l Latency) names(s tacho.Snapshot) (names []string) {
	if l.By != nil {
		return l.By
	}
	for _, one := range s.Series {
		for _, have := range one.Labels {
			if !slices.Contains(names, have.Name) {
				names = append(names, have.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool {
		for _, one := range s.Series {
			if value(one.Labels, name) != value(s.Series[0].Labels, name) {
				return false
			}
		}
		return true
	})
}

func value(labels []tacho.Label, name string) string {
	for _, l := range labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

func group(s tacho.Snapshot, names []string) (rows []*row) {
	for _, one := range s.Series {
		values := make([]string, len(names))
		for i, n := range names {
			values[i] = value(one.Labels, n)
		}
		at := slices.IndexFunc(rows, func(r *row) bool { return slices.Equal(r.values, values) })
		if at < 0 {
			at = len(rows)
			rows = append(rows, &row{values: values})
		}
		rows[at].streams = rows[at].streams.Plus(one.Streams)
		rows[at].plain = rows[at].plain.Plus(one.Plain)
	}
	slices.SortFunc(rows, func(a, b *row) int { return slices.Compare(a.values, b.values) })
	return rows
}

func labelColumns(names []string) (columns []Column) {
	for _, n := range names {
		columns = append(columns, Column{Name: n, Kind: Text})
	}
	return columns
}

// counts is the table of what became of the calls.
func counts(names []string, rows []*row) *Table {
	t := NewTable(append(labelColumns(names),
		Column{Name: "kind", Kind: Text}, Column{Name: "calls", Kind: Count}, Column{Name: "complete", Kind: Count},
		Column{Name: "errors", Kind: Share}, Column{Name: "429", Kind: Count}, Column{Name: "503", Kind: Count},
		Column{Name: "deadline", Kind: Count}, Column{Name: "other ends", Kind: Count},
		Column{Name: "tokens in", Kind: Count}, Column{Name: "tokens out", Kind: Count}, Column{Name: "out ÷ in", Key: "output_per_input", Kind: Ratio})...)
	for _, r := range rows {
		for _, streams := range [...]bool{true, false} {
			g := r.of(streams)
			if g.Calls() == 0 {
				continue
			}
			kind := "plain"
			if streams {
				kind = "streams"
			}
			in, out := Cell{}, Cell{}
			if i, o, _, _, _ := g.Tokens(); i+o > 0 || g.Reported() > 0 {
				in, out = N(i), N(o)
			}
			other := g.Calls() - g.Outcome(tacho.Complete) - g.Outcome(tacho.Deadline)
			t.Row(append(r.cells(), S(kind), N(g.Calls()), N(g.Outcome(tacho.Complete)), Opt(Part)(g.ErrorRate()),
				N(g.TooMany()), N(g.Unavailable()), N(g.Outcome(tacho.Deadline)), N(other), in, out, Opt(Number)(g.OutputPerInput()))...)
		}
	}
	return t
}

func (l Latency) quantiles() []float64 {
	if len(l.Quantiles) == 0 {
		return []float64{0.5, 0.9, 0.99, 0.999}
	}
	return slices.DeleteFunc(slices.Clone(l.Quantiles), func(q float64) bool { return !(q >= 0 && q <= 1) })
}

// section is the table of latencies of one kind of calls, with what is to be
// known of them.
func (l Latency) section(names []string, rows []*row, streams bool, figures []tacho.Figure) Section {
	columns := append(labelColumns(names), Column{Name: "figure", Kind: Text}, Column{Name: "n", Kind: Count}, Column{Name: "mean", Kind: Duration})
	for _, q := range l.quantiles() {
		columns = append(columns, Column{Name: quantileName(q), Kind: Duration})
	}
	t := NewTable(append(columns, Column{Name: "max", Kind: Duration})...)
	few := tooFew(l.quantiles())
	var upper, buffered, deadlines int64
	for _, r := range rows {
		g := r.of(streams)
		upper, buffered, deadlines = upper+g.Upper(), buffered+g.Buffered(), deadlines+g.Outcome(tacho.Deadline)
		for _, f := range figures {
			h, late := g.Figure(f), censored(g, f)
			if h.Count() == 0 {
				continue
			}
			cells := append(r.cells(), S(f.String()), N(h.Count()), bounded(D, late > 0)(h.Mean()))
			for _, q := range l.quantiles() {
				cells = append(cells, quantile(h, late, q, few))
			}
			t.Row(append(cells, bounded(D, late > 0)(h.Max()))...)
		}
	}
	s := Section{Table: t}
	if deadlines > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d calls were ended by their deadline. They count as greater than all others, so that what is marked ≥ is at least so great.", deadlines))
	}
	if upper > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("The ttft of %d streams is an upper bound: their bytes may have come earlier than they were read.", upper))
	}
	if buffered > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d streams came in one burst after a wait: they have no tpot.", buffered))
	}
	return s
}

// bounded is Opt that marks the value as at least so great.
func bounded(of func(time.Duration) Cell, least bool) func(time.Duration, bool) Cell {
	return func(d time.Duration, ok bool) Cell {
		c := Opt(of)(d, ok)
		if least && ok {
			c = c.AtLeast()
		}
		return c
	}
}

// quantileName is p99.9 of 0.999.
func quantileName(q float64) string {
	return "p" + strconv.FormatFloat(math.Round(q*1e9)/1e7, 'f', -1, 64)
}

// censored is how many calls' values of a figure are known to be greater only.
func censored(g tacho.Group, f tacho.Figure) int64 {
	switch f {
	case tacho.TTFB, tacho.TTFC, tacho.TTFT, tacho.TTFO, tacho.TTLT, tacho.Duration:
		return g.Outcome(tacho.Deadline)
	}
	return 0
}

// quantile is the cell of a q-quantile of a histogram's values and late ones that
// are greater. Those of too few values are absent for the reason given.
func quantile(h *tacho.Histogram, late int64, q float64, tooFew string) Cell {
	n := h.Count()
	if n+late > 0 && n+late < tacho.Needed(q) && q < 1 {
		return Absent(tooFew)
	}
	return rankedQuantile(h, n, late, q)
}

// tooFew says what the quantiles of a table need; one text for all, so that it
// is one footnote.
func tooFew(quantiles []float64) string {
	var parts []string
	for _, q := range quantiles {
		if q < 1 {
			parts = append(parts, fmt.Sprintf("%s %d", quantileName(q), tacho.Needed(q)))
		}
	}
	return "Too few values. A quantile q needs 10 ÷ (1 − q): " + strings.Join(parts, ", ") + "."
}

// rankedQuantile is quantile however few values there are.
func rankedQuantile(h *tacho.Histogram, n, late int64, q float64) Cell {
	if n == 0 || n+late <= 0 {
		return Cell{}
	}
	if late <= 0 {
		return Opt(D)(h.Quantile(q))
	}
	rank := int64(math.Ceil(q*float64(n+late) - 1e-9))
	if rank > n {
		d, ok := h.Max()
		return bounded(D, true)(d, ok)
	}
	// In the middle of the rank, whose q no rounding can lead to its neighbour.
	return Opt(D)(h.Quantile(max(0, (float64(rank)-0.5)/float64(n))))
}
