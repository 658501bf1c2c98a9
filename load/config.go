// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
)

// Config says what Run does. Stages and Call are needed.
type Config struct {
	Stages []Stage

	// Call makes one call and reads its answer to the end, as Chat.Call does. It is
	// called concurrently, and must return when its context ends. Through the
	// context the run learns of the calls that a tacho.Transport measures; of
	// several, as by an SDK that tries again, the last one counts. An error alone is
	// a failed call, and so is a panic, which the result names with its place.
	Call func(context.Context, Job) error

	// Recorder is the one that Call's transport records into, made by NewRecorder for
	// this run: what it has of a stage is told as that stage's. Without one the run
	// observes the calls itself: then gaps are absent.
	Recorder *tacho.Recorder

	Seed    uint64  // of arrivals and prompts; 0 is one, too
	Segment Segment // the part of the schedule that this generator has

	// MaxInFlight bounds the calls under way in open stages; 0: no bound. An arrival
	// that finds no room waits for it, in order; if it has none when the last stage
	// ends, it is not started.
	MaxInFlight int

	// Tolerance is how late a call may start before it counts as late. When the
	// generator itself comes later than that to an arrival of an open stage, the call
	// is missed, and not made: all that a stall has held up would start at once,
	// which no schedule asked for. CatchUp makes such calls all the same.
	Tolerance time.Duration // default 100 ms, what a shared machine may stall
	CatchUp   bool

	// Drain is how long calls under way at the end of the last stage may take.
	// Then their contexts are cancelled, and they are cut off. Negative: at once.
	Drain time.Duration // default 30 s

	// Pause is how long a worker pauses after a call that was not served, besides its
	// think time: an endpoint that refuses at once would else be asked as fast as
	// this machine can. Negative: it goes on at once.
	Pause time.Duration // default 10 ms

	// Limits are what a good call keeps, for the goodput. Without limits every
	// complete call is good.
	Limits []budget.Limit

	// StopSaturated ends the run in an open stage whose calls in flight grow
	// without end: see StageResult.Saturated.
	StopSaturated bool

	// Progress is called every second, also while calls drain, on one goroutine. A
	// run shorter than a second calls it not at all, and none at its end.
	Progress func(Progress)

	// Rows gets a line of JSON for each measured call as it ends: stage, index,
	// worker, intended_start, schedule_delay in seconds, cut_off, and under call what
	// json.Marshal makes of a tacho.Call. Lines are buffered, written by one goroutine
	// at a time, and all there when Run returns. An error ends the writing, not the
	// run; it is in Health.Rows and in the warnings.
	Rows io.Writer
}

// Segment is a part of a schedule for several generators: the I-th of N, from 1.
// Every N-th arrival and every N-th worker is this generator's. The zero Segment
// is the whole.
type Segment struct{ I, N int }

// String is "1/2".
func (s Segment) String() string { return fmt.Sprintf("%d/%d", s.I, s.N) }

// ParseSegment reads what String writes; ok is false for anything else.
func ParseSegment(text string) (s Segment, ok bool) {
	i, n, _ := strings.Cut(text, "/")
	var err1, err2 error
	s.I, err1 = strconv.Atoi(i)
	s.N, err2 = strconv.Atoi(n)
	return s, err1 == nil && err2 == nil && s.I >= 1 && s.I <= s.N && s.String() == text
}

func (s Segment) has(index int64) bool { return s.N < 2 || index%int64(s.N) == int64(s.I-1) }

// Job is a call to be made.
type Job struct {
	Stage    string
	Index    int64 // of the arrival; in a closed stage of the worker's call
	Worker   int   // -1 in an open stage
	Seed     uint64
	Intended time.Time
	Request  Request // of the trace, if there is one
}

// Progress is how far a run has come.
type Progress struct {
	Stage          string
	Elapsed, Total time.Duration // without the drain
	InFlight       int
	Started        int64 // as the following of all stages, warm-ups included
	Served         int64
	Refused        int64 // 429 and 503
	Failed         int64 // all others that came to nothing
}

const (
	defaultTolerance = 100 * time.Millisecond
	defaultDrain     = 30 * time.Second
	defaultPause     = 10 * time.Millisecond
)

// NewRecorder returns a recorder that tells the stages of a run apart, and its
// calls by the labels named: "model", "server" or others of tacho.WithSeriesBy.
func NewRecorder(labels ...string) *tacho.Recorder {
	return tacho.NewRecorder(tacho.WithSeriesBy(append([]string{labelStage, labelWarmup}, labels...)...),
		tacho.WithMaxSeries(1000), tacho.WithWindows(time.Minute, 1))
}

const (
	labelStage  = "stage"
	labelWarmup = "warmup"
)

// withDefaults checks a configuration and fills what is left out.
func (c Config) withDefaults() (Config, error) {
	if len(c.Stages) == 0 {
		return c, errors.New("load: there is no stage: give Config.Stages one, such as load.Poisson(20, time.Minute)")
	}
	if c.Call == nil {
		return c, errors.New("load: Config.Call is nil: give what makes a call, such as Chat.Call")
	}
	c.Stages = append([]Stage(nil), c.Stages...)
	names := map[string]bool{}
	for i := range c.Stages {
		s := &c.Stages[i]
		if err := s.check(); err != nil {
			return c, fmt.Errorf("load: stage %d (%v): %w", i+1, *s, err)
		}
		own := s.String()
		s.Name = own
		for n := 2; names[s.Name]; n++ {
			s.Name = fmt.Sprintf("%s (%d)", own, n)
		}
		names[s.Name] = true
	}
	switch {
	case c.Segment != Segment{} && (c.Segment.N < 1 || c.Segment.I < 1 || c.Segment.I > c.Segment.N):
		return c, fmt.Errorf("load: segment %v: give I from 1 to N", c.Segment)
	case c.MaxInFlight < 0 || c.MaxInFlight > maxWorkers:
		return c, fmt.Errorf("load: MaxInFlight %d: give 1 to %d, or 0 for no bound", c.MaxInFlight, maxWorkers)
	case c.Tolerance < 0:
		return c, errors.New("load: Tolerance is negative")
	}
	for _, l := range c.Limits {
		if l.AtMost <= 0 {
			return c, fmt.Errorf("load: the limit on %v is %v: give a positive one", l.Figure, l.AtMost)
		}
	}
	if c.Tolerance == 0 {
		c.Tolerance = defaultTolerance
	}
	if c.Pause == 0 {
		c.Pause = defaultPause
	}
	if c.Drain == 0 {
		c.Drain = defaultDrain
	}
	return c, nil
}

// unused returns an error if the recorder has calls of a stage already.
func (c *Config) unused() error {
	all := c.Recorder.Total()
	for _, s := range c.Stages {
		if g := all.Where(labelStage, s.Name); g.Streams.Calls()+g.Plain.Calls() > 0 {
			return fmt.Errorf("load: the recorder has calls of a stage %q already, which would be told as this run's: give each run one of its own, by NewRecorder", s.Name)
		}
	}
	return nil
}
