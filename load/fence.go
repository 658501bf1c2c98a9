// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// errExit is the error of a Call that ended its goroutine in place of returning.
var errExit = errors.New("load: Call ended its goroutine")

// panicked is the error of a Call that panicked. The value is not kept, for it may
// hold content.
type panicked struct{ what, where string }

func (p *panicked) Error() string { return "load: " + p.what + ", " + p.where }

// call calls Config.Call. A panic is the end of that call, and not of a run of
// days with all that it has measured.
func (r *runner) call(ctx context.Context, j Job) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p := &panicked{what: "panic in Call", where: panicFrame()}
			// The runtime's own texts name types and indexes.
			if own, ok := v.(runtime.Error); ok {
				p.what += ": " + own.Error()
			}
			err = p
		}
	}()
	return r.config.Call(ctx, j)
}

// panicFrame returns where the panic under way began, from a deferred function.
func panicFrame() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for inPanic := false; ; {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			inPanic = true
		case inPanic && !strings.HasPrefix(f.Function, "runtime."):
			return fmt.Sprintf("in %s, %s:%d", f.Function, filepath.Base(f.File), f.Line)
		}
		if !more {
			return "at an unknown place"
		}
	}
}
