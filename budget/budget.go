// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tacho-go/tacho"
)

// Budget is one objective. Make one by a function of this package and AtMost or
// AtLeast, or by Parse. The zero Budget judges nothing and is never met. A Budget
// does not change; its methods return changed copies.
type Budget struct {
	kind   kind
	figure tacho.Figure
	q      float64 // of a quantile
	limits []Limit // of a share or goodput: per call
	op     op
	bound  float64       // in seconds, a share, or a count
	time   time.Duration // the bound of a measure of time
	labels []tacho.Label
	stream *bool
}

type kind uint8

const (
	nothing kind = iota
	quantile
	mean
	maximum
	errorRate
	tooMany
	share
	goodput     // as a share of the decided calls
	goodputRate // calls a second
	throughput  // output tokens a second
	inputTokens
	outputTokens
	longestStall
)

type op uint8

const (
	atMost op = iota
	below
	atLeast
	above
)

var ops = [...]string{"<=", "<", ">=", ">"}

// holds reports whether a value meets the bound.
func (o op) holds(v, bound float64) bool {
	switch o {
	case atMost:
		return v <= bound
	case below:
		return v < bound
	case atLeast:
		return v >= bound
	default:
		return v > bound
	}
}

// upper reports whether the bound is one from above.
func (o op) upper() bool { return o == atMost || o == below }

// Limit is a limit on a figure of one call.
type Limit struct {
	Figure tacho.Figure
	AtMost time.Duration
}

// Measure is what a budget bounds.
type Measure struct{ b Budget }

// Quantile is the q-quantile of a figure, by nearest rank. It panics unless q is
// above 0 and at most 1: 0.99 is P99.
func Quantile(f tacho.Figure, q float64) Measure {
	if !(q > 0 && q <= 1) {
		panic("budget: Quantile(" + number(q) + "): q is above 0 and at most 1; 0.99 is P99")
	}
	return Measure{Budget{kind: quantile, figure: f, q: q}}
}

// Mean is the mean of a figure.
func Mean(f tacho.Figure) Measure { return Measure{Budget{kind: mean, figure: f}} }

// Max is the greatest value of a figure.
func Max(f tacho.Figure) Measure { return Measure{Budget{kind: maximum, figure: f}} }

// ErrorRate is failed ÷ (all − cancelled − closed early − dropped) calls.
func ErrorRate() Measure { return Measure{Budget{kind: errorRate}} }

// TooMany is the share of the calls with status 429.
func TooMany() Measure { return Measure{Budget{kind: tooMany}} }

// Share is the share of the calls with the figure that are within a limit: the
// form of a service-level objective. Calls that failed are not among them, but
// those that a deadline ended are.
func Share(f tacho.Figure, limit time.Duration) Measure {
	return limited(share, []Limit{{f, limit}})
}

// Goodput is the share of the decided calls that met every limit; failed calls
// did not. A figure that a complete call does not have limits nothing, but for
// the TPOT of a buffered stream, which nobody knows. With a limit on a figure of
// streams, it is the goodput of the streams.
func Goodput(limits ...Limit) Measure { return limited(goodput, limits) }

// GoodputRate is the calls a second that met every limit.
func GoodputRate(limits ...Limit) Measure { return limited(goodputRate, limits) }

// limited panics without a limit, and for one on gaps, of which a call has many.
func limited(k kind, limits []Limit) Measure {
	if len(limits) == 0 {
		panic("budget: a goodput without a limit: give one, such as {tacho.TTFT, 500 * time.Millisecond}")
	}
	for _, l := range limits {
		if l.Figure == tacho.Gap || l.AtMost < 0 {
			panic(fmt.Sprintf("budget: a limit of %v on %v: a call has one of the figure, and the limit is 0 or more", l.AtMost, l.Figure))
		}
	}
	return Measure{Budget{kind: k, limits: slices.Clone(limits)}}
}

// Throughput is the output tokens a second, as reported, from the start of the
// first call to the end of the last.
func Throughput() Measure { return Measure{Budget{kind: throughput}} }

// InputTokens is the sum of the reported input tokens.
func InputTokens() Measure { return Measure{Budget{kind: inputTokens}} }

// OutputTokens is the sum of the reported output tokens.
func OutputTokens() Measure { return Measure{Budget{kind: outputTokens}} }

// LongestStall is the longest gap between two output events of any call.
func LongestStall() Measure { return Measure{Budget{kind: longestStall}} }

// AtMost bounds a measure of time from above. Like Below, AtLeast and Above it
// panics for a measure that is no time, and for a bound below 0.
func (m Measure) AtMost(d time.Duration) Budget { return m.timed(atMost, d) }

// Below is AtMost without the bound itself.
func (m Measure) Below(d time.Duration) Budget { return m.timed(below, d) }

// AtLeast bounds a measure of time from below.
func (m Measure) AtLeast(d time.Duration) Budget { return m.timed(atLeast, d) }

// Above is AtLeast without the bound itself.
func (m Measure) Above(d time.Duration) Budget { return m.timed(above, d) }

// AtMostN bounds a share (0.01 is 1 %), a rate or a count from above. Like BelowN,
// AtLeastN and AboveN it panics for a measure of time, for a bound below 0, and
// for a share above 1.
func (m Measure) AtMostN(n float64) Budget { return m.counted(atMost, n) }

// BelowN is AtMostN without the bound itself.
func (m Measure) BelowN(n float64) Budget { return m.counted(below, n) }

// AtLeastN bounds a share, a rate or a count from below.
func (m Measure) AtLeastN(n float64) Budget { return m.counted(atLeast, n) }

// AboveN is AtLeastN without the bound itself.
func (m Measure) AboveN(n float64) Budget { return m.counted(above, n) }

func (m Measure) timed(o op, d time.Duration) Budget {
	b := m.b
	if !b.kind.timed() || d < 0 {
		panic(fmt.Sprintf("budget: a bound of %v: a measure of time has one of 0 or more, any other one without a unit", d))
	}
	b.op, b.time, b.bound = o, d, d.Seconds()
	return b
}

func (m Measure) counted(o op, n float64) Budget {
	b := m.b
	if b.kind.timed() || !(n >= 0) || b.kind.rate() && n > 1 || math.IsInf(n, 0) {
		panic("budget: a bound of " + number(n) + ": it is 0 or more, of a share at most 1, and of a measure of time a time")
	}
	b.op, b.bound = o, n
	return b
}

// Where returns the budget for the calls that have all the labels, given as
// names and values in turn: "operation", "api", "provider", "server", "model" or
// "response_model" of the call, or names of tacho.ContextWithLabels; an empty
// value is that of calls without the label. The name "stream" with "true" or
// "false" is Streams or Plain.
func (b Budget) Where(namesAndValues ...string) Budget {
	b.labels = slices.Clone(b.labels)
	for i := 0; i < len(namesAndValues); i += 2 {
		l := tacho.Label{Name: namesAndValues[i]}
		if i+1 < len(namesAndValues) {
			l.Value = namesAndValues[i+1]
		}
		if stream, err := strconv.ParseBool(l.Value); l.Name == "stream" && err == nil {
			b.stream = &stream
			continue
		}
		b.labels = append(b.labels, l)
	}
	return b
}

// Streams returns the budget for streams only, and Plain for the other calls.
// A figure that only streams have is of streams anyway; any other is of the one
// kind that there is, and undecided where there are both: they are never mixed.
func (b Budget) Streams() Budget { b.stream = ptr(true); return b }

// Plain returns the budget for calls that are no streams.
func (b Budget) Plain() Budget { b.stream = ptr(false); return b }

func ptr[T any](v T) *T { return &v }

// timed reports whether the bound is a time.
func (k kind) timed() bool {
	switch k {
	case quantile, mean, maximum, longestStall:
		return true
	}
	return false
}

// rate reports whether the bound is a share.
func (k kind) rate() bool {
	switch k {
	case errorRate, tooMany, share, goodput:
		return true
	}
	return false
}

// String returns the budget as text, which Parse reads.
func (b Budget) String() string {
	var s strings.Builder
	switch b.kind {
	case nothing:
		return "no budget"
	case quantile:
		s.WriteString(b.figure.String() + " p" + percent(b.q))
	case mean:
		s.WriteString(b.figure.String() + " mean")
	case maximum:
		s.WriteString(b.figure.String() + " max")
	case errorRate:
		s.WriteString("errors")
	case tooMany:
		s.WriteString("429")
	case share, goodput, goodputRate:
		s.WriteString(map[kind]string{share: "share", goodput: "goodput", goodputRate: "goodput"}[b.kind] + "(")
		for i, l := range b.limits {
			if i > 0 {
				s.WriteString(", ")
			}
			fmt.Fprintf(&s, "%v <= %v", l.Figure, l.AtMost)
		}
		s.WriteByte(')')
	case throughput:
		s.WriteString("throughput")
	case inputTokens:
		s.WriteString("input_tokens")
	case outputTokens:
		s.WriteString("output_tokens")
	case longestStall:
		s.WriteString("longest_stall")
	}
	s.WriteString(" " + ops[b.op] + " " + b.format(b.bound))
	labels := make([]string, 0, len(b.labels)+1)
	for _, l := range b.labels {
		name := l.Name
		if !isWord(name) || name == "stream" {
			name = strconv.Quote(name)
		}
		labels = append(labels, name+"="+strconv.Quote(l.Value))
	}
	if b.stream != nil {
		labels = append(labels, fmt.Sprintf("stream=%q", strconv.FormatBool(*b.stream)))
	}
	if len(labels) > 0 {
		s.WriteString(" {" + strings.Join(labels, ", ") + "}")
	}
	return s.String()
}

// format writes a value of the budget's measure, exactly enough to read it back.
func (b Budget) format(v float64) string {
	switch {
	case b.kind.timed():
		if v == b.bound {
			return b.time.String()
		}
		return seconds(v).String()
	case b.kind.rate():
		return percent(v) + "%"
	case b.kind == goodputRate, b.kind == throughput:
		return number(v) + "/s"
	}
	return number(v)
}

// number writes a number so that it is read as the same.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// percent writes a share as a percentage: its decimal with the point two places
// on, which hundredth makes the same share again.
func percent(v float64) string {
	whole, fraction, _ := strings.Cut(number(v), ".")
	fraction += "00"
	whole, fraction = strings.TrimLeft(whole+fraction[:2], "0"), strings.TrimRight(fraction[2:], "0")
	if whole == "" {
		whole = "0"
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// hundredth reads a percentage as the share that is nearest to it: 99.9 as 0.999,
// which 99.9 ÷ 100 is not.
func hundredth(s string) (float64, error) {
	if strings.ContainsAny(s, "eExXpP_") {
		n, err := strconv.ParseFloat(s, 64)
		return n / 100, err
	}
	return strconv.ParseFloat(s+"e-2", 64)
}

func seconds(v float64) time.Duration {
	const most = float64(1<<63 - 1024)
	return time.Duration(min(max(v*1e9, -most), most) + half(v))
}

// half rounds away from 0.
func half(v float64) float64 {
	if v < 0 {
		return -0.5
	}
	return 0.5
}
