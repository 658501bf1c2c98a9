// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"fmt"
	"time"
)

// Note is a reason to take a quantile with care.
type Note struct {
	Kind NoteKind
	// N is the number of values, of streams that were buffered, or of upper bounds.
	N int64
	// Need is how many values decide the quantile.
	Need int64
	// Ratio is P99.9 ÷ P99.
	Ratio float64
	// Stall is the longest time for which the machine held its timers up.
	Stall time.Duration
	// Digits are the significant digits of the values.
	Digits int
}

// NoteLimits say what Notes takes for noteworthy.
type NoteLimits struct {
	// Tail is the greatest P99.9 ÷ P99 that is not a long tail; 0 is 3.
	Tail float64
	// Stall is the longest overshoot of a timer that was seen while the calls
	// were made, 0 where nobody looked.
	Stall time.Duration
}

// NoteKind says which reason.
type NoteKind uint8

// The kinds of notes.
const (
	TooFew    NoteKind = iota // fewer values than 10 ÷ (1 − q)
	LongTail                  // P99.9 ÷ P99 is above a limit
	Buffers                   // streams came in one burst, as behind a proxy that holds them back
	Bounds                    // some values are upper bounds: the application was away
	Stalled                   // the machine held timers up for as long as a tenth of the quantile
	OutOfSpan                 // values were negative or above 1 hour
	Rounded                   // values have fewer than 3 significant digits
)

const defaultTail = 3

// String tells the note in a sentence.
func (n Note) String() string {
	switch n.Kind {
	case TooFew:
		return fmt.Sprintf("too few samples: %d of %d", n.N, n.Need)
	case LongTail:
		return fmt.Sprintf("long tail: P99.9 is %.1f times P99", n.Ratio)
	case Buffers:
		return fmt.Sprintf("buffered streams: %d", n.N)
	case Bounds:
		return fmt.Sprintf("upper bounds: %d", n.N)
	case Stalled:
		return fmt.Sprintf("stalled machine: timers held up by %v", n.Stall)
	case OutOfSpan:
		return fmt.Sprintf("out of range: %d", n.N)
	case Rounded:
		return fmt.Sprintf("rounded to %d significant digits", n.Digits)
	}
	return ""
}

// Notes returns the reasons to take the q-quantile of a figure with care.
func (g Group) Notes(f Figure, q float64, limits NoteLimits) (notes []Note) {
	h := g.Figure(f)
	n := h.Count()
	if n == 0 {
		return nil
	}
	if need := Needed(q); n < need {
		notes = append(notes, Note{Kind: TooFew, N: n, Need: need})
	}
	tail := limits.Tail
	if tail == 0 {
		tail = defaultTail
	}
	if n >= Needed(0.999) {
		p99, _ := h.Quantile(0.99)
		p999, _ := h.Quantile(0.999)
		if ratio := float64(p999) / float64(p99); p99 > 0 && ratio > tail {
			notes = append(notes, Note{Kind: LongTail, Ratio: ratio})
		}
	}
	if b := g.counters[countBuffered]; b > 0 && f.ofStreams() {
		notes = append(notes, Note{Kind: Buffers, N: b})
	}
	if b := g.counters[countUpper]; b > 0 && f.ofStreams() {
		notes = append(notes, Note{Kind: Bounds, N: b})
	}
	if d, ok := h.Quantile(q); ok && limits.Stall > 0 && limits.Stall >= d/10 {
		notes = append(notes, Note{Kind: Stalled, Stall: limits.Stall})
	}
	if low, high := h.OutOfRange(); low+high > 0 {
		notes = append(notes, Note{Kind: OutOfSpan, N: low + high})
	}
	if lost := h.lostDigits(); lost > 0 {
		digits := 1
		if lost <= uint(magnitude-magnitudes[2])+1 { // 3 binary digits; coarse buckets 4
			digits = 2
		}
		notes = append(notes, Note{Kind: Rounded, Digits: digits})
	}
	return notes
}
