// SPDX-License-Identifier: Apache-2.0

package sim

import "time"

// bucket is a token bucket that is full at the start. It counts in units of
// 1 ÷ (nanoseconds of a minute), so that all is whole numbers and what it does
// depends on differences of time alone.
type bucket struct {
	limit     int // a minute
	cap       int64
	level     int64
	at        time.Duration
	whatLimit string // requests or tokens
}

// newBucket returns nil for no limit.
func newBucket(what string, limit, burst int) *bucket {
	if limit == 0 {
		return nil
	}
	full := int64(burst) * minuteNs
	return &bucket{limit: limit, cap: full, level: full, whatLimit: what}
}

// fill brings the level to the time now.
func (b *bucket) fill(now time.Duration) {
	elapsed := int64(now - b.at)
	b.at = now
	if missing := b.cap - b.level; elapsed > missing/int64(b.limit) {
		b.level = b.cap
		return
	}
	b.level += elapsed * int64(b.limit)
}

// wait is how long it takes from now until n can be taken; negative: they never can.
func (b *bucket) wait(n int, now time.Duration) time.Duration {
	b.fill(now)
	return b.until(int64(n) * minuteNs)
}

// until is how long it takes until the level is reached.
func (b *bucket) until(level int64) time.Duration {
	switch {
	case level > b.cap:
		return -1
	case level <= b.level:
		return 0
	}
	return time.Duration((level - b.level + int64(b.limit) - 1) / int64(b.limit))
}

func (b *bucket) take(n int) { b.level -= int64(n) * minuteNs }

// limitState is what headers say of a bucket.
type limitState struct {
	limit, remaining int
	reset            time.Duration // until it is full
}

func (b *bucket) state(now time.Duration) limitState {
	if b == nil {
		return limitState{}
	}
	b.fill(now)
	return limitState{b.limit, int(b.level / minuteNs), b.until(b.cap)}
}
