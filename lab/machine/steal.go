// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"time"
)

// StealMeter measures the CPU time that was not to be had during a run. It reads
// two counters at its start and two at its end, and holds no goroutine. Create it
// with [StartSteal]; it is safe for concurrent use.
type StealMeter struct {
	fsys    fs.FS
	cpuTime func() (time.Duration, bool)
	cores   int

	began   time.Time
	before  jiffies
	ownThen time.Duration
	ownOK   bool

	once   sync.Once
	report StealReport
}

// StartSteal begins to measure.
func StartSteal() *StealMeter {
	return startSteal(hostFS(), processCPU, runtime.NumCPU())
}

func startSteal(fsys fs.FS, cpuTime func() (time.Duration, bool), cores int) *StealMeter {
	m := &StealMeter{fsys: fsys, cpuTime: cpuTime, cores: cores}
	m.before = readJiffies(fsys)
	m.ownThen, m.ownOK = cpuTime()
	m.began = time.Now()
	return m
}

// Stop ends the measurement. Later calls return the first one's report.
func (m *StealMeter) Stop() StealReport {
	m.once.Do(func() {
		r := StealReport{Interval: time.Since(m.began)}
		after := readJiffies(m.fsys)
		if share, ok := stealShare(m.before, after); ok {
			r.steal, r.counted = &share, new(after.spent[stealColumn] > 0)
		}
		if own, ok := m.cpuTime(); ok && m.ownOK && own >= m.ownThen {
			own -= m.ownThen
			r.own = &own
			if all := r.Interval.Seconds() * float64(m.cores); all > 0 {
				r.ownShare = new(own.Seconds() / all)
			}
		}
		m.report = r
	})
	return m.report
}

// StealReport is what a [StealMeter] saw. The zero value saw nothing. It is
// immutable but for UnmarshalJSON. JSON has seconds and shares of 1.
type StealReport struct {
	// Interval is the time between start and stop.
	Interval time.Duration

	steal    *float64
	counted  *bool
	own      *time.Duration
	ownShare *float64
}

// Steal is the share, 0 to 1, of the machine's CPU time that a hypervisor gave to
// others while this machine had work for it. It is absent where the system has
// no such counter and where none of its ticks (10 ms on most kernels) passed.
func (r StealReport) Steal() (share float64, ok bool) { return deref(r.steal) }

// Counted says whether the counter of stolen time has ever moved since the
// machine started. If not, a share of 0 has two readings: nothing was stolen, or
// this hypervisor does not tell its guests.
func (r StealReport) Counted() (counted, ok bool) { return deref(r.counted) }

// Own is the CPU time of this process, user and system. It is absent where the
// system has no getrusage.
func (r StealReport) Own() (d time.Duration, ok bool) { return deref(r.own) }

// OwnShare is Own divided by the interval times the cores that the process may
// use: 1 is every core busy with this process. It is absent where Own is and
// for an interval of no length.
func (r StealReport) OwnShare() (share float64, ok bool) { return deref(r.ownShare) }

// String tells the report in one line.
func (r StealReport) String() string {
	var parts []string
	if share, ok := r.Steal(); ok {
		s := fmt.Sprintf("steal %.2f %%", 100*share)
		if counted, _ := r.Counted(); !counted {
			s += " (never counted since the machine started)"
		}
		parts = append(parts, s)
	}
	if share, ok := r.OwnShare(); ok {
		parts = append(parts, fmt.Sprintf("own CPU %.2f %%", 100*share))
	}
	return strings.Join(append(parts, "over "+r.Interval.Round(time.Millisecond).String()), ", ")
}

type stealJSON struct {
	Interval float64  `json:"interval_s"`
	Steal    *float64 `json:"steal_share,omitempty"`
	Counted  *bool    `json:"steal_ever_counted,omitempty"`
	Own      *float64 `json:"own_cpu_s,omitempty"`
	OwnShare *float64 `json:"own_cpu_share,omitempty"`
}

// MarshalJSON leaves out what is absent.
func (r StealReport) MarshalJSON() ([]byte, error) {
	j := stealJSON{Interval: r.Interval.Seconds(), Steal: r.steal, Counted: r.counted, OwnShare: r.ownShare}
	if r.own != nil {
		j.Own = new(r.own.Seconds())
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *StealReport) UnmarshalJSON(b []byte) error {
	var j stealJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*r = StealReport{Interval: seconds(j.Interval), steal: j.Steal, counted: j.Counted, ownShare: j.OwnShare}
	if j.Own != nil {
		r.own = new(seconds(*j.Own))
	}
	return nil
}
