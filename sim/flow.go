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
	packet int   // largest unit that gets a delay of its own; 0: no splitting
	pace   *pace // asked under mu, once for each packet; nil: no delay

	mu       sync.Mutex
	cond     sync.Cond
	buf      []byte
	off      int    // buf[off:] is unread
	marks    []mark // when the unread bytes become readable; unused without a pace
	sent     []mark // when what is in the window is acknowledged; unused without one
	unacked  int    // bytes in sent
	end      error  // what the reader gets after the last byte; nil while the writer is open
	endDue   time.Time
	readErr  error // the reader is gone: what it gets from now on
	writing  bool  // one Write at a time, so that two never interleave
	readStop deadline
	writStop deadline
	wake     *time.Timer // of the reader
	ackWake  *time.Timer // of the writer
}

// mark says that n bytes become readable at due.
type mark struct {
	n   int
	due time.Time
}

func newFlow(limit, packet int, pace *pace) *flow {
	f := &flow{limit: limit, packet: packet, pace: pace}
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
			if wait := time.Until(f.endDue); f.pace == nil || wait <= 0 {
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
	if f.pace == nil {
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
	if f.pace != nil {
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
		room := f.room()
		if room <= 0 {
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
	if f.pace != nil {
		due := f.pace.arrival(time.Now(), len(p))
		f.marks = append(f.marks, mark{len(p), due})
		if f.pace.link.Window > 0 {
			f.sent = append(f.sent, mark{len(p), due.Add(f.pace.link.Delay)})
			f.unacked += len(p)
		}
	}
	f.cond.Broadcast()
}

// room is how many bytes may be queued now. With a window, it also sees to it
// that a writer without room wakes up for the next acknowledgement.
func (f *flow) room() int {
	if f.pace == nil || f.pace.link.Window == 0 {
		return f.limit - (len(f.buf) - f.off)
	}
	now, k := time.Now(), 0
	for k < len(f.sent) && !f.sent[k].due.After(now) {
		f.unacked -= f.sent[k].n
		k++
	}
	f.sent = append(f.sent[:0], f.sent[k:]...)
	room := min(f.limit-(len(f.buf)-f.off), f.pace.link.Window-f.unacked)
	if room <= 0 && len(f.sent) > 0 {
		f.ackWake = rewake(f.ackWake, f.sent[0].due, f.broadcast)
	}
	return room
}

// closeWrite ends the flow: the reader gets err after the last byte.
func (f *flow) closeWrite(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.end == nil {
		f.end = err
		if f.pace != nil {
			f.endDue = f.pace.arrival(time.Now(), 0)
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
		for _, t := range []*time.Timer{f.wake, f.ackWake} {
			if t != nil {
				t.Stop()
			}
		}
		f.cond.Broadcast()
	}
}

func (f *flow) wakeAt(t time.Time) {
	f.wake = rewake(f.wake, t, f.broadcast)
}

// rewake sets a timer to t and makes it if there is none.
func rewake(timer *time.Timer, t time.Time, f func()) *time.Timer {
	if timer == nil {
		return time.AfterFunc(time.Until(t), f)
	}
	timer.Reset(time.Until(t))
	return timer
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
