// SPDX-License-Identifier: Apache-2.0

package term

import (
	"fmt"
	"time"
)

// Scale is one unit and one number of decimals, for durations that are compared:
// 0.415 ms above 2.394 ms. The zero Scale tells nanoseconds.
type Scale struct {
	unit     time.Duration
	name     string
	decimals int
}

var scales = [...]Scale{
	{time.Nanosecond, "ns", 0}, {time.Microsecond, "µs", 3}, {time.Millisecond, "ms", 6}, {time.Second, "s", 9},
}

// ScaleOf returns the scale in whose unit top is told, with the decimals that
// leave four digits of top and three of each of all that is not 0, as far as
// there are nanoseconds.
func ScaleOf(top time.Duration, all ...time.Duration) Scale {
	top = top.Abs()
	s := scales[0]
	for _, next := range scales[1:] {
		// What rounds up to 1000 is told in the next unit, as by Duration.
		if float64(top) < 999.95*float64(s.unit) {
			break
		}
		s = next
	}
	decimals := s.need(top, 4)
	for _, d := range all {
		decimals = max(decimals, s.need(d.Abs(), 3))
	}
	s.decimals = min(s.decimals, decimals)
	return s
}

// need is the number of decimals that leave digits of d.
func (s Scale) need(d time.Duration, digits int) int {
	if d == 0 {
		return 0
	}
	// unit is 10ⁿ of nanoseconds: one digit of d fewer is one decimal more.
	return max(0, digits+len(fmt.Sprint(int64(s.unit)))-1-len(fmt.Sprint(int64(d))))
}

// Duration tells d in the scale.
func (s Scale) Duration(d time.Duration) string {
	if d < 0 {
		return "−" + s.Duration(-d)
	}
	if s.unit == 0 {
		s = scales[0]
		s.decimals = 0
	}
	return fmt.Sprintf("%.*f %s", s.decimals, float64(d)/float64(s.unit), s.name)
}

// Signed is Duration with a sign, for differences.
func (s Scale) Signed(d time.Duration) string {
	if d > 0 {
		return "+" + s.Duration(d)
	}
	return s.Duration(d)
}
