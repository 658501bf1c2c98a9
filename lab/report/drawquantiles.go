// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strings"
)

// curve is a distribution as a picture has it: the values at ascending places
// −log₁₀(1 − q), each up to the next one's place.
type curve struct {
	name     string
	at       []float64 // where each value begins
	value    []float64
	n, late  int64
	end      float64 // of the axis: −log₁₀(1/n)
	solid    float64 // up to where ten values lie above
	greatest float64
}

func (s QuantileSeries) curve() curve {
	h, late := s.histogram(), max(0, s.Censored)
	c := curve{name: s.Name, n: h.Count(), late: late}
	top, ok := h.Max()
	if !ok {
		return c
	}
	all := float64(c.n + late)
	c.greatest = top.Seconds()
	below := int64(0)
	for b := range h.Buckets() {
		c.at = append(c.at, -math.Log10(1-float64(below)/all))
		c.value = append(c.value, min(b.High, top).Seconds())
		below += b.Count
	}
	c.end = math.Log10(all)
	c.solid = max(0, c.end-1)
	return c
}

func (q *Quantiles) draw(id string) drawing {
	var curves []curve
	values, last := []float64{}, 1.0
	for _, s := range q.Series {
		c := s.curve()
		curves = append(curves, c)
		values = append(values, c.value...)
		last = max(last, c.end)
	}
	axis := Axis{Kind: Duration, Log: q.Log}
	f := frame{right: pictureWidth - 12, top: 26, bottom: pictureHeight - 44}
	f.y = newRuler(axis, withLimits(values, q.Limits), true, f.bottom, f.top, 6)
	f.left = room(f.y)
	f.x = &ruler{low: 0, high: last, from: f.left, to: f.right}
	for _, p := range [...]string{"0", "50", "90", "99", "99.9", "99.99", "99.999", "99.9999", "99.99999"} {
		var percent float64
		_, _ = fmt.Sscan(p, &percent)
		if at := -math.Log10(1 - percent/100); at <= last {
			f.x.ticks = append(f.x.ticks, tick{at, "p" + p})
		}
	}
	var c canvas
	c.grid(f, "quantile, spaced by the values above it", axis.caption(f.y))
	keys := c.limits(f, q.Limits, false)
	var out drawing
	late := false
	for i, one := range curves {
		if len(one.value) == 0 {
			continue
		}
		known := one.end
		if one.late > 0 && f.y.holds(one.greatest) {
			late = true
			known = -math.Log10(1 - float64(one.n)/float64(one.n+one.late))
			c.line(lineClass(i)+" late", f.x.at(known), f.y.at(one.greatest), f.x.at(one.end), f.y.at(one.greatest))
		}
		solid := min(one.solid, known)
		c.path(lineClass(i), one.path(f, 0, solid))
		c.path(lineClass(i)+" thin", one.path(f, solid, known))
		if f.y.holds(one.greatest) {
			c.dot(fillClass(i), f.x.at(one.end), f.y.at(one.greatest))
		}
		out.legend = append(out.legend, key{cleanText(one.name), i, true})
	}
	out.legend = append(out.legend, keys...)
	out.caption = "Thin lines: fewer than ten values lie above. Dots: the greatest value."
	if late {
		out.caption += " Level dots at the end: at least so great, as these calls were ended by their deadline."
	}
	if out.svg = c.finish(id, q.Title, fmt.Sprintf("Values over quantiles of %d series. The table below holds the same.", len(q.Series)), pictureHeight); f.y.outOfPlace {
		out.caption = "There are no values."
	}
	return out
}

// path draws the part of a curve between two places.
func (c *curve) path(f frame, from, to float64) string {
	var b strings.Builder
	begun, lastX, lastY := false, 0.0, ""
	for i, v := range c.value {
		end := c.end
		if i+1 < len(c.at) {
			end = min(c.at[i+1], c.end)
		}
		start := max(from, c.at[i])
		if end = min(end, to); end < start || !f.y.holds(v) {
			continue
		}
		x, y := f.x.at(start), num(f.y.at(v))
		switch {
		case !begun:
			b.WriteString("M" + num(x) + " " + y)
			begun, lastX, lastY = true, x, y
		case x-lastX >= 1 && y != lastY || i+1 == len(c.value):
			b.WriteString("H" + num(x) + "V" + y)
			lastX, lastY = x, y
		default:
			continue
		}
	}
	if begun {
		b.WriteString("H" + num(f.x.at(to)))
	}
	return b.String()
}
