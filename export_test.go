// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"math/rand/v2"
	"time"
	"unsafe"
)

// FillRecorder returns a recorder of one label set with windows of streams and
// plain calls whose figures are all drawn from one distribution.
func FillRecorder(windows, values int, draw func(*rand.Rand) float64) *Recorder {
	r := NewRecorder()
	c := &Call{start: time.Now(), outcome: Complete, status: 200, stream: true}
	c.init()
	r.begin()
	s := r.seriesOf(c)
	s.current, s.past = 0, nil
	random := rand.New(rand.NewPCG(1, 2))
	for w := range windows {
		for _, stream := range []bool{true, false} {
			c.stream = stream
			g := s.group(c)
			for f := range numFigures {
				if !stream && f.ofStreams() {
					continue
				}
				for range values {
					g.histogram(f).Record(time.Duration(draw(random)))
				}
			}
			for range values {
				g.count(c)
			}
		}
		s.mu.Lock()
		s.turn(time.Duration(w+1) * defaultWindow)
		s.mu.Unlock()
	}
	r.epoch = time.Now().Add(-time.Duration(windows) * defaultWindow) // and now, the last of them has just ended
	return r
}

// HistogramBytes is the memory of a histogram with 3 digits.
func HistogramBytes(h *Histogram) int {
	n := int(unsafe.Sizeof(*h))
	for i := range h.dir {
		if h.dir[i].Load() != nil {
			n += 1 << (magnitude - 2) * 2
		}
	}
	return n
}

// Age moves a recorder's begin into the past.
func Age(r *Recorder, d time.Duration) { r.epoch = r.epoch.Add(-d) }

// GroupOf returns a group with one figure.
func GroupOf(f Figure, fill func(*Histogram)) (g Group) {
	g.figures[f] = new(Histogram)
	fill(g.figures[f])
	return g
}

// HideUsage returns a stream without its usage chunks, fed in pieces of n bytes.
func HideUsage(stream []byte, n int) []byte {
	var f usageFilter
	for len(stream) > 0 {
		k := min(n, len(stream))
		f.feed(stream[:k])
		stream = stream[k:]
	}
	f.release()
	return f.out
}
