// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/tacho-go/tacho"
)

// rows writes the measured calls, a line of JSON each. A nil *rows writes nothing.
type rows struct {
	mu  sync.Mutex
	w   *bufio.Writer
	err error
}

// row is what stands in a line. Times are in seconds.
type row struct {
	Stage    string      `json:"stage"`
	Index    int64       `json:"index"`
	Worker   *int        `json:"worker,omitempty"`
	Intended time.Time   `json:"intended_start"`
	Delay    float64     `json:"schedule_delay"`
	CutOff   bool        `json:"cut_off,omitempty"`
	Call     *tacho.Call `json:"call,omitempty"`
}

func newRows(w io.Writer) *rows {
	if w == nil {
		return nil
	}
	return &rows{w: bufio.NewWriter(w)}
}

func (r *rows) write(e *ending) {
	if r == nil {
		return
	}
	out := row{Stage: e.job.Stage, Index: e.job.Index, Intended: e.job.Intended, Delay: max(0, e.started-e.intended).Seconds(), CutOff: e.cut, Call: e.call}
	if e.job.Worker >= 0 {
		out.Worker = &e.job.Worker
	}
	b, err := json.Marshal(out)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	if err == nil {
		_, err = r.w.Write(append(b, '\n'))
	}
	r.err = err
}

// close writes what is left, and returns the first error.
func (r *rows) close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = r.w.Flush()
	}
	return r.err
}
