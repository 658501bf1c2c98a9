// SPDX-License-Identifier: Apache-2.0

package export

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tacho-go/tacho"
)

// Collector is a collector of Prometheus' client. It is safe for concurrent use.
type Collector struct{ recorder *tacho.Recorder }

var _ prometheus.Collector = (*Collector)(nil)

// NewCollector returns a collector of what r holds. Its histograms are native
// ones: a server must ask for them (scrape_native_histograms).
func NewCollector(r *tacho.Recorder) *Collector { return &Collector{r} }

// Describe implements prometheus.Collector. It describes nothing, for the
// labels are those of the calls.
func (c *Collector) Describe(chan<- *prometheus.Desc) {}

// maxSchema is the finest resolution of a native histogram.
const maxSchema = 8

// Collect implements prometheus.Collector. All series have all label names, for
// Prometheus wants them so; those that a series has not are empty.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	s := c.recorder.Total()
	sets := merged(s.Series, promLabel)
	names := labelNames(sets)
	for _, one := range sets {
		values := make([]string, len(names))
		for _, l := range one.labels {
			values[slices.Index(names, l.Name)] = l.Value
		}
		for k, g := range one.group {
			p := point{out, names, append(values[:len(values):len(values)], strconv.FormatBool(k == 0)), s.Start}
			p.group(g)
		}
	}
}

// point makes the metrics of one group.
type point struct {
	out    chan<- prometheus.Metric
	names  []string
	values []string
	start  time.Time
}

func (p *point) group(g tacho.Group) {
	stream := append(p.names[:len(p.names):len(p.names)], promName(streamKey))
	for f := range tacho.ConsumerWait + 1 {
		h := g.Figure(f)
		if h.Count() == 0 {
			continue
		}
		e := h.Exponential(buckets, time.Second).AtScale(maxSchema)
		counts := make(map[int]int64, len(e.Counts))
		for k, n := range e.Counts {
			if n > 0 {
				counts[e.Offset+k+1] = int64(n) // here a bucket is named by its upper end
			}
		}
		desc := prometheus.NewDesc("tacho_recorder_"+f.String()+"_seconds", help[f], stream, nil)
		p.send(prometheus.NewConstNativeHistogram(desc, e.Count, e.Sum, counts, nil, e.Zero, int32(e.Scale), 1e-9, p.start, p.values...))
	}
	calls := prometheus.NewDesc("tacho_recorder_calls_total", "Calls that have ended, by outcome.", append(stream, promName(outcomeKey)), nil)
	for o := tacho.Complete; o <= tacho.Dropped; o++ {
		if n := g.Outcome(o); n > 0 {
			p.counter(calls, n, o.String())
		}
	}
	responses := prometheus.NewDesc("tacho_recorder_responses_total", "Calls by the class of their status.", append(stream, promName(classKey)), nil)
	for i, name := range classes {
		if n := g.Class(i); n > 0 {
			p.counter(responses, n, name)
		}
	}
	refused := prometheus.NewDesc("tacho_recorder_refusals_total", "Calls with status 429 or 503.", append(stream, promName(codeKey)), nil)
	for code, n := range refusals(g) {
		if n > 0 {
			p.counter(refused, n, code)
		}
	}
	tokens := prometheus.NewDesc("tacho_recorder_tokens_total", "Tokens, as servers reported them.", append(stream, promName(tokenKey)), nil)
	for i, n := range tokensOf(g) {
		if n > 0 {
			p.counter(tokens, n, tokenKinds[i])
		}
	}
}

func (p *point) counter(desc *prometheus.Desc, n int64, value string) {
	p.send(prometheus.NewConstMetricWithCreatedTimestamp(desc, prometheus.CounterValue, float64(n), p.start, append(p.values[:len(p.values):len(p.values)], value)...))
}

// send sends a metric, or the reason why there is none.
func (p *point) send(m prometheus.Metric, err error) {
	if err != nil {
		m = prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(err), err)
	}
	p.out <- m
}

// labelNames returns the names of all labels, in order.
func labelNames(sets []*set) (names []string) {
	for _, one := range sets {
		for _, l := range one.labels {
			if !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// promName makes a name of Prometheus' of one of OpenTelemetry's.
func promName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, s)
	if s == "" || s[0] >= '0' && s[0] <= '9' || strings.HasPrefix(s, "__") {
		s = "label_" + s
	}
	return s
}

// promLabel is attributeOf with a name of Prometheus', which keeps some for itself.
func promLabel(l tacho.Label) tacho.Label {
	l = attributeOf(l)
	switch l.Name = promName(l.Name); l.Name {
	case promName(streamKey), promName(outcomeKey), promName(tokenKey), promName(classKey), promName(codeKey), "le", "quantile":
		l.Name = "label_" + l.Name
	}
	return l
}
