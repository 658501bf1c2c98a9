// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"math/bits"
	"time"
)

// The layout of overshoots: values below 2^7 ns have a bucket each; every
// doubling above is cut into 64 buckets of equal width, so a bucket is at most
// 1/64 of its values wide. The top one takes in what exceeds 2^40 ns (18 minutes).
const (
	subBits    = 6
	subBuckets = 1 << subBits
	topBits    = 40
	buckets    = (topBits - subBits + 1) * subBuckets
)

// overshoots counts durations in 18 KiB. The zero value is empty. It is not safe
// for concurrent use.
type overshoots struct {
	counts [buckets]uint64
	n      uint64
	sum    time.Duration
	max    time.Duration
	long   time.Duration
}

// add counts a duration; one below 0 counts as 0.
func (o *overshoots) add(d time.Duration) {
	d = max(d, 0)
	o.counts[bucket(d)]++
	o.n++
	o.sum += d
	o.max = max(o.max, d)
	if d > LongStall {
		o.long += d
	}
}

// bucket is the index of the bucket that holds d ≥ 0.
func bucket(d time.Duration) int {
	v := min(uint64(d), 1<<topBits-1)
	shift := max(bits.Len64(v)-subBits-1, 0)
	return shift*subBuckets + int(v>>shift)
}

// upper is the largest duration that falls into a bucket.
func upper(i int) time.Duration {
	shift := max(i/subBuckets-1, 0)
	return time.Duration(i-shift*subBuckets+1)<<shift - 1
}

// quantile is the upper bound of the bucket that holds the value of rank ⌈q·n⌉,
// and the largest value where that is less. q is in per cent; n is above 0.
func (o *overshoots) quantile(percent uint64) time.Duration {
	rank := max((o.n*percent+99)/100, 1)
	var below uint64
	for i, n := range o.counts[:buckets-1] {
		if below += n; below >= rank {
			return min(upper(i), o.max)
		}
	}
	return o.max
}

func (o *overshoots) report(interval, run time.Duration) StallReport {
	r := StallReport{Interval: interval, Run: run, Count: o.n}
	if o.n == 0 {
		return r
	}
	r.over = &overshoot{
		mean: time.Duration(uint64(o.sum) / o.n),
		p50:  o.quantile(50),
		p99:  o.quantile(99),
		max:  o.max,
	}
	if run > 0 {
		r.longShare = new(o.long.Seconds() / run.Seconds())
	}
	return r
}
