// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// flow is one direction of a connection: a byte queue of bounded size whose
// bytes become readable at once or, over a link, after a delay.
//
// It blocks only in sync.Cond.Wait, which testing/synctest counts as durably
// blocked, so that fake time advances past a waiting reader or writer.
type flow struct {
	limit  int
	packet int                  // largest unit that gets a delay of its own; 0: no splitting
	delay  func() time.Duration // called under mu, once for each packet; nil: no delay

	mu       sync.Mutex
	cond     sync.Cond
	buf      []byte
	off      int    // buf[off:] is unread
	marks    []mark // when the unread bytes become readable; unused without delay
	lastDue  time.Time
	end      error // what the reader gets after the last byte; nil while the writer is open
	endDue   time.Time
	readErr  error // the reader is gone: what it gets from now on
	writing  bool  // one Write at a time, so that two never interleave
	readStop deadline
	writStop deadline
	wake     *time.Timer
}

// mark says that n bytes become readable at due.
type mark struct {
	n   int
	due time.Time
}

func newFlow(limit, packet int, delay func() time.Duration) *flow {
	f := &flow{limit: limit, packet: packet, delay: delay}
	f.cond.L = &f.mu
	return f
}

// Read returns what is readable now, and waits when nothing is.
func (f *flow) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch {
		case f.readErr != nil:
			return 0, f.readErr
		case f.readStop.expired:
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		}
		n, next := f.readable()
		if n > 0 {
			return f.take(p[:min(n, len(p))]), nil
		}
		if f.off == len(f.buf) && f.end != nil {
			if wait := time.Until(f.endDue); f.delay == nil || wait <= 0 {
				return 0, f.end
			}
			next = f.endDue
		}
		if !next.IsZero() {
			f.wakeAt(next)
		}
		f.cond.Wait()
	}
}

// readable returns the number of bytes that may be read now, and if there is
// none the time at which the first packet in flight arrives.
func (f *flow) readable() (int, time.Time) {
	if f.delay == nil {
		return len(f.buf) - f.off, time.Time{}
	}
	now, n := time.Now(), 0
	for _, m := range f.marks {
		if m.due.After(now) {
			return n, m.due
		}
		n += m.n
	}
	return n, time.Time{}
}

// take moves len(p) unread bytes into p.
func (f *flow) take(p []byte) int {
	n := copy(p, f.buf[f.off:])
	f.off += n
	if f.off == len(f.buf) {
		f.buf, f.off = f.buf[:0], 0
	}
	if f.delay != nil {
		left, k := n, 0
		for k < len(f.marks) && left >= f.marks[k].n {
			left -= f.marks[k].n
			k++
		}
		f.marks = append(f.marks[:0], f.marks[k:]...)
		if left > 0 {
			f.marks[0].n -= left
		}
	}
	f.cond.Broadcast()
	return n
}

// Write queues all of p and waits while the queue is full.
func (f *flow) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.writing {
		if err := f.writeErr(); err != nil {
			return 0, err
		}
		f.cond.Wait()
	}
	f.writing = true
	defer func() {
		f.writing = false
		f.cond.Broadcast()
	}()
	done := 0
	for {
		if err := f.writeErr(); err != nil {
			return done, err
		}
		if done == len(p) {
			return done, nil
		}
		room := f.limit - (len(f.buf) - f.off)
		if room == 0 {
			f.cond.Wait()
			continue
		}
		n := min(room, len(p)-done)
		if f.packet > 0 {
			n = min(n, f.packet)
		}
		f.put(p[done : done+n])
		done += n
	}
}

func (f *flow) writeErr() error {
	switch {
	case f.end != nil:
		return net.ErrClosed
	case f.readErr != nil:
		return syscall.EPIPE
	case f.writStop.expired:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// put appends one packet.
func (f *flow) put(p []byte) {
	if f.off > 0 && len(f.buf)+len(p) > cap(f.buf) {
		// The space of what was read is used again before the buffer grows.
		f.buf = f.buf[:copy(f.buf, f.buf[f.off:])]
		f.off = 0
	}
	f.buf = append(f.buf, p...)
	if f.delay != nil {
		f.marks = append(f.marks, mark{len(p), f.nextDue()})
	}
	f.cond.Broadcast()
}

// nextDue is when a packet sent now arrives: never before an earlier one.
func (f *flow) nextDue() time.Time {
	due := time.Now().Add(f.delay())
	if due.Before(f.lastDue) {
		due = f.lastDue
	}
	f.lastDue = due
	return due
}

// closeWrite ends the flow: the reader gets err after the last byte.
func (f *flow) closeWrite(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.end == nil {
		f.end = err
		if f.delay != nil {
			f.endDue = f.nextDue()
		}
		f.writStop.stop()
		f.cond.Broadcast()
	}
}

// closeRead drops what is unread: the reader gets net.ErrClosed, the writer EPIPE.
func (f *flow) closeRead() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readErr == nil {
		f.readErr = net.ErrClosed
		f.buf, f.off, f.marks = nil, 0, nil
		f.readStop.stop()
		if f.wake != nil {
			f.wake.Stop()
		}
		f.cond.Broadcast()
	}
}

func (f *flow) wakeAt(t time.Time) {
	if f.wake == nil {
		f.wake = time.AfterFunc(time.Until(t), f.broadcast)
		return
	}
	f.wake.Reset(time.Until(t))
}

func (f *flow) broadcast() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cond.Broadcast()
}

func (f *flow) setReadDeadline(t time.Time)  { f.readStop.set(f, t) }
func (f *flow) setWriteDeadline(t time.Time) { f.writStop.set(f, t) }

// deadline is the end of the wait for one side of a flow, guarded by the flow's mu.
type deadline struct {
	timer   *time.Timer
	turn    int // counts the settings, so that a late timer of an earlier one is ignored
	expired bool
}

func (d *deadline) set(f *flow, t time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d.stop()
	d.expired = false
	switch wait := time.Until(t); {
	case t.IsZero():
	case wait <= 0:
		d.expired = true
	default:
		turn := d.turn
		d.timer = time.AfterFunc(wait, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			if d.turn == turn {
				d.expired = true
				f.cond.Broadcast()
			}
		})
	}
	f.cond.Broadcast()
}

func (d *deadline) stop() {
	d.turn++
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
