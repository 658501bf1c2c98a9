// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/rand/v2"
	"time"
)

// pace decides when the packets of one direction of one connection arrive. It is
// not safe for concurrent use: a flow calls it under its lock.
type pace struct {
	link   Link
	jitter *rand.Rand
	loss   *rand.Rand
	free   time.Time // when the last packet has left
	last   time.Time // when it arrives
}

// lossStream keeps the draws of losses apart from those of the jitter.
const lossStream = 0xd6e8feb86659fd93

func (l Link) pace(stream uint64) *pace {
	return &pace{link: l, jitter: rand.New(rand.NewPCG(l.Seed, stream)), loss: rand.New(rand.NewPCG(l.Seed^lossStream, stream))}
}

// maxRetransmissions bounds the time of a packet that is lost again and again:
// the last of so many arrives.
const maxRetransmissions = 10

// delay draws the time from when a packet has left to its arrival.
func (p *pace) delay() time.Duration {
	l := &p.link
	d := l.Delay
	if l.Jitter > 0 {
		d += time.Duration(min(p.jitter.ExpFloat64(), jitterCut) * float64(l.Jitter))
	}
	if l.Loss > 0 {
		wait := l.timeout()
		for i := 0; i < maxRetransmissions && p.loss.Float64() < l.Loss; i++ {
			d += wait
			wait *= 2
		}
	}
	return d
}

// arrival is when n bytes arrive that are sent now: never before an earlier packet.
func (p *pace) arrival(now time.Time, n int) time.Time {
	left := now
	if b := p.link.Bandwidth; b > 0 {
		if left.Before(p.free) {
			left = p.free
		}
		left = left.Add(time.Duration(float64(n) / b * float64(time.Second)))
		p.free = left
	}
	due := left.Add(p.delay())
	if due.Before(p.last) {
		due = p.last
	}
	p.last = due
	return due
}
