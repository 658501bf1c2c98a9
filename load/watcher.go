// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tacho-go/tacho"
)

// watcher takes the calls that a job makes.
type watcher struct {
	mu    sync.Mutex
	call  *tacho.Call
	calls int
	heard chan struct{}
}

func (w *watcher) add(c *tacho.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.call = c
	w.calls++
	if w.heard != nil {
		close(w.heard)
		w.heard = nil
	}
}

// last returns the last call, and how many there were. One that its context ended may be told a moment
// after the call has returned. Where no transport has told of any, other failures
// are not waited for: that would slow down whoever measures nothing.
func (w *watcher) last(err error, measures bool) (*tacho.Call, int) {
	measures = measures || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	w.mu.Lock()
	if w.call != nil || err == nil || !measures {
		defer w.mu.Unlock()
		return w.call, w.calls
	}
	heard := make(chan struct{})
	w.heard = heard
	w.mu.Unlock()
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-heard:
	case <-t.C:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.call, w.calls
}

// patience is how long a call that failed is waited for, if a transport measures
// at all.
const patience = 100 * time.Millisecond
