// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tacho-go/tacho/internal/sse"
)

// maxHeld bounds what is held of an event that may be the usage chunk.
const maxHeld = 2 << 10

// maxGrow bounds the room that is made ahead for a Read.
const maxGrow = 64 << 10

// usageFilter takes the usage chunk out of a stream. All else passes as it came.
type usageFilter struct {
	out  []byte // what may be read, from at on
	at   int
	held []byte // of the event under way, while it can still be the chunk
	err  error  // of the base, told behind out

	passing bool // the event under way is none
	inLine  bool // its line under way has a byte
	cr      bool // the last byte was CR: an LF now belongs to it
	ended   bool // that CR ended an event
	dropped bool // which was the chunk
}

// read is Read over a body that read reads.
func (f *usageFilter) read(p []byte, read func([]byte) (int, error)) (int, error) {
	for f.at == len(f.out) {
		if err := f.err; err != nil {
			f.err = nil
			return 0, err
		}
		n, err := read(p)
		f.out, f.at = slices.Grow(f.out[:0], min(n, maxGrow)+len(f.held)), 0
		f.feed(p[:n])
		if f.err = err; err != nil {
			f.release() // what is no whole event passes as well
		} else if n == 0 {
			return 0, nil
		}
	}
	n := copy(p, f.out[f.at:])
	f.at += n
	return n, nil
}

// feed takes bytes of the stream, line by line.
func (f *usageFilter) feed(p []byte) {
	for len(p) > 0 {
		if f.cr {
			f.cr = false
			if p[0] == '\n' {
				switch {
				case !f.ended:
					f.put(p[:1])
				case !f.dropped:
					f.out = append(f.out, '\n')
				}
				p = p[1:]
				continue
			}
		}
		end := sse.LineEnd(p)
		if end < 0 {
			f.inLine = true
			f.put(p)
			return
		}
		blank := !f.inLine && end == 0
		f.inLine = false
		f.cr = p[end] == '\r'
		f.put(p[:end+1])
		p = p[end+1:]
		if f.ended = blank; blank {
			f.endEvent()
		}
	}
}

// put takes bytes of the event under way, and lets all of it go as soon as it
// cannot be the chunk.
func (f *usageFilter) put(p []byte) {
	if f.passing {
		f.out = append(f.out, p...)
		return
	}
	f.held = append(f.held, p...)
	if len(f.held) > maxHeld || f.held[0] == ':' || hasChoice(f.held) {
		f.release()
		f.passing = true
	}
}

func (f *usageFilter) release() {
	f.out = append(f.out, f.held...)
	f.held = f.held[:0]
}

func (f *usageFilter) endEvent() {
	f.dropped = false
	if !f.passing {
		if f.dropped = isUsageChunk(eventData(f.held)); !f.dropped {
			f.release()
		}
		f.held = f.held[:0]
	}
	f.passing = false
}

// hasChoice reports whether an event so far has a choice. A string that looks
// like one only lets the event go earlier.
func hasChoice(event []byte) bool {
	_, rest, ok := bytes.Cut(event, []byte(`"choices"`))
	if !ok {
		return false
	}
	rest = bytes.TrimLeft(rest, " \t:")
	if len(rest) == 0 || rest[0] != '[' {
		return len(rest) > 0
	}
	rest = bytes.TrimLeft(rest[1:], " \t")
	return len(rest) > 0 && rest[0] != ']'
}

// eventData is the data of an event: its data lines' values.
func eventData(event []byte) (data []byte) {
	for line := range bytes.FieldsFuncSeq(event, func(r rune) bool { return r == '\r' || r == '\n' }) {
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, value...), '\n')
		}
	}
	return data
}

// isUsageChunk reports whether an event's data has usage, and choices without one.
func isUsageChunk(data []byte) bool {
	var chunk struct {
		Choices *[]json.RawMessage `json:"choices"`
		Usage   *struct{}          `json:"usage"`
	}
	return json.Unmarshal(data, &chunk) == nil && chunk.Choices != nil && len(*chunk.Choices) == 0 && chunk.Usage != nil
}
