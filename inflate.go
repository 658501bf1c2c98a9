// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"time"
)

// A caller that asks for compression itself gets compressed bytes. The tap then
// looks at a copy: a goroutine inflates what each Read brought, and the Read
// goes on when all of it is looked at, so that an event has the time of the
// Read that fed it. The memory is that of one window, 32 KiB, and its tables.

// coding is a body's encoding, as long as its first bytes have not shown whether
// it has any: who decodes a body before us may leave its header as it was.
type coding uint8

const (
	notCoded coding = iota
	gzipped
	deflated
	codedOther // of an encoding that the tap cannot read
)

// encoding returns the encoding that a header tells.
func encoding(v string) coding {
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "", "identity":
		return notCoded
	case "gzip", "x-gzip":
		return gzipped
	case "deflate":
		return deflated
	}
	return codedOther
}

// sniffCoded waits for the first bytes of a body that is said to be encoded.
func (x *exchange) sniffCoded(p []byte, at time.Duration) {
	n := copy(x.sniff[x.nsniff:], p)
	x.nsniff += uint8(n)
	if int(x.nsniff) == len(x.sniff) || !isText(x.sniff[:x.nsniff]) {
		x.decode(at)
		x.pass(p[n:], at)
	}
}

// decode decides by the bytes held what the body is, and hands them on.
func (x *exchange) decode(at time.Duration) {
	held := x.sniff
	head := held[:x.nsniff]
	enc := x.coded
	x.coded, x.nsniff = notCoded, 0
	switch {
	case isText(head): // neither gzip nor zstd begins so, others hardly
	case enc == codedOther:
		x.mode, x.call.unread = bodyOpaque, true
	default:
		x.inflater = x.inflate(enc)
	}
	x.pass(head, at)
}

// isText reports whether bytes are those that a document or a stream begins with.
func isText(b []byte) bool {
	for _, c := range b {
		if c >= 0x7f || c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			return false
		}
	}
	for i, c := range b {
		switch c {
		case ' ', '\t', '\n', '\r':
			continue
		case '{', '[', ':', '<':
			return true
		}
		stream, _ := looksLikeStream(b[i:], false)
		return stream
	}
	return true
}

// inflater hands pieces to a goroutine, one at a time. Its methods are called
// with the exchange's lock held, on behalf of whose holder the goroutine works.
type inflater struct {
	pieces chan []byte   // closed at the end
	idle   chan struct{} // the goroutine wants the next piece
	gone   chan struct{} // closed when it has ended
	at     time.Duration // of the piece in work
}

// inflate starts the goroutine, which hands what it inflates to the exchange.
func (x *exchange) inflate(encoding coding) *inflater {
	f := &inflater{pieces: make(chan []byte), idle: make(chan struct{}), gone: make(chan struct{})}
	go f.run(x, encoding)
	<-f.idle
	return f
}

// feed gives a piece and returns when it is used up, or of no use.
func (f *inflater) feed(p []byte, at time.Duration) {
	f.at = at
	select {
	case f.pieces <- p:
	case <-f.gone:
		return
	}
	select {
	case <-f.idle:
	case <-f.gone:
	}
}

// end tells that no more comes, and returns when the goroutine has ended.
func (f *inflater) end() {
	close(f.pieces)
	<-f.gone
}

// What inflates beyond inflateFree bytes and more than inflateRatio to one is no
// answer of a model, which compresses some ten to one: it would take the time of
// the Read that it holds up.
const (
	inflateFree  = 1 << 20
	inflateRatio = 200
)

func (f *inflater) run(x *exchange, encoding coding) {
	defer close(f.gone)
	defer x.fence()
	src := &pieceReader{f: f}
	in := bufio.NewReader(src)
	var out io.Reader
	var err error
	if _, err = in.Peek(2); err == nil {
		out, err = inflateReader(in, encoding)
	}
	buf := make([]byte, 4<<10)
	for total := int64(0); err == nil; {
		var n int
		n, err = out.Read(buf)
		if total += int64(n); total > inflateFree+inflateRatio*src.total {
			x.mode, x.call.unread = bodyOpaque, true
			return
		}
		if n > 0 {
			x.look(buf[:n], f.at)
		}
		if z, ok := out.(*gzip.Reader); ok && err == io.EOF {
			// The next member, if there is one, is waited for only now that all
			// of this one is looked at.
			err = z.Reset(in)
			z.Multistream(false)
		}
	}
	if x.mode == bodyUnknown {
		// Not what it says: what cannot be read is not judged. A fault behind what
		// was read, a wrong checksum or bytes too many, takes nothing of it back.
		x.mode, x.call.unread = bodyOpaque, true
	}
}

func inflateReader(in *bufio.Reader, encoding coding) (io.Reader, error) {
	if encoding == gzipped {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		z.Multistream(false)
		return z, nil
	}
	// "deflate" is zlib's format (RFC 9110, 8.4.1.2), but some send it bare.
	head, _ := in.Peek(2)
	if head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		return zlib.NewReader(in)
	}
	return flate.NewReader(in), nil
}

// pieceReader is the goroutine's input.
type pieceReader struct {
	f     *inflater
	rest  []byte
	total int64
	over  bool
}

func (r *pieceReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.over {
			return 0, io.EOF // again: nobody feeds any more
		}
		r.f.idle <- struct{}{}
		if piece, ok := <-r.f.pieces; ok {
			r.rest = piece
		} else {
			r.over = true
		}
		r.total += int64(len(r.rest))
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
