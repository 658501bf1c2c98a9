// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"math"
	"time"
)

// deref turns a pointer into a value that may be absent.
func deref[T any](p *T) (v T, ok bool) {
	if p == nil {
		return v, false
	}
	return *p, true
}

// seconds rounds to the nanosecond, so that a duration survives JSON.
func seconds(s float64) time.Duration {
	return time.Duration(math.Round(s * float64(time.Second)))
}
