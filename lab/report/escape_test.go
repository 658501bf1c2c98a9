// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/lab/report"
)

// hostile is text that would mean something in one form or another.
func hostile() []string {
	return []string{
		"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "' onload='x", "</style><b>", "</title><b>", "<!--", "]]>", "&lt;", "a|b", "`code`", "*b* _i_ [l](http://x)",
		"line\nbreak", "u\u2028p\u2029s", "bad\xff\xfe", "\x1b[2Jesc\x00", "\u202eturned", "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "＝1", "模型", "a,b;c\"d", "\\", "1. list", "# head", "{{.}}", "${x}", "javascript:alert(1)",
	}
}

// hostileReport has text in every place that takes one.
func hostileReport(text string) *report.Report {
	h := new(tacho.Histogram)
	h.RecordN(ms, 30)
	r := &report.Report{Program: text, Version: text, Title: text, Subject: text, Parameters: []report.Parameter{{Name: text, Value: text}}, Warnings: []string{text}}
	axis := report.Axis{Name: text, Unit: text}
	limits := []report.Limit{{Name: text, Value: 1}}
	t := report.NewTable(report.Column{Name: text, Key: text, Kind: report.Text}, report.Column{Name: text, Unit: text, Kind: report.Ratio})
	t.Title = text
	t.Row(report.S(text).Note(text).Published(report.S(text), text), report.Number(1))
	for _, c := range []report.Chart{
		&report.Quantiles{Title: text, Series: []report.QuantileSeries{{Name: text, Histogram: h}}, Limits: limits},
		&report.Lines{Title: text, X: axis, Y: axis, Series: []report.LineSeries{{Name: text, Points: []report.Point{{X: 1, Y: 2}, {X: 2, Y: 3}}}}, Limits: limits},
		&report.Bars{Title: text, Axis: axis, Categories: []string{text, strings.Repeat(text, 9)}, Series: []report.BarSeries{{Name: text, Values: []report.Cell{report.Number(1), report.S(text)}}, {Name: text}}, Limits: limits},
		&report.Waterfall{Title: text, Rows: []report.Phase{{Name: text, Group: text, End: ms}, {Name: text, Group: text + "2", Start: ms, End: 2 * ms, Open: true}}},
	} {
		r.Add(report.Section{Heading: text, Text: text, Table: t, Chart: c, Notes: []string{text}})
	}
	return r
}

// TestHostileText: no text of a report becomes a tag, an attribute, a line, a
// formula or a terminal's command in any form.
func TestHostileText(t *testing.T) {
	t.Parallel()
	tags := regexp.MustCompile(`<[^>]*>`)
	// The shape of a page is that of one with a harmless text.
	shape := func(text string) []string {
		var b bytes.Buffer
		if err := hostileReport(text).WriteHTML(&b); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tag := range tags.FindAllString(b.String(), -1) {
			name, _, _ := strings.Cut(strings.Trim(tag, "</>"), " ")
			names = append(names, name)
		}
		checkPage(t, b.String())
		return names
	}
	for _, text := range hostile() {
		// What is cut or broken depends on its length: compare with as long a text.
		harmless := strings.Repeat("x", len([]rune(text)))
		if got, want := count(shape(text)), count(shape(harmless)); !near(got, want) {
			t.Errorf("%q changes the tags: %v, want %v", text, got, want)
		}
		for name, write := range forms(hostileReport(text)) {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(name, err)
			}
			if bad := strings.IndexFunc(b.String(), func(r rune) bool {
				return r < ' ' && r != '\n' || r == 0x7f || r == 0x202e || r == 0x2028 || r == 0x2029
			}); bad >= 0 {
				t.Errorf("%q: %s has a control character: …%q", text, name, b.String()[bad:min(bad+20, b.Len())])
			}
		}
	}
}

// count counts names.
func count(names []string) map[string]int {
	out := map[string]int{}
	for _, n := range names {
		out[n]++
	}
	return out
}

// near allows for tooltips and labels, which depend on a text's width.
func near(a, b map[string]int) bool {
	for _, m := range []map[string]int{a, b} {
		for name := range m {
			if name != "title" && name != "text" && name != "line" && a[name] != b[name] {
				return false
			}
		}
	}
	return true
}

// checkPage: the page has no way to run or load anything, and its pictures are
// well-formed.
func checkPage(t *testing.T, page string) {
	t.Helper()
	tag := regexp.MustCompile(`<[a-zA-Z][^>]*>`)
	bad := regexp.MustCompile(`(?i)^<(script|link|img|iframe|object|embed|base|form|input|a [^>]*href="[^#])|\son[a-z]+=|\ssrc=|\sstyle=|xlink|url\(`)
	for _, one := range tag.FindAllString(page, -1) {
		if bad.MatchString(one) {
			t.Errorf("the page has %s", one)
		}
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1) {
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%v in %s", err, svg)
			}
		}
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("a picture has a coordinate that is none: %s", svg)
		}
	}
	for _, want := range []string{"default-src 'none'", `<html lang="en">`, "prefers-color-scheme:dark", "@media print"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

// TestFormulas: CSV stays CSV, and no field of text is a formula.
func TestFormulas(t *testing.T) {
	t.Parallel()
	for _, text := range hostile() {
		r := hostileReport(text)
		for name, write := range map[string]func(io.Writer) error{"report": r.WriteCSV, "table": r.Sections[0].Table.WriteCSV} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			records, err := csv.NewReader(&b).ReadAll()
			if err != nil {
				t.Fatalf("%s of %q: %v", name, text, err)
			}
			for _, rec := range records {
				for _, f := range rec {
					if f != "" && strings.ContainsRune("=+-@＝\t\r", []rune(f)[0]) {
						t.Errorf("%s of %q: the field %q is a formula", name, text, f)
					}
				}
			}
		}
	}
	negative := report.NewTable(report.Column{Name: "d", Kind: report.Duration, Signed: true})
	negative.Row(report.D(-ms))
	var b bytes.Buffer
	if err := negative.WriteCSV(&b); err != nil || b.String() != "d (s)\n-0.001\n" {
		t.Errorf("a number below 0 is none: %q, %v", b.String(), err)
	}
}

// TestMarkdownEscapes: no text begins a list, a heading, a cell or a tag.
func TestMarkdownEscapes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a|b": `a\|b`, "<script>": `\<script\>`, "1. x": `1\. x`, "12) x": `12\) x`, "1.5": "1.5", "# x": `\# x`, "- x": `\- x`, "a-b": "a-b", "`c`": "\\`c\\`", "[l](u)": `\[l\](u)`, "a\nb": "a b", "&amp;": `\&amp;`, "~x~": `\~x\~`, `\`: `\\`,
	} {
		var b bytes.Buffer
		if err := (&report.Report{Title: text}).WriteMarkdown(&b); err != nil || b.String() != "# "+want+"\n" {
			t.Errorf("%q: %q, want %q, %v", text, b.String(), want, err)
		}
	}
}

// TestJSON: absent values are left out, keys differ, marks stand beside.
func TestJSON(t *testing.T) {
	t.Parallel()
	table := report.NewTable(report.Column{Name: "p99"}, report.Column{Name: "p99", Kind: report.Duration}, report.Column{Name: "Mean TTFT", Kind: report.Duration}, report.Column{Name: "÷÷"}, report.Column{})
	table.Row(report.Part(0.5), report.D(1500*ms).AtLeast().Estimated().Note("n").Published(report.D(2*ms), "r"), report.Absent("why"), report.N(3))
	table.Row()
	b, err := json.Marshal((&report.Report{Title: "t", Sections: []report.Section{{Table: table}}}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"format":"tacho-report/1","title":"t","incomplete":false,"sections":[{"table":{"columns":[` +
		`{"key":"p99","name":"p99","kind":"mixed"},{"key":"p99_2","name":"p99","kind":"duration","unit":"s"},{"key":"mean_ttft","name":"Mean TTFT","kind":"duration","unit":"s"},` +
		`{"key":"÷÷","name":"÷÷","kind":"mixed"},{"key":"column","name":"","kind":"mixed"}],"rows":[{"values":{"p99":0.5,"p99_2":1.5,"÷÷":3},` +
		`"marks":{"mean_ttft":{"note":"why"},"p99":{"kind":"share"},"p99_2":{"bound":"at_least","estimated":true,"note":"n","published":0.002,"remark":"r"},"÷÷":{"kind":"count"}}},{"values":{}}]}}]}`
	if string(b) != want {
		t.Errorf("got\n%s\nwant\n%s", b, want)
	}
}
