// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"time"
)

// Cell is a value of a table, or its absence. The zero Cell is absent. Its
// methods return changed copies.
type Cell struct {
	kind      Kind // of the value; 0: absent
	text      string
	number    float64 // seconds, a share, a count or a number
	bound     bound
	estimated bool
	note      string
	published *Cell
}

type bound uint8

const (
	exact bound = iota
	atLeast
	atMost
)

func (b bound) String() string { return [...]string{"", "at_least", "at_most"}[b] }

// Kind says what a column or a cell holds.
type Kind uint8

// The kinds. A column of kind Mixed, the zero Kind, holds cells of several
// kinds, each told in a unit of its own.
const (
	Mixed    Kind = iota
	Text          // a text, to the left
	Count         // a whole number
	Duration      // a time, in seconds
	Rate          // a number a second
	Share         // a part of 1, told in percent
	Ratio         // a number without a unit
)

// String returns the kind's name in JSON.
func (k Kind) String() string {
	if int(k) >= len(kinds) {
		return ""
	}
	return kinds[k]
}

var kinds = [...]string{"mixed", "text", "count", "duration", "rate", "share", "ratio"}

// Absent returns the cell of a figure that is not defined. The reasons, if any,
// stand in a footnote.
func Absent(why ...string) Cell {
	c := Cell{}
	for _, w := range why {
		c = c.Note(w)
	}
	return c
}

// S returns the cell of a text. The empty text is absent.
func S(text string) Cell {
	if text == "" {
		return Cell{}
	}
	return Cell{kind: Text, text: text}
}

// N returns the cell of a count.
func N[T ~int | ~int32 | ~int64 | ~uint64](n T) Cell { return Cell{kind: Count, number: float64(n)} }

// D returns the cell of a time.
func D(d time.Duration) Cell { return Cell{kind: Duration, number: d.Seconds()} }

// PerSecond returns the cell of a number a second, absent for NaN and infinity,
// as by Part and Number.
func PerSecond(v float64) Cell { return finite(Rate, v) }

// Part returns the cell of a share: 0.05 is 5 %.
func Part(v float64) Cell { return finite(Share, v) }

// Number returns the cell of a number without a unit.
func Number(v float64) Cell { return finite(Ratio, v) }

func finite(k Kind, v float64) Cell {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Cell{}
	}
	return Cell{kind: k, number: v}
}

// Opt returns what a constructor makes of a value that may be absent, as those
// that tacho's methods return: Opt(D)(call.TTFT()).
func Opt[T any](of func(T) Cell) func(T, bool) Cell {
	return func(v T, ok bool) Cell {
		if !ok {
			return Cell{}
		}
		return of(v)
	}
}

// IsAbsent reports whether the cell holds no value.
func (c Cell) IsAbsent() bool { return c.kind == Mixed }

// Kind returns what the cell holds, Mixed if it is absent.
func (c Cell) Kind() Kind { return c.kind }

// Value returns a number as the JSON has it: seconds, a share of 1, a count.
// It is absent for texts.
func (c Cell) Value() (float64, bool) { return c.number, c.kind > Text }

// AtLeast marks a value that is known from below only: a call that its deadline
// ended took at least so long.
func (c Cell) AtLeast() Cell { c.bound = atLeast; return c }

// AtMost marks a value that is known from above only, as an upper bound is.
func (c Cell) AtMost() Cell { c.bound = atMost; return c }

// Estimated marks a value that was not measured but computed from others.
func (c Cell) Estimated() Cell { c.estimated = true; return c }

// Note adds a footnote. Cells with the same one share it.
func (c Cell) Note(text string) Cell {
	if c.note != "" && text != "" {
		text = c.note + " " + text
	}
	c.note = text
	return c
}

// Published puts the value that another source has beside the cell's own, in a
// column of its own. The remark, if there is one, is a footnote of it.
func (c Cell) Published(v Cell, remark string) Cell {
	v = v.Note(remark)
	v.published = nil
	c.published = &v
	return c
}
