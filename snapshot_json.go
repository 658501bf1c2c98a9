// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"encoding/json"
	"fmt"
	"time"
)

// Snapshots as JSON, in which they go from one process to another and merge there.

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
	Below int64      `json:"below_range,omitempty"`
	Above int64      `json:"above_range,omitempty"`
	HDR   *Histogram `json:"hdr,omitempty"`
}

var tokenKeys = [...]string{"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"}

// MarshalJSON writes the snapshot: for each label set its counts, and for each
// figure a summary in seconds beside the histogram in HdrHistogram's encoding.
func (s Snapshot) MarshalJSON() ([]byte, error) {
	out := snapshotJSON{Start: s.Start, End: s.End, Series: []seriesJSON{}}
	for i := range s.Series {
		out.Series = append(out.Series, s.Series[i].json())
	}
	return json.Marshal(out)
}

func (s *Series) json() seriesJSON {
	one := seriesJSON{Streams: s.Streams.json(), Plain: s.Plain.json()}
	for _, l := range s.Labels {
		if one.Labels == nil {
			one.Labels = map[string]string{}
		}
		one.Labels[l.Name] = l.Value
	}
	return one
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
			h.total(), int64(least), int64(most), h.low.Load(), h.high.Load(), h}
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
	for i := range in.Series {
		one, err := in.Series[i].series()
		if err != nil {
			return err
		}
		s.Series = append(s.Series, one)
	}
	s.sum()
	return nil
}

func (in *seriesJSON) series() (out Series, err error) {
	for name, value := range in.Labels {
		out.Labels = append(out.Labels, Label{name, value})
	}
	sortLabels(out.Labels)
	if err = out.Streams.fromJSON(in.Streams); err == nil {
		err = out.Plain.fromJSON(in.Plain)
	}
	return out, err
}

func (g *Group) fromJSON(in *groupJSON) error {
	if in == nil {
		return nil
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
	for i, n := range c {
		if n < 0 || n > 1<<53 {
			return fmt.Errorf("tacho: a snapshot's count is %d", c[i])
		}
	}
	for f := range numFigures {
		if x, ok := in.Figures[f.String()]; ok && x.HDR != nil {
			if err := x.HDR.refine(x); err != nil {
				return fmt.Errorf("tacho: a snapshot's figure %v: %w", f, err)
			}
			g.figures[f] = x.HDR
		}
	}
	return nil
}

// refine gives a histogram that was read the sum and the extremes that its
// encoding leaves out, if its buckets allow them.
func (h *HistogramOf[T]) refine(x figureJSON) error {
	least, _ := h.Min()
	most, _ := h.Max()
	if x.MinNS < int64(least) || x.MaxNS > int64(most) || x.MinNS > x.MaxNS ||
		indexOf(x.MinNS, h.mag()) != indexOf(int64(least), h.mag()) || indexOf(x.MaxNS, h.mag()) != indexOf(int64(most), h.mag()) {
		if h.lostDigits() == 0 {
			return fmt.Errorf("the extremes %d and %d are not of its buckets", x.MinNS, x.MaxNS)
		}
		return nil
	}
	if x.Below < 0 || x.Above < 0 || x.Below+x.Above > h.Count() {
		return fmt.Errorf("%d values of %d are out of range", x.Below+x.Above, h.Count())
	}
	h.setTotal(x.Sum)
	h.min.Store(x.MinNS + 1)
	h.max.Store(x.MaxNS + 1)
	h.low.Store(x.Below)
	h.high.Store(x.Above)
	return nil
}
