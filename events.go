// SPDX-License-Identifier: Apache-2.0

package tacho

import (
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

// maxEvent bounds an event that Events holds.
const maxEvent = 32 << 20

var errLongEvent = errors.New("tacho: an event is longer than 32 MiB")

// Events yields the server-sent events of a response, for callers without an
// SDK, with the times that a Transport below took, if one is. It reads the body
// to its end, or until the loop is left, and does not close it. The last pair
// has the error of a read that failed, if one did.
func Events(resp *http.Response) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r := eventReader{body: resp.Body}
		if b, ok := resp.Body.(*streamBody); ok {
			b.x.mu.Lock()
			b.x.marks = &r.marks
			b.x.mu.Unlock()
		}
		r.run(yield)
	}
}

type eventReader struct {
	body  io.Reader
	scan  sse.Scanner
	data  []byte
	marks []mark
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
	ev := Event{Name: string(r.scan.Name()), Data: r.data, Done: string(r.data) == "[DONE]"}
	r.scan.ResetName()
	r.data = r.data[:0]
	if len(r.marks) > 0 {
		m := r.marks[0]
		r.marks = r.marks[1:]
		ev.Timed, ev.At, ev.Channel = true, m.at, m.channels.String()
	}
	return ev
}
