// SPDX-License-Identifier: Apache-2.0

package load

import (
	"runtime"
	"sync"
	"time"

	"github.com/tacho-go/tacho"
)

// Health says how the generator itself fared. The figures of a process that is
// short of CPU time are figures of that process.
type Health struct {
	// CPU is the process's CPU time ÷ (time × GOMAXPROCS). An endpoint in the same
	// process is in it. It is absent where the system does not tell it.
	CPU *float64 `json:"cpu,omitempty"`
	// Stalls are how much sleeps of 10 ms overshot.
	Stalls *tacho.Histogram `json:"stalls"`
	Rows   string           `json:"rows_error,omitempty"` // why rows were not written
}

const stallInterval = 10 * time.Millisecond

// healthMeter measures from startHealth to stop, on a goroutine of its own.
type healthMeter struct {
	start  time.Time
	cpu    time.Duration
	known  bool
	stalls tacho.Histogram
	quit   chan struct{}
	done   sync.WaitGroup
}

func startHealth() *healthMeter {
	m := &healthMeter{start: time.Now(), quit: make(chan struct{})}
	m.cpu, m.known = cpuTime()
	m.done.Go(m.sleep)
	return m
}

func (m *healthMeter) sleep() {
	t := time.NewTimer(stallInterval)
	defer t.Stop()
	for from := time.Now(); ; {
		select {
		case <-t.C:
		case <-m.quit:
			return
		}
		now := time.Now()
		m.stalls.Record(max(0, now.Sub(from)-stallInterval))
		from = now
		t.Reset(stallInterval)
	}
}

func (m *healthMeter) stop() Health {
	close(m.quit)
	m.done.Wait()
	h := Health{Stalls: &m.stalls}
	if cpu, ok := cpuTime(); ok && m.known {
		if wall := time.Since(m.start); wall > 0 {
			h.CPU = new(float64(cpu-m.cpu) / (float64(wall) * float64(runtime.GOMAXPROCS(0))))
		}
	}
	return h
}
