// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"net/http"
	"time"

	"github.com/tacho-go/tacho/internal/conv"
	"github.com/tacho-go/tacho/internal/sse"
	"github.com/tacho-go/tacho/internal/wire"
)

// streamBody is the body that the application holds. It is an object apart
// from the exchange, so that the collector can tell when it was dropped.
type streamBody struct {
	x *exchange
	// At the end net/http sets trailers in the response that it keeps, from.
	from, out *http.Response
	filter    bodyFilter // nil: nothing is hidden
}

// bodyFilter hides a part of a body.
type bodyFilter interface {
	read(p []byte, read func([]byte) (int, error)) (int, error)
}

func (b *streamBody) Read(p []byte) (int, error) {
	if b.filter != nil && len(p) > 0 && !b.x.isClosed() {
		return b.filter.read(p, b.read)
	}
	return b.read(p)
}

func (b *streamBody) read(p []byte) (int, error) {
	n, err := b.x.readBody(p)
	if err != nil {
		b.x.cleanup.Stop()
		b.out.Trailer = b.from.Trailer
	}
	return n, err
}

func (x *exchange) isClosed() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.closed
}

func (b *streamBody) Close() error {
	b.x.cleanup.Stop()
	return b.x.closeBody()
}

// plainBody is the body of a response that is no stream: the exchange itself,
// which saves an allocation.
type plainBody exchange

func (b *plainBody) Read(p []byte) (int, error) { return (*exchange)(b).readBody(p) }
func (b *plainBody) Close() error               { return (*exchange)(b).closeBody() }

// readBody is the tap: it passes a Read on, reads the clock before and after,
// and looks at what came.
func (x *exchange) readBody(p []byte) (int, error) {
	before := x.since()
	x.reading.Store(int64(before) + 1)
	if x.draining.Load() {
		x.rc.Close() // a Read after Close gets the base's error, not the rest
	}
	n, err := x.rc.Read(p)
	after := x.since()

	x.mu.Lock()
	x.reading.Store(0) // under the lock: who holds it sees the Read's time booked, or the Read
	err = x.guarded(err)
	if x.told {
		x.mu.Unlock()
		if err != nil {
			x.release()
		}
		return n, err
	}
	inside, away := after-before, before-x.returned
	c := x.call
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
		x.some = true
		x.left -= int64(n)
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
	if x.coded != notCoded {
		x.sniffCoded(p, at)
		return
	}
	x.pass(p, at)
}

// pass hands bytes to the inflater, if there is one.
func (x *exchange) pass(p []byte, at time.Duration) {
	if x.inflater != nil {
		x.inflater.feed(p, at)
		return
	}
	x.look(p, at)
}

// look is consume for bytes that are not compressed, or no longer.
func (x *exchange) look(p []byte, at time.Duration) {
	if x.call.done {
		return
	}
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
	case bodyRefusal:
		x.scanRefusal(p)
	}
}

// fence keeps a fault of our own from the application: the body passes on, not
// looked at any more.
func (x *exchange) fence() {
	if recover() != nil {
		x.mode = bodyOpaque
		x.dec = nil // in no known state: not for the pool
		x.call.facts.Faults++
		x.stopGuard()
	}
}

// scanStream cuts events out of the bytes and notes each.
func (x *exchange) scanStream(p []byte, at time.Duration) {
	var event, data []byte // from its first byte on; its only piece; nil where it is cut
	for {
		if x.sse.Between() {
			if x.perEvent == nil && x.config.optIn&conv.PerChunk == 0 && !x.frozen {
				used, n := x.dec.Repeats(p)
				if n > 0 {
					x.repeated(n, at)
				}
				p = p[used:]
			}
			event, data = p, nil
		}
		tok, piece, used := x.sse.Next(p)
		p = p[used:]
		switch tok {
		case sse.Data:
			if data == nil {
				data = piece
			} else {
				event = nil
			}
			if x.call.terminal {
				x.dec.Discard()
			}
			if string(x.sse.Name()) == "error" {
				x.dec.MarkError()
			}
			x.dec.Write(piece)
		case sse.End:
			if event != nil {
				x.dec.Frame(event[:len(event)-len(p)], data)
			}
			x.event(at)
			if x.call.done {
				return // the call is told now, whatever else this Read brought
			}
		default:
			return
		}
	}
}

// repeated notes so many events with output that are like those before.
func (x *exchange) repeated(n int, at time.Duration) {
	c := x.call
	c.events += int32(n)
	x.output(x.dec.Repeated(), at)
	if n--; n > 0 {
		c.outputEvents += int32(n)
		c.gaps.addNone(n)
		if x.gapSeries != nil {
			x.gapSeries.none(n)
		}
	}
}

// scanRefusal reads the events of an answer that is an error as if the data of
// each were the body, up to the first that tells the error.
func (x *exchange) scanRefusal(p []byte) {
	for {
		tok, piece, used := x.sse.Next(p)
		p = p[used:]
		switch tok {
		case sse.Data:
			x.dec.Write(piece)
		case sse.End:
			told := x.dec.End().Error
			if x.dec.Begin(); told {
				x.mode = bodyOpaque
				return
			}
		default:
			return
		}
	}
}

// event notes the event that is complete now.
func (x *exchange) event(at time.Duration) {
	ev := x.dec.End()
	c := x.call
	if !ev.Error && string(x.sse.Name()) == "error" && !x.frozen {
		ev.Error = true // by its name, whatever it holds
		c.facts.Error.Present = true
	}
	x.sse.ResetName()
	x.dec.Begin()
	if x.perEvent != nil && x.perEvent.marks != nil {
		x.perEvent.marks.list = append(x.perEvent.marks.list, mark{at, ev.Channels})
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
	x.chunk(at)
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
	c := x.call
	index := c.events - 1
	if c.outputEvents == 0 {
		c.ttft, c.firstOutput, c.firstChannel, c.upper = at, index, ev.Channels, x.late
	} else {
		gap := at - c.ttlt
		c.gaps.add(gap, c.network-x.networkAtLast)
		x.stall(gap, at)
		if x.gapSeries != nil {
			x.gapSeries.gap(gap, c.start, at)
		}
	}
	if c.firstVisible < 0 && ev.Channels&wire.Visible != 0 {
		c.ttfo, c.firstVisible = at, index
	}
	c.outputEvents++
	c.ttlt = at
	x.networkAtLast = c.network
	if c.outputEvents == 1 {
		x.guardOutput()
		if t := x.tap(); t != nil {
			t.first()
		}
	}
	if c.outputEvents == 1 && x.config.recorder != nil && c.status < 300 {
		x.gapSeries = x.config.recorder.gaps(c)
	}
}
