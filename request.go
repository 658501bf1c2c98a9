// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"io"
	"net/http"
	"sync"

	"github.com/tacho-go/tacho/internal/wire"
)

// maxRequestScan bounds how much of a request body is looked at.
const maxRequestScan = 16 << 20

// errScanned ends the copy of a body whose bound is reached.
var errScanned = io.ErrShortWrite

// requestScanner feeds a request body to a decoder up to the bound.
type requestScanner struct {
	dec *wire.Decoder
	n   int
}

func (s *requestScanner) Write(p []byte) (int, error) {
	q := p[:min(len(p), maxRequestScan-s.n)]
	s.n += len(q)
	s.dec.Write(q)
	if len(q) < len(p) {
		return len(q), errScanned
	}
	return len(p), nil
}

// readRequest takes the facts of a request from a copy of its body, which
// GetBody gives without consuming anything. It reports whether they are known.
func (x *exchange) readRequest(req *http.Request) (known bool) {
	if req.Body == nil || req.Body == http.NoBody {
		return true
	}
	if req.GetBody == nil {
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
	// The response's decoder has nothing to do yet.
	x.scan.dec = &x.dec
	x.dec.InitRequest(&x.call.req)
	if w, ok := body.(io.WriterTo); ok {
		// A body in memory hands itself over in one piece, uncopied.
		_, err = w.WriteTo(&x.scan)
	} else {
		buf := x.transport.buffers.get()
		_, err = io.CopyBuffer(&x.scan, onlyReader{body}, buf)
		x.transport.buffers.put(buf)
	}
	x.dec.EndRequest()
	return err == nil || err == errScanned
}

// onlyReader hides other ways to copy a reader, so that the buffer is used.
type onlyReader struct{ io.Reader }

// buffers keeps the copy buffers of request bodies that are no byte slices.
type buffers struct{ pool sync.Pool }

func (b *buffers) get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, 32<<10)
}

func (b *buffers) put(p []byte) { b.pool.Put(&p) }

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

func watch(body io.ReadCloser) *watchedBody {
	w := &watchedBody{ReadCloser: body}
	w.s.dec = &w.dec
	w.dec.InitRequest(&w.req)
	return w
}

func (w *watchedBody) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 {
		w.mu.Lock()
		if !w.over {
			w.s.Write(p[:n])
		}
		w.mu.Unlock()
	}
	return n, err
}

// finish returns what was seen; bytes that are sent later are not looked at.
func (w *watchedBody) finish() wire.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.over = true
		w.dec.EndRequest()
	}
	return w.req
}
