// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/internal/conv"
)

// These are promtool's files of rule tests, as far as they are used here.
type testFile struct {
	RuleFiles          []string   `yaml:"rule_files"`
	EvaluationInterval string     `yaml:"evaluation_interval"`
	Tests              []ruleTest `yaml:"tests"`
}

type ruleTest struct {
	Name     string        `yaml:"name"`
	Interval string        `yaml:"interval"`
	Input    []inputSeries `yaml:"input_series"`
	Exprs    []exprTest    `yaml:"promql_expr_test"`
}

type inputSeries struct {
	Series string `yaml:"series"`
	Values string `yaml:"values"`
}

type exprTest struct {
	Expr    string   `yaml:"expr"`
	At      string   `yaml:"eval_time"`
	Samples []sample `yaml:"exp_samples"`
}

type sample struct {
	Labels string  `yaml:"labels"`
	Value  float64 `yaml:"value"`
}

// scenario is what series do each minute, and which alerts fire then: those and
// no others.
type scenario struct {
	name   string
	at     string
	series [][]inputSeries
	firing []string
	zero   []string // what is 0 then, and not absent
}

func (s scenario) test() ruleTest {
	t := ruleTest{Name: s.name, Interval: "1m"}
	for _, some := range s.series {
		t.Input = append(t.Input, some...)
	}
	e := exprTest{Expr: `count by (alertname) (ALERTS{alertstate="firing"})`, At: s.at, Samples: []sample{}}
	for _, a := range s.firing {
		e.Samples = append(e.Samples, sample{fmt.Sprintf("{alertname=%q}", a), 1})
	}
	t.Exprs = []exprTest{e}
	for _, z := range s.zero {
		t.Exprs = append(t.Exprs, exprTest{"sum(" + z + ")", s.at, []sample{{"{}", 0}}})
	}
	return t
}

// ruleTests returns promtool's file.
func ruleTests() testFile {
	f := testFile{RuleFiles: []string{"rules.yaml"}, EvaluationInterval: "2m"}
	for _, s := range scenarios() {
		f.Tests = append(f.Tests, s.test())
	}
	return f
}

// minutes is how long series go on, unless a scenario says otherwise.
const minutes = 120

func each(n float64) string { return fmt.Sprintf("0+%gx%d", n, minutes) }

// one is a series of the one model that the scenarios have.
func one(name, more, values string) []inputSeries {
	return []inputSeries{{fmt.Sprintf(`%s{job="app", %s="m", %s="host", %s="eu"%s}`, name, model, server, region, more), values}}
}

// calls are so many a minute with an outcome.
func calls(o tacho.Outcome, n float64) []inputSeries {
	return one(metric(conv.Calls), matching(label(conv.Outcome), "=", o.String()), each(n))
}

// firstOutputs are so many a minute, just below the bound of a bucket.
func firstOutputs(n float64, bound string) (all []inputSeries) {
	name := metric(conv.FirstOutput)
	below := true
	for _, b := range []string{"1", "5", "20", "40", "80", "+Inf"} {
		below = below && b != bound
		values := each(n)
		if below {
			values = each(0)
		}
		all = append(all, one(name+"_bucket", matching("le", "=", b), values)...)
	}
	return append(all, one(name+"_count", "", each(n))...)
}

func reasoningTokens() []inputSeries { return one(metric(conv.UsageReasoning), "", each(1000)) }

// times are so many a minute of a recorder's figure, as native histograms: about
// 12 s, or below 1 s.
func times(f tacho.Figure, n int, long bool) []inputSeries {
	offset := 0
	if long {
		offset = 4 // the bucket from 8 s to 16 s
	}
	h := fmt.Sprintf("{{schema:0 sum:%d count:%d offset:%d buckets:[%d]}}", 12*n, n, offset, n)
	return one(recorded(f), "", fmt.Sprintf("%s+%sx%d", h, h, minutes))
}

// judged are calls that met and missed the first objective, so many a minute.
func judged(met, missed string) []inputSeries {
	series := func(verdict string) string {
		return fmt.Sprintf(`%s{job="app", %s=%q, %s=%q}`, metric(conv.SLOCalls), label(conv.SLO), objectives()[0].name, label(conv.SLOMet), verdict)
	}
	return []inputSeries{{series("true"), met}, {series("false"), missed}}
}
