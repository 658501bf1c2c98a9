// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho"
)

// drawing turns what was exported into lines, all of it and in one order. What is
// left out is SDK's own: resources, the times of data points and exemplars, which
// TestTelemetry holds to the spans.
type drawing struct {
	lines    []string
	begin    time.Time
	timeless bool // times on the clock of the machine: they are told, not how long
}

func (d *drawing) line(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *drawing) scope(s instrumentation.Scope) string {
	if s.Version == tacho.Version {
		s.Version = "VERSION"
	}
	return "scope " + strings.TrimSpace(s.Name+" "+s.Version+" "+s.SchemaURL+" "+d.set(s.Attributes.ToSlice()))
}

func (d *drawing) at(t time.Time) string {
	if d.timeless {
		return "SOME TIME"
	}
	return t.Sub(d.begin).String()
}

// spans draws those that have begun, in this order.
func (d *drawing) spans(started []sdktrace.ReadWriteSpan) {
	names := map[trace.SpanID]string{}
	for _, s := range started {
		names[s.SpanContext().SpanID()] = s.Name()
	}
	for _, s := range started {
		parent := "no parent"
		if p := s.Parent(); p.IsValid() {
			parent = fmt.Sprintf("child of %q", names[p.SpanID()])
		}
		d.line("span %d %q: %v, %s, %s", spanNumber(s.SpanContext().SpanID()), s.Name(), s.SpanKind(), parent, d.scope(s.InstrumentationScope()))
		end := "not ended"
		if !s.EndTime().IsZero() {
			end = "to " + d.at(s.EndTime())
		}
		status := s.Status().Code.String()
		if s.Status().Description != "" {
			status += " " + strconv.Quote(s.Status().Description)
		}
		d.line("  from %s %s, status %s", d.at(s.StartTime()), end, status)
		d.attributes("  ", s.Attributes())
		for _, e := range s.Events() {
			d.line("  event %s at %s", e.Name, d.at(e.Time))
			d.attributes("    ", e.Attributes)
		}
		for _, l := range s.Links() {
			d.line("  link to %d", spanNumber(l.SpanContext.SpanID()))
			d.attributes("    ", l.Attributes)
		}
		if s.DroppedAttributes()+s.DroppedEvents()+s.DroppedLinks() > 0 {
			d.line("  something was dropped")
		}
	}
}

func spanNumber(id trace.SpanID) uint64 { return binary.BigEndian.Uint64(id[:]) }

func (d *drawing) attributes(indent string, kv []attribute.KeyValue) {
	kv = slices.Clone(kv)
	slices.SortFunc(kv, func(a, b attribute.KeyValue) int { return strings.Compare(string(a.Key), string(b.Key)) })
	for _, a := range kv {
		d.line("%s%s = %s", indent, a.Key, d.value(a.Value))
	}
}

// value writes a value as Go would, by which its type is seen: "1", 1, 1.0.
func (d *drawing) value(v attribute.Value) string {
	switch v.Type() {
	case attribute.BOOL, attribute.INT64:
		return fmt.Sprint(v.AsInterface())
	case attribute.STRING:
		return strconv.Quote(v.AsString())
	case attribute.STRINGSLICE:
		return fmt.Sprintf("%q", v.AsStringSlice())
	case attribute.FLOAT64:
		if d.timeless {
			return "SOME FLOAT"
		}
		s := strconv.FormatFloat(v.AsFloat64(), 'g', -1, 64)
		if !strings.ContainsAny(s, ".eIN") {
			s += ".0"
		}
		return s
	}
	return fmt.Sprintf("%v %v", v.Type(), v.AsInterface())
}

func (d *drawing) set(kv []attribute.KeyValue) string {
	var s []string
	for _, a := range kv {
		s = append(s, string(a.Key)+"="+d.value(a.Value))
	}
	slices.Sort(s)
	return strings.Join(s, " ")
}

// dataPoint is a data point, with its attributes and the rest of it.
type dataPoint struct {
	set  attribute.Set
	text string
}

// metrics draws every data point. The sets of attributes stand above, under a
// letter, a larger set as another and what it has besides.
func (d *drawing) metrics(rm *metricdata.ResourceMetrics) {
	for _, sm := range rm.ScopeMetrics {
		points := map[string][]dataPoint{}
		var all []attribute.Set
		for _, m := range sm.Metrics {
			kind, p := d.points(m.Data)
			head := strings.Trim(m.Name+", "+kind+", "+m.Unit, ", ")
			points[head] = append(points[head], p...)
			for _, p := range p {
				if !slices.ContainsFunc(all, func(s attribute.Set) bool { return s.Equals(&p.set) }) {
					all = append(all, p.set)
				}
			}
		}
		d.line("metrics: %s", d.scope(sm.Scope))
		slices.SortFunc(all, func(a, b attribute.Set) int {
			if n := a.Len() - b.Len(); n != 0 {
				return n
			}
			return strings.Compare(d.set(a.ToSlice()), d.set(b.ToSlice()))
		})
		letters := map[attribute.Distinct]string{}
		for i, s := range all {
			letters[s.Equivalent()] = setLetter(i)
			d.line("  %s = %s", setLetter(i), d.beyond(all[:i], s))
		}
		for _, head := range slices.Sorted(maps.Keys(points)) {
			var lines []string
			for _, p := range points[head] {
				lines = append(lines, letters[p.set.Equivalent()]+" "+p.text)
			}
			if slices.Sort(lines); len(lines) == 1 {
				d.line("  %s: %s", head, lines[0])
				continue
			}
			d.line("  %s:", head)
			for _, l := range lines {
				d.line("    %s", l)
			}
		}
	}
}

func setLetter(i int) string { return strings.Repeat(string(rune('A'+i%26)), 1+i/26) }

// beyond writes a set as the largest of others that is in it, and the rest.
func (d *drawing) beyond(others []attribute.Set, s attribute.Set) string {
	for i := len(others) - 1; i >= 0; i-- {
		o := others[i]
		rest, shared := s.Filter(func(kv attribute.KeyValue) bool {
			v, ok := o.Value(kv.Key)
			return !ok || d.value(v) != d.value(kv.Value)
		})
		if len(shared) == o.Len() && rest.Len() < s.Len() {
			return setLetter(i) + " + " + d.set(rest.ToSlice())
		}
	}
	return d.set(s.ToSlice())
}

// points returns the kind of a metric and its points.
func (d *drawing) points(data metricdata.Aggregation) (kind string, points []dataPoint) {
	switch m := data.(type) {
	case metricdata.Histogram[float64]:
		kind = "histogram " + boundsName(m.DataPoints[0].Bounds)
		for _, p := range m.DataPoints {
			text := fmt.Sprintf("n=%d", p.Count)
			if !d.timeless {
				text += d.buckets(p)
			}
			points = append(points, dataPoint{p.Attributes, text})
		}
		return kind + temporalityName(m.Temporality), points
	case metricdata.Sum[int64]:
		if kind = "counter"; !m.IsMonotonic {
			kind = "up-down counter"
		}
		for _, p := range m.DataPoints {
			points = append(points, dataPoint{p.Attributes, fmt.Sprint(p.Value)})
		}
		return kind + temporalityName(m.Temporality), points
	case metricdata.Gauge[int64]:
		for _, p := range m.DataPoints {
			points = append(points, dataPoint{p.Attributes, fmt.Sprint(p.Value)})
		}
		return "gauge", points
	}
	return fmt.Sprintf("%T", data), nil
}

func temporalityName(t metricdata.Temporality) string {
	if t == metricdata.CumulativeTemporality {
		return ""
	}
	return ", " + t.String()
}

// buckets writes a histogram's point: its sum, the extremes where they say more,
// and the buckets that have something, by their upper bounds.
func (d *drawing) buckets(p metricdata.HistogramDataPoint[float64]) string {
	sum := d.value(attribute.Float64Value(p.Sum))
	s := " sum=" + sum
	low, _ := p.Min.Value()
	high, _ := p.Max.Value()
	if a, b := d.value(attribute.Float64Value(low)), d.value(attribute.Float64Value(high)); a != sum || b != sum {
		s += " min=" + a + " max=" + b
	}
	for i, n := range p.BucketCounts {
		if n == 0 {
			continue
		}
		le := "more"
		if i < len(p.Bounds) {
			le = strconv.FormatFloat(p.Bounds[i], 'f', -1, 64)
		}
		s += fmt.Sprintf(" ≤%s:%d", le, n)
	}
	return s
}

// boundsName names the buckets of a histogram, which are written down here once more.
func boundsName(got []float64) string {
	for name, want := range map[string]string{
		"connection": "0.01 0.02 0.05 0.1 0.2 0.5 1 2 5 10 30 60 120 300",

		"D":       "0.01 0.02 0.04 0.08 0.16 0.32 0.64 1.28 2.56 5.12 10.24 20.48 40.96 81.92",
		"T":       "1 4 16 64 256 1024 4096 16384 65536 262144 1048576 4194304 16777216 67108864",
		"first":   "0.01 0.025 0.05 0.1 0.15 0.2 0.3 0.4 0.5 0.75 1 1.5 2 3 5 7.5 10 20 40 80",
		"per":     "0.001 0.0025 0.005 0.0075 0.01 0.015 0.02 0.03 0.04 0.05 0.075 0.1 0.15 0.2 0.3 0.5 1 2.5",
		"phase":   "0.00005 0.0001 0.00025 0.0005 0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10",
		"request": "0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10",
	} {
		var s []string
		for _, b := range got {
			s = append(s, strconv.FormatFloat(b, 'f', -1, 64))
		}
		if strings.Join(s, " ") == want {
			return name
		}
	}
	return fmt.Sprint(got)
}
