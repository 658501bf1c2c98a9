// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tacho-go/tacho"
)

// figures are what the calls came to by tacho's own records: no metric, span or
// line was asked.
type figures struct {
	Calls    map[string]int64 `json:"calls"`    // by outcome
	Attempts int64            `json:"attempts"` // of all calls
	Usage    usageFigures     `json:"usage"`
	TTFT     timeFigures      `json:"ttft"`
	Gap      timeFigures      `json:"gap"`
	Failed   []string         `json:"failed"`  // the traces of calls that failed
	Slow     []string         `json:"slow"`    // of calls that were slow, the slowest first token first
	Stalled  []string         `json:"stalled"` // of calls that stalled and were not slow
	Fine     []string         `json:"fine"`    // of all others
}

type usageFigures struct {
	Input     int64 `json:"input"`
	Output    int64 `json:"output"`
	CacheRead int64 `json:"cache_read"`
	Reasoning int64 `json:"reasoning"`
}

// timeFigures are of complete calls, in seconds.
type timeFigures struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
}

// tally collects the calls.
type tally struct {
	mu    sync.Mutex
	calls []*tacho.Call
}

func (t *tally) add(c *tacho.Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, c)
}

func (s *service) figures() *figures {
	s.tally.mu.Lock()
	defer s.tally.mu.Unlock()
	g := s.recorder.Total().Streams
	f := &figures{Calls: map[string]int64{}, TTFT: timesOf(g.Figure(tacho.TTFT)), Gap: timesOf(g.Figure(tacho.Gap))}
	f.Usage.Input, f.Usage.Output, f.Usage.CacheRead, _, f.Usage.Reasoning = g.Tokens()
	calls := s.tally.calls
	slices.SortStableFunc(calls, func(a, b *tacho.Call) int {
		x, _ := a.TTFT()
		y, _ := b.TTFT()
		return int(y - x)
	})
	for _, c := range calls {
		f.Calls[c.Outcome().String()]++
		f.Attempts += max(1, int64(len(c.Attempts())))
		id, _ := c.TraceID()
		d, _ := c.Duration()
		gaps, _ := c.Gaps()
		list := &f.Fine
		switch {
		case c.Outcome().Bad():
			list = &f.Failed
		case gaps.Max > stall:
			list = &f.Stalled
		case d > slow:
			list = &f.Slow
		}
		*list = append(*list, id)
	}
	return f
}

func timesOf(h *tacho.Histogram) timeFigures {
	p50, _ := h.Quantile(.5)
	p99, _ := h.Quantile(.99)
	return timeFigures{h.Count(), p50.Seconds(), p99.Seconds()}
}

// String prints the figures in lines.
func (f *figures) String() string {
	var b strings.Builder
	var outcomes []string
	for o, n := range f.Calls {
		outcomes = append(outcomes, fmt.Sprintf("%d %s", n, o))
	}
	slices.Sort(outcomes)
	fmt.Fprintf(&b, "calls    %s, in %d attempts\n", strings.Join(outcomes, ", "), f.Attempts)
	fmt.Fprintf(&b, "tokens   %d input, of these %d from a cache; %d output, of these %d of reasoning\n",
		f.Usage.Input, f.Usage.CacheRead, f.Usage.Output, f.Usage.Reasoning)
	for i, t := range [...]timeFigures{f.TTFT, f.Gap} {
		fmt.Fprintf(&b, "%-8s P50 %v, P99 %v of %d\n", [...]string{"ttft", "gap"}[i], seconds(t.P50), seconds(t.P99), t.Count)
	}
	fmt.Fprintf(&b, "traces   %d failed, %d stalled, %d slow, %d others\n", len(f.Failed), len(f.Stalled), len(f.Slow), len(f.Fine))
	return b.String()
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(10 * time.Microsecond)
}
