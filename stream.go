// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"time"

	"github.com/tacho-go/tacho/internal/sse"
	"github.com/tacho-go/tacho/internal/wire"
)

// streamBody is the body that the application holds. It is an object apart
// from the exchange, so that the collector can tell when it was dropped.
type streamBody struct{ x *exchange }

func (b *streamBody) Read(p []byte) (int, error) {
	n, err := b.x.readBody(p)
	if err != nil {
		b.x.cleanup.Stop()
	}
	return n, err
}

func (b *streamBody) Close() error {
	b.x.cleanup.Stop()
	return b.x.closeBody()
}

// plainBody is the body of a response that is no stream. It is part of the
// exchange, which saves an allocation.
type plainBody struct{ x *exchange }

func (b *plainBody) Read(p []byte) (int, error) { return b.x.readBody(p) }
func (b *plainBody) Close() error               { return b.x.closeBody() }

// readBody is the tap: it passes a Read on, reads the clock before and after,
// and looks at what came.
func (x *exchange) readBody(p []byte) (int, error) {
	if x.draining.Load() {
		x.rc.Close() // a Read after Close gets the base's error, not the rest
	}
	before := x.since()
	n, err := x.rc.Read(p)
	after := x.since()

	x.mu.Lock()
	if x.told {
		x.mu.Unlock()
		if err != nil {
			x.release()
		}
		return n, err
	}
	inside, away := after-before, before-x.returned
	c := &x.call
	if !x.frozen {
		c.network += inside
		c.consumer += away
	}
	x.returned = after
	// Bytes that are there at once after an absence may have come during it;
	// and so may what the next Reads find there, until one has to wait.
	switch {
	case inside > x.config.atOnce:
		x.late = false
	case away > x.config.atOnce:
		x.late = true
	}
	if n > 0 {
		x.last = after
		x.read += int64(n)
		x.consume(p[:n], after)
	}
	if err != nil {
		x.endBody(after, err)
	}
	tell := (err != nil || c.done) && x.claim()
	x.mu.Unlock()
	if err != nil {
		x.release()
	}
	if tell {
		x.tell()
	}
	return n, err
}

// consume looks at the bytes of a Read that returned at the given time.
func (x *exchange) consume(p []byte, at time.Duration) {
	defer x.fence()
	if x.mode == bodyUnknown {
		if p = x.sniffBody(p); p == nil {
			return
		}
	}
	switch x.mode {
	case bodyPlain:
		x.dec.Write(p)
	case bodyStream:
		if x.nsniff > 0 {
			held := x.sniff[:x.nsniff]
			x.nsniff = 0
			x.scanStream(held, at)
		}
		x.scanStream(p, at)
	}
}

// fence keeps a fault of our own from the application: the body passes on, not
// looked at any more.
func (x *exchange) fence() {
	if recover() != nil {
		x.mode = bodyOpaque
		x.call.facts.Faults++
	}
}

// sniffBody decides by the first bytes what the body is: content types are
// missing or wrong with some servers. It returns the bytes that are left to
// look at, nil while it is undecided.
func (x *exchange) sniffBody(p []byte) []byte {
	for i, b := range p {
		if x.nsniff == 0 && (b == ' ' || b == '\t' || b == '\n' || b == '\r') {
			continue
		}
		x.sniff[x.nsniff] = b
		x.nsniff++
		stream, decided := looksLikeStream(x.sniff[:x.nsniff], x.typed)
		if decided {
			x.decide(stream)
			if !stream {
				x.dec.Write(x.sniff[:x.nsniff])
				x.nsniff = 0
			}
			return p[i+1:]
		}
	}
	return nil
}

func (x *exchange) decide(stream bool) {
	x.call.stream = stream
	x.mode = bodyPlain
	if stream {
		x.mode = bodyStream
	}
	x.dec.Init(x.call.api, stream, x.config.capture, &x.call.facts)
}

// looksLikeStream judges the first bytes, white space left out.
func looksLikeStream(b []byte, typed bool) (stream, decided bool) {
	if b[0] == '{' || b[0] == '[' {
		return false, true
	}
	if typed || b[0] == ':' {
		return true, true
	}
	for _, mark := range [...]string{"data:", "event:", "id:", "retry:", "\xef\xbb\xbf"} {
		n := min(len(b), len(mark))
		if string(b[:n]) == mark[:n] {
			return true, n == len(mark)
		}
	}
	return false, true
}

// scanStream cuts events out of the bytes and notes each.
func (x *exchange) scanStream(p []byte, at time.Duration) {
	for {
		tok, piece, used := x.sse.Next(p)
		p = p[used:]
		switch tok {
		case sse.Data:
			x.dec.Write(piece)
		case sse.End:
			x.event(at)
		default:
			return
		}
	}
}

// event notes the event that is complete now.
func (x *exchange) event(at time.Duration) {
	ev := x.dec.End()
	c := &x.call
	if !ev.Error && string(x.sse.Name()) == "error" && !x.frozen {
		ev.Error = true // by its name, whatever it holds
		c.facts.Error.Present = true
	}
	x.sse.ResetName()
	x.dec.Begin()
	if x.marks != nil {
		*x.marks = append(*x.marks, mark{at, ev.Channels})
	}
	if ev.Done {
		c.done = true
		if !x.frozen {
			x.freeze(at)
			x.settle()
		}
		return
	}
	if c.events == 0 {
		c.ttfc = at
	}
	c.events++
	if ev.Channels != 0 && !x.frozen {
		x.output(ev, at)
	}
	if ev.Error && !x.frozen {
		x.failed = true
	}
	if ev.Terminal && !x.frozen {
		c.terminal = true
		x.freeze(at)
		x.settle()
	}
}

// output notes an event with generated output.
func (x *exchange) output(ev wire.Event, at time.Duration) {
	c := &x.call
	index := c.events - 1
	if c.outputEvents == 0 {
		c.ttft, c.firstOutput, c.firstChannel, c.upper = at, index, ev.Channels, x.late
	} else {
		gap := at - c.ttlt
		c.gaps.add(gap, c.network-x.networkAtLast)
		if x.gapSeries != nil {
			x.gapSeries.Record(gap)
		}
	}
	if c.firstVisible < 0 && ev.Channels&wire.Visible != 0 {
		c.ttfo, c.firstVisible = at, index
	}
	c.outputEvents++
	c.ttlt = at
	x.networkAtLast = c.network
	if c.outputEvents == 1 && x.config.recorder != nil {
		x.gapSeries = x.config.recorder.gaps(c)
	}
}

// settle gives the outcome of a stream that came to its end.
func (x *exchange) settle() {
	c := &x.call
	c.outcome = Complete
	if x.failed {
		c.outcome = StreamError
		x.serverFailure(c.status < 400)
	}
}

// serverFailure notes the server's error object.
func (x *exchange) serverFailure(mid bool) {
	e := &x.call.facts.Error
	x.call.failed = true
	x.call.failure = Failure{Type: bounded(e.Type), Code: bounded(e.Code), MidStream: mid}
}

// endBody ends the body with io.EOF or a read error. The lock is held.
func (x *exchange) endBody(at time.Duration, err error) {
	c := &x.call
	if err == io.EOF {
		c.eof = true
		switch x.mode {
		case bodyUnknown:
			// Nothing came but white space, or too little to tell.
			x.decide(x.typed || c.req.Stream)
			fallthrough
		case bodyStream, bodyPlain:
			x.flush(at)
		}
	}
	if x.frozen {
		return
	}
	x.freeze(at)
	if err != io.EOF {
		c.outcome, c.failure, c.failed = x.fault(err, Cut)
		if x.failed && c.outcome == Cut {
			x.settle() // the error came first, and says more than the cut
		}
		return
	}
	switch {
	case c.status >= 400:
		c.outcome = Failed
		x.serverFailure(false)
	case x.mode == bodyStream:
		if c.outcome = Cut; x.failed || c.facts.Finished() {
			x.settle()
		}
	default:
		if c.outcome = Complete; c.facts.Error.Present {
			c.outcome = StreamError
			x.serverFailure(false)
		}
	}
}

// flush ends what is still open when the body ends.
func (x *exchange) flush(at time.Duration) {
	defer x.fence()
	if x.mode == bodyStream {
		if x.nsniff > 0 {
			x.scanStream(x.sniff[:x.nsniff], at)
			x.nsniff = 0
		}
		if x.sse.Flush() {
			x.event(at)
		}
		return
	}
	if !x.dec.Empty() {
		x.dec.End()
	}
}

// closeBody passes a Close on, exactly once, and ends the call.
func (x *exchange) closeBody() error {
	at := x.since()
	x.mu.Lock()
	if x.closed {
		x.mu.Unlock()
		return nil // it was passed on before
	}
	x.closed = true
	c := &x.call
	if !x.told && !x.frozen {
		c.consumer += at - x.returned
		x.closeEarly(at)
	}
	tell := x.claim()
	drain := c.stream && !c.eof && (c.done || c.terminal) && c.proto[:min(6, len(c.proto))] == "HTTP/1" &&
		!x.config.noDrain && x.ctx.detach()
	x.draining.Store(drain)
	x.mu.Unlock()

	x.release()
	var err error
	if drain {
		x.transport.drains.add()
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
	c := &x.call
	x.freeze(at)
	whole := x.length >= 0 && x.read >= x.length || x.mode == bodyPlain && x.dec.Whole()
	switch {
	case c.status >= 400:
		x.flush(at)
		c.outcome = Failed
		x.serverFailure(false)
	case x.failed:
		x.settle()
	case whole && x.mode != bodyStream && x.mode != bodyUnknown:
		x.frozen = false
		x.endBody(x.last, io.EOF)
		c.eof = false
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
	defer x.transport.drains.done()
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

func isTLS(err error) bool {
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var verify *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	return errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &verify) ||
		errors.As(err, &authority) || errors.As(err, &host)
}
