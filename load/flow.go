// SPDX-License-Identifier: Apache-2.0

package load

import (
	"sync"
	"time"
)

// flow counts the calls in flight over the windows of a run: their mean in time,
// which is the N of Little's law, and the sums behind X and W. Those are sums over
// the calls when they end: exact in whatever order calls come here. Beside them it
// follows the calls in flight as they come, for who looks on.
type flow struct {
	mu       sync.Mutex
	inFlight int
	last     time.Duration
	windows  []window
}

// window is the measured part of a stage.
type window struct {
	from, to time.Duration
	within   float64 // seconds that calls were in flight in it
	area     float64 // the same as it goes on, by the order in which calls come here
	most     int
	ended    int64
	stayed   float64 // seconds in flight of the calls that ended in it
}

func (f *flow) begin(now time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(now)
	f.inFlight++
	if w := f.at(now); w != nil {
		w.most = max(w.most, f.inFlight)
	}
}

func (f *flow) end(now, started time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(now)
	f.inFlight--
	for i := range f.windows {
		w := &f.windows[i]
		if d := min(now, w.to) - max(started, w.from); d > 0 {
			w.within += d.Seconds()
		}
	}
	if w := f.at(now); w != nil {
		w.ended++
		w.stayed += (now - started).Seconds()
	}
}

// advance adds the time that has passed. Two goroutines may come in another order
// than they read the clock; what lies before is then counted as at once.
func (f *flow) advance(now time.Duration) {
	if now <= f.last {
		return
	}
	if f.inFlight > 0 {
		for i := range f.windows {
			w := &f.windows[i]
			if d := min(now, w.to) - max(f.last, w.from); d > 0 {
				w.area += float64(f.inFlight) * d.Seconds()
				w.most = max(w.most, f.inFlight)
			}
		}
	}
	f.last = now
}

// close ends the windows that are not over.
func (f *flow) close(now time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(now)
	for i := range f.windows {
		w := &f.windows[i]
		w.to = max(w.from, min(w.to, now))
	}
}

func (f *flow) at(now time.Duration) *window {
	for i := range f.windows {
		if w := &f.windows[i]; now >= w.from && now < w.to {
			return w
		}
	}
	return nil
}

// now returns the calls in flight, and the integral of them since the start of
// window i.
func (f *flow) now(at time.Duration, i int) (inFlight int, area float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(at)
	return f.inFlight, f.windows[i].area
}
