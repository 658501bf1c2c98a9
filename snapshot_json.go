// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
)

// Snapshots as JSON and as HdrHistogram logs, in which they go from one process
// to another and merge there.

type snapshotJSON struct {
	Start  time.Time    `json:"start"`
	End    time.Time    `json:"end"`
	Series []seriesJSON `json:"series"`
}

type seriesJSON struct {
	Labels  map[string]string `json:"labels,omitempty"`
	Streams *groupJSON        `json:"streams,omitempty"`
	Plain   *groupJSON        `json:"plain,omitempty"`
}

type groupJSON struct {
	Calls    int64                 `json:"calls"`
	Outcomes map[string]int64      `json:"outcomes,omitempty"`
	Status   map[string]int64      `json:"status,omitempty"` // by class, "2xx"; and "429", "503" once more
	Tokens   map[string]int64      `json:"tokens,omitempty"`
	Both     *bothJSON             `json:"input_and_output,omitempty"`
	Upper    int64                 `json:"upper_bounds,omitempty"`
	Buffered int64                 `json:"buffered,omitempty"`
	Figures  map[string]figureJSON `json:"figures,omitempty"`
}

// bothJSON are the tokens of the calls that reported input and output.
type bothJSON struct {
	Calls  int64 `json:"calls"`
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
}

// figureJSON is a histogram: its summary in seconds, to read, and its counts,
// to merge. The sum and the extremes are in nanoseconds, for exactness.
type figureJSON struct {
	Count int64      `json:"count"`
	Mean  float64    `json:"mean"`
	P50   float64    `json:"p50"`
	P90   float64    `json:"p90"`
	P99   float64    `json:"p99"`
	P999  float64    `json:"p99.9"`
	Min   float64    `json:"min"`
	Max   float64    `json:"max"`
	Sum   int64      `json:"sum_ns"`
	MinNS int64      `json:"min_ns"`
	MaxNS int64      `json:"max_ns"`
	HDR   *Histogram `json:"hdr"`
}

var tokenKeys = [...]string{"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"}

// MarshalJSON writes the snapshot: for each label set its counts, and for each
// figure a summary in seconds beside the histogram in HdrHistogram's encoding.
func (s Snapshot) MarshalJSON() ([]byte, error) {
	out := snapshotJSON{Start: s.Start, End: s.End, Series: []seriesJSON{}}
	for i := range s.Series {
		one := seriesJSON{Streams: s.Series[i].Streams.json(), Plain: s.Series[i].Plain.json()}
		for _, l := range s.Series[i].Labels {
			if one.Labels == nil {
				one.Labels = map[string]string{}
			}
			one.Labels[l.Name] = l.Value
		}
		out.Series = append(out.Series, one)
	}
	return json.Marshal(out)
}

func (g *Group) json() *groupJSON {
	if *g == (Group{}) {
		return nil
	}
	c := &g.counters
	out := &groupJSON{Calls: g.Calls(), Outcomes: map[string]int64{}, Status: map[string]int64{}, Tokens: map[string]int64{},
		Upper: c[countUpper], Buffered: c[countBuffered], Figures: map[string]figureJSON{}}
	put := func(m map[string]int64, key string, n int64) {
		if n != 0 {
			m[key] = n
		}
	}
	for o := range Dropped + 1 {
		put(out.Outcomes, o.String(), c[countOutcome+int(o)])
	}
	for class := range 6 {
		put(out.Status, fmt.Sprintf("%dxx", class), c[countClass+class])
	}
	put(out.Status, "429", c[count429])
	put(out.Status, "503", c[count503])
	for i, key := range tokenKeys {
		put(out.Tokens, key, c[countTokens+i])
	}
	if c[countBoth] > 0 {
		out.Both = &bothJSON{c[countBoth], c[countBothIn], c[countBothOut]}
	}
	for f := range numFigures {
		h := g.figures[f]
		if h == nil || h.Count() == 0 {
			continue
		}
		q := func(q float64) float64 { d, _ := h.Quantile(q); return inSeconds(d) }
		mean, _ := h.Mean()
		least, _ := h.Min()
		most, _ := h.Max()
		out.Figures[f.String()] = figureJSON{h.Count(), inSeconds(mean), q(0.5), q(0.9), q(0.99), q(0.999), inSeconds(least), inSeconds(most),
			h.total(), int64(least), int64(most), h}
	}
	return out
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Snapshot) UnmarshalJSON(b []byte) error {
	var in snapshotJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*s = Snapshot{Start: in.Start, End: in.End}
	for _, one := range in.Series {
		var out Series
		for name, value := range one.Labels {
			out.Labels = append(out.Labels, Label{name, value})
		}
		sortLabels(out.Labels)
		out.Streams.fromJSON(one.Streams)
		out.Plain.fromJSON(one.Plain)
		s.Series = append(s.Series, out)
	}
	s.sum()
	return nil
}

func (g *Group) fromJSON(in *groupJSON) {
	if in == nil {
		return
	}
	c := &g.counters
	for o := range Dropped + 1 {
		c[countOutcome+int(o)] = in.Outcomes[o.String()]
	}
	for class := range 6 {
		c[countClass+class] = in.Status[fmt.Sprintf("%dxx", class)]
	}
	c[count429], c[count503] = in.Status["429"], in.Status["503"]
	for i, key := range tokenKeys {
		c[countTokens+i] = in.Tokens[key]
	}
	if in.Both != nil {
		c[countBoth], c[countBothIn], c[countBothOut] = in.Both.Calls, in.Both.Input, in.Both.Output
	}
	c[countUpper], c[countBuffered] = in.Upper, in.Buffered
	for f := range numFigures {
		if x, ok := in.Figures[f.String()]; ok && x.HDR != nil {
			x.HDR.setTotal(x.Sum)
			if x.MaxNS >= x.MinNS && x.MinNS >= 0 {
				x.HDR.min.Store(x.MinNS + 1)
				x.HDR.max.Store(x.MaxNS + 1)
			}
			g.figures[f] = x.HDR
		}
	}
}

// WriteHDR writes the histograms as a log in HdrHistogram's format, one interval
// for each figure and label set. Its tag is streams or plain, the figure and the
// labels, as in streams/ttft?model=gpt-4o&region=eu. Counts are not in it.
func (s Snapshot) WriteHDR(w io.Writer) error {
	log := NewHistogramLog(w, s.Start)
	for i := range s.Series {
		one := &s.Series[i]
		labels := url.Values{}
		for _, l := range one.Labels {
			labels.Set(l.Name, l.Value)
		}
		for kind, g := range map[string]*Group{"streams": &one.Streams, "plain": &one.Plain} {
			for f, h := range g.figures {
				if h == nil || h.Count() == 0 {
					continue
				}
				tag := kind + "/" + Figure(f).String()
				if len(labels) > 0 {
					tag += "?" + labels.Encode()
				}
				if err := log.Write(Interval{tag, s.Start, max(0, s.End.Sub(s.Start)), h}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// ReadHDR reads what WriteHDR wrote, also several logs one behind another, and
// merges it. Intervals with other tags are left out.
func ReadHDR(r io.Reader) (Snapshot, error) {
	var out Snapshot
	for i, err := range ReadHistogramLog(r) {
		if err != nil {
			return Snapshot{}, err
		}
		kind, rest, _ := strings.Cut(i.Tag, "/")
		name, query, _ := strings.Cut(rest, "?")
		f, ok := figureNamed(name)
		labels, err := url.ParseQuery(query)
		if !ok || err != nil || kind != "streams" && kind != "plain" {
			continue
		}
		one := Snapshot{Start: i.Start, End: i.Start.Add(i.Length), Series: make([]Series, 1)}
		for l, v := range labels {
			one.Series[0].Labels = append(one.Series[0].Labels, Label{l, v[0]})
		}
		sortLabels(one.Series[0].Labels)
		g := &one.Series[0].Plain
		if kind == "streams" {
			g = &one.Series[0].Streams
		}
		g.figures[f] = i.Histogram
		out = out.Merge(one)
	}
	return out, nil
}

// figureNamed returns the figure of a name.
func figureNamed(name string) (Figure, bool) {
	for f := range numFigures {
		if f.String() == name {
			return f, true
		}
	}
	return 0, false
}
