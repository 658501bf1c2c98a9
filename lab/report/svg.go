// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The size of a picture, in its own unit, a pixel at its full width.
const (
	pictureWidth  = 760
	pictureHeight = 320
	letter        = 6.6 // the mean width of a letter of 12 pixels, generously
	mostLabel     = 180 // the room of a value beside a picture
	colours       = 8   // of series; the style has as many
)

// drawing is a picture and what its legend says.
type drawing struct {
	svg     string
	legend  []key
	caption string // what a reader without the picture is told
}

// key is an entry of a legend.
type key struct {
	name  string
	index int // of the series; −1: a limit
	line  bool
}

// canvas writes SVG. All text goes through esc.
type canvas struct{ b strings.Builder }

// esc makes a text fit for HTML, between tags and in quoted attributes.
func esc(s string) string {
	var b strings.Builder
	for _, r := range cleanText(s) {
		switch r {
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '"':
			b.WriteString("&#34;")
		case '\'':
			b.WriteString("&#39;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// num tells a coordinate, to a tenth of a pixel.
func num(v float64) string {
	if !finitePoint(v) {
		return "0"
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

func (c *canvas) raw(parts ...string) {
	for _, p := range parts {
		c.b.WriteString(p)
	}
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.raw(`<line class="`, class, `" x1="`, num(x1), `" y1="`, num(y1), `" x2="`, num(x2), `" y2="`, num(y2), `"/>`)
}

// text writes a text; anchor is start, middle or end.
func (c *canvas) text(anchor string, x, y float64, s string) {
	c.raw(`<text text-anchor="`, anchor, `" x="`, num(x), `" y="`, num(y), `">`, esc(s), `</text>`)
}

// textIn writes a text that is cut where it is longer than width, and whole in
// its tooltip.
func (c *canvas) textIn(anchor string, x, y, width float64, s string) {
	s = cleanText(s)
	short := s
	for letters(short) > width && utf8.RuneCountInString(short) > 1 {
		r := []rune(strings.TrimSuffix(short, "…"))
		short = string(r[:len(r)-1]) + "…"
		if len(r) == 1 {
			break
		}
	}
	if short == s {
		c.text(anchor, x, y, s)
		return
	}
	c.raw(`<text text-anchor="`, anchor, `" x="`, num(x), `" y="`, num(y), `"><title>`, esc(s), `</title>`, esc(short), `</text>`)
}

func (c *canvas) rect(class string, x, y, width, height float64) {
	c.raw(`<rect class="`, class, `" x="`, num(x), `" y="`, num(y), `" width="`, num(width), `" height="`, num(height), `"/>`)
}

func (c *canvas) dot(class string, x, y float64) {
	c.raw(`<circle class="`, class, `" cx="`, num(x), `" cy="`, num(y), `" r="2.5"/>`)
}

// path draws a line.
func (c *canvas) path(class, d string) {
	if d != "" {
		c.raw(`<path class="`, class, `" d="`, d, `"/>`)
	}
}

// finish returns the picture, with a title and a description for those who do
// not see it.
func (c *canvas) finish(id, title, description string, height float64) string {
	return `<svg role="img" aria-labelledby="` + id + `-t ` + id + `-d" viewBox="0 0 ` + strconv.Itoa(pictureWidth) + ` ` + num(height) + `">` +
		`<title id="` + id + `-t">` + esc(title) + `</title><desc id="` + id + `-d">` + esc(description) + `</desc>` + c.b.String() + `</svg>`
}

// letters is about the width of a text of 12 pixels.
func letters(s string) float64 { return float64(cells(s)) * letter }

// lineClass and fillClass are those of a series. Beside the colour a line has
// dashes of its own.
func lineClass(index int) string {
	return "l s" + strconv.Itoa(index%colours) + " d" + strconv.Itoa(index%5)
}
func fillClass(index int) string { return "f s" + strconv.Itoa(index%colours) }

// frame is the room of a plot inside the picture, and its two axes.
type frame struct {
	left, right, top, bottom float64
	x, y                     *ruler
}

// grid draws the axes with their ticks. Labels that would touch the one before
// are left out.
func (c *canvas) grid(f frame, xName, yName string) {
	for _, t := range f.y.ticks {
		y := f.y.at(t.value)
		c.line("g", f.left, y, f.right, y)
		c.textIn("end", f.left-6, y+4, mostLabel, t.label)
	}
	end := math.Inf(-1)
	for _, t := range f.x.ticks {
		x, half := f.x.at(t.value), letters(t.label)/2
		c.line("a", x, f.bottom, x, f.bottom+4)
		if x-half > end+6 {
			c.text("middle", x, f.bottom+18, t.label)
			end = x + half
		}
	}
	c.line("a", f.left, f.bottom, f.right, f.bottom)
	c.textIn("start", 4, 14, pictureWidth-20, yName)
	c.textIn("end", f.right, f.bottom+36, f.right-8, xName)
}

// room is the space that the labels of a vertical axis take.
func room(r *ruler) float64 {
	w := 0.0
	for _, t := range r.ticks {
		w = max(w, letters(t.label))
	}
	return max(30, min(mostLabel, w)+12)
}

// limits draws lines across the picture.
func (c *canvas) limits(f frame, limits []Limit, across bool) (keys []key) {
	for _, l := range limits {
		r := f.y
		if across {
			r = f.x
		}
		if !r.holds(l.Value) {
			continue
		}
		if at := r.at(l.Value); across {
			c.line("limit", at, f.top, at, f.bottom)
		} else {
			c.line("limit", f.left, at, f.right, at)
		}
		keys = append(keys, key{l.Name, -1, true})
	}
	return keys
}

// withLimits adds the values of limits to those that an axis must hold.
func withLimits(values []float64, limits []Limit) []float64 {
	for _, l := range limits {
		values = append(values, l.Value)
	}
	return values
}
