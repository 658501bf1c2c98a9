// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
)

// TestObjectives judges calls one by one: + met, - missed, . not decided.
func TestObjectives(t *testing.T) {
	t.Parallel()
	inBubble(t, func(b *bench) {
		b.streams(500*ms, 501*ms) // with gaps of 10 ms
		b.upper()                 // some time within a second; all at once, without a gap
		b.late()                  // ended by a deadline after 300 ms
		b.hung()                  // first token after 1 ms, then silence until 300 ms
		b.refused(429)
		b.do(stream(ms), streamed, drain, "team", "a")
		calls := b.all.Calls()
		for text, want := range map[string]string{
			"ttft p99 <= 500ms":                           "+-..+." + "+",
			"ttft p99 < 500ms":                            "--..+." + "+",
			"ttft max <= 200ms":                           "--.-+." + "+",
			"longest_stall <= 10ms":                       "+++.-." + "+",
			"longest_stall < 10ms":                        "--+.-." + "-",
			"errors <= 1%":                                "+++---" + "+",
			"429 <= 1%":                                   "+++++-" + "+",
			"share(ttft <= 500ms) >= 99%":                 "+-..+." + "+",
			"goodput(ttft <= 500ms, tpot <= 10ms) >= 95%": "+-.---" + "+",
			`ttft p50 <= 500ms {team="a"}`:                "......" + "+",
			`duration p99 <= 500ms {stream="false"}`:      "......" + ".",
		} {
			o := objective(t, text)
			got := ""
			for _, c := range calls {
				switch met, decided := o[0].Judge(c); {
				case !decided:
					got += "."
				case met:
					got += "+"
				default:
					got += "-"
				}
			}
			if got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
		}
	})
}

func objective(t *testing.T, texts ...string) []tacho.Objective {
	t.Helper()
	var all []budget.Budget
	for _, text := range texts {
		b, err := budget.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	o, err := budget.Objectives(all...)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestNoObjectives(t *testing.T) {
	t.Parallel()
	for text, why := range map[string]string{
		"ttft mean <= 1s":         "no single call",
		"throughput >= 5/s":       "no single call",
		"output_tokens <= 5":      "no single call",
		"gap p99 <= 1s":           "longest_stall",
		"errors >= 1%":            "from above",
		"share(ttft <= 1s) <= 5%": "from below",
	} {
		b, err := budget.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := budget.Objectives(b); err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), text[:4]) {
			t.Errorf("%s: %v, want one with %q", text, err, why)
		}
	}
	if _, err := budget.Objectives(budget.Budget{}); err == nil {
		t.Error("the zero budget is an objective")
	}
}

// TestWithBudgets reads the metric: an objective counts what it decides, one that
// is given twice counts once.
func TestWithBudgets(t *testing.T) {
	t.Parallel()
	inBubble(t, func(b *bench) {
		reader := metric.NewManualReader()
		base := b.srv.Transport()
		defer base.CloseIdleConnections()
		o := objective(t, "ttft p99 <= 500ms", "errors <= 1%")
		b.rt = tacho.NewTransport(base, tacho.WithBudgets(o...), tacho.WithBudgets(o[0], nil), tacho.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))), tacho.WithoutTracing())
		b.streams(500*ms, 501*ms, 2*ms)
		b.refused(429)
		var data metricdata.ResourceMetrics
		if err := reader.Collect(context.Background(), &data); err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for _, s := range data.ScopeMetrics {
			for _, m := range s.Metrics {
				if m.Name != "tacho.client.slo.calls" {
					continue
				}
				for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
					text := m.Unit
					for _, a := range p.Attributes.ToSlice() {
						text += fmt.Sprintf(" %s=%s", a.Key, a.Value.String())
					}
					got[text] = p.Value
				}
			}
		}
		want := map[string]int64{
			"{call} gen_ai.operation.name=chat gen_ai.provider.name=openai tacho.slo=ttft p99 <= 500ms tacho.slo.met=true": 2, "{call} gen_ai.operation.name=chat gen_ai.provider.name=openai tacho.slo=ttft p99 <= 500ms tacho.slo.met=false": 1,
			"{call} gen_ai.operation.name=chat gen_ai.provider.name=openai tacho.slo=errors <= 1% tacho.slo.met=true": 3, "{call} gen_ai.operation.name=chat gen_ai.provider.name=openai tacho.slo=errors <= 1% tacho.slo.met=false": 1,
		}
		if !maps.Equal(got, want) {
			t.Errorf("counted %v, want %v", got, want)
		}
	})
}
