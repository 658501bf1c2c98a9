// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math"
	"slices"
	"time"
)

// meter counts what an engine does, under the names of vLLM 0.11 (the V1
// engine's, vllm/v1/metrics/loggers.py), with its bounds of histograms. Times
// begin when the request reaches the server.
//
// Left out is what the engine does not have: preemptions, labels of engines
// (replicas are counted together), and the KV gauge where there is no budget.
// Names that begin with sim: are of things that vLLM does not do.
type meter struct {
	prompt, generated, queried, found int // tokens
	finished                          [3]int
	refused                           map[int]int // by status
	hits                              int         // of the response cache
	ttft, gap, total, queue           *timeHistogram
}

var finishNames = [...]string{"stop", "length", "abort"}

func newMeter() *meter {
	latency := []float64{0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	return &meter{
		refused: make(map[int]int),
		ttft: newTimeHistogram([]float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
			20, 40, 80, 160, 640, 2560}),
		gap: newTimeHistogram([]float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
			20, 40, 80}),
		total: newTimeHistogram(latency),
		queue: newTimeHistogram(latency),
	}
}

// open counts the begin of a prefill, prefilled its end.
func (m *meter) open(q *request, lookup bool) {
	m.queue.add(q.start-q.due, 1)
	if lookup {
		m.queried += q.prompt
		m.found += q.cached
	}
}

func (m *meter) prefilled(q *request) { m.prompt += q.prompt }

// token counts a token of each choice, before q.last is set to it.
func (m *meter) token(q *request, now time.Duration) {
	m.generated += q.places
	if q.sent == 1 {
		m.generated += q.places * q.reasoning
		m.ttft.add(now-q.due, 1)
		return
	}
	m.gap.add(now-q.last, q.places)
}

func (m *meter) end(q *request) {
	switch {
	case q.hit:
		m.hits++
	case q.status != statusOK:
		m.refused[q.status]++
	default:
		reason := 0
		if q.cut {
			reason = 1
		}
		m.finished[reason]++
		m.total.add(q.end-q.due, 1)
	}
}

func (m *meter) cancel() { m.finished[2]++ }

// timeHistogram counts times by upper bounds in seconds.
type timeHistogram struct {
	bounds []float64
	counts []int // one more than bounds, not cumulated
	sum    time.Duration
}

func newTimeHistogram(bounds []float64) *timeHistogram {
	return &timeHistogram{bounds: bounds, counts: make([]int, len(bounds)+1)}
}

func (h *timeHistogram) add(d time.Duration, n int) {
	i, _ := slices.BinarySearch(h.bounds, d.Seconds())
	h.counts[i] += n
	if s := float64(h.sum) + float64(d)*float64(n); s < math.MaxInt64 {
		h.sum += d * time.Duration(n)
	}
}
