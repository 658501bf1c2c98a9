// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// Snapshots as HdrHistogram logs, which that library's tools read.

// WriteHDR writes the histograms as a log in HdrHistogram's format, one interval
// for each figure and label set. Its tag is streams or plain, the figure and the
// labels, as in streams/ttft?model=gpt-4o&region=eu. What that format has no room
// for, the counts, the sums and the exact extremes, is in comments, as JSON.
func (s Snapshot) WriteHDR(w io.Writer) error {
	log := NewHistogramLog(w, s.Start)
	if err := log.begin(); err != nil {
		return err
	}
	for i := range s.Series {
		one := s.Series[i].json()
		for _, g := range []*groupJSON{one.Streams, one.Plain} {
			if g == nil {
				continue
			}
			for name, f := range g.Figures {
				f.HDR = nil
				g.Figures[name] = f
			}
		}
		text, err := json.Marshal(one)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s\n", hdrComment, text); err != nil {
			return err
		}
	}
	for i := range s.Series {
		one := &s.Series[i]
		for kind, g := range map[string]*Group{"streams": &one.Streams, "plain": &one.Plain} {
			for f, h := range g.figures {
				if h == nil || h.Count() == 0 {
					continue
				}
				if err := log.Write(Interval{tag(kind, Figure(f).String(), one.Labels), s.Start, max(0, s.End.Sub(s.Start)), h}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// hdrComment begins a comment of WriteHDR's.
const hdrComment = "#[tacho] "

// ReadHDR reads what WriteHDR wrote, also several logs one behind another, and
// merges it. Intervals with other tags are left out.
func ReadHDR(r io.Reader) (Snapshot, error) {
	var m merger
	exact := map[string]figureJSON{} // of the log that is being read, by tag
	var broken error
	comment := func(text string) {
		text, ok := strings.CutPrefix(text, hdrComment)
		if !ok {
			return
		}
		var in seriesJSON
		err := json.Unmarshal([]byte(text), &in)
		if err == nil {
			var one Series
			one, err = in.series()
			m.add(&Snapshot{Series: []Series{one}})
			for kind, g := range map[string]*groupJSON{"streams": in.Streams, "plain": in.Plain} {
				if g == nil {
					continue
				}
				for name, f := range g.Figures {
					exact[tag(kind, name, one.Labels)] = f
				}
			}
		}
		if err != nil && broken == nil {
			broken = fmt.Errorf("tacho: a comment of the histogram log: %w", err)
		}
	}
	for i, err := range readHistogramLog(r, comment) {
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
		if x, ok := exact[i.Tag]; ok {
			delete(exact, i.Tag)
			if err := i.Histogram.refine(x); err != nil {
				return Snapshot{}, fmt.Errorf("tacho: the histogram log's %s: %w", i.Tag, err)
			}
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
		m.add(&one)
	}
	if broken != nil {
		return Snapshot{}, broken
	}
	m.out.sum()
	return m.out, nil
}

// tag is that of an interval.
func tag(kind, figure string, labels []Label) string {
	t := kind + "/" + figure
	if len(labels) > 0 {
		v := url.Values{}
		for _, l := range labels {
			v.Set(l.Name, l.Value)
		}
		t += "?" + v.Encode()
	}
	return t
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
