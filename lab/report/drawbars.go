// SPDX-License-Identifier: Apache-2.0

package report

import "fmt"

const (
	barHeight = 16
	barGap    = 12 // between categories
	mostName  = 240
)

func (b *Bars) draw(id string) drawing {
	t := b.Data().clean()
	v := t.layout()
	var values []float64
	names, labels := 0.0, 0.0
	for i, row := range t.Rows {
		names = max(names, letters(row[0].text))
		for _, c := range row[1:] {
			if n, ok := c.Value(); ok {
				values = append(values, n)
			}
		}
		for k := range b.Series {
			labels = max(labels, letters(v.label(i, k+1)))
		}
	}
	block := float64(max(1, len(b.Series)) * barHeight)
	f := frame{left: min(mostName, names+14), right: pictureWidth - 14 - min(mostLabel, labels), top: 24}
	f.bottom = f.top + float64(len(t.Rows))*(block+barGap)
	axis := b.Axis
	axis.Log = false // the length of a bar begins at 0
	if axis.Kind == Duration && !named(axis.Unit) && len(v.heads) > 1 {
		axis.Unit = v.heads[1].unit // that of the labels
	}
	f.x = newRuler(axis, withLimits(values, b.Limits), true, f.left, f.right, 6)
	f.y = &ruler{}
	var c canvas
	for _, t := range f.x.ticks {
		c.line("g", f.x.at(t.value), f.top, f.x.at(t.value), f.bottom)
	}
	for i, row := range t.Rows {
		y := f.top + float64(i)*(block+barGap) + barGap/2
		c.textIn("end", f.left-8, y+block/2+4, mostName-14, row[0].text)
		for k := range b.Series {
			top := y + float64(k*barHeight)
			zero := f.x.at(0)
			if n, ok := row[k+1].Value(); ok {
				end := f.x.at(n)
				c.rect(fillClass(k), min(zero, end), top+1, max(1, max(zero, end)-min(zero, end)), barHeight-2)
				c.textIn("start", max(zero, end)+5, top+barHeight-4, mostLabel, v.label(i, k+1))
				continue
			}
			c.text("start", zero+5, top+barHeight-4, absent)
		}
	}
	c.line("a", f.x.at(0), f.top, f.x.at(0), f.bottom)
	c.grid(f, axis.caption(f.x), "")
	var out drawing
	if len(b.Series) > 1 {
		for i, s := range b.Series {
			out.legend = append(out.legend, key{cleanText(s.Name), i, false})
		}
	}
	out.legend = append(out.legend, c.limits(f, b.Limits, true)...)
	out.svg = c.finish(id, b.Title, fmt.Sprintf("Bars of %d categories. The table below holds the same.", len(t.Rows)), f.bottom+44)
	return out
}

// label is a cell of the k-th column of values with its unit. Columns of
// published values stand between those of the table.
func (v *view) label(row, column int) string {
	at := -1
	for i, h := range v.heads {
		if h.published {
			continue
		}
		if at++; at == column {
			text := v.rows[row][i].text
			if u := h.unit; u != "" && !v.rows[row][i].absent {
				text += " " + u
			}
			return text
		}
	}
	return ""
}

func (w *Waterfall) draw(id string) drawing {
	t := w.Data().clean()
	v := t.layout()
	names, labels := 0.0, 0.0
	for i, row := range t.Rows {
		names = max(names, letters(row[0].text))
		labels = max(labels, letters(v.label(i, 2)))
	}
	f := frame{left: min(mostName, names+14), right: pictureWidth - 14 - min(mostLabel, labels), top: 10}
	f.bottom = f.top + float64(len(w.Rows))*(barHeight+6)
	axis := Axis{Name: "since the start", Kind: Duration, Unit: v.heads[2].unit}
	f.x = newRuler(axis, []float64{0, w.end().Seconds()}, true, f.left, f.right, 7)
	f.y = &ruler{}
	var c canvas
	for _, t := range f.x.ticks {
		c.line("g", f.x.at(t.value), f.top, f.x.at(t.value), f.bottom)
	}
	groups := map[string]int{}
	var out drawing
	for i, p := range w.Rows {
		group := cleanText(p.Group)
		if _, seen := groups[group]; !seen {
			groups[group] = len(groups)
			if group != "" {
				out.legend = append(out.legend, key{group, groups[group], false})
			}
		}
		y := f.top + float64(i)*(barHeight+6) + 3
		c.textIn("end", f.left-8, y+barHeight-4, mostName-14, p.Name)
		if p.absent() {
			c.text("start", f.left+5, y+barHeight-4, absent)
			continue
		}
		from, to := f.x.at(p.Start.Seconds()), f.x.at(p.End.Seconds())
		class := fillClass(groups[group])
		if p.Open {
			class += " open"
		}
		c.rect(class, from, y, max(1, to-from), barHeight)
		c.textIn("start", max(to, from+1)+5, y+barHeight-4, mostLabel, v.label(i, 2))
	}
	c.grid(f, axis.caption(f.x), "")
	out.svg = c.finish(id, w.Title, fmt.Sprintf("%d phases in time. The table below holds the same.", len(w.Rows)), f.bottom+44)
	return out
}
