// SPDX-License-Identifier: Apache-2.0

package report

import (
	"time"

	"github.com/tacho-go/tacho"
)

// Chart is a picture with its data: Quantiles, Lines, Bars, Waterfall. No other
// package can make one.
type Chart interface {
	// Data returns all that the picture shows, as a table.
	Data() *Table
	// Summary returns a table that is short enough for a terminal.
	Summary() *Table

	title() string
	draw(id string) drawing
}

// Limit is a line across a chart, such as that of an objective. Its value is in
// the unit of the axis: seconds, a share, a number.
type Limit struct {
	Name  string
	Value float64
}

// Axis describes an axis. Of a Duration the values are seconds, of a Share parts
// of 1.
type Axis struct {
	Name string
	Kind Kind   // Count, Duration, Rate, Share or Ratio; any other is taken for Ratio
	Unit string // as that of a Column
	// Log makes steps of the same ratio equally long. Values that are not above 0
	// have no place on such an axis and are left out.
	Log bool
}

// Quantiles shows distributions of times: values over quantiles, which are
// spaced by the logarithm of 1 ÷ (1 − q), so that p90, p99 and p99.9 are equally
// far from each other. A line ends at the greatest quantile that ten values lie
// above (tacho.Needed), and is thin from there to the greatest value.
type Quantiles struct {
	Title  string
	Series []QuantileSeries
	Limits []Limit // seconds
	Log    bool    // of the axis of times
}

// QuantileSeries is a distribution. Censored is how many calls more there were
// whose value is known to lie above only, because a deadline ended them: they
// count as greater than all values, so that the quantiles among them are at
// least the greatest value.
type QuantileSeries struct {
	Name      string
	Histogram *tacho.Histogram // nil is an empty one; it must not be recorded into meanwhile
	Censored  int64
}

// Lines shows values over a time or another quantity.
type Lines struct {
	Title  string
	X, Y   Axis
	Series []LineSeries
	Limits []Limit // on Y
}

// LineSeries is a line. Its points are joined in their order.
type LineSeries struct {
	Name   string
	Points []Point
}

// Point is a point of a line. One whose Y is NaN or infinite is absent: the line
// is broken there.
type Point struct{ X, Y float64 }

// At is a point at a time since a start.
func At(since time.Duration, y float64) Point { return Point{since.Seconds(), y} }

// Bars shows a value of each category, or one of each series in each category,
// as bars to the right. Absent values have none.
type Bars struct {
	Title      string
	Axis       Axis
	Categories []string
	Series     []BarSeries
	Limits     []Limit
}

// BarSeries is the bars of one colour: a value for each category, in their order.
type BarSeries struct {
	Name   string
	Values []Cell
}

// Waterfall shows what lies where in a time, a row each, as the phases of a call.
type Waterfall struct {
	Title string
	Rows  []Phase
}

// Phase is a row of a Waterfall. Group chooses its colour; Open says that it had
// not come to its end. One that ends before it starts is absent.
type Phase struct {
	Name       string
	Group      string
	Start, End time.Duration
	Open       bool
}
