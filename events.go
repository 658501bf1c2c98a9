// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/tacho-go/tacho/internal/sse"
	"github.com/tacho-go/tacho/internal/wire"
)

// Event is one server-sent event of a stream.
type Event struct {
	Name string // of an "event:" line, cut at 24 bytes
	Data []byte // valid until the next event
	// Done is the "[DONE]" mark, which is no event of the record.
	Done bool
	// Timed says that the stream passes through a Transport, which gave At and
	// Channel.
	Timed bool
	// At is the time from the call's start to the Read that completed the event.
	At time.Duration
	// Channel is content, reasoning, refusal, tool_call or audio, "" without
	// output.
	Channel string
}

// mark is what the tap found of an event.
type mark struct {
	at       time.Duration
	channels wire.Channel
}

// markList is what the tap tells an iterator. The tap adds to it within the
// iterator's own Reads, so that no more is in it than a Read brings.
type markList struct{ list []mark }

func (l *markList) next() (m mark, ok bool) {
	if l == nil || len(l.list) == 0 {
		return mark{}, false
	}
	m = l.list[0]
	l.list = l.list[1:]
	return m, true
}

// mark says where each event is to be noted; nil: nowhere.
func (x *exchange) mark(l *markList) {
	x.mu.Lock()
	if x.perEvent == nil {
		x.perEvent = new(perEvent)
	}
	x.perEvent.marks = l
	x.mu.Unlock()
}

// maxEvent bounds an event that Events holds.
const maxEvent = 32 << 20

var errLongEvent = errors.New("tacho: an event is longer than 32 MiB")

// Events yields the server-sent events of a response, for callers without an
// SDK, with the times that a Transport below took, if one is and no
// http.Client with a Timeout stands between, which hides the body. It reads the
// body to its end, or until the loop is left, and does not close it. The last pair
// has the error of a read that failed, if one did.
func Events(resp *http.Response) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r := eventReader{body: resp.Body}
		if b, ok := resp.Body.(*streamBody); ok {
			r.marks = new(markList)
			b.x.mark(r.marks)
			defer b.x.mark(nil)
			if b.filter != nil {
				r.body, r.hides = readFunc(b.read), true
			}
		}
		r.run(yield)
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

type eventReader struct {
	body  io.Reader
	scan  sse.Scanner
	data  []byte
	marks *markList // nil: no tap
	hides bool      // the usage chunk, in place of the body, whose events would be one fewer than the marks
}

func (r *eventReader) run(yield func(Event, error) bool) {
	buf := make([]byte, 8<<10)
	for {
		n, err := r.body.Read(buf)
		for p := buf[:n]; ; {
			tok, piece, used := r.scan.Next(p)
			p = p[used:]
			if tok == sse.None {
				break
			}
			if tok == sse.Data {
				if len(r.data)+len(piece) > maxEvent {
					yield(Event{}, errLongEvent)
					return
				}
				r.data = append(r.data, piece...)
				continue
			}
			if r.hides && isUsageChunk(r.data) {
				r.event()
				continue
			}
			if !yield(r.event(), nil) {
				return
			}
		}
		if err == nil {
			continue
		}
		if r.scan.Flush() && !yield(r.event(), nil) {
			return
		}
		if err != io.EOF {
			yield(Event{}, err)
		}
		return
	}
}

// event takes the event that is complete, with what the tap found of it.
func (r *eventReader) event() Event {
	ev := Event{Name: string(r.scan.Name()), Data: r.data, Done: wire.IsDone(bytes.TrimLeft(r.data, " \t\r\n"))}
	r.scan.ResetName()
	r.data = r.data[:0]
	if m, ok := r.marks.next(); ok {
		ev.Timed, ev.At, ev.Channel = true, m.at, m.channels.String()
	}
	return ev
}
