// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Recorder keeps a histogram for each figure of the calls that end, by labels,
// streams and plain calls apart, in all and by windows of time. The zero Recorder
// is ready; it is safe for concurrent use. Give it to a Transport with
// WithRecorder, or add calls with Observe.
//
// Latencies are those of complete calls. TTFC, TTFT, TTFO and gaps are taken
// from calls closed early, cut or cancelled as well, if they came that far; gaps
// are recorded as they happen, whatever the call comes to, under the labels known
// at the first output. A call that asked for a stream and got no answer, or a
// refusal, counts among the streams. A redirect (3xx) is an exchange without an
// answer: it is in no figure and no count.
//
// A label set takes at most 2 MB with the default windows. Each histogram has at
// most 48 pages of 512 bytes, twelve powers of two; beyond them, values count in
// buckets of 1.6 %. Past windows are kept packed, in at most 600 KiB for a label
// set: when they need more, the oldest go over to 2 significant digits, then to
// 1, and are dropped in the end. Group.Notes tells of the first two.
type Recorder struct {
	config recorderConfig
	once   sync.Once
	epoch  time.Time // the begin of the first window

	mu    sync.Mutex // for the making of series
	index atomic.Pointer[map[string]*series]
	first atomic.Pointer[series] // most recorders have one
}

type recorderConfig struct {
	by      []string // nil: the default ones
	window  time.Duration
	windows int
	series  int
}

// RecorderOption configures NewRecorder.
type RecorderOption interface{ applyRecorder(*recorderConfig) }

type recorderOption func(*recorderConfig)

func (f recorderOption) applyRecorder(c *recorderConfig) { f(c) }

// NewRecorder returns an empty Recorder.
func NewRecorder(opts ...RecorderOption) *Recorder {
	r := new(Recorder)
	for _, o := range opts {
		o.applyRecorder(&r.config)
	}
	r.begin()
	return r
}

// WithWindows keeps the last n windows of the given length beside the total, for
// Snapshot. It panics when the length is below 1 ms or n below 1.
//
// By default they are 60 windows of 10 s.
func WithWindows(length time.Duration, n int) RecorderOption {
	if length < time.Millisecond || n < 1 {
		panic(fmt.Sprintf("tacho: WithWindows(%v, %d): a window is 1 ms or longer, and there is 1 or more", length, n))
	}
	return recorderOption(func(c *recorderConfig) { c.window, c.windows = length, n })
}

// WithSeriesBy names the labels that tell one series of a Recorder from another:
// "operation", "api", "provider", "server", "model" (asked for) or
// "response_model" of the call, or else names of ContextWithLabels. With none,
// all calls are one series.
//
// By default they are "provider", "model" and all labels of the call's context.
func WithSeriesBy(names ...string) RecorderOption {
	return recorderOption(func(c *recorderConfig) { c.by = append([]string{}, names...) })
}

// WithMaxSeries bounds the label sets that are told apart: what comes beyond
// counts in one series with the label overflow="true". It panics when n is below 1.
//
// By default it is 100.
func WithMaxSeries(n int) RecorderOption {
	if n < 1 {
		panic(fmt.Sprintf("tacho: WithMaxSeries(%d): there is 1 or more", n))
	}
	return recorderOption(func(c *recorderConfig) { c.series = n })
}

const (
	defaultWindow  = 10 * time.Second
	defaultWindows = 60
	defaultSeries  = 100
)

// begin makes a Recorder ready at its first use.
func (r *Recorder) begin() {
	r.once.Do(func() {
		c := &r.config
		if c.window == 0 {
			c.window, c.windows = defaultWindow, defaultWindows
		}
		if c.series == 0 {
			c.series = defaultSeries
		}
		r.epoch = time.Now()
		r.index.Store(&map[string]*series{})
	})
}

// seriesOf returns the series of a call.
func (r *Recorder) seriesOf(c *Call) *series {
	r.begin()
	var room [256]byte
	key := r.config.key(room[:0], c)
	if s := r.first.Load(); s != nil && s.key == string(key) {
		return s
	}
	if s := (*r.index.Load())[string(key)]; s != nil {
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	old := *r.index.Load()
	if s := old[string(key)]; s != nil {
		return s
	}
	labels := r.config.labels(c)
	if len(old) >= r.config.series {
		key, labels = []byte("\x00overflow"), []Label{{"overflow", "true"}}
		if s := old[string(key)]; s != nil {
			return s
		}
	}
	s := newSeries(r, string(key), labels)
	if len(old) == 0 {
		r.first.Store(s)
	}
	index := make(map[string]*series, len(old)+1)
	for k, v := range old {
		index[k] = v
	}
	index[s.key] = s
	r.index.Store(&index)
	return s
}

// key appends what tells the series of a call from others.
func (g *recorderConfig) key(b []byte, c *Call) []byte {
	if g.by != nil {
		for _, name := range g.by {
			at := len(b)
			b = c.appendLabel(append(b, 0, 0), name)
			setLength(b, at)
		}
		return b
	}
	b = appendPart(b, c.provider)
	at := len(b)
	b = c.asked().Model.Append(append(b, 0, 0))
	setLength(b, at)
	for _, l := range sortedLabels(c.labels) {
		b = appendPart(appendPart(b, l.Name), l.Value)
	}
	return b
}

// appendPart appends a text behind its length, so that no other parts look the same.
func appendPart(b []byte, s string) []byte {
	at := len(b)
	b = append(append(b, 0, 0), s...)
	setLength(b, at)
	return b
}

func setLength(b []byte, at int) {
	n := len(b) - at - 2
	b[at], b[at+1] = byte(n>>8), byte(n)
}

// sortedLabels returns labels in the order of their names.
func sortedLabels(labels []Label) []Label {
	if slices.IsSortedFunc(labels, compareLabels) {
		return labels
	}
	labels = slices.Clone(labels)
	sortLabels(labels)
	return labels
}

// labels returns the labels of a call's series; those without a value are left out.
func (g *recorderConfig) labels(c *Call) (labels []Label) {
	names := g.by
	if names == nil {
		names = []string{"provider", "model"}
	}
	for _, name := range names {
		if v := c.appendLabel(nil, name); len(v) > 0 {
			labels = append(labels, Label{name, string(v)})
		}
	}
	if g.by == nil {
		for _, l := range sortedLabels(c.labels) {
			if l.Name == "provider" || l.Name == "model" {
				l.Name = "label." + l.Name // the call has one of its own
			}
			labels = append(labels, l)
		}
	}
	return labels
}

// appendLabel appends the value that a call has under a label's name.
func (c *Call) appendLabel(b []byte, name string) []byte {
	switch name {
	case "operation":
		return append(b, c.Operation()...)
	case "api":
		return append(b, c.API()...)
	case "provider":
		return append(b, c.provider...)
	case "server":
		return append(b, c.server...)
	case "model":
		return c.asked().Model.Append(b)
	case "response_model":
		return c.facts.Model.Append(b)
	}
	for _, l := range c.labels {
		if l.Name == name {
			return append(b, l.Value...)
		}
	}
	return b
}

// sink is a Recorder for a transport: an interface, so that a program without
// one carries none.
type sink interface {
	gaps(c *Call) gapSink
	add(c *Call)
}

// gapSink takes the gaps of a stream.
type gapSink interface {
	gap(d time.Duration, start time.Time, at time.Duration)
	none(n int) // so many gaps of no length, right behind that
}

// gaps returns where the gaps of a stream go while they happen.
func (r *Recorder) gaps(c *Call) gapSink { return r.seriesOf(c).group(c) }

// Observe adds a call that no transport with this recorder has added. Its gaps
// are not added: of those a record keeps the moments only.
func (r *Recorder) Observe(c *Call) { r.add(c) }

// add adds a call that has ended; its gaps are there already.
func (r *Recorder) add(c *Call) {
	if c.status >= 300 && c.status < 400 {
		return
	}
	s := r.seriesOf(c)
	s.rotate(c.start.Add(max(0, c.duration)).Sub(r.epoch))
	g := s.group(c)
	g.count(c)
	for f := range numFigures {
		if !c.stream && f.ofStreams() || !c.enters(f) {
			continue
		}
		if d, ok := c.Figure(f); ok {
			g.histogram(f).Record(d)
		}
	}
}

// enters reports whether the call counts in the quantiles of a figure.
func (c *Call) enters(f Figure) bool {
	switch c.outcome {
	case Complete:
		return true
	case ClosedEarly, Cut, Cancelled:
		return f == TTFC || f == TTFT || f == TTFO
	}
	return false
}
