// SPDX-License-Identifier: Apache-2.0

package term

import (
	"math"
	"strings"
	"time"
)

var eighths = [...]string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// Bar draws the time from to to on a line of width cells that stands for total,
// to the eighth of a cell at its end. It begins at a whole cell and has at least
// an eighth, so that no phase vanishes.
func Bar(from, to, total time.Duration, width int) string {
	if total <= 0 || width <= 0 || to < from {
		return ""
	}
	scale := float64(width) / float64(total)
	start := min(int(float64(from)*scale), width-1)
	end := min(float64(to)*scale, float64(width))
	n := max(1, int(math.Round((end-float64(start))*8)))
	return strings.Repeat(" ", start) + strings.Repeat("█", n/8) + eighths[n%8]
}

var levels = [...]rune{'▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}

// Sparkline draws values on width cells at most, from 0 to the largest. Where
// there are more values than cells, a cell shows the largest of its share: an
// outlier must not vanish in a mean.
func Sparkline(values []time.Duration, width int) string {
	if len(values) == 0 || width <= 0 {
		return ""
	}
	cells := min(len(values), width)
	shown, top := make([]time.Duration, cells), time.Duration(0)
	for i, v := range values {
		c := i * cells / len(values)
		shown[c] = max(shown[c], v)
		top = max(top, v)
	}
	var b strings.Builder
	for _, v := range shown {
		level := 0
		if top > 0 {
			level = min(int(float64(v)/float64(top)*float64(len(levels))), len(levels)-1)
		}
		b.WriteRune(levels[level])
	}
	return b.String()
}
