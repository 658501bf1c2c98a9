// SPDX-License-Identifier: Apache-2.0

package report

import "time"

// Report is what an experiment measured. The zero Report is empty and can be
// written; fields that are empty are not shown.
type Report struct {
	Program    string    // what measured, as in "models"
	Version    string    // its version
	Title      string    // "Report" by default
	Subject    string    // what was measured, in a sentence
	Start, End time.Time // of the measurement
	// Incomplete says that the run was stopped before its end. Every form begins
	// with that.
	Incomplete bool
	Parameters []Parameter
	// Warnings are reasons not to trust the figures. They stand above them.
	Warnings []string
	Sections []Section
}

// Parameter is a setting of the run.
type Parameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Section is a part of a report: a text, or a table or a chart with its notes. If
// it has both a table and a chart, the chart comes first.
type Section struct {
	Heading string
	Text    string
	Table   *Table
	Chart   Chart
	Notes   []string
}

// incomplete is the first line of a report that is not whole.
const incomplete = "INCOMPLETE: the run was stopped before its end; the figures are of what was measured so far."

// Add adds sections, and returns the report.
func (r *Report) Add(sections ...Section) *Report {
	r.Sections = append(r.Sections, sections...)
	return r
}

// Param adds a parameter.
func (r *Report) Param(name, value string) {
	r.Parameters = append(r.Parameters, Parameter{name, value})
}

// Warn adds a warning.
func (r *Report) Warn(text string) { r.Warnings = append(r.Warnings, text) }

// clean returns a copy all of whose texts are fit to be shown, with what an
// incomplete run says first among the warnings.
func (r *Report) clean() *Report {
	out := *r
	for _, s := range [...]*string{&out.Program, &out.Version, &out.Title, &out.Subject} {
		*s = cleanText(*s)
	}
	if out.Title == "" {
		out.Title = "Report"
	}
	out.Parameters = make([]Parameter, len(r.Parameters))
	for i, p := range r.Parameters {
		out.Parameters[i] = Parameter{cleanText(p.Name), cleanText(p.Value)}
	}
	out.Warnings = nil
	if r.Incomplete {
		out.Warnings = append(out.Warnings, incomplete)
	}
	for _, w := range r.Warnings {
		out.Warnings = append(out.Warnings, cleanText(w))
	}
	out.Sections = make([]Section, len(r.Sections))
	for i, s := range r.Sections {
		out.Sections[i] = s.clean()
	}
	return &out
}

func (s Section) clean() Section {
	out := Section{Heading: cleanText(s.Heading), Text: cleanText(s.Text), Chart: s.Chart}
	if s.Table != nil {
		t := s.Table.clean()
		out.Table = &t
	}
	for _, n := range s.Notes {
		out.Notes = append(out.Notes, cleanText(n))
	}
	return out
}

// span tells when a run was.
func (r *Report) span() string {
	const layout = "2006-01-02 15:04:05 MST"
	switch {
	case r.Start.IsZero():
		return ""
	case r.End.IsZero() || r.End.Before(r.Start):
		return r.Start.UTC().Format(layout)
	}
	return r.Start.UTC().Format(layout) + ", " + r.End.Sub(r.Start).Round(time.Millisecond).String()
}

// by tells what measured.
func (r *Report) by() string {
	if r.Version == "" || r.Program == "" {
		return r.Program
	}
	return r.Program + " " + r.Version
}
