// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"strconv"
	"strings"
)

// ruler puts the values of an axis on the picture.
type ruler struct {
	low, high  float64 // values at the ends
	from, to   float64 // where these are in the picture
	log        bool
	ticks      []tick
	unit       string // of the ticks' labels, "" when they have their own
	outOfPlace bool   // no value could be placed
}

type tick struct {
	value float64
	label string
}

// at is where a value is.
func (r *ruler) at(v float64) float64 {
	share := 0.0
	switch {
	case r.high == r.low:
	case r.log:
		share = (math.Log(v) - math.Log(r.low)) / (math.Log(r.high) - math.Log(r.low))
	default:
		share = (v - r.low) / (r.high - r.low)
	}
	return r.from + min(1, max(0, share))*(r.to-r.from)
}

// farthest bounds what an axis holds, so that no difference and no ratio of two
// values overflows.
const farthest = 1e150

// holds reports whether a value has a place on the axis.
func (r *ruler) holds(v float64) bool {
	return finitePoint(v) && math.Abs(v) <= farthest && (!r.log || v >= 1/farthest)
}

// newRuler makes an axis for values. zero makes it begin or end at 0, unless it
// is logarithmic; most is the number of ticks that have room.
func newRuler(a Axis, values []float64, zero bool, from, to float64, most int) *ruler {
	r := &ruler{from: from, to: to, log: a.Log}
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if r.holds(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	if low > high {
		r.log, r.outOfPlace = false, true
		low, high = 0, 1
	}
	if r.log {
		r.logTicks(a, low, high, most)
		return r
	}
	if zero {
		low, high = min(0, low), max(0, high)
	}
	if high == low {
		switch {
		case low == 0:
			high = 1
		case zero:
		default:
			low, high = low-math.Abs(low)/2, high+math.Abs(high)/2
		}
	}
	u := axisUnit(a, max(math.Abs(low), math.Abs(high)))
	r.unit = u.name
	low, high = low/u.unit, high/u.unit
	step := niceStep((high - low) / float64(max(1, most)))
	if a.kind() == Count {
		step = max(1, step)
	}
	first, last := math.Floor(low/step+1e-9), math.Ceil(high/step-1e-9)
	if !zero {
		// The quantity to the right ends where its values do.
		first, last = math.Ceil(low/step-1e-9), math.Floor(high/step+1e-9)
	}
	decimals := 0
	for n := first; n <= last; n++ {
		decimals = max(decimals, decimalsOf(n*step))
	}
	for n := first; n <= last && n-first < 100; n++ {
		r.ticks = append(r.ticks, tick{n * step * u.unit, signed(strconv.FormatFloat(math.Abs(n*step), 'f', decimals, 64), n < 0)})
	}
	r.low, r.high = low*u.unit, high*u.unit
	if zero {
		r.low, r.high = first*step*u.unit, last*step*u.unit
	}
	return r
}

// axisUnit is the unit in which an axis up to top is told.
func axisUnit(a Axis, top float64) scale {
	return scaleOf(a.kind(), a.Unit, []float64{top})
}

// logTicks puts ticks at 1, 2 and 5 times the powers of ten, at the powers alone
// where there is no room.
func (r *ruler) logTicks(a Axis, low, high float64, most int) {
	first, last := math.Floor(math.Log10(low)+1e-9), math.Ceil(math.Log10(high)-1e-9)
	if first == last {
		last++
	}
	steps, every := []float64{1, 2, 5}, 1
	if int(last-first)*3 > most {
		steps = steps[:1]
	}
	for int(last-first)/every > most {
		every++
	}
	for e := first; e <= last; e += float64(every) {
		for _, s := range steps {
			v := s * math.Pow(10, e)
			if v > math.Pow(10, last)*1.0001 {
				break
			}
			u := axisUnit(a, v)
			x := math.Round(v/u.unit*1e9) / 1e9
			label := strconv.FormatFloat(x, 'f', -1, 64)
			if u.name != "" {
				label += " " + u.name
			}
			r.ticks = append(r.ticks, tick{v, label})
		}
	}
	r.low, r.high = math.Pow(10, first), math.Pow(10, last)
}

// niceStep is the next number from x on that is 1, 2 or 5 times a power of ten.
func niceStep(x float64) float64 {
	if !(x > 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range [...]float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// decimalsOf is how many decimals a round number has.
func decimalsOf(v float64) int {
	s := strconv.FormatFloat(v, 'g', 10, 64)
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(strconv.FormatFloat(f, 'f', -1, 64), ".")
	return min(len(rest), 12)
}

func signed(s string, negative bool) string {
	if negative {
		return "−" + s
	}
	return s
}

// caption names an axis with its unit.
func (a Axis) caption(r *ruler) string {
	name := cleanText(a.Name)
	switch {
	case r.unit == "":
		return name
	case name == "":
		return r.unit
	}
	return name + ", " + r.unit
}
