// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"io"
	"time"
)

type reportJSON struct {
	Format     string        `json:"format"`
	Program    string        `json:"program,omitempty"`
	Version    string        `json:"version,omitempty"`
	Title      string        `json:"title"`
	Subject    string        `json:"subject,omitempty"`
	Start      *time.Time    `json:"start,omitempty"`
	End        *time.Time    `json:"end,omitempty"`
	Incomplete bool          `json:"incomplete"`
	Warnings   []string      `json:"warnings,omitempty"`
	Parameters []Parameter   `json:"parameters,omitempty"`
	Sections   []sectionJSON `json:"sections,omitempty"`
}

// format names the form of the JSON, so that a reader can tell it apart.
const format = "tacho-report/1"

type sectionJSON struct {
	Heading string     `json:"heading,omitempty"`
	Text    string     `json:"text,omitempty"`
	Chart   *tableJSON `json:"chart,omitempty"`
	Table   *tableJSON `json:"table,omitempty"`
	Notes   []string   `json:"notes,omitempty"`
}

type tableJSON struct {
	Chart   string       `json:"chart,omitempty"` // its kind
	Title   string       `json:"title,omitempty"`
	Columns []columnJSON `json:"columns"`
	Rows    []rowJSON    `json:"rows"`
}

type columnJSON struct {
	Key  string `json:"key"`
	Name string `json:"name"`
	Kind string `json:"kind"`
	Unit string `json:"unit,omitempty"` // of the values here
}

type rowJSON struct {
	Values map[string]any      `json:"values"`
	Marks  map[string]markJSON `json:"marks,omitempty"`
}

// markJSON is what is particular about a cell.
type markJSON struct {
	Kind      string `json:"kind,omitempty"` // of a value in a mixed column
	Bound     string `json:"bound,omitempty"`
	Estimated bool   `json:"estimated,omitempty"`
	Note      string `json:"note,omitempty"`
	Published any    `json:"published,omitempty"`
	Remark    string `json:"remark,omitempty"` // on the published value
}

// MarshalJSON returns the report as JSON. Values stand under the keys of their
// columns: times in seconds, shares as parts of 1. Absent ones are left out. What
// is particular about a value (bound, estimate, note, what was published) stands
// beside under "marks". The texts are those that the other forms show.
func (r *Report) MarshalJSON() ([]byte, error) {
	c := r.clean()
	out := reportJSON{Format: format, Program: c.Program, Version: c.Version, Title: c.Title, Subject: c.Subject,
		Incomplete: c.Incomplete, Warnings: c.Warnings, Parameters: c.Parameters}
	if !c.Start.IsZero() {
		out.Start = &c.Start
	}
	if !c.End.IsZero() {
		out.End = &c.End
	}
	for _, s := range c.Sections {
		one := sectionJSON{Heading: s.Heading, Text: s.Text, Notes: s.Notes}
		if s.Chart != nil {
			t := s.Chart.Data().clean()
			one.Chart = t.json()
			one.Chart.Chart = chartName(s.Chart)
		}
		if s.Table != nil {
			one.Table = s.Table.json()
		}
		out.Sections = append(out.Sections, one)
	}
	return json.Marshal(out)
}

// WriteJSON writes the report as indented JSON, as MarshalJSON says.
func (r *Report) WriteJSON(w io.Writer) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

func (t *Table) json() *tableJSON {
	out := &tableJSON{Title: t.Title, Columns: []columnJSON{}, Rows: []rowJSON{}}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, columnJSON{c.Key, c.Name, c.Kind.String(), machineUnit(c)})
	}
	for _, row := range t.Rows {
		one := rowJSON{Values: map[string]any{}}
		for i, c := range row {
			key := t.Columns[i].Key
			if v := c.json(); v != nil {
				one.Values[key] = v
			}
			m := markJSON{Bound: c.bound.String(), Estimated: c.estimated, Note: c.note}
			if c.IsAbsent() {
				m.Bound, m.Estimated = "", false
			}
			if t.Columns[i].Kind == Mixed && !c.IsAbsent() {
				m.Kind = c.kind.String()
			}
			if c.published != nil {
				m.Published, m.Remark = c.published.json(), c.published.note
			}
			if m != (markJSON{}) {
				if one.Marks == nil {
					one.Marks = map[string]markJSON{}
				}
				one.Marks[key] = m
			}
		}
		out.Rows = append(out.Rows, one)
	}
	return out
}

func (c Cell) json() any {
	switch c.kind {
	case Mixed:
		return nil
	case Text:
		return c.text
	}
	return json.Number(c.raw())
}

// machineUnit is the unit of a column's values in JSON and CSV.
func machineUnit(c Column) string {
	switch c.Kind {
	case Duration:
		return "s"
	case Rate:
		if c.Unit == "" {
			return "/s"
		}
		return c.Unit
	case Count, Ratio:
		return c.Unit
	}
	return ""
}

func chartName(c Chart) string {
	switch c.(type) {
	case *Quantiles:
		return "quantiles"
	case *Lines:
		return "lines"
	case *Bars:
		return "bars"
	case *Waterfall:
		return "waterfall"
	}
	return ""
}
