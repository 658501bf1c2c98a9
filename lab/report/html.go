// SPDX-License-Identifier: Apache-2.0

package report

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"strings"
)

// contents is from how many headings on a page has a list of them.
const contents = 4

// WriteHTML writes the report as one page that needs nothing else: its style and
// its pictures stand in it. It runs no script and loads nothing, which its
// policy forbids besides. It is readable in light and dark, and printed light.
func (r *Report) WriteHTML(w io.Writer) error {
	p := page{}
	c := r.clean()
	p.head(c)
	p.contents(c.Sections)
	for i, s := range c.Sections {
		p.section(i+1, s)
	}
	p.add("</main>\n</body>\n</html>\n")
	_, err := io.WriteString(w, p.b.String())
	return err
}

// shortText is up to how many letters a text of a table is not broken.
const shortText = 24

// page writes HTML. Every text of the report goes through esc; the rest is
// written here.
type page struct {
	b      strings.Builder
	charts int
}

func (p *page) add(parts ...string) {
	for _, s := range parts {
		p.b.WriteString(s)
	}
}

// element writes a text between tags, nothing without a text.
func (p *page) element(tag, class, text string) {
	if text == "" {
		return
	}
	p.add("<", tag)
	if class != "" {
		p.add(` class="`, class, `"`)
	}
	p.add(">", esc(text), "</", tag, ">\n")
}

func (p *page) head(r *Report) {
	sum := sha256.Sum256([]byte(style))
	p.add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-`, base64.StdEncoding.EncodeToString(sum[:]),
		`'; base-uri 'none'; form-action 'none'">`, "\n",
		`<meta name="viewport" content="width=device-width, initial-scale=1">`, "\n",
		`<meta name="referrer" content="no-referrer">`, "\n<title>", esc(r.Title), "</title>\n<style>", style, "</style>\n</head>\n<body>\n<main>\n")
	if len(r.Warnings) > 0 {
		p.add("<div class=\"warnings\" role=\"alert\">\n<strong>Warning</strong>\n<ul>\n")
		for _, w := range r.Warnings {
			p.element("li", "", w)
		}
		p.add("</ul>\n</div>\n")
	}
	p.element("h1", "", r.Title)
	p.element("p", "subject", r.Subject)
	if facts := r.facts(); len(facts) > 0 {
		p.add("<dl>\n")
		for _, f := range facts {
			p.add("<dt>", esc(f.Name), "</dt><dd>", esc(f.Value), "</dd>\n")
		}
		p.add("</dl>\n")
	}
}

func (p *page) contents(sections []Section) {
	n := 0
	for _, s := range sections {
		if s.Heading != "" {
			n++
		}
	}
	if n < contents {
		return
	}
	p.add("<nav aria-label=\"Contents\">\n<ul>\n")
	for i, s := range sections {
		if s.Heading != "" {
			p.add(`<li><a href="#s`, itoa(i+1), `">`, esc(s.Heading), "</a></li>\n")
		}
	}
	p.add("</ul>\n</nav>\n")
}

func (p *page) section(n int, s Section) {
	p.add(`<section id="s`, itoa(n), "\">\n")
	p.element("h2", "", s.Heading)
	p.element("p", "", s.Text)
	if s.Chart != nil {
		p.chart(s.Chart, s.Heading)
	}
	if s.Table != nil {
		p.table(s.Table)
	}
	if len(s.Notes) > 0 {
		p.add("<ul class=\"notes\">\n")
		for _, text := range s.Notes {
			p.element("li", "", text)
		}
		p.add("</ul>\n")
	}
	p.add("</section>\n")
}

func (p *page) chart(c Chart, heading string) {
	p.charts++
	d := c.draw("c" + itoa(p.charts))
	p.add("<figure>\n")
	if t := cleanText(c.title()); t != "" && t != heading {
		p.element("figcaption", "", t)
	}
	p.add(`<div class="scroll" tabindex="0">`, d.svg, "</div>\n")
	if len(d.legend) > 0 {
		p.add("<ul class=\"legend\">\n")
		for _, k := range d.legend {
			p.add("<li>", k.swatch(), esc(k.name), "</li>\n")
		}
		p.add("</ul>\n")
	}
	p.element("p", "small", d.caption)
	t := c.Data().clean()
	t.Title = ""
	p.add("<details>\n<summary>The same as a table</summary>\n")
	p.table(&t)
	p.add("</details>\n</figure>\n")
}

// swatch is the sign of a legend's entry.
func (k key) swatch() string {
	const open = `<svg class="swatch" viewBox="0 0 28 12" aria-hidden="true">`
	switch {
	case k.index < 0:
		return open + `<line class="limit" x1="0" y1="6" x2="28" y2="6"/></svg>`
	case k.line:
		return open + `<line class="` + lineClass(k.index) + `" x1="0" y1="6" x2="28" y2="6"/></svg>`
	}
	return open + `<rect class="` + fillClass(k.index) + `" x="8" y="0" width="12" height="12"/></svg>`
}

func (p *page) table(t *Table) {
	v := t.layout()
	if len(v.heads) == 0 {
		return
	}
	p.add("<div class=\"scroll\" tabindex=\"0\">\n<table>\n")
	p.element("caption", "", v.title)
	p.add("<thead><tr>")
	for _, h := range v.heads {
		p.add(`<th scope="col"`, rightClass(h.right), ">", esc(h.name))
		if h.unit != "" {
			p.add(` <span class="unit">`, esc(h.unit), "</span>")
		}
		p.add("</th>")
	}
	p.add("</tr></thead>\n<tbody>\n")
	for _, row := range v.rows {
		p.add("<tr>")
		for i, c := range row {
			tag, scope := "td", ""
			if i == 0 && !v.heads[0].right {
				tag, scope = "th", ` scope="row"`
			}
			class := rightClass(v.heads[i].right)
			if class == "" && cells(c.text) <= shortText {
				class = ` class="t"`
			}
			p.add("<", tag, scope, class, ">", esc(c.text), p.marks(c, v.markWidth(i) > 0 && v.heads[i].right), "</", tag, ">")
		}
		p.add("</tr>\n")
	}
	p.add("</tbody>\n</table>\n")
	if len(v.notes) > 0 {
		p.add("<ol class=\"footnotes\">\n")
		for _, n := range v.notes {
			p.element("li", "", n)
		}
		p.add("</ol>\n")
	}
	p.add("</div>\n")
}

// marks are the numbers of a cell's footnotes. In a column with some, each number
// leaves room for them, so that digits stand under digits.
func (p *page) marks(c shown, keep bool) string {
	if len(c.notes) == 0 && !keep {
		return ""
	}
	var numbers []string
	for _, n := range c.notes {
		numbers = append(numbers, itoa(n))
	}
	return `<sup>` + strings.Join(numbers, ",") + `</sup>`
}

func rightClass(right bool) string {
	if right {
		return ` class="n"`
	}
	return ""
}
