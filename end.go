// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"io"
	"strings"
	"time"
)

// How a body ends: the outcome of the call, the Close, and what is read behind
// the last event.

// settle gives the outcome of a stream that came to its end.
func (x *exchange) settle() {
	c := x.call
	c.outcome = Complete
	if x.failed {
		c.outcome = StreamError
		x.serverFailure(c.status < 400)
	}
}

// serverFailure notes the server's error object.
//
//go:noinline
func (x *exchange) serverFailure(mid bool) {
	c := x.call
	c.failed, c.byServer, c.midStream = true, true, mid
}

// endBody ends the body with io.EOF or a read error. The lock is held.
func (x *exchange) endBody(at time.Duration, err error) {
	c := x.call
	if x.coded != notCoded && x.nsniff > 0 {
		x.decode(at) // it was too short to be sure
	}
	if x.inflater != nil {
		x.inflater.end()
		x.inflater = nil
	}
	open := false
	if err == io.EOF {
		c.eof = true
		switch x.mode {
		case bodyUnknown:
			// Nothing came but white space, or too little to tell.
			x.decide(x.typed || c.asked().Stream)
			fallthrough
		case bodyStream, bodyPlain, bodyRefusal:
			open = x.flush(at)
		}
	}
	if x.frozen {
		return
	}
	x.freeze(at)
	if err != io.EOF {
		c.fail(x.fault(err, Cut))
		switch {
		case c.outcome != Cut:
		case c.status >= 400:
			c.outcome = Failed
			x.flush(at)
			x.serverFailure(false)
		case x.failed:
			x.settle() // the error came first, and says more than the cut
		}
		return
	}
	switch {
	case c.status >= 400:
		c.outcome = Failed
		x.serverFailure(false)
	case x.mode == bodyStream:
		if c.outcome = Cut; x.failed || c.facts.Finished() && !open {
			x.settle()
		}
	default:
		if c.outcome = Complete; c.facts.Error.Present {
			c.outcome = StreamError
			x.serverFailure(false)
		}
	}
}

// flush ends what is still open when the body ends. It reports whether that was
// an event in the middle of its document.
func (x *exchange) flush(at time.Duration) (open bool) {
	defer x.fence()
	if x.mode == bodyStream {
		if x.nsniff > 0 {
			x.scanStream(x.sniff[:x.nsniff], at)
			x.nsniff = 0
		}
		if x.sse.Flush() {
			before := x.call.facts.Faults
			x.event(at)
			open = x.call.facts.Faults > before
		}
		return open
	}
	if x.dec != nil && !x.dec.Empty() {
		x.dec.End() // also of a refusal's event that is open
	}
	return false
}

// closeBody passes a Close on, exactly once, and ends the call.
func (x *exchange) closeBody() error {
	x.mu.Lock()
	if x.closed {
		x.mu.Unlock()
		return nil // it was passed on before
	}
	x.closed = true
	c := x.call
	if !x.told && !x.frozen {
		x.closeEarly(x.since())
	}
	tell := x.claim()
	drain := c.stream && !c.eof && (c.done || c.terminal) && strings.HasPrefix(c.proto, "HTTP/1") && !x.config.noDrain
	if drain {
		// A Read that is under way must end now, with the base's error. Read and
		// Close set their marks first and look at the other's then, so that one
		// of them sees the other.
		x.draining.Store(true)
		if drain = x.reading.Load() == 0 && x.ctx.detach(); !drain {
			x.draining.Store(false)
		}
	}
	x.mu.Unlock()

	x.release()
	var err error
	if drain {
		x.transport.pending.add()
		go x.drain()
	} else {
		err = x.rc.Close()
	}
	if tell {
		x.tell()
	}
	return err
}

// closeEarly gives the outcome of a body that is closed before its end was
// read. A plain document that was read to its last byte is whole, though
// nobody asked for the EOF behind it.
func (x *exchange) closeEarly(at time.Duration) {
	c := x.call
	x.flushReader()
	whole := x.left == 0 || x.mode == bodyPlain && x.dec.Whole()
	if whole && c.status < 400 && x.mode != bodyStream && x.mode != bodyUnknown {
		x.endBody(x.last, io.EOF)
		c.eof = false
		return
	}
	x.wait(at)
	x.freeze(at)
	c.unread = c.unread || !x.some
	switch {
	case c.status >= 400:
		x.flush(at)
		c.outcome = Failed
		x.serverFailure(false)
	case x.failed:
		x.settle()
	case x.ctx.parent.Err() != nil:
		// The context's end came first, and its goroutine has not yet.
		c.fail(x.fault(nil, Cancelled))
	default:
		c.outcome = ClosedEarly
	}
}

const (
	drainBytes = 4 << 10
	drainTime  = 250 * time.Millisecond
)

// drain reads what a server sends behind the last event, which is little: the
// end of a chunked body. Only then the connection can be used again.
func (x *exchange) drain() {
	defer x.transport.pending.done()
	timer := time.AfterFunc(drainTime, func() { x.rc.Close() })
	defer timer.Stop()
	var buf [512]byte
	for n := 0; n < drainBytes; {
		k, err := x.rc.Read(buf[:])
		if n += k; err != nil {
			break
		}
	}
	x.rc.Close()
}
