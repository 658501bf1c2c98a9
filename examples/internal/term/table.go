// SPDX-License-Identifier: Apache-2.0

package term

import (
	"io"
	"slices"
	"strings"
)

// Table prints rows of cells in columns: the first Texts ones to the left, the
// others, which hold figures, to the right. A row may have fewer cells than
// another.
type Table struct {
	Texts int
	rows  [][]string
}

// Row adds a row.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, slices.Clone(cells)) }

// Write writes the table.
func (t *Table) Write(w io.Writer) {
	var widths []int
	for _, r := range t.rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(c))
		}
	}
	var b strings.Builder
	for _, r := range t.rows {
		for i, c := range r {
			if i < t.Texts {
				r[i] = Left(c, widths[i])
			} else {
				r[i] = Right(c, widths[i])
			}
		}
		b.WriteString(strings.TrimRight(strings.Join(r, "  "), " "))
		b.WriteByte('\n')
	}
	_, _ = io.WriteString(w, b.String())
}

// Wrap breaks a text at spaces into lines of at most width cells. The first line
// begins with first, the others with rest. A word that is longer stands alone.
func Wrap(text string, width int, first, rest string) string {
	var b strings.Builder
	b.WriteString(first)
	used := Width(first)
	for i, word := range strings.Fields(text) {
		n := Width(word)
		switch {
		case i == 0:
		case used+1+n > width:
			b.WriteString("\n" + rest)
			used = Width(rest)
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}
