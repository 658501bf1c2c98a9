// SPDX-License-Identifier: Apache-2.0

package report

import (
	"io"
	"strings"
)

// WriteMarkdown writes the report as GitHub's Markdown. A chart is told by its
// summary.
func (r *Report) WriteMarkdown(w io.Writer) error {
	c := r.clean()
	var b strings.Builder
	for _, text := range c.Warnings {
		b.WriteString("> **Warning:** " + markdown(text) + "\n\n")
	}
	b.WriteString("# " + markdown(c.Title) + "\n")
	if c.Subject != "" {
		b.WriteString("\n" + markdown(c.Subject) + "\n")
	}
	if facts := c.facts(); len(facts) > 0 {
		b.WriteByte('\n')
		for _, f := range facts {
			b.WriteString("- " + markdown(f.Name) + ": " + markdown(f.Value) + "\n")
		}
	}
	for _, s := range c.Sections {
		s.markdown(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s Section) markdown(b *strings.Builder) {
	if s.Heading != "" {
		b.WriteString("\n## " + markdown(s.Heading) + "\n")
	}
	if s.Text != "" {
		b.WriteString("\n" + markdown(s.Text) + "\n")
	}
	if s.Chart != nil {
		t := s.Chart.Summary().clean()
		if t.Title == s.Heading {
			t.Title = ""
		}
		t.markdown(b)
	}
	if s.Table != nil {
		s.Table.markdown(b)
	}
	if len(s.Notes) > 0 {
		b.WriteByte('\n')
	}
	for _, n := range s.Notes {
		b.WriteString("- " + markdown(n) + "\n")
	}
}

func (t *Table) markdown(b *strings.Builder) {
	v := t.layout()
	if v.title != "" {
		b.WriteString("\n**" + markdown(v.title) + "**\n")
	}
	if len(v.heads) == 0 {
		return
	}
	var heads, rules []string
	for _, h := range v.heads {
		heads = append(heads, markdown(h.String()))
		if h.right {
			rules = append(rules, "--:")
		} else {
			rules = append(rules, "---")
		}
	}
	b.WriteString("\n| " + strings.Join(heads, " | ") + " |\n| " + strings.Join(rules, " | ") + " |\n")
	for _, row := range v.rows {
		var cells []string
		for _, c := range row {
			cells = append(cells, markdown(c.text)+superscript(c.notes))
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	for i, n := range v.notes {
		b.WriteString("\n" + superscript([]int{i + 1}) + " " + markdown(n) + "\n")
	}
}

// markdown escapes what means something in Markdown, HTML in it included. What
// begins a list or a heading means so only at a line's begin.
func markdown(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case strings.ContainsRune("\\`*_[]<>|~&$", r), i == 0 && strings.ContainsRune("#+-=", r):
			b.WriteByte('\\')
		case r == '.' || r == ')':
			if i > 0 && i < 10 && strings.Trim(s[:i], "0123456789") == "" && (i+1 == len(s) || s[i+1] == ' ') {
				b.WriteByte('\\') // a list
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}
