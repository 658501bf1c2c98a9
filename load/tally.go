// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
)

// ending is a call that has come to its end.
type ending struct {
	job                      Job
	err                      error
	call                     *tacho.Call // nil: nobody measured one
	calls                    int         // that Call made, of which call is the last
	intended, started, ended time.Duration
	measured                 bool // its intended start lies in its stage's window
	cut                      bool // by the end of the run
}

// class is what a call comes to, for the counts.
type class uint8

const (
	servedCall class = iota
	refusedCall
	cutCall       // by the run's end
	cancelledCall // by the caller of Call, or closed early
	failedCall
)

func (e *ending) class() class {
	switch {
	case e.cut:
		return cutCall
	case e.call == nil && e.err != nil:
		return failedCall
	case e.call == nil:
		return servedCall // by what Call says; nothing else is known of it
	}
	status, _ := e.call.Status()
	switch o := e.call.Outcome(); {
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		return refusedCall
	case o == tacho.Complete && e.err == nil && e.otherKind() == "":
		return servedCall
	case o == tacho.Cancelled || o == tacho.ClosedEarly || o == tacho.Dropped:
		return cancelledCall
	}
	return failedCall
}

// otherKind says what a whole answer is, if it is not of the kind asked for: one
// of those has none of the figures that the call was made for.
func (e *ending) otherKind() string {
	c := e.call
	switch op := c.Operation(); {
	case op != "chat" && op != "text_completion":
		return ""
	case c.StreamRequested() && !c.Streaming() && answers(c):
		return "one JSON object in place of a stream"
	case !c.StreamRequested() && c.Streaming():
		return "a stream in place of one JSON object"
	case !c.Streaming() && !answers(c):
		return "no answer of a model: check the base URL"
	}
	return ""
}

// answers reports whether a plain body is a model's answer, and not a web page.
func answers(c *tacho.Call) bool {
	u := c.Usage()
	return len(c.FinishReasons()) > 0 || c.ResponseModel() != "" || c.ResponseID() != "" || u.Input.Reported || u.Output.Reported
}

// stageTally counts the calls of a stage. The contexts are those of its calls,
// which carry the stage's labels.
type stageTally struct {
	stage            Stage
	from, to         time.Duration // its window, since the run's start
	measured, warmup context.Context

	mu sync.Mutex
	Counts
	delay          tacho.Histogram
	streams, plain Latencies
	errors         map[string]*ErrorCount
	saturated      atomic.Bool
}

// count counts an arrival that lies in the stage's window.
func (t *stageTally) count(intended time.Duration, f func(*stageTally)) {
	if intended < t.from || intended >= t.to {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f(t)
}

// add counts a call whose intended start lies in the stage.
func (t *stageTally) add(e *ending, c *Config) {
	if !e.measured {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delay := max(0, e.started-e.intended)
	t.Started++
	t.delay.Record(delay)
	if delay > c.Tolerance {
		t.Late++
	}
	switch e.class() {
	case servedCall:
		t.Served++
	case refusedCall:
		if status, _ := e.call.Status(); status == http.StatusTooManyRequests {
			t.TooMany++
		} else {
			t.Unavailable++
		}
	case cutCall:
		t.CutOff++
	case cancelledCall:
		t.Cancelled++
	case failedCall:
		t.Failed++
	}
	if good, decided := e.good(c.Limits); !decided {
		t.Undecided++
	} else if good {
		t.Good++
	} else {
		t.Bad++
	}
	if e.class() != servedCall {
		t.note(e)
	}
	if e.call == nil {
		t.Unmeasured++
		return
	}
	if reused, ok := e.call.Reused(); ok && reused {
		t.Reused++
	} else if ok {
		t.Opened++
	}
	if n := e.call.Usage().CacheRead; n.N > 0 {
		t.Cached++
	}
	if e.calls > 1 || len(e.call.Attempts()) > 1 || e.call.Attempt() > 1 {
		t.Retried++
	}
	deadline := e.call.Outcome() == tacho.Deadline
	if deadline {
		t.Deadlines++
	}
	if e.call.Outcome() == tacho.Complete && e.otherKind() != "" {
		return // a web page's times would make the model look fast
	}
	of := &t.plain
	if e.call.Streaming() || (e.cut || deadline) && e.call.StreamRequested() {
		of = &t.streams
	}
	// From the intended start to that of the call, which an SDK may have made again.
	of.add(e.call, e.call.Start().Sub(e.job.Intended), e.cut || deadline)
}

// ended counts a call that ends in the stage's window.
func (t *stageTally) ended(e *ending, limits []budget.Limit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Ended++
	if e.class() == servedCall {
		t.EndedServed++
	}
	if good, decided := e.good(limits); good && decided {
		t.EndedGood++
	}
	if e.call == nil || e.call.Outcome() != tacho.Complete {
		return
	}
	if u := e.call.Usage(); u.Input.Reported && u.Output.Reported {
		t.EndedReported++
		t.InputTokens += u.Input.N
		t.OutputTokens += u.Output.N
	}
}

// good reports whether a call kept the limits, from its intended start on. One
// that was cut off before a limit is undecided, as is one whose first token may
// have come earlier than it was read, and one that nothing measured; one that was
// cancelled is, too.
func (e *ending) good(limits []budget.Limit) (good, decided bool) {
	switch e.class() {
	case servedCall:
		if e.call == nil {
			return true, len(limits) == 0
		}
	case refusedCall, failedCall:
		return false, true
	case cancelledCall:
		return false, false
	case cutCall:
		took := e.ended - e.intended
		for _, l := range limits {
			if !counted(l.Figure) {
				continue
			}
			// The last token so far is not the last one.
			if e.call != nil {
				if d, ok := e.call.Figure(l.Figure); ok && l.Figure != tacho.Duration && l.Figure != tacho.TTLT {
					if e.fromIntended(d) > l.AtMost {
						return false, true
					}
					continue
				}
			}
			if took > l.AtMost {
				return false, true
			}
		}
		return false, false
	}
	good, decided = true, true
	for _, l := range limits {
		d, ok := e.call.Figure(l.Figure)
		if counted(l.Figure) {
			d = e.fromIntended(d)
		}
		switch {
		case !ok:
			decided = false
		case d <= l.AtMost:
		case e.call.Upper() && (l.Figure == tacho.TTFT || l.Figure == tacho.TTFC || l.Figure == tacho.TTFO):
			decided = false
		default:
			return false, true
		}
	}
	return good && decided, decided
}

// fromIntended is a time from the call's start as one from its intended start.
func (e *ending) fromIntended(d time.Duration) time.Duration {
	return d + e.call.Start().Sub(e.job.Intended)
}

// counted reports whether a figure counts from the start of a call.
func counted(f tacho.Figure) bool {
	switch f {
	case tacho.TTFB, tacho.TTFC, tacho.TTFT, tacho.TTFO, tacho.TTLT, tacho.Duration:
		return true
	}
	return false
}
