// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// absent is what readers see of a figure that is not defined.
const absent = "–"

// scale is one unit and one number of decimals for the numbers of a column.
type scale struct {
	kind     Kind
	unit     float64 // what one of the unit is in seconds or parts of 1
	name     string
	decimals int
	signed   bool
}

type timeUnit struct {
	name    string
	seconds float64
	most    int // decimals: there is nothing below a nanosecond
}

func timeUnits() [4]timeUnit {
	return [...]timeUnit{{"ns", 1e-9, 0}, {"µs", 1e-6, 3}, {"ms", 1e-3, 6}, {"s", 1, 9}}
}

const (
	digitsOfLeast = 3
	digitsOfMost  = 6
)

// scaleOf returns the scale of the numbers of a kind. unit is a time's, or what
// stands for "/s" of a rate and for nothing of a count.
func scaleOf(kind Kind, unit string, values []float64) scale {
	s := scale{kind: kind, unit: 1, name: unit}
	var sizes []float64
	for _, v := range values {
		if v != 0 {
			sizes = append(sizes, math.Abs(v))
		}
	}
	slices.Sort(sizes)
	switch kind {
	case Duration:
		u := unitOf(unit, sizes)
		s.unit, s.name = u.seconds, u.name
		s.decimals = min(u.most, decimals(sizes, s.unit))
	case Share:
		s.unit, s.name = 0.01, "%"
		for _, v := range sizes {
			s.decimals = max(s.decimals, need(v*100, digitsOfLeast))
			if v < 1 {
				s.decimals = max(s.decimals, need((1-v)*100, 2))
			}
		}
		s.decimals = min(s.decimals, 3)
	case Rate, Ratio:
		if kind == Rate && unit == "" {
			s.name = "/s"
		}
		if slices.ContainsFunc(sizes, func(v float64) bool { return v != math.Trunc(v) || v > 1e15 }) {
			s.decimals = decimals(sizes, 1)
		}
	}
	return s
}

// unitOf returns the unit of a name, by default the greatest that half of the
// sizes have one of.
func unitOf(name string, sizes []float64) timeUnit {
	units := timeUnits()
	for _, u := range units {
		if u.name == name || u.name == "µs" && name == "us" {
			return u
		}
	}
	if len(sizes) == 0 {
		return units[2]
	}
	best := units[0]
	for _, u := range units[1:] {
		if sizes[len(sizes)/2] >= u.seconds*0.9995 {
			best = u
		}
	}
	return best
}

// decimals is how many leave three digits of the least of ascending sizes, and no
// more than six of the greatest.
func decimals(sizes []float64, unit float64) int {
	if len(sizes) == 0 {
		return 0
	}
	return min(need(sizes[0]/unit, digitsOfLeast), need(sizes[len(sizes)-1]/unit, digitsOfMost))
}

// need is the number of decimals that leave so many digits of v.
func need(v float64, digits int) int {
	// What rounds up to the next power of ten has a digit more.
	exponent := int(math.Floor(math.Log10(v * (1 + 0.5*math.Pow10(-digits)))))
	return min(15, max(0, digits-1-exponent))
}

// format tells a number without its unit.
func (s scale) format(v float64) string {
	x := v / s.unit
	text := group3(strconv.FormatFloat(math.Abs(x), 'f', s.decimals, 64))
	least := "0"
	if s.decimals > 0 {
		least = "0." + strings.Repeat("0", s.decimals-1) + "1"
	}
	switch zero := strings.Trim(text, "0.") == ""; {
	case zero && v > 0 && s.decimals == 0:
		return "<1"
	case zero && v > 0:
		return "<" + least
	case zero && v < 0 && s.decimals == 0:
		return ">−1"
	case zero && v < 0:
		return ">−" + least
	case zero:
		return text
	case s.kind == Share && v < 1 && v > 0 && strings.TrimRight(text, "0.") == "1" && x > 99:
		if s.decimals == 0 {
			return ">99"
		}
		return ">99." + strings.Repeat("9", s.decimals)
	}
	switch {
	case v < 0:
		return "−" + text
	case s.signed:
		return "+" + text
	}
	return text
}

// withUnit tells a number with its unit.
func (s scale) withUnit(v float64) string {
	text := s.format(v)
	switch {
	case s.name == "":
		return text
	case strings.HasPrefix(s.name, "/"):
		return text + s.name
	}
	return text + " " + s.name
}

// group3 puts commas into a number of five digits or more before the point.
func group3(s string) string {
	whole, rest, _ := strings.Cut(s, ".")
	if len(whole) < 5 {
		return s
	}
	var b strings.Builder
	for i, r := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	if rest != "" {
		b.WriteString("." + rest)
	}
	return b.String()
}

// plain tells a cell's value by itself, in a unit of its own.
func (c Cell) plain() string {
	switch c.kind {
	case Mixed:
		return absent
	case Text:
		return c.text
	}
	s := scaleOf(c.kind, "", []float64{c.number})
	if c.kind == Duration && c.number != 0 {
		s.decimals = need(math.Abs(c.number)/s.unit, 4)
		if s.name == "ns" {
			s.decimals = 0
		}
	}
	return s.withUnit(c.number)
}

// raw is the number as machines read it.
func (c Cell) raw() string {
	if c.kind == Count {
		return strconv.FormatFloat(c.number, 'f', 0, 64)
	}
	return strconv.FormatFloat(exactly(c), 'g', -1, 64)
}

// exactly is the number, of a time to the nanosecond: sums of floats have digits
// that nobody measured.
func exactly(c Cell) float64 {
	if c.kind == Duration && math.Abs(c.number) < 1e6 {
		return math.Round(c.number*1e9) / 1e9
	}
	return c.number
}
