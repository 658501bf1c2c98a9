// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"math"
	"slices"
	"strings"
	"time"
)

// Snapshot is what a Recorder held at a time, or gained in a time. It is a value:
// what is recorded later does not show in it. Its histograms are shared by its
// copies and must not be recorded into. The zero Snapshot is empty.
type Snapshot struct {
	Start, End time.Time
	// Streams and Plain are the calls of all series: those that were streams, and
	// the rest.
	Streams, Plain Group
	Series         []Series // by label set, in the order of their labels
}

// Series is a label set with its calls.
type Series struct {
	Labels         []Label
	Streams, Plain Group
}

// Group gives the figures and counts of a kind of calls.
type Group struct {
	figures  [numFigures]*Histogram
	counters [numCounters]int64
}

// Total returns all that was recorded since the recorder was made.
func (r *Recorder) Total() Snapshot {
	r.begin()
	return r.snapshot(func(s *series, i int) *Group {
		g := s.groups[i].Load()
		if g == nil {
			return nil
		}
		out := new(Group)
		for f := range g.figures {
			if h := g.figures[f].Load(); h != nil {
				out.figures[f] = h.Clone()
			}
		}
		for k := range g.counters {
			out.counters[k] = g.counters[k].Load()
		}
		return out
	}, r.epoch)
}

// Snapshot returns what was recorded in the last time before now, and since the
// begin of the window in which that time begins: with windows of 10 s, a
// snapshot of a minute holds 60 s to 70 s. Longer than the windows that are kept,
// it holds those. Least and greatest values of a time are those of their buckets.
func (r *Recorder) Snapshot(last time.Duration) Snapshot {
	r.begin()
	now := time.Since(r.epoch)
	length := r.config.window
	kept := time.Duration(r.config.windows) * length
	from := max(0, int64(now-min(max(0, last), kept))/int64(length))
	start := r.epoch.Add(time.Duration(from) * length)
	return r.snapshot(func(s *series, i int) *Group {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.turn(now)
		out := new(Group)
		found := false
		for k := range s.past {
			if w := &s.past[k]; w.number >= from && w.groups[i] != nil {
				out.add(w.groups[i], w.mag)
				found = true
			}
		}
		if g := s.groups[i].Load(); g != nil {
			if d := g.gained(false); d != nil {
				out.add(d, magnitude)
				found = true
			}
		}
		if !found {
			return nil
		}
		return out
	}, start)
}

// snapshot puts together what each series gives.
func (r *Recorder) snapshot(of func(s *series, group int) *Group, start time.Time) Snapshot {
	out := Snapshot{Start: start, End: time.Now()}
	for _, s := range *r.index.Load() {
		streams, plain := of(s, 0), of(s, 1)
		if streams == nil && plain == nil {
			continue
		}
		one := Series{Labels: slices.Clone(s.labels)}
		sortLabels(one.Labels)
		if streams != nil {
			one.Streams = *streams
		}
		if plain != nil {
			one.Plain = *plain
		}
		out.Series = append(out.Series, one)
	}
	out.sum()
	return out
}

// sum orders the series and puts together the calls of all.
func (s *Snapshot) sum() {
	slices.SortFunc(s.Series, func(a, b Series) int { return slices.CompareFunc(a.Labels, b.Labels, compareLabels) })
	s.Streams, s.Plain = Group{}, Group{}
	if len(s.Series) == 1 {
		s.Streams, s.Plain = s.Series[0].Streams, s.Series[0].Plain
		return
	}
	for i := range s.Series {
		s.Streams.merge(&s.Series[i].Streams)
		s.Plain.merge(&s.Series[i].Plain)
	}
}

func sortLabels(labels []Label) { slices.SortFunc(labels, compareLabels) }

func compareLabels(a, b Label) int {
	if c := strings.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	return strings.Compare(a.Value, b.Value)
}

// Merge returns the snapshot with what another holds, of another process or
// another time: series of the same labels become one, exactly.
func (s Snapshot) Merge(o Snapshot) Snapshot {
	var m merger
	m.add(&s)
	m.add(&o)
	m.out.sum()
	return m.out
}

// merger puts series of the same labels together.
type merger struct {
	out Snapshot
	at  map[string]int // in out.Series, by labels
}

func (m *merger) add(s *Snapshot) {
	if m.out.Start.IsZero() || !s.Start.IsZero() && s.Start.Before(m.out.Start) {
		m.out.Start = s.Start
	}
	if s.End.After(m.out.End) {
		m.out.End = s.End
	}
	if m.at == nil {
		m.at = map[string]int{}
	}
	for i := range s.Series {
		one := &s.Series[i]
		var key []byte
		for _, l := range sortedLabels(one.Labels) {
			key = appendPart(appendPart(key, l.Name), l.Value)
		}
		at, ok := m.at[string(key)]
		if !ok {
			at = len(m.out.Series)
			m.at[string(key)] = at
			m.out.Series = append(m.out.Series, Series{Labels: one.Labels})
		}
		m.out.Series[at].Streams.merge(&one.Streams)
		m.out.Series[at].Plain.merge(&one.Plain)
	}
}

// Where returns the snapshot of the series that have all the labels, given as
// names and values in turn.
func (s Snapshot) Where(namesAndValues ...string) Snapshot {
	out := Snapshot{Start: s.Start, End: s.End}
	for _, one := range s.Series {
		if one.has(namesAndValues) {
			out.Series = append(out.Series, one)
		}
	}
	out.sum()
	return out
}

func (s *Series) has(namesAndValues []string) bool {
	for i := 0; i < len(namesAndValues); i += 2 {
		l := Label{Name: namesAndValues[i]}
		if i+1 < len(namesAndValues) {
			l.Value = namesAndValues[i+1]
		}
		at := slices.IndexFunc(s.Labels, func(have Label) bool { return have.Name == l.Name })
		if at < 0 && l.Value != "" || at >= 0 && s.Labels[at].Value != l.Value {
			return false
		}
	}
	return true
}

// add adds what a group gained.
func (g *Group) add(d *groupState, mag uint) {
	for f := range d.figures {
		if p := d.figures[f]; len(p.counts) == 0 && p.sum == 0 {
			continue
		}
		if g.figures[f] == nil {
			g.figures[f] = new(Histogram)
		}
		g.figures[f].unpack(d.figures[f], mag)
	}
	for i, n := range d.counters {
		g.counters[i] += n
	}
}

func (g *Group) merge(o *Group) {
	for f, h := range o.figures {
		if h == nil {
			continue
		}
		if g.figures[f] == nil {
			g.figures[f] = new(Histogram)
		}
		g.figures[f].Merge(h)
	}
	for i, n := range o.counters {
		g.counters[i] += n
	}
}

func (g *Group) clone() (c Group) {
	c.merge(g)
	return c
}

// Figure returns the histogram of a figure; it must not be recorded into. Calls
// that failed are not in it: look at ErrorRate beside it, or a service whose
// slow calls run into a time-out shows fast ones only.
func (g Group) Figure(f Figure) *Histogram {
	if f >= numFigures || g.figures[f] == nil {
		return new(Histogram)
	}
	return g.figures[f]
}

// Outcome returns how many calls ended so.
func (g Group) Outcome(o Outcome) int64 {
	if o > Dropped {
		return 0
	}
	return g.counters[countOutcome+int(o)]
}

// Calls returns how many calls ended.
func (g Group) Calls() (n int64) {
	for o := Complete; o <= Dropped; o++ {
		n += g.Outcome(o)
	}
	return n
}

// Class returns how many calls had a status of a class: 2 for 200 to 299, and
// so on to 5; 0 for those without one.
func (g Group) Class(class int) int64 {
	if class < 0 || class > 5 {
		return 0
	}
	return g.counters[countClass+class]
}

// TooMany returns how many calls had status 429.
func (g Group) TooMany() int64 { return g.counters[count429] }

// Unavailable returns how many calls had status 503.
func (g Group) Unavailable() int64 { return g.counters[count503] }

// Tokens returns the sums of the counts that were reported. Those that nobody
// reported are 0.
func (g Group) Tokens() (input, output, cacheRead, cacheWrite, reasoning int64) {
	t := g.counters[countTokens:]
	return t[0], t[1], t[2], t[3], t[4]
}

// OutputPerInput returns the output tokens ÷ the input tokens of the calls that
// reported both, absent when there are none.
func (g Group) OutputPerInput() (float64, bool) {
	in := g.counters[countBothIn]
	if in <= 0 {
		return 0, false
	}
	return float64(g.counters[countBothOut]) / float64(in), true
}

// ErrorRate returns failed ÷ (all − cancelled − closed early − dropped),
// absent when nothing is left to divide by.
func (g Group) ErrorRate() (float64, bool) {
	bad, all := g.decided()
	if all == 0 {
		return 0, false
	}
	return float64(bad) / float64(all), true
}

// decided returns the calls that failed, and those that came to an end that
// says whether they did.
func (g Group) decided() (bad, all int64) {
	for o := Complete; o <= Dropped; o++ {
		n := g.Outcome(o)
		if o.Bad() {
			bad += n
		}
		if o != Cancelled && o != ClosedEarly && o != Dropped {
			all += n
		}
	}
	return bad, all
}

// Reported returns how many calls reported input and output tokens.
func (g Group) Reported() int64 { return g.counters[countBoth] }

// Upper returns how many streams have a TTFT that is an upper bound.
func (g Group) Upper() int64 { return g.counters[countUpper] }

// Buffered returns how many streams came in one burst after a wait.
func (g Group) Buffered() int64 { return g.counters[countBuffered] }

// Needed returns how many values decide a q-quantile: 10 ÷ (1 − q), so that ten
// lie above it.
func Needed(q float64) int64 {
	if !(q >= 0 && q < 1) {
		return math.MaxInt64
	}
	return int64(math.Ceil(10/(1-q) - 1e-6))
}

// Plus returns a group with the calls of both. Of streams and plain calls
// together only the counts mean something: their quantiles are of nothing.
func (g Group) Plus(o Group) Group {
	out := g.clone()
	out.merge(&o)
	return out
}
