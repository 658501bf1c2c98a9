// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/tacho-go/tacho/internal/wire"
)

// A series is what a Recorder keeps of one label set. Values are recorded once,
// into histograms that are never reset; a window is the difference between what
// they hold at its end and held at its begin. So nothing is lost between two
// windows, and recording takes no lock.

type series struct {
	recorder *Recorder
	key      string // in its index
	labels   []Label
	due      atomic.Int64 // when the window under way ends, since the recorder's epoch
	groups   [2]atomic.Pointer[group]

	mu      sync.Mutex // for all below
	current int64      // the number of the window under way
	past    []window   // in ascending order of their numbers
	bytes   int        // of their packed figures
}

// group holds the figures and counts of streams or of plain calls.
type group struct {
	series   *series
	figures  [numFigures]atomic.Pointer[Histogram]
	counters [numCounters]atomic.Int64

	// Under the series' lock: what all that held when the window began.
	before groupState
}

// groupState is what a group held at a time, or gained in one.
type groupState struct {
	figures  [numFigures]packed
	counters [numCounters]int64
}

// packed is a histogram's counts in HdrHistogram's payload, its sum beside.
type packed struct {
	counts []byte
	sum    int64
}

// window is what a series gained in one window. Streams and plain calls without
// any are nil.
type window struct {
	number int64
	mag    uint // of the counts' layout
	groups [2]*groupState
}

// The places of a group's counts.
const (
	countOutcome  = 0                               // by outcome
	countClass    = countOutcome + int(Dropped) + 1 // by the status' first digit, 0 for none
	count429      = countClass + 6
	count503      = count429 + 1
	countTokens   = count503 + 1    // as reported: input, output, cache read, cache write, reasoning
	countBoth     = countTokens + 5 // calls that reported input and output
	countBothIn   = countBoth + 1   // and their tokens
	countBothOut  = countBoth + 2
	countUpper    = countBoth + 3 // streams whose TTFT is an upper bound
	countBuffered = countBoth + 4
	numCounters   = countBoth + 5
)

const (
	recorderPages = 48
	maxPast       = 600 << 10 // bytes of the packed windows of a series
)

func newSeries(r *Recorder, key string, labels []Label) *series {
	s := &series{recorder: r, key: key, labels: labels}
	now := time.Since(r.epoch)
	s.current = int64(now / r.config.window)
	s.due.Store((s.current + 1) * int64(r.config.window))
	return s
}

// group returns the group of a call.
func (s *series) group(c *Call) *group {
	at := &s.groups[1]
	if c.stream || c.asked().Stream && (c.status < 200 || c.status >= 300) {
		at = &s.groups[0]
	}
	if g := at.Load(); g != nil {
		return g
	}
	at.CompareAndSwap(nil, &group{series: s})
	return at.Load()
}

func (g *group) histogram(f Figure) *Histogram {
	at := &g.figures[f]
	if h := at.Load(); h != nil {
		return h
	}
	at.CompareAndSwap(nil, &Histogram{maxPages: recorderPages})
	return at.Load()
}

// gap records a gap that ended so long after a call's start.
func (g *group) gap(d time.Duration, start time.Time, at time.Duration) {
	g.series.rotate(start.Sub(g.series.recorder.epoch) + at)
	g.histogram(Gap).Record(d)
}

// none records n gaps of no length, behind one that was recorded.
func (g *group) none(n int) { g.histogram(Gap).RecordN(0, int64(n)) }

// count counts a call.
func (g *group) count(c *Call) {
	if c.outcome <= Dropped {
		g.counters[countOutcome+int(c.outcome)].Add(1)
	}
	class := int(c.status) / 100
	if class < 1 || class > 5 {
		class = 0
	}
	g.counters[countClass+class].Add(1)
	switch c.status {
	case 429:
		g.counters[count429].Add(1)
	case 503:
		g.counters[count503].Add(1)
	}
	u := &c.facts.Usage
	for i, n := range [...]*wire.Count{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Reasoning} {
		if n.OK {
			g.counters[countTokens+i].Add(n.N)
		}
	}
	if u.Input.OK && u.Output.OK {
		g.counters[countBoth].Add(1)
		g.counters[countBothIn].Add(u.Input.N)
		g.counters[countBothOut].Add(u.Output.N)
	}
	if c.upper {
		g.counters[countUpper].Add(1)
	}
	if c.Buffered() {
		g.counters[countBuffered].Add(1)
	}
}
