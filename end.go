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

// contextDone runs on a goroutine of its own when the caller's context ends.
func (x *exchange) contextDone() {
	if !x.ctx.cancel() {
		return // detached: the body was closed after its end
	}
	x.mu.Lock()
	if x.ctx.done != nil {
		select {
		case <-x.ctx.done:
		default:
			close(x.ctx.done)
		}
	}
	if x.rc == nil || x.told {
		x.mu.Unlock()
		return // RoundTrip tells
	}
	if !x.frozen {
		now := x.since()
		x.wait(now)
		x.freeze(now)
		c := x.call
		c.fail(x.fault(nil, Cancelled))
	}
	// A Read that is under way gets the context's error any moment now, and
	// tells before it returns.
	tell := x.reading.Load() == 0 && x.claim()
	if tell {
		x.transport.pending.add()
	}
	x.mu.Unlock()
	if tell {
		x.tell()
		x.transport.pending.done()
	}
}

// dropped runs when the application's body was collected before its end.
func dropped(x *exchange) {
	go func() {
		x.mu.Lock()
		rc := x.rc
		if !x.frozen {
			x.freeze(x.last)
			c := x.call
			if c.outcome = Dropped; c.status >= 400 {
				c.outcome = Failed
			}
		}
		tell := x.claim()
		x.mu.Unlock()
		if tell {
			x.tell()
		}
		x.release()
		if rc != nil {
			rc.Close() // nobody else can any more, and the connection waits for it
		}
	}()
}
