// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/tacho-go/tacho"
)

// Report is the verdicts of a reading on some budgets. Its String is a table of
// all of them, the five worst calls by the first that is not met, and a chart.
// It has no content of requests or responses.
type Report struct {
	Results []Result
	reading Reading
}

// Report judges budgets.
func (r Reading) Report(budgets ...Budget) Report {
	out := Report{reading: r}
	for _, b := range budgets {
		out.Results = append(out.Results, r.Judge(b))
	}
	return out
}

// Failed reports whether a budget is broken, or undecided without the reading's
// leave.
func (r Report) Failed() bool { return slices.ContainsFunc(r.Results, r.fails) }

func (r Report) fails(res Result) bool {
	return res.Verdict == Broken || res.Verdict == Undecided && !r.reading.undecided
}

const worstCalls = 5

// String returns the tables.
func (r Report) String() string {
	var s strings.Builder
	s.WriteString(r.Verdicts() + "\n")
	for _, res := range r.Results {
		if r.fails(res) {
			r.worst(&s, res.Budget)
			r.chart(&s, res.Budget)
			break
		}
	}
	return trimLines(s.String())
}

// Verdicts returns the table of the budgets alone.
func (r Report) Verdicts() string {
	var s strings.Builder
	var count [Broken + 1]int
	for _, res := range r.Results {
		count[res.Verdict]++
	}
	open := ""
	if n := count[Undecided]; n > 0 {
		open = fmt.Sprintf(", %d undecided", n)
	}
	how := "observed"
	if r.reading.estimated {
		how = fmt.Sprintf("estimated with %s %% confidence", number(r.reading.confidence*100))
	}
	fmt.Fprintf(&s, "%d of %d budgets broken%s, %s:\n\n", count[Broken], len(r.Results), open, how)
	w := tabwriter.NewWriter(&s, 0, 0, 2, ' ', 0)
	for _, res := range r.Results {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", mark(res.Verdict), res.Budget, res.Verdict, res.describe(r.reading.estimated))
	}
	w.Flush()
	return trimLines(s.String())
}

func mark(v Verdict) string { return [...]string{"?", "✓", "✗"}[v] }

// trimLines takes the spaces from the ends of lines that columns leave there.
func trimLines(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// describe says what a verdict rests on.
func (r Result) describe(estimated bool) string {
	var parts []string
	show := func(v float64) string {
		if r.Budget.kind.timed() {
			return r.duration(v).String()
		}
		if r.Budget.kind.rate() {
			return fmt.Sprintf("%.4g%%", v*100)
		}
		return fmt.Sprintf("%.6g", v)
	}
	if r.HasValue {
		text := show(r.Value)
		if over := r.Value - r.Budget.bound; r.Verdict == Broken && r.Budget.kind.timed() && over != 0 {
			text += fmt.Sprintf(" (%v over)", r.duration(over))
			if over < 0 {
				text = show(r.Value) + fmt.Sprintf(" (%v short)", r.duration(-over))
			}
		}
		parts = append(parts, text)
	}
	if exact := r.HasLow && r.HasHigh && r.Low == r.High; !exact && (r.HasLow || r.HasHigh) {
		low, high := "…", "…"
		if r.HasLow {
			low = show(r.Low)
		}
		if r.HasHigh {
			high = show(r.High)
		}
		parts = append(parts, low+" to "+high)
	}
	parts = append(parts, fmt.Sprintf("of %d", r.N))
	if r.Unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d not known exactly", r.Unknown))
	}
	if estimated && r.Effective > 0 && r.Effective < float64(r.N) {
		parts = append(parts, fmt.Sprintf("worth %.0f independent ones", r.Effective))
	}
	if r.More > 0 {
		parts = append(parts, fmt.Sprintf("%d more like these would decide", r.More))
	}
	if r.Why != "" {
		parts = append(parts, r.Why)
	}
	return strings.Join(parts, ", ")
}

// ranked is the figure by which calls are the worst for a budget.
func (b Budget) ranked() tacho.Figure {
	switch b.kind {
	case quantile, mean, maximum:
		return b.figure
	case share, goodput, goodputRate:
		if len(b.limits) > 0 {
			return b.limits[0].Figure
		}
	case longestStall:
		return tacho.Gap
	}
	return tacho.Duration
}

// worst writes the worst calls: those that failed, for a budget over failures,
// else those of the greatest values.
func (r Report) worst(s *strings.Builder, b Budget) {
	calls, _ := r.reading.chosen(b)
	if len(calls) == 0 {
		return
	}
	f := b.ranked()
	badness := func(c *tacho.Call) float64 {
		switch b.kind {
		case errorRate, goodput, goodputRate:
			if c.Outcome().Bad() {
				return math.MaxFloat64
			}
		case tooMany:
			if status, _ := c.Status(); status == 429 {
				return math.MaxFloat64
			}
		}
		if f == tacho.Gap || b.kind == longestStall {
			g, _ := c.Gaps()
			return g.Max.Seconds()
		}
		d, ok := c.Figure(f)
		if !ok {
			d, _ = c.Duration()
		}
		return d.Seconds()
	}
	slices.SortStableFunc(calls, func(a, b *tacho.Call) int { return cmp.Compare(badness(b), badness(a)) })
	calls = calls[:min(worstCalls, len(calls))]
	fmt.Fprintf(s, "\nThe worst calls by %v:\n\n", f)
	columns := []tacho.Figure{tacho.TTFT, tacho.TTLT, tacho.Duration}
	if !slices.Contains(columns, f) && f != tacho.Gap {
		columns = slices.Insert(columns, 0, f)
	}
	w := tabwriter.NewWriter(s, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "  start\tmodel\toutcome\tstatus\t")
	for _, f := range columns {
		fmt.Fprintf(w, "%v\t", f)
	}
	fmt.Fprintln(w, "longest gap\ttrace")
	for _, c := range calls {
		status := "–"
		if n, ok := c.Status(); ok {
			status = fmt.Sprint(n)
		}
		gap := "–"
		if g, ok := c.Gaps(); ok {
			gap = g.Max.Round(time.Microsecond).String()
		}
		trace, ok := c.TraceID()
		if !ok {
			trace = "–"
		}
		fmt.Fprintf(w, "  %s\t%s\t%v\t%s\t", c.Start().UTC().Format("2006-01-02 15:04:05.000"), modelOf(c), c.Outcome(), status)
		for _, f := range columns {
			fmt.Fprintf(w, "%s\t", shown(c, f))
		}
		fmt.Fprintf(w, "%s\t%s\n", gap, trace)
	}
	w.Flush()
}

// modelOf is the model that was asked for, as far as it is a plain name.
func modelOf(c *tacho.Call) string {
	m := []rune(c.RequestModel())
	if len(m) == 0 {
		return "–"
	}
	for i, r := range m {
		if !unicode.IsGraphic(r) || unicode.IsSpace(r) {
			m[i] = '_'
		}
	}
	return string(m[:min(len(m), 40)])
}

func shown(c *tacho.Call, f tacho.Figure) string {
	d, ok := c.Figure(f)
	if !ok {
		return "–"
	}
	s := d.Round(time.Microsecond).String()
	if f == tacho.TTFT && c.Upper() {
		s = "≤ " + s
	}
	return s
}

// niceStep is the next number from x on that is 1, 2, 2.5 or 5 times a power of ten.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range [...]float64{1, 2, 2.5, 5} {
		if m*power >= x {
			return m * power
		}
	}
	return 10 * power
}

const (
	chartRows  = 8
	chartWidth = 40
)

// chart writes how a figure's values lie about the limit.
func (r Report) chart(s *strings.Builder, b Budget) {
	f := b.ranked()
	type weighted struct {
		v float64
		n int
	}
	var values []weighted
	total := 0
	if r.reading.snapshot != nil {
		g, _ := r.reading.group(b)
		for x := range g.Figure(f).Buckets() {
			values = append(values, weighted{(x.Low + (x.High-x.Low)/2).Seconds(), int(x.Count)})
			total += int(x.Count)
		}
	}
	calls, _ := r.reading.chosen(b)
	for _, c := range calls {
		if x, ok := spanOf(c, f); ok && x.low == x.high {
			values = append(values, weighted{x.low, 1})
			total++
		}
	}
	if len(values) < 2 {
		return
	}
	slices.SortFunc(values, func(a, b weighted) int { return cmp.Compare(a.v, b.v) })
	limit := math.NaN()
	switch {
	case b.kind == quantile || b.kind == mean || b.kind == maximum:
		limit = b.bound
	case len(b.limits) > 0:
		limit = b.limits[0].AtMost.Seconds()
	}
	least, most := values[0].v, values[len(values)-1].v
	if most <= least {
		return
	}
	width := niceStep((most - least) / chartRows)
	least = math.Floor(least/width) * width
	rows := make([]int, int((most-least)/width+1e-9)+1)
	top := 0
	for _, x := range values {
		k := min(len(rows)-1, int((x.v-least)/width+1e-9)) // a bound itself lies above it
		rows[k] += x.n
		top = max(top, rows[k])
	}
	what := "calls"
	if f == tacho.Gap {
		what = "gaps"
	}
	fmt.Fprintf(s, "\n%v of %d %s:\n\n", f, total, what)
	w := tabwriter.NewWriter(s, 0, 0, 1, ' ', tabwriter.AlignRight)
	for k, n := range rows {
		low, high := least+float64(k)*width, least+float64(k+1)*width
		here := ""
		if limit >= low && limit < high {
			here = " ← " + seconds(limit).String()
		}
		bar := ""
		if n > 0 {
			bar = strings.Repeat("█", max(1, n*chartWidth/top))
		}
		fmt.Fprintf(w, "  %v\t…\t%v\t%d\t %s%s\n", seconds(low).Round(time.Microsecond), seconds(high).Round(time.Microsecond), n, bar, here)
	}
	w.Flush()
}
