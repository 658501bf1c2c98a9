// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"io"
	"net/http"
	"sync"
	"unsafe"

	"github.com/tacho-go/tacho/internal/wire"
)

// maxRequestScan bounds how much of a request body is looked at.
const maxRequestScan = 16 << 20

// errScanned ends the copy of a body whose bound is reached.
var errScanned = io.ErrShortWrite

// requestScanner feeds a request body, JSON or a form, to its reader up to the
// bound.
type requestScanner struct {
	dec  *wire.Decoder
	side *requestSide // nil for JSON without capture, which most are
	n    int
}

// requestSide is what few requests have besides.
type requestSide struct {
	form *wire.Form // nil: JSON
	body *wire.Body // nil without capture
}

// isForm reports whether a request is a multipart form, as audio and images are sent.
func isForm(req *http.Request) bool {
	const mime = "multipart/form-data"
	t := first(req.Header["Content-Type"])
	return len(t) >= len(mime) && equalFold(t[:len(mime)], mime)
}

// begin makes the scanner ready for the body of req, whose facts go to q and
// whose content, if it is wanted, goes to body.
func (s *requestScanner) begin(req *http.Request, dec *wire.Decoder, q *wire.Request, body *wire.Body) {
	s.dec = dec
	dec.InitRequest(q)
	if isForm(req) {
		s.side = &requestSide{form: new(wire.Form)}
	} else if body != nil {
		s.side = &requestSide{body: body}
	}
}

// end ends the body.
func (s *requestScanner) end(q *wire.Request) {
	s.dec.EndRequest()
	switch {
	case s.side == nil:
	case s.side.form != nil:
		s.side.form.End(q)
	default:
		q.Keep(s.side.body)
	}
}

func (s *requestScanner) Write(p []byte) (int, error) {
	q := p[:min(len(p), maxRequestScan-s.n)]
	s.n += len(q)
	if s.side != nil && s.side.form != nil {
		s.side.form.Write(q)
	} else {
		s.dec.Write(q)
		if s.side != nil {
			s.side.body.Feed(q)
		}
	}
	if len(q) < len(p) {
		return len(q), errScanned
	}
	return len(p), nil
}

// WriteString is Write without a copy, for a body that is a string in memory.
// Nothing below changes or keeps the bytes.
func (s *requestScanner) WriteString(p string) (int, error) {
	return s.Write(unsafe.Slice(unsafe.StringData(p), len(p)))
}

// readRequest takes the facts of a request from a copy of its body, which
// GetBody gives without consuming anything. It reports whether they are known.
func (x *exchange) readRequest(req *http.Request) (known bool) {
	if req.Body == nil || req.Body == http.NoBody {
		return true
	}
	if req.GetBody == nil || req.ContentLength <= 0 {
		return false
	}
	defer func() {
		if recover() != nil {
			known = false // a GetBody of the application's own
		}
	}()
	body, err := req.GetBody()
	if err != nil || body == nil {
		return false
	}
	defer body.Close()
	// A body in memory hands itself over in one piece, uncopied. Any other may
	// be slow, and is watched while it is sent.
	w, ok := body.(io.WriterTo)
	if !ok {
		return false
	}
	r := x.transport.readers.get()
	r.scan.begin(req, &r.Decoder, &x.call.req, x.keepBody())
	_, err = w.WriteTo(&r.scan)
	r.scan.end(&x.call.req)
	x.transport.readers.put(r)
	return err == nil || err == errScanned
}

// reader is what reads a request and then a response.
type reader struct {
	wire.Decoder
	scan requestScanner
}

// readers keeps those that no call is using: they are a third of what a call
// needs, for a fraction of its time.
type readers struct {
	pool   sync.Pool
	common wire.Common
}

func (p *readers) get() *reader {
	if r, ok := p.pool.Get().(*reader); ok {
		return r
	}
	r := new(reader)
	r.Share(&p.common)
	return r
}

// put takes a reader back; nil is none.
func (p *readers) put(r *reader) {
	if r != nil {
		r.Release()
		r.scan = requestScanner{}
		p.pool.Put(r)
	}
}

// watchedBody looks at a request body while the transport sends it. The
// transport may read it on a goroutine of its own, and go on doing so after
// the response has come.
type watchedBody struct {
	io.ReadCloser
	mu   sync.Mutex
	dec  wire.Decoder
	s    requestScanner
	req  wire.Request
	over bool
}

func watch(req *http.Request, keep *wire.Body) *watchedBody {
	w := &watchedBody{ReadCloser: req.Body}
	w.s.begin(req, &w.dec, &w.req, keep)
	return w
}

func (w *watchedBody) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 {
		w.look(p[:n])
	}
	return n, err
}

// look feeds the scanner; a fault of our own ends the looking, not the sending.
func (w *watchedBody) look(p []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() {
		if recover() != nil {
			w.over = true
		}
	}()
	if !w.over {
		w.s.Write(p)
	}
}

// finish returns what was seen; bytes that are sent later are not looked at.
func (w *watchedBody) finish() wire.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.over = true
		w.s.end(&w.req)
	}
	return w.req
}
