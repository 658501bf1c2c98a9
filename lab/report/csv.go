// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/csv"
	"io"
	"strings"
)

// WriteCSV writes the table as CSV (RFC 4180): a line of keys, then a line for
// each row. Times are in seconds and shares are parts of 1, as the keys say:
// "p50 (s)". Absent values are empty fields. A column some of whose values are
// marked is followed by one of the marks, and one with published values by
// those. A text that begins with =, +, -, @ or their full-width forms gets an
// apostrophe before it, as spreadsheets would run it.
func (t *Table) WriteCSV(w io.Writer) error {
	c := t.clean()
	out := csv.NewWriter(w)
	marks, published := make([]bool, len(c.Columns)), make([]bool, len(c.Columns))
	for _, row := range c.Rows {
		for i, cell := range row {
			marks[i] = marks[i] || cell.mark() != ""
			published[i] = published[i] || cell.published != nil
		}
	}
	var line []string
	for i, col := range c.Columns {
		name := col.Key
		if u := machineUnit(col); u != "" {
			name += " (" + u + ")"
		}
		line = append(line, formula(name))
		if marks[i] {
			line = append(line, formula(col.Key+" mark"))
		}
		if published[i] {
			line = append(line, formula(name+" published"))
		}
	}
	if err := out.Write(line); err != nil {
		return err
	}
	for _, row := range c.Rows {
		line = line[:0]
		for i, cell := range row {
			line = append(line, cell.field())
			if marks[i] {
				line = append(line, cell.mark())
			}
			if published[i] {
				p := Cell{}
				if cell.published != nil {
					p = *cell.published
				}
				line = append(line, p.field())
			}
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// WriteCSV writes the whole report as CSV with one line for each value, so that
// any reader can take it in: part (report, warning, parameter, text, table,
// chart, note), number and heading of the section, row, column, value, unit,
// mark, published value, note. Values are those of [Table.WriteCSV]; absent ones
// have a line if a note says why.
func (r *Report) WriteCSV(w io.Writer) error {
	c := r.clean()
	out := csv.NewWriter(w)
	line := func(fields ...string) { _ = out.Write(fields) } // Error tells it below
	head := func(part, column, value string) {
		if value != "" {
			line(part, "", "", "", formula(column), formula(value), "", "", "", "")
		}
	}
	line("part", "section", "heading", "row", "column", "value", "unit", "mark", "published", "note")
	for _, text := range c.Warnings {
		head("warning", "", text)
	}
	head("report", "title", c.Title)
	head("report", "subject", c.Subject)
	head("report", "program", c.Program)
	head("report", "version", c.Version)
	if !c.Start.IsZero() {
		head("report", "start", c.Start.UTC().Format("2006-01-02T15:04:05.999999999Z07:00"))
	}
	if !c.End.IsZero() {
		head("report", "end", c.End.UTC().Format("2006-01-02T15:04:05.999999999Z07:00"))
	}
	if c.Incomplete {
		head("report", "incomplete", "true")
	}
	for _, p := range c.Parameters {
		head("parameter", p.Name, p.Value)
	}
	for i, s := range c.Sections {
		n, heading := itoa(i+1), formula(s.Heading)
		if s.Text != "" {
			line("text", n, heading, "", "", formula(s.Text), "", "", "", "")
		}
		if s.Chart != nil {
			t := s.Chart.Data().clean()
			t.long(line, "chart", n, heading)
		}
		if s.Table != nil {
			s.Table.long(line, "table", n, heading)
		}
		for _, text := range s.Notes {
			line("note", n, heading, "", "", formula(text), "", "", "", "")
		}
	}
	out.Flush()
	return out.Error()
}

func (t *Table) long(line func(...string), part, section, heading string) {
	for k, row := range t.Rows {
		for i, cell := range row {
			if cell.IsAbsent() && cell.note == "" && cell.published == nil {
				continue
			}
			published, note := "", cell.note
			if p := cell.published; p != nil {
				published = p.field()
				note = strings.TrimSpace(note + " " + p.note)
			}
			unit := machineUnit(t.Columns[i])
			if t.Columns[i].Kind == Mixed {
				unit = machineUnit(Column{Kind: cell.kind})
			}
			line(part, section, heading, itoa(k+1), formula(t.Columns[i].Key), cell.field(), formula(unit), cell.mark(), published, formula(note))
		}
	}
}

// field is a cell's value in CSV.
func (c Cell) field() string {
	switch c.kind {
	case Mixed:
		return ""
	case Text:
		return formula(c.text)
	}
	return c.raw()
}

// mark is what is particular about a value, in CSV.
func (c Cell) mark() string {
	if c.IsAbsent() {
		return ""
	}
	text := c.bound.String()
	if c.estimated {
		text = strings.TrimSpace(text + " estimated")
	}
	return text
}

// formula keeps a spreadsheet from running a text.
func formula(s string) string {
	if s != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(s)[0]) {
		return "'" + s
	}
	return s
}
