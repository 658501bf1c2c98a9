// SPDX-License-Identifier: Apache-2.0

//go:build unix

package load

import (
	"syscall"
	"time"
)

// cpuTime is the CPU time of the process so far.
func cpuTime() (time.Duration, bool) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
