// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"bytes"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"github.com/tacho-go/tacho/internal/wire"
)

// maxRequestScan bounds how much of a request body is looked at.
const maxRequestScan = 16 << 20

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
//
//go:noinline
func isForm(req *http.Request) bool {
	return begins(first(req.Header["Content-Type"]), "multipart/form-data")
}

// begin makes the scanner ready for a body whose facts go to q and whose content,
// if it is wanted, goes to body.
func (s *requestScanner) begin(form bool, dec *wire.Decoder, q *wire.Request, body *wire.Body) {
	s.dec = dec
	dec.InitRequest(q)
	if form {
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

func (s *requestScanner) write(p []byte) {
	p = p[:min(len(p), maxRequestScan-s.n)]
	s.n += len(p)
	if s.side != nil && s.side.form != nil {
		s.side.form.Write(p)
		return
	}
	s.dec.Write(p)
	if s.side != nil {
		s.side.body.Feed(p)
	}
}

// readRequest takes the facts of a request without consuming anything: from a body
// in memory, or from a copy of it that GetBody gives and that is one. It reports
// whether they are known.
func (x *exchange) readRequest(req *http.Request) (known bool) {
	defer func() {
		if recover() != nil {
			known = false // a GetBody of the application's own, or a body of a nil Reader
		}
	}()
	if req.Body == nil || req.Body == http.NoBody {
		return true
	}
	if x.form = isForm(req); x.readMemory(req.Body) {
		return true
	}
	if req.GetBody == nil || req.ContentLength <= 0 {
		return false
	}
	body, err := req.GetBody()
	if err != nil || body == nil {
		return false
	}
	defer body.Close()
	if x.readMemory(body) {
		return true
	}
	// What writes itself is in memory, too, of a type of the application's own.
	w, ok := body.(io.WriterTo)
	if !ok || req.ContentLength > maxCopied {
		return false
	}
	var b bytes.Buffer
	if _, err = w.WriteTo(&b); err == nil {
		(*memoryReader)(x).Write(b.Bytes())
	}
	return err == nil
}

// maxCopied bounds a body that is copied to be read.
const maxCopied = 1 << 20

// readMemory reads a body as http.NewRequest makes it of a Reader or Buffer of
// package bytes or strings, which stays as it is. Any other may be slow, or change
// what it reads, and is watched while it is sent.
func (x *exchange) readMemory(body io.ReadCloser) bool {
	if reflect.TypeOf(body) != x.transport.inMemory {
		return false
	}
	m := (*memoryReader)(x)
	switch r := reflect.ValueOf(body).Field(0).Interface().(type) {
	case *bytes.Reader:
		same := *r
		same.WriteTo(m)
	case *bytes.Buffer:
		m.Write(r.Bytes())
	case *strings.Reader:
		same := *r
		same.WriteTo(m)
	default:
		return false
	}
	return true
}

// memoryReader reads a request that is there as a whole.
type memoryReader exchange

func (m *memoryReader) Write(p []byte) (int, error) {
	x := (*exchange)(m)
	all, scan := &x.transport.readers, p[:min(len(p), maxRequestScan)]
	// What is captured is taken from its record in the end, which is not shared then.
	shared := !x.form && !x.captures()
	if shared {
		if x.call.req = all.common.Request(scan); x.call.req != nil {
			return len(p), nil
		}
	}
	r, q := all.get(), new(wire.Request)
	if x.call.req = q; shared {
		r.ReadRequest(scan, q)
	} else {
		var s requestScanner
		s.begin(x.form, r, q, x.keepBody())
		s.write(scan)
		s.end(q)
	}
	all.put(r)
	return len(p), nil
}

// WriteString is Write without a copy. Nothing below changes the bytes.
func (m *memoryReader) WriteString(p string) (int, error) {
	return m.Write(unsafe.Slice(unsafe.StringData(p), len(p)))
}

// readers keeps the decoders that no call is using: they are a third of what a call
// needs, for a fraction of its time.
type readers struct {
	pool   sync.Pool
	common wire.Common
}

func (p *readers) get() *wire.Decoder {
	if r, ok := p.pool.Get().(*wire.Decoder); ok {
		return r
	}
	r := new(wire.Decoder)
	r.Share(&p.common)
	return r
}

// put takes a reader back; nil is none.
func (p *readers) put(r *wire.Decoder) {
	if r != nil {
		r.Release()
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

func watch(req *http.Request, form bool, keep *wire.Body) *watchedBody {
	w := &watchedBody{ReadCloser: req.Body}
	w.s.begin(form, &w.dec, &w.req, keep)
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
		w.s.write(p)
	}
}

// finish returns what was seen; bytes that are sent later are not looked at.
func (w *watchedBody) finish() *wire.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.over = true
		w.s.end(&w.req)
	}
	q := w.req
	return &q
}
