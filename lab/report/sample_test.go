// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"math"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/lab/report"
)

const ms = time.Millisecond

// lognormal returns n values about a median, always the same ones: the
// quantiles at the middles of n equal parts, by the logistic distribution, which
// has a closed form; rounded, as processors differ in the last digit.
func lognormal(n int, median time.Duration, sigma float64) *tacho.Histogram {
	h := new(tacho.Histogram)
	for i := range n {
		q := (float64(i) + 0.5) / float64(n)
		h.Record(time.Duration(float64(median) * math.Exp(sigma*math.Log(q/(1-q))/1.7)).Round(10 * time.Microsecond))
	}
	return h
}

// sample is a report with everything in it.
func sample(t testing.TB) *report.Report {
	t.Helper()
	start := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	r := &report.Report{
		Program: "models", Version: "v0.1.0", Title: "Three models at 100 requests a second",
		Subject: "The same prompts, asked of three models of the built-in simulation at https://user:SECRET@host.invalid/v1?key=SECRET#SECRET, in turns.",
		Start:   start, End: start.Add(61500 * ms), Incomplete: true,
	}
	r.Param("model", "gpt-4, gpt-4-turbo, o1")
	r.Param("endpoint", "https://host.invalid/v1")
	r.Param("prompt", "128 tokens of system instruction and 512 of context")
	r.Param("seed", "")
	r.Warn("This machine stalled during the run: 1 sleep in 100 was late by 12 ms or more, so that the delays are not the endpoint's alone.")

	compared := report.NewTable(report.Column{Name: "model", Kind: report.Text}, report.Column{Name: "offered", Kind: report.Rate},
		report.Column{Name: "served", Kind: report.Rate}, report.Column{Name: "refused", Kind: report.Share},
		report.Column{Name: "mean TTFT", Kind: report.Duration, Unit: "ms"}, report.Column{Name: "out ÷ in", Key: "output_per_input", Kind: report.Ratio},
		report.Column{Name: "against gpt-4", Kind: report.Duration, Unit: "ms", Signed: true})
	const remark = "100 offered against what was served is no steady state without refusals."
	compared.Row(report.S("gpt-4"), report.PerSecond(100), report.PerSecond(38.4).Published(report.PerSecond(38.2), remark), report.Part(0.616),
		report.D(1829*ms).Published(report.D(1842*ms), ""), report.Number(1.12), report.Absent("It is what the others are compared with."))
	compared.Row(report.S("gpt-4-turbo"), report.PerSecond(100), report.PerSecond(87.1).Published(report.PerSecond(87.6), remark), report.Part(0.129),
		report.D(902*ms).Published(report.D(896*ms), ""), report.Number(1.38).Estimated(), report.D(-927*ms))
	compared.Row(report.S("o1"), report.PerSecond(100), report.PerSecond(22.4).Published(report.PerSecond(22.4), remark), report.Part(0.776),
		report.D(3197*ms).AtLeast().Published(report.D(3217*ms), ""), report.Cell{}, report.D(1368*ms).AtLeast())
	r.Add(report.Section{Heading: "Compared", Text: "A value beside each that was published.", Table: compared, Notes: []string{"Refused are answers with status 429 or 503."}})

	r.Add(report.Section{Heading: "Time to the first token", Chart: &report.Quantiles{Title: "ttft", Limits: []report.Limit{{Name: "objective: 2.5 s", Value: 2.5}},
		Series: []report.QuantileSeries{
			{Name: "gpt-4", Histogram: lognormal(2300, 600*ms, 0.35)}, {Name: "gpt-4-turbo", Histogram: lognormal(5200, 350*ms, 0.3)},
			{Name: "o1", Histogram: lognormal(1300, 900*ms, 0.4), Censored: 40}, {Name: "nothing"},
		}}})
	lines := &report.Lines{Title: "Requests a second", X: report.Axis{Name: "since the start", Kind: report.Duration}, Y: report.Axis{Name: "served", Kind: report.Rate}}
	for k, name := range []string{"gpt-4", "gpt-4-turbo", "o1"} {
		s := report.LineSeries{Name: name}
		for i := range 13 {
			y := []float64{38, 87, 22}[k] * (1 - math.Exp(-float64(i)/2)) * (1 + 0.05*math.Sin(float64(i*(k+2))))
			if k == 1 && i == 6 {
				y = math.NaN()
			}
			s.Points = append(s.Points, report.At(time.Duration(i)*5*time.Second, math.Round(y*10)/10))
		}
		lines.Series = append(lines.Series, s)
	}
	r.Add(report.Section{Heading: "Served", Chart: lines})
	r.Add(report.Section{Heading: "Policies", Chart: &report.Bars{Title: "Deviation of the latency", Axis: report.Axis{Name: "deviation", Kind: report.Duration},
		Categories: []string{"round robin", "weighted least connections", "dynamic weight", "a policy whose name is longer than there is room for it in a picture"},
		Series:     []report.BarSeries{{Name: "measured", Values: []report.Cell{report.D(41 * ms), report.D(20 * ms), report.D(13 * ms)}}, {Name: "published", Values: []report.Cell{report.D(42300 * time.Microsecond), report.D(19800 * time.Microsecond), report.D(12600 * time.Microsecond), report.D(5 * ms).AtLeast()}}},
	}})
	r.Add(report.Section{Heading: "One call", Chart: &report.Waterfall{Title: "Phases", Rows: []report.Phase{
		{Name: "dns", Group: "network", End: 4 * ms}, {Name: "connect", Group: "network", Start: 4 * ms, End: 20 * ms}, {Name: "tls", Group: "network", Start: 20 * ms, End: 55 * ms},
		{Name: "proxy", Group: "network", Start: 1, End: 0}, {Name: "wait", Group: "server", Start: 55 * ms, End: 420 * ms}, {Name: "last token", Group: "tokens", Start: 420 * ms, End: 1250 * ms, Open: true},
	}}})
	r.Add(report.Latency{}.Sections(snapshot(t))...)
	r.Add(report.Verdicts(budget.ObservedSnapshot(snapshot(t)).Report(budget.MustParse("ttft p90 <= 500ms"), budget.MustParse("ttft p90 <= 100ms"),
		budget.MustParse("errors <= 1%"), budget.MustParse(`ttft p50 <= 1s {region="nowhere"}`))))
	return r
}
