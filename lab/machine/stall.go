// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// DefaultStallInterval is the sleep of a [StallMeter] that is given none.
const DefaultStallInterval = time.Millisecond

// LongStall is the overshoot above which a sleep counts into
// [StallReport.LongShare].
const LongStall = 10 * time.Millisecond

// StallMeter sleeps again and again in a goroutine of its own and notes by how
// much each sleep overshoots. What delays these sleeps (a hypervisor, a busy
// CPU, the Go scheduler, the resolution of timers) also delays whatever else the
// process times, so a latency difference below the overshoot is not one of the
// endpoint. It takes 18 KiB whatever the length of the run. Create it with
// [StartStall] and end it with [StallMeter.Stop].
type StallMeter struct {
	interval time.Duration
	stop     chan struct{}
	done     chan struct{}
	once     sync.Once

	// seen is the goroutine's until done is closed, as is run.
	seen overshoots
	run  time.Duration
}

// StartStall begins to measure with sleeps of the given length, and with
// [DefaultStallInterval] where it is not positive. The goroutine runs until Stop.
func StartStall(interval time.Duration) *StallMeter {
	if interval <= 0 {
		interval = DefaultStallInterval
	}
	m := &StallMeter{interval: interval, stop: make(chan struct{}), done: make(chan struct{})}
	go m.measure(time.Now())
	return m
}

func (m *StallMeter) measure(began time.Time) {
	defer close(m.done)
	timer := time.NewTimer(m.interval)
	defer timer.Stop()
	from := began
	for {
		stopped := false
		select {
		case <-timer.C:
		case <-m.stop:
			stopped = true
		}
		now := time.Now()
		// A sleep that Stop cuts short tells nothing. One that is overdue when Stop
		// comes is a stall as any other.
		if over := now.Sub(from) - m.interval; over >= 0 {
			m.seen.add(over)
		}
		if stopped {
			m.run = now.Sub(began)
			return
		}
		from = time.Now()
		timer.Reset(m.interval)
	}
}

// Stop ends the measurement, waits for the goroutine to end and returns the
// report. Later calls, and concurrent ones, return the same report.
func (m *StallMeter) Stop() StallReport {
	m.once.Do(func() { close(m.stop) })
	<-m.done
	return m.seen.report(m.interval, m.run)
}

// StallReport is what a [StallMeter] saw. The zero value saw nothing. It is
// immutable but for UnmarshalJSON. JSON has seconds and shares of 1.
type StallReport struct {
	// Interval is the length that each sleep asks for, Run the time between start
	// and stop.
	Interval, Run time.Duration
	// Count is the number of sleeps that ended.
	Count uint64

	over      *overshoot
	longShare *float64
}

type overshoot struct{ mean, p50, p99, max time.Duration }

// Mean is the mean overshoot. It is absent, as P50, P99 and Max are, when no
// sleep ended.
func (r StallReport) Mean() (d time.Duration, ok bool) {
	o, ok := deref(r.over)
	return o.mean, ok
}

// P50 is the median overshoot: the least that half of the sleeps do not exceed.
// It is never below the exact value and, up to 18 minutes, at most 1/64 above it.
func (r StallReport) P50() (d time.Duration, ok bool) {
	o, ok := deref(r.over)
	return o.p50, ok
}

// P99 is the overshoot that 99 % of the sleeps do not exceed, with P50's error.
// Of fewer than 100 sleeps it is the largest.
func (r StallReport) P99() (d time.Duration, ok bool) {
	o, ok := deref(r.over)
	return o.p99, ok
}

// Max is the largest overshoot, exact.
func (r StallReport) Max() (d time.Duration, ok bool) {
	o, ok := deref(r.over)
	return o.max, ok
}

// LongShare is the sum of the overshoots above [LongStall], divided by Run: the
// share of the run, 0 to 1, lost in stalls of that length. It is absent when no
// sleep ended.
func (r StallReport) LongShare() (share float64, ok bool) { return deref(r.longShare) }

// String tells the report in one line.
func (r StallReport) String() string {
	s := fmt.Sprintf("%d sleeps of %s over %s", r.Count, r.Interval, r.Run.Round(time.Millisecond))
	if o := r.over; o != nil {
		s += fmt.Sprintf(", overshoot mean %s, p50 %s, p99 %s, max %s", brief(o.mean), brief(o.p50), brief(o.p99), brief(o.max))
	}
	if share, ok := r.LongShare(); ok {
		s += fmt.Sprintf(", %.2f %% of the run stalled above %s", 100*share, LongStall)
	}
	return s
}

// brief rounds to the microsecond what is longer than ten.
func brief(d time.Duration) time.Duration {
	if d < 10*time.Microsecond {
		return d
	}
	return d.Round(time.Microsecond)
}

type stallJSON struct {
	Interval  float64  `json:"interval_s"`
	Run       float64  `json:"run_s"`
	Count     uint64   `json:"count"`
	Mean      *float64 `json:"overshoot_mean_s,omitempty"`
	P50       *float64 `json:"overshoot_p50_s,omitempty"`
	P99       *float64 `json:"overshoot_p99_s,omitempty"`
	Max       *float64 `json:"overshoot_max_s,omitempty"`
	LongShare *float64 `json:"stalled_above_10ms_share,omitempty"`
}

// MarshalJSON leaves out what is absent.
func (r StallReport) MarshalJSON() ([]byte, error) {
	j := stallJSON{Interval: r.Interval.Seconds(), Run: r.Run.Seconds(), Count: r.Count, LongShare: r.longShare}
	if o := r.over; o != nil {
		j.Mean, j.P50, j.P99, j.Max = new(o.mean.Seconds()), new(o.p50.Seconds()), new(o.p99.Seconds()), new(o.max.Seconds())
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *StallReport) UnmarshalJSON(b []byte) error {
	var j stallJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*r = StallReport{Interval: seconds(j.Interval), Run: seconds(j.Run), Count: j.Count, longShare: j.LongShare}
	if j.Mean != nil && j.P50 != nil && j.P99 != nil && j.Max != nil {
		r.over = &overshoot{mean: seconds(*j.Mean), p50: seconds(*j.P50), p99: seconds(*j.P99), max: seconds(*j.Max)}
	}
	return nil
}
