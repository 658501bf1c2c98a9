// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tacho-go/tacho"
)

// Result is what came of a run. Results of the segments of one schedule merge
// exactly. In its JSON times are in seconds, histograms in HdrHistogram's encoding.
type Result struct {
	Start      time.Time     `json:"start"`
	Seed       uint64        `json:"seed"`
	Segments   []string      `json:"segments,omitempty"`   // of the schedule, that it is made of
	Incomplete string        `json:"incomplete,omitempty"` // why the schedule was not played to its end, or its calls not awaited
	Stages     []StageResult `json:"stages"`
	Health     Health        `json:"health"`
}

// StageResult tells of a stage, without its warm-up.
type StageResult struct {
	Name string `json:"name"`
	Open bool   `json:"open"`
	// Workers is the number of a closed stage, at its end if it changes.
	Workers int           `json:"workers,omitempty"`
	Think   time.Duration `json:"-"` // in JSON as think, in seconds
	Start   time.Time     `json:"start"`
	Window  time.Duration `json:"-"`     // as far as it was played; in JSON as window, in seconds
	Whole   bool          `json:"whole"` // it was played to its end

	Counts
	Flow   Flow         `json:"flow"`
	Errors []ErrorCount `json:"errors,omitempty"` // of the calls not served, the most frequent first

	// Delay is the schedule delay: actual start − intended start.
	Delay *tacho.Histogram `json:"schedule_delay"`
	// Streams and Plain count from the intended start, Snapshot from the actual one.
	Streams  *Latencies     `json:"streams"`
	Plain    *Latencies     `json:"plain"`
	Snapshot tacho.Snapshot `json:"recorded"`

	// Saturated is set when the calls in flight of an open stage grow: by the
	// Mann-Kendall test over its seconds, of which there are ten or more, with a
	// one-sided error of 0.1 %, and the mean of the last third is twice that of the
	// first, or more.
	Saturated bool `json:"saturated,omitempty"`
}

// Counts are numbers of calls. The first block is of calls whose intended start
// lies in the window; the second of calls that ended in it, whenever they began.
type Counts struct {
	Offered     int64 `json:"offered"` // that the schedule, or a worker, wanted
	Started     int64 `json:"started"`
	Late        int64 `json:"late"`        // started past Config.Tolerance
	Missed      int64 `json:"missed"`      // not made: the generator came too late
	NotStarted  int64 `json:"not_started"` // found no room until the end
	Served      int64 `json:"served"`
	TooMany     int64 `json:"too_many"`    // 429
	Unavailable int64 `json:"unavailable"` // 503
	Failed      int64 `json:"failed"`      // came to nothing otherwise
	Cancelled   int64 `json:"cancelled"`   // by Call, or closed early
	CutOff      int64 `json:"cut_off"`     // by the end of the run
	Deadlines   int64 `json:"deadlines"`   // among the failed
	Unmeasured  int64 `json:"unmeasured"`  // of which no transport told
	Good        int64 `json:"good"`        // kept all limits
	Bad         int64 `json:"bad"`         // without Missed and NotStarted
	Undecided   int64 `json:"undecided"`
	Opened      int64 `json:"conns_opened"`
	Reused      int64 `json:"conns_reused"`
	Cached      int64 `json:"cached"`  // reported tokens read from a cache
	Retried     int64 `json:"retried"` // took more than one try, of which the last counts

	Ended         int64 `json:"ended"`
	EndedServed   int64 `json:"ended_served"`
	EndedGood     int64 `json:"ended_good"`
	EndedReported int64 `json:"ended_reported"` // complete, with input and output tokens
	InputTokens   int64 `json:"input_tokens"`   // of these
	OutputTokens  int64 `json:"output_tokens"`
}

func (c *Counts) add(o *Counts) {
	theirs := o.fields()
	for i, n := range c.fields() {
		*n += *theirs[i]
	}
}

func (c *Counts) fields() [26]*int64 {
	return [...]*int64{&c.Offered, &c.Started, &c.Late, &c.Missed, &c.NotStarted, &c.Served, &c.TooMany, &c.Unavailable, &c.Failed,
		&c.Cancelled, &c.CutOff, &c.Deadlines, &c.Unmeasured, &c.Good, &c.Bad, &c.Undecided, &c.Opened, &c.Reused, &c.Cached, &c.Retried,
		&c.Ended, &c.EndedServed, &c.EndedGood, &c.EndedReported, &c.InputTokens, &c.OutputTokens}
}

// Refused returns the calls answered 429 or 503.
func (c *Counts) Refused() int64 { return c.TooMany + c.Unavailable }

// perSecond is a count ÷ the window, absent without one.
func (s *StageResult) perSecond(n int64) (float64, bool) {
	if s.Window <= 0 {
		return 0, false
	}
	return float64(n) / s.Window.Seconds(), true
}

// OfferedRate returns the calls a second that the schedule wanted.
func (s *StageResult) OfferedRate() (float64, bool) { return s.perSecond(s.Offered) }

// ServedRate returns the throughput: complete calls that ended in the window ÷
// window. Behind a stage without a warm-up of its own those of the stage before
// are among them: it may be above OfferedRate.
func (s *StageResult) ServedRate() (float64, bool) { return s.perSecond(s.EndedServed) }

// Goodput returns the calls that ended in the window and kept every limit ÷ window,
// absent when the limits decide of no call.
func (s *StageResult) Goodput() (float64, bool) {
	if s.Good+s.Bad == 0 && s.Undecided > 0 {
		return 0, false
	}
	return s.perSecond(s.EndedGood)
}

// OutputRate returns the output tokens of the calls that ended in the window ÷
// window, absent when none reported any.
func (s *StageResult) OutputRate() (float64, bool) {
	if s.EndedReported == 0 {
		return 0, false
	}
	return s.perSecond(s.OutputTokens)
}

// OutputPerInput returns the output tokens ÷ the input tokens of the calls that
// ended in the window and reported both.
func (s *StageResult) OutputPerInput() (float64, bool) {
	if s.InputTokens == 0 {
		return 0, false
	}
	return float64(s.OutputTokens) / float64(s.InputTokens), true
}

// GoodShare returns the share of good calls of all that are decided: what was
// missed or not started counts against it.
func (s *StageResult) GoodShare() (float64, bool) {
	all := s.Good + s.Bad + s.Missed + s.NotStarted
	if all == 0 {
		return 0, false
	}
	return float64(s.Good) / float64(all), true
}

// RefusedShare returns the share of the calls started that were answered 429 or 503.
func (s *StageResult) RefusedShare() (float64, bool) {
	if s.Started == 0 {
		return 0, false
	}
	return float64(s.Refused()) / float64(s.Started), true
}

// Kind returns the latencies of streams if the stage has any, else of plain calls.
func (s *StageResult) Kind() (l *Latencies, streams bool) {
	if s.Streams.Duration.Count() > 0 || s.Streams.TTFT.Count() > 0 {
		return s.Streams, true
	}
	return s.Plain, false
}

// Err returns nil if a call was served, else what is known of why none was.
func (r *Result) Err() error {
	var started, served int64
	var first *ErrorCount
	for i := range r.Stages {
		s := &r.Stages[i]
		started += s.Started
		served += s.Served
		if first == nil && len(s.Errors) > 0 {
			first = &s.Errors[0]
		}
	}
	switch {
	case served > 0:
		return nil
	case started == 0:
		return errors.New("load: no call was started in the measured time")
	case first == nil:
		return fmt.Errorf("load: none of %d calls was served", started)
	}
	return fmt.Errorf("load: none of %d calls was served: %s", started, first.What)
}

// result puts the result together.
func (r *runner) result(ctx context.Context, stopped time.Duration, interrupted bool, h Health) *Result {
	out := &Result{Start: r.start, Seed: r.config.Seed, Health: h}
	if s := r.config.Segment; s.N > 1 {
		out.Segments = []string{s.String()}
	}
	switch why := r.stopped.Load(); {
	case why != nil:
		out.Incomplete = *why
	case stopped < r.total():
		out.Incomplete = fmt.Sprintf("stopped after %v of %v: %v", stopped.Round(time.Millisecond), r.total(), context.Cause(ctx))
	case interrupted:
		out.Incomplete = fmt.Sprintf("stopped while calls were under way at the end: %v", context.Cause(ctx))
	}
	recorded := r.recorder.Total()
	for i, t := range r.stages {
		if stopped < t.from && t.started() == 0 {
			continue
		}
		window := max(0, min(t.to, stopped)-t.from)
		s := StageResult{
			Name: t.stage.Name, Open: t.stage.Open(), Workers: t.stage.endWorkers(), Think: t.stage.Think,
			Start: r.start.Add(t.from), Window: window, Whole: stopped >= t.to,
			Counts: t.Counts, Flow: r.flow.of(i), Errors: sortedErrors(t.errors), Saturated: t.saturated.Load(),
			Delay: &t.delay, Streams: &t.streams, Plain: &t.plain,
			Snapshot: recorded.Where(labelStage, t.stage.Name, labelWarmup, ""),
		}
		out.Stages = append(out.Stages, s)
	}
	if err := r.rows.close(); err != nil {
		out.Health.Rows = err.Error()
	}
	return out
}

func (t *stageTally) started() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Started
}
