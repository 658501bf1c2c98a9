// SPDX-License-Identifier: Apache-2.0

// Package term prints figures to a terminal: durations, tables, bars,
// sparklines, and progress.
package term

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Absent is printed for a figure that is not defined.
const Absent = "–"

// Duration tells a duration with four digits in the unit that suits it, padded
// to one width: "184.2 ms", "1.043 s ".
func Duration(d time.Duration) string {
	if d < 0 {
		return "−" + Duration(-d)
	}
	v, unit := float64(d), "ns"
	for _, u := range [...]string{"µs", "ms", "s "} {
		// What rounds up to 1000 is told in the next unit.
		if v < 999.95 {
			break
		}
		v, unit = v/1000, u
	}
	if unit == "ns" {
		return fmt.Sprintf("%.0f ns", v)
	}
	decimals := 1
	switch {
	case v < 9.9995:
		decimals = 3
	case v < 99.995:
		decimals = 2
	case v >= 9999.5:
		decimals = 0
	}
	return fmt.Sprintf("%.*f %s", decimals, v, unit)
}

// Optional is Duration of a figure, or Absent.
func Optional(d time.Duration, ok bool) string {
	if !ok {
		return Absent
	}
	return Duration(d)
}

// Millis tells a duration in milliseconds without the unit, for columns whose
// head names it.
func Millis(d time.Duration) string {
	return fmt.Sprintf("%.1f", math.Round(float64(d)/1e5)/10)
}

// Width is the number of cells that s takes on a terminal. It counts runes: the
// programs print none that takes two.
func Width(s string) int { return utf8.RuneCountInString(s) }

// Left pads s on the right, Right on the left.
func Left(s string, width int) string { return s + pad(width-Width(s)) }

// Right pads s on the left.
func Right(s string, width int) string { return pad(width-Width(s)) + s }

func pad(n int) string { return strings.Repeat(" ", max(0, n)) }
