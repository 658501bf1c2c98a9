// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
)

// dotted is up to how many points each has a dot.
const dotted = 40

func (l *Lines) draw(id string) drawing {
	var xs, ys []float64
	for _, s := range l.Series {
		for _, p := range s.Points {
			if finitePoint(p.X) && finitePoint(p.Y) {
				xs, ys = append(xs, p.X), append(ys, p.Y)
			}
		}
	}
	f := frame{right: pictureWidth - 24, top: 26, bottom: pictureHeight - 44}
	f.y = newRuler(l.Y, withLimits(ys, l.Limits), true, f.bottom, f.top, 6)
	f.left = room(f.y)
	f.x = newRuler(l.X, xs, false, f.left, f.right, 9)
	var c canvas
	c.grid(f, l.X.caption(f.x), l.Y.caption(f.y))
	keys := c.limits(f, l.Limits, false)
	var out drawing
	for i, s := range l.Series {
		c.path(lineClass(i), s.path(f))
		alone := s.alone(f)
		for k, p := range s.Points {
			if f.x.holds(p.X) && f.y.holds(p.Y) && (len(s.Points) <= dotted || alone[k]) {
				c.dot(fillClass(i), f.x.at(p.X), f.y.at(p.Y))
			}
		}
		out.legend = append(out.legend, key{cleanText(s.Name), i, true})
	}
	out.legend = append(out.legend, keys...)
	if f.y.outOfPlace {
		out.caption = "There are no values."
	}
	out.svg = c.finish(id, l.Title, fmt.Sprintf("%d lines. The table below holds the same.", len(l.Series)), pictureHeight)
	return out
}

// path draws the line, broken where a point is absent.
func (s *LineSeries) path(f frame) string {
	var b strings.Builder
	pen := "M"
	for _, p := range s.Points {
		if !f.x.holds(p.X) || !f.y.holds(p.Y) {
			pen = "M"
			continue
		}
		b.WriteString(pen + num(f.x.at(p.X)) + " " + num(f.y.at(p.Y)))
		pen = "L"
	}
	return b.String()
}

// alone tells the points without a neighbour that a line could join.
func (s *LineSeries) alone(f frame) map[int]bool {
	out := map[int]bool{}
	has := func(k int) bool {
		return k >= 0 && k < len(s.Points) && f.x.holds(s.Points[k].X) && f.y.holds(s.Points[k].Y)
	}
	for k := range s.Points {
		if has(k) && !has(k-1) && !has(k+1) {
			out[k] = true
		}
	}
	return out
}
