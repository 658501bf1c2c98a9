// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
)

// Column is a column of a table.
type Column struct {
	Name string
	// Key is the column's name in JSON and CSV; by default it is made of Name.
	Key  string
	Kind Kind
	// Unit is that of a Duration ("s", "ms", "µs", "ns"), by default one that suits
	// all times of the table that name none; any other is ignored. Of a Rate it is
	// what is counted and "/s" by default ("tokens/s"); of a Count or Ratio it
	// stands behind the name.
	Unit string
	// Signed shows a plus before numbers above 0: a difference.
	Signed bool
}

// Table is rows of cells under columns. A row may have fewer cells than there are
// columns: the others are absent. Cells beyond the last column are not shown.
type Table struct {
	Title   string
	Columns []Column
	Rows    [][]Cell
}

// NewTable returns a table with columns.
func NewTable(columns ...Column) *Table { return &Table{Columns: columns} }

// Row adds a row.
func (t *Table) Row(cells ...Cell) { t.Rows = append(t.Rows, cells) }

// clean returns a copy with texts that are fit to be shown, keys that differ, and
// every row as long as the columns.
func (t *Table) clean() Table {
	out := Table{Title: cleanText(t.Title), Columns: make([]Column, len(t.Columns)), Rows: make([][]Cell, len(t.Rows))}
	used := map[string]bool{}
	for i, c := range t.Columns {
		c.Name, c.Unit, c.Key = cleanText(c.Name), cleanText(c.Unit), cleanText(c.Key)
		if c.Kind > Ratio {
			c.Kind = Mixed
		}
		c.Key = unique(keyOf(c), used)
		out.Columns[i] = c
	}
	for i, row := range t.Rows {
		cells := make([]Cell, len(t.Columns))
		for k := range cells {
			if k < len(row) {
				cells[k] = row[k].clean(out.Columns[k].Kind)
			}
		}
		out.Rows[i] = cells
	}
	return out
}

// clean cleans the texts of a cell. A value of another kind than its column's
// has no place there, as its unit would be a lie: numbers without a unit take
// the column's, all else is told as text in a column of texts and is else absent.
func (c Cell) clean(column Kind) Cell {
	c.text, c.note = cleanText(c.text), cleanText(c.note)
	if c.published != nil {
		p := c.published.clean(column)
		c.published = &p
	}
	if column == Mixed || c.kind == column || c.IsAbsent() {
		return c
	}
	switch {
	case column == Text:
		return Cell{kind: Text, text: c.plain(), note: c.note, published: c.published}
	case (column == Rate || column == Share || column == Ratio) && (c.kind == Ratio || c.kind == Count):
		c.kind = column
		return c
	}
	return Cell{note: strings.TrimSpace(c.note + fmt.Sprintf(" A %v stands in a column of kind %v.", c.kind, column)), published: c.published}
}

// keyOf makes a key of a column's name: "p99.9" stays, "mean TTFT" is mean_ttft.
func keyOf(c Column) string {
	name := c.Key
	if name == "" {
		name = strings.ToLower(c.Name)
	}
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80 && r != 0xfffd:
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	if key := strings.Trim(b.String(), "_"); key != "" {
		return key
	}
	return "column"
}

// unique returns a key that was not used before.
func unique(key string, used map[string]bool) string {
	out := key
	for i := 2; used[out]; i++ {
		out = fmt.Sprintf("%s_%d", key, i)
	}
	used[out] = true
	return out
}
