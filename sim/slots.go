// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"slices"
	"sync"
)

// slots admits a number of requests at a time and lets the others wait in order
// of arrival. Its zero value has nobody in it.
type slots struct {
	mu      sync.Mutex
	busy    int
	waiting []chan struct{} // closed when the turn comes
}

// enter takes one of size slots, and waits for it among at most queue others
// (negative: without a bound). It reports false when the queue is full. When
// ctx ends first it aborts the answer.
func (s *slots) enter(ctx context.Context, size, queue int) bool {
	s.mu.Lock()
	if s.busy < size {
		s.busy++
		s.mu.Unlock()
		return true
	}
	if queue >= 0 && len(s.waiting) >= queue {
		s.mu.Unlock()
		return false
	}
	turn := make(chan struct{})
	s.waiting = append(s.waiting, turn)
	s.mu.Unlock()
	select {
	case <-turn:
		return true
	case <-ctx.Done():
	}
	s.mu.Lock()
	i := slices.Index(s.waiting, turn)
	if i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 {
		// The turn came at the same time: it goes to the next.
		s.leave()
	}
	abort()
	return false
}

// leave hands the slot to the one that waited longest.
func (s *slots) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.busy--
		return
	}
	close(s.waiting[0])
	s.waiting[0] = nil
	s.waiting = s.waiting[1:]
}
