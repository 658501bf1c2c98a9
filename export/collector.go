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
	names := labelNames(s.Series)
	for _, one := range s.Series {
		values := make([]string, len(names))
		for _, l := range one.Labels {
			name, value := labelName(l)
			values[slices.Index(names, name)] = value
		}
		for _, k := range kinds(one) {
			p := point{out, names, append(values[:len(values):len(values)], strconv.FormatBool(k.stream)), s.Start}
			p.group(k.group)
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
func labelNames(series []tacho.Series) (names []string) {
	for _, one := range series {
		for _, l := range one.Labels {
			if name, _ := labelName(l); !slices.Contains(names, name) {
				names = append(names, name)
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

// labelName is promName for a label, which must not take the name of one that
// every metric has.
func labelName(l tacho.Label) (name, value string) {
	name, value = attributeOf(l)
	switch name = promName(name); name {
	case promName(streamKey), promName(outcomeKey), promName(tokenKey):
		name = "label_" + name
	}
	return name, value
}
