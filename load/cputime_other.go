// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package load

import "time"

// cpuTime is not known here.
func cpuTime() (time.Duration, bool) { return 0, false }
