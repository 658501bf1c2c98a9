// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/chat"
)

// Side sums up the blocks of one side. What is left out of the figures is
// counted: Cold, Redialled and OtherKind, and the Failures.
type Side struct {
	Side      string    `json:"side"`
	Blocks    int       `json:"blocks"`
	Measured  int64     `json:"measured"`             // complete calls on a kept connection
	Cold      int       `json:"cold"`                 // first calls of a block
	Redialled int       `json:"redialled,omitempty"`  // later calls that had to connect anew
	OtherKind int       `json:"other_kind,omitempty"` // answers that are not of the kind asked for
	Cached    int       `json:"cached,omitempty"`     // calls whose prompt came in part from a cache
	Failures  []Failure `json:"failures,omitempty"`
	Figures   []Stats   `json:"figures,omitempty"`
	ColdStats []Stats   `json:"cold_figures,omitempty"`
}

// Failure counts calls that did not complete for one reason.
type Failure struct {
	Outcome string `json:"outcome"`
	Type    string `json:"error_type,omitempty"`
	Code    string `json:"error_code,omitempty"`
	Status  int    `json:"status,omitempty"`
	Count   int    `json:"count"`
}

// Stats are the moments of a figure. With several blocks Mean is that of the
// blocks' means and StdDev the deviation within blocks: differences between
// blocks do not enter it.
type Stats struct {
	Figure string   `json:"figure"`
	N      int64    `json:"n"`
	Mean   Seconds  `json:"mean"`
	StdDev *Seconds `json:"stddev,omitempty"` // sample deviation (n−1)
	Min    Seconds  `json:"min"`
	Max    Seconds  `json:"max"`
}

// The figures in the order of the tables.
var (
	warmFigures = []tacho.Figure{tacho.Duration, tacho.TTLT, tacho.TTFT, tacho.TTFB, tacho.Send, tacho.Wait, tacho.TPOT}
	coldFigures = []tacho.Figure{tacho.Duration, tacho.TTFT, tacho.TTFB, tacho.DNS, tacho.Connect, tacho.TLS, tacho.Send, tacho.Wait}
)

// sample holds complete calls. There are few, so that their moments are taken
// from the calls themselves and are exact.
type sample struct{ calls []*tacho.Call }

func (s *sample) add(c *tacho.Call) {
	if c.Outcome() == tacho.Complete {
		s.calls = append(s.calls, c)
	}
}

// values returns those of a figure, in seconds.
func (s *sample) values(f tacho.Figure) (v []float64) {
	for _, c := range s.calls {
		if d, ok := c.Figure(f); ok {
			v = append(v, d.Seconds())
		}
	}
	return v
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// summarise sums up the blocks of a side, and returns each block's warm calls.
func summarise(side string, blocks []block) (Side, []sample) {
	s := Side{Side: side}
	cold, failures := sample{}, map[Failure]int{}
	var groups []sample
	for _, b := range blocks {
		if b.side != side {
			continue
		}
		s.Blocks++
		var warm sample
		for i, r := range b.results {
			s.add(i, r, &warm, &cold, failures)
		}
		groups = append(groups, warm)
	}
	for f, n := range failures {
		f.Count = n
		s.Failures = append(s.Failures, f)
	}
	slices.SortFunc(s.Failures, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Code, b.Code))
	})
	for _, g := range groups {
		s.Measured += int64(len(g.calls))
	}
	s.Figures = stats(groups, warmFigures)
	s.ColdStats = stats([]sample{cold}, coldFigures)
	return s, groups
}

// add counts call i of a block where it belongs.
func (s *Side) add(i int, r chat.Result, warm, cold *sample, failures map[Failure]int) {
	c := r.Call
	if i == 0 {
		s.Cold++
	}
	if c == nil {
		failures[Failure{Outcome: "not measured"}]++
		return
	}
	if c.Outcome() != tacho.Complete {
		f, _ := c.Failure()
		status, _ := c.Status()
		failures[Failure{Outcome: c.Outcome().String(), Type: f.Type, Code: f.Code, Status: status}]++
	} else if n := c.Usage().CacheRead; n.Reported && n.N > 0 {
		s.Cached++
	}
	reused, known := c.Reused()
	switch {
	case i == 0 && r.OtherKind():
		// It counts as a cold call and has no figures to compare.
	case i == 0:
		cold.add(c)
	case r.OtherKind():
		s.OtherKind++
	case known && !reused && c.Outcome() == tacho.Complete:
		s.Redialled++
	default:
		warm.add(c)
	}
}

// stats combines the blocks' samples, figure by figure, without absent ones.
func stats(samples []sample, figures []tacho.Figure) (all []Stats) {
	for _, f := range figures {
		s, means, squares, free := Stats{Figure: f.String(), Min: Seconds(math.Inf(1))}, 0.0, 0.0, 0
		blocks := 0
		for _, one := range samples {
			v := one.values(f)
			if len(v) == 0 {
				continue
			}
			m := mean(v)
			blocks++
			means += m
			s.N += int64(len(v))
			s.Min, s.Max = min(s.Min, Seconds(slices.Min(v))), max(s.Max, Seconds(slices.Max(v)))
			for _, x := range v {
				squares += (x - m) * (x - m)
			}
			free += len(v) - 1
		}
		if blocks == 0 {
			continue
		}
		s.Mean = exact(means / float64(blocks))
		if free > 0 {
			d := exact(math.Sqrt(squares / float64(free)))
			s.StdDev = &d
		}
		all = append(all, s)
	}
	return all
}
