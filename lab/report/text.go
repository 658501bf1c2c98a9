// SPDX-License-Identifier: Apache-2.0

package report

import (
	"io"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

const (
	defaultWidth = 80
	leastWidth   = 40
)

// WriteText writes the report for a terminal that is so many cells wide: 80 for
// 0, and never less than 40. A table that is wider is cut into several, each
// with the leading columns of text. A chart is told by its summary.
func (r *Report) WriteText(w io.Writer, width int) error {
	if width == 0 {
		width = defaultWidth
	}
	width = max(width, leastWidth)
	var b strings.Builder
	c := r.clean()
	for i, text := range c.Warnings {
		prefix := "WARNING: "
		if i == 0 && c.Incomplete {
			prefix = ""
		}
		b.WriteString(wrap(text, width, prefix, "  ") + "\n")
	}
	if len(c.Warnings) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(wrap(c.Title, width, "", "") + "\n")
	if c.Subject != "" {
		b.WriteString(wrap(c.Subject, width, "", "") + "\n")
	}
	names := 0
	for _, l := range c.facts() {
		names = max(names, min(width/3, cells(l.Name)))
	}
	for _, l := range c.facts() {
		b.WriteString(wrap(l.Value, width, "  "+left(l.Name, names)+"  ", strings.Repeat(" ", names+4)) + "\n")
	}
	for _, s := range c.Sections {
		b.WriteByte('\n')
		s.text(&b, width)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// facts are the lines of the head: when and by what, and the parameters.
func (r *Report) facts() (all []Parameter) {
	if s := r.span(); s != "" {
		all = append(all, Parameter{"measured", s})
	}
	if by := r.by(); by != "" {
		all = append(all, Parameter{"by", by})
	}
	for _, p := range r.Parameters {
		if p.Value == "" {
			p.Value = absent
		}
		all = append(all, p)
	}
	return all
}

// WriteText writes the section as [Report.WriteText] does.
func (s Section) WriteText(w io.Writer, width int) error {
	if width == 0 {
		width = defaultWidth
	}
	var b strings.Builder
	s.clean().text(&b, max(width, leastWidth))
	_, err := io.WriteString(w, b.String())
	return err
}

func (s Section) text(b *strings.Builder, width int) {
	for _, t := range [...]string{s.Heading, s.Text} {
		if t != "" {
			b.WriteString(wrap(t, width, "", "") + "\n")
		}
	}
	if s.Chart != nil {
		t := s.Chart.Summary().clean()
		if t.Title == s.Heading {
			t.Title = ""
		}
		t.text(b, width)
	}
	if s.Table != nil {
		s.Table.text(b, width)
	}
	for _, n := range s.Notes {
		b.WriteString(wrap(n, width, "", "  ") + "\n")
	}
}

// WriteText writes the table as [Report.WriteText] does.
func (t *Table) WriteText(w io.Writer, width int) error {
	return Section{Table: t}.WriteText(w, width)
}

func (t *Table) text(b *strings.Builder, width int) {
	v := t.layout()
	if v.title != "" {
		b.WriteString(wrap(v.title, width, "", "") + "\n")
	}
	if len(v.heads) == 0 {
		return
	}
	for i, block := range v.blocks(width) {
		if i > 0 {
			b.WriteByte('\n')
		}
		v.block(b, block)
	}
	for i, n := range v.notes {
		b.WriteString(wrap(n, width, superscript([]int{i + 1})+" ", "  ") + "\n")
	}
}

// place is a column in a block of columns.
type place struct{ column, width int }

// blocks shares the columns out to blocks that fit the width.
func (v *view) blocks(width int) (blocks [][]place) {
	widths := make([]int, len(v.heads))
	total := -2
	for i, h := range v.heads {
		widths[i] = cells(h.String())
		for _, row := range v.rows {
			widths[i] = max(widths[i], cells(row[i].text)+cells(superscript(row[i].notes)))
		}
		if v.marked(i) && h.right {
			// Numbers without a footnote stand above those with one.
			for _, row := range v.rows {
				widths[i] = max(widths[i], cells(row[i].text)+v.markWidth(i))
			}
		}
		total += widths[i] + 2
	}
	if total > width {
		for i, h := range v.heads {
			if limit := max(16, width/3); !h.right && widths[i] > limit {
				total -= widths[i] - limit
				widths[i] = limit
			}
		}
	}
	keys, used := 0, 0
	for total > width && keys < len(v.heads)-1 && !v.heads[keys].right && used+widths[keys]+2 <= width/2 {
		used += widths[keys] + 2
		keys++
	}
	var block []place
	reset := func() {
		block = nil
		for i := range keys {
			block = append(block, place{i, widths[i]})
		}
	}
	reset()
	at := used
	for i := keys; i < len(v.heads); i++ {
		if at+widths[i] > width && len(block) > keys {
			blocks = append(blocks, block)
			reset()
			at = used
		}
		block = append(block, place{i, widths[i]})
		at += widths[i] + 2
	}
	return append(blocks, block)
}

func (v *view) marked(column int) bool { return v.markWidth(column) > 0 }

// markWidth is the width of the widest footnote mark of a column.
func (v *view) markWidth(column int) (n int) {
	for _, row := range v.rows {
		n = max(n, cells(superscript(row[column].notes)))
	}
	return n
}

func (v *view) block(b *strings.Builder, places []place) {
	line := func(cell func(p place) (text string, right bool)) {
		// A cell that is longer than its column goes on in the next line.
		rest := make([][]string, len(places))
		lines := 1
		rights := make([]bool, len(places))
		for i, p := range places {
			text, right := cell(p)
			rights[i] = right
			if !right && cells(text) > p.width {
				rest[i] = strings.Split(wrap(text, p.width, "", ""), "\n")
			} else {
				rest[i] = []string{text}
			}
			lines = max(lines, len(rest[i]))
		}
		for n := range lines {
			var parts []string
			for i, p := range places {
				text := ""
				if n < len(rest[i]) {
					text = rest[i][n]
				}
				if rights[i] {
					parts = append(parts, right(text, p.width))
				} else {
					parts = append(parts, left(text, p.width))
				}
			}
			b.WriteString(strings.TrimRight(strings.Join(parts, "  "), " ") + "\n")
		}
	}
	line(func(p place) (string, bool) {
		h := v.heads[p.column]
		if h.right {
			return h.String() + strings.Repeat(" ", v.markWidth(p.column)), true
		}
		return h.String(), false
	})
	for _, row := range v.rows {
		line(func(p place) (string, bool) {
			c, h := row[p.column], v.heads[p.column]
			text := c.text + superscript(c.notes)
			if h.right {
				text += strings.Repeat(" ", v.markWidth(p.column)-cells(superscript(c.notes)))
			}
			return text, h.right
		})
	}
}

// cells is the number of a terminal's cells that s takes: two for wide characters,
// none for marks that combine with the one before.
func cells(s string) (n int) {
	for _, r := range s {
		switch {
		case r < 0x300:
			n++
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		default:
			n++
			if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
				n++
			}
		}
	}
	return n
}

func left(s string, width int) string  { return s + strings.Repeat(" ", max(0, width-cells(s))) }
func right(s string, width int) string { return strings.Repeat(" ", max(0, width-cells(s))) + s }

// wrap breaks a text at spaces, and a word that is longer than a line inside it.
// The first line begins with first, the others with rest.
func wrap(text string, width int, first, rest string) string {
	var b strings.Builder
	b.WriteString(first)
	used, fresh := cells(first), true
	for _, word := range strings.Fields(text) {
		if n := cells(word); !fresh && used+1+n <= width {
			b.WriteByte(' ')
			used++
		} else if !fresh {
			b.WriteString("\n" + rest)
			used = cells(rest)
		}
		fresh = false
		for _, r := range word {
			n := cells(string(r))
			if used+n > width && used > cells(rest) {
				b.WriteString("\n" + rest)
				used = cells(rest)
			}
			b.WriteRune(r)
			used += n
		}
	}
	return b.String()
}

func itoa(n int) string { return strconv.Itoa(n) }
