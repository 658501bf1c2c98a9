// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/deploy/internal/backend"
	"github.com/tacho-go/tacho/internal/conv"
)

// roundTripCalls is how many calls a round trip makes, of which a twentieth each fails,
// is cut, is slow and so on.
const roundTripCalls = 240

// trip is a round trip: what the service says of itself, and whom to ask.
type trip struct {
	*backend.Stack
	said *backend.Figures
}

// TestRoundTrip sends the telemetry of a service through the Collector to
// Prometheus and VictoriaLogs and asks them for it.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	p := programs(t, backend.Collector, backend.Prometheus, backend.VictoriaLogs)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	dir := t.TempDir()
	s, err := backend.Start(ctx, p, "out", dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	absent := tripNoData(t, s)
	said, err := s.Serve(ctx, "../examples", dir, roundTripCalls)
	if err != nil {
		t.Fatal(err)
	}
	r := &trip{s, said}
	total := fmt.Sprintf("sum(%s)", metric(conv.Calls))
	r.eventually(t, total, roundTripCalls)
	if all, err := s.Query(ctx, absent); err != nil || len(all) != 0 {
		t.Errorf("%s: %v, %v, though there are calls", absent, all, err)
	}
	for _, one := range []struct {
		name string
		f    func(*testing.T)
	}{{"counts", r.counts}, {"quantiles", r.quantiles}, {"traces", r.traces}, {"links", r.links}, {"rules", r.rules}, {"dashboard", r.dashboard}} {
		t.Run(one.name, one.f)
	}
}

// tripNoData asks for the absence of data before there is any.
func tripNoData(t *testing.T, s *backend.Stack) (absent string) {
	t.Helper()
	i := slices.IndexFunc(alerts(), func(a alert) bool { return a.name == "TachoNoData" })
	absent = alerts()[i].value
	if v, err := s.One(t.Context(), absent); err != nil || v != 1 {
		t.Errorf("before any data %s is %v, %v, not 1", absent, v, err)
	}
	return absent
}

// eventually waits until an expression has a value.
func (r *trip) eventually(t *testing.T, expr string, want float64) {
	t.Helper()
	err := backend.Until(t.Context(), 30*time.Second, func() error {
		got, err := r.One(t.Context(), expr)
		if err == nil && got != want {
			err = fmt.Errorf("%s is %g, not %g", expr, got, want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
		return
	}
	t.Logf("%-90s %g", expr, want)
}

// counts compares the numbers of calls and of tokens, which are exact.
func (r *trip) counts(t *testing.T) {
	for outcome, n := range r.said.Calls {
		r.eventually(t, fmt.Sprintf("sum(%s{%s=%q})", metric(conv.Calls), label(conv.Outcome), outcome), float64(n))
		r.eventually(t, fmt.Sprintf("sum(tacho_recorder_calls_total{%s=%q})", label(conv.Outcome), outcome), float64(n))
	}
	for id, n := range map[conv.ID]int64{
		conv.UsageInput: r.said.Usage.Input, conv.UsageOutput: r.said.Usage.Output,
		conv.UsageCacheRead: r.said.Usage.CacheRead, conv.UsageReasoning: r.said.Usage.Reasoning,
	} {
		r.eventually(t, fmt.Sprintf("sum(%s)", metric(id)), float64(n))
	}
	r.eventually(t, fmt.Sprintf("histogram_count(sum(%s))", recorded(tacho.Gap)), float64(r.said.Gap.Count))
	r.eventually(t, fmt.Sprintf("sum(%s_count)", metric(conv.FirstToken)), float64(r.said.TTFT.Count))
	r.eventually(t, fmt.Sprintf("sum(%s{%s=%q, %s=\"false\"})", metric(conv.SLOCalls), label(conv.SLO), objectives()[0].name, label(conv.SLOMet)), float64(len(r.said.Failed)))
	r.eventually(t, fmt.Sprintf("sum(%s)", metric(conv.ActiveCalls)), 0)
}

// quantiles compares P99s with the recorder's own, which have three digits: a
// backend's may be in the bucket beside.
func (r *trip) quantiles(t *testing.T) {
	var bounds []backend.Bucket
	for _, m := range conv.Metrics() {
		if m.ID == conv.FirstToken {
			low := 0.0
			for _, b := range append(slices.Clone(m.Bounds), math.Inf(1)) {
				bounds = append(bounds, backend.Bucket{Low: low, High: b})
				low = b
			}
		}
	}
	near(t, r, fmt.Sprintf("histogram_quantile(0.99, sum by (le) (%s_bucket))", metric(conv.FirstToken)), r.said.TTFT.P99, bounds)
	for f, own := range map[tacho.Figure]float64{tacho.TTFT: r.said.TTFT.P99, tacho.Gap: r.said.Gap.P99} {
		h := fmt.Sprintf("sum(%s)", recorded(f))
		all, err := r.Query(t.Context(), h)
		if err != nil || len(all) != 1 || !all[0].IsBuckets {
			t.Errorf("%s is no native histogram: %v, %v", h, all, err)
			continue
		}
		near(t, r, fmt.Sprintf("histogram_quantile(0.99, %s)", h), own, all[0].Buckets)
	}
}

func near(t *testing.T, r *trip, expr string, own float64, buckets []backend.Bucket) {
	t.Helper()
	got, err := r.One(t.Context(), expr)
	if err != nil {
		t.Error(err)
		return
	}
	in := func(v float64) int {
		return slices.IndexFunc(buckets, func(b backend.Bucket) bool { return v > b.Low && v <= b.High })
	}
	a, b := in(got), in(own)
	t.Logf("%-90s %.6g; tacho's own %.6g; buckets %d and %d", expr, got, own, a, b)
	if a < 0 || b < 0 || a-b > 1 || b-a > 1 {
		t.Errorf("%s is %g, more than a bucket from %g", expr, got, own)
	}
}

// traces looks at what the tail sampler kept.
func (r *trip) traces(t *testing.T) {
	for what, ids := range map[string][]string{"failed": r.said.Failed, "slow": r.said.Slow, "stalled": r.said.Stalled} {
		if len(ids) == 0 {
			t.Errorf("no call was %s", what)
		}
		for _, id := range ids {
			if err := backend.Until(t.Context(), 15*time.Second, func() error {
				if len(r.Traces.Spans(id)) == 0 {
					return fmt.Errorf("the trace %s of a call that was %s was not kept", id, what)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	kept := 0
	for _, id := range r.said.Fine {
		kept += min(1, len(r.Traces.Spans(id)))
	}
	if kept == 0 || kept == len(r.said.Fine) {
		t.Errorf("of %d other traces %d were kept, not a share", len(r.said.Fine), kept)
	}
	t.Logf("kept: all of %d failed, %d slow, %d stalled; %d of %d others", len(r.said.Failed), len(r.said.Slow), len(r.said.Stalled), kept, len(r.said.Fine))
}

// links goes from an exemplar to its trace and on to its lines in the log.
func (r *trip) links(t *testing.T) {
	exemplars, err := r.Exemplars(t.Context(), metric(conv.FirstToken)+"_bucket")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.said.Slow, func(id string) bool { return exemplars[id] != 0 })
	if i < 0 {
		t.Fatalf("none of %d exemplars is of a slow call", len(exemplars))
	}
	id := r.said.Slow[i]
	var spans []string
	// The collector decides 2 s after a trace's first span.
	if err := backend.Until(t.Context(), 15*time.Second, func() error {
		spans = r.Traces.Spans(id)
		if !slices.ContainsFunc(spans, func(s string) bool { return strings.HasPrefix(s, "chat ") }) || !slices.Contains(spans, "answer") {
			return fmt.Errorf("the trace %s has the spans %q", id, spans)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	var lines []map[string]string
	if err := backend.Until(t.Context(), 15*time.Second, func() error {
		if lines, err = r.Lines(t.Context(), fmt.Sprintf("trace_id:=%q", id)); err == nil && len(lines) < 2 {
			err = fmt.Errorf("%d lines of the trace %s", len(lines), id)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(lines, func(l map[string]string) bool { return l["_msg"] == "llm call slow" }) {
		t.Errorf("no line says that the call of the trace %s was slow: %v", id, lines)
	}
	t.Logf("trace %s: exemplar at %.3g s; spans %q; %d lines, of these %q", id, exemplars[id], spans, len(lines), "llm call slow")
	for message, n := range map[string]int64{"llm call failed": int64(len(r.said.Failed)), "llm call stalled": int64(len(r.said.Stalled)), "answered": r.said.Total()} {
		if err := backend.Until(t.Context(), 15*time.Second, func() error {
			got, err := r.Lines(t.Context(), fmt.Sprintf("_msg:=%q | stats count() n", message))
			if err == nil && (len(got) != 1 || got[0]["n"] != fmt.Sprint(n)) {
				err = fmt.Errorf("lines %q: %v, not %d", message, got, n)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
}

// rules looks at each rule as Prometheus evaluates it, and asks for each record
// and each part of an alert.
func (r *trip) rules(t *testing.T) {
	var all []backend.Rule
	if err := backend.Until(t.Context(), 20*time.Second, func() (err error) {
		if all, err = r.Rules(t.Context()); err != nil {
			return err
		}
		for _, one := range all {
			if one.Health != "ok" {
				return fmt.Errorf("rule %s: %s: %s", one.Name, one.Health, one.LastError)
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	want := 0
	for _, g := range rules().Groups {
		want += len(g.Rules)
	}
	if len(all) != want {
		t.Errorf("Prometheus has %d rules, not %d", len(all), want)
	}
	n := 0
	for _, one := range all {
		if one.Type == "recording" {
			n += r.answers(t, one.Name, one.Query) + r.answers(t, one.Name, one.Name)
		}
	}
	for _, a := range alerts() {
		if a.name == "TachoNoData" {
			continue // asked before there was any
		}
		n += r.answers(t, a.name, a.value)
		for _, g := range a.guards {
			n += r.answers(t, a.name, g.value)
		}
	}
	t.Logf("%d rules evaluate; %d expressions return series", len(all), n)
}

// dashboard asks for every query of the dashboard.
func (r *trip) dashboard(t *testing.T) {
	panels, variables := queriesOf(t)
	n := 0
	for title, exprs := range panels {
		for _, expr := range exprs {
			choices := []string{model}
			if strings.Contains(expr, "$by") {
				choices = []string{model, server, region}
			}
			for _, by := range choices {
				n += r.answers(t, title, strings.NewReplacer("$by", by, "$__rate_interval", "1m",
					"$model", ".*", "$server", ".*", "$region", ".*").Replace(expr))
			}
		}
	}
	query := regexp.MustCompile(`^label_values\((\S+), (\S+)\)$`)
	for _, v := range variables {
		m := query.FindStringSubmatch(v)
		if m == nil {
			t.Errorf("the variable's query %q is of another kind", v)
			continue
		}
		values, err := r.LabelValues(t.Context(), m[1], m[2])
		if err != nil || len(values) < 1 {
			t.Errorf("%s: %q, %v", v, values, err)
		}
		n++
		t.Logf("%s: %q", v, values)
	}
	t.Logf("%d queries of %d panels return series", n, len(panels))
}

// answers asks for an expression, which must return a series with a number.
func (r *trip) answers(t *testing.T, what, expr string) int {
	t.Helper()
	all, err := r.Query(t.Context(), expr)
	if err == nil && !slices.ContainsFunc(all, func(s backend.Series) bool { return !math.IsNaN(s.Value) }) {
		err = fmt.Errorf("%d series, none with a number", len(all))
	}
	if err != nil {
		t.Errorf("%s: %s: %v", what, expr, err)
		return 0
	}
	return 1
}
