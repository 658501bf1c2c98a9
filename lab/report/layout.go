// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strings"
)

// view is a table as readers see it, whatever the form.
type view struct {
	title string
	heads []head
	rows  [][]shown
	notes []string // footnotes; the first is number 1
}

type head struct {
	name, unit string
	right      bool // numbers
	published  bool // of the column before it
}

// String is the head in one line.
func (h head) String() string {
	switch {
	case h.unit == "":
		return h.name
	case h.name == "":
		return h.unit
	}
	return h.name + " " + h.unit
}

// shown is a cell as readers see it.
type shown struct {
	text   string
	notes  []int // numbers of footnotes
	absent bool
}

// layout lays out a cleaned table.
func (t *Table) layout() view {
	v := view{title: t.Title}
	scales := t.scales()
	published := make([]bool, len(t.Columns))
	for _, row := range t.Rows {
		for i, c := range row {
			published[i] = published[i] || c.published != nil
		}
	}
	for i, c := range t.Columns {
		h := head{name: c.Name, unit: scales[i].name, right: c.Kind != Text}
		if c.Kind == Text || c.Kind == Mixed {
			h.unit = ""
		}
		v.heads = append(v.heads, h)
		if published[i] {
			h.name, h.published = "published", true
			v.heads = append(v.heads, h)
		}
	}
	for _, row := range t.Rows {
		var cells []shown
		for i, c := range row {
			cells = append(cells, v.show(c, scales[i]))
			if published[i] {
				p := Cell{}
				if c.published != nil {
					p = *c.published
				}
				cells = append(cells, v.show(p, scales[i]))
			}
		}
		v.rows = append(v.rows, cells)
	}
	return v
}

// show tells a cell in its column's scale.
func (v *view) show(c Cell, s scale) shown {
	out := shown{text: absent, absent: c.IsAbsent()}
	switch {
	case out.absent:
	case c.kind == Text || s.kind == Mixed:
		out.text = c.plain()
	default:
		out.text = s.format(c.number)
	}
	if c.estimated && !out.absent {
		out.text = "~" + out.text
	}
	if !out.absent {
		out.text = [...]string{"", "≥ ", "≤ "}[c.bound] + out.text
	}
	if c.note != "" {
		at := slices.Index(v.notes, c.note)
		if at < 0 {
			at = len(v.notes)
			v.notes = append(v.notes, c.note)
		}
		out.notes = append(out.notes, at+1)
	}
	return out
}

// scales returns the scale of each column; times of which no unit is named share
// one.
func (t *Table) scales() []scale {
	out := make([]scale, len(t.Columns))
	values := make([][]float64, len(t.Columns))
	var times []float64
	for i, c := range t.Columns {
		for _, row := range t.Rows {
			for _, cell := range [...]*Cell{&row[i], row[i].published} {
				if cell != nil && cell.kind > Text {
					values[i] = append(values[i], cell.number)
				}
			}
		}
		if c.Kind == Duration && !named(c.Unit) {
			times = append(times, values[i]...)
		}
	}
	for i, c := range t.Columns {
		switch {
		case c.Kind == Mixed || c.Kind == Text:
			out[i] = scale{kind: c.Kind, unit: 1}
			continue
		case c.Kind == Duration && !named(c.Unit):
			values[i] = times
		}
		out[i] = scaleOf(c.Kind, c.Unit, values[i])
		out[i].signed = c.Signed
	}
	return out
}

// named reports whether a unit is one of time.
func named(unit string) bool {
	return slices.Contains([]string{"ns", "µs", "us", "ms", "s"}, unit)
}

// superscript tells numbers of footnotes.
func superscript(numbers []int) string {
	const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹"
	all := []rune(digits)
	var b strings.Builder
	for i, n := range numbers {
		if i > 0 {
			b.WriteRune('˒')
		}
		for _, r := range itoa(n) {
			b.WriteRune(all[r-'0'])
		}
	}
	return b.String()
}
