// SPDX-License-Identifier: Apache-2.0

//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package machine

import "time"

// processCPU is absent: the system has no getrusage in package syscall.
func processCPU() (time.Duration, bool) { return 0, false }
