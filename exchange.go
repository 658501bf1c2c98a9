// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho/internal/phase"
	"github.com/tacho-go/tacho/internal/sse"
	"github.com/tacho-go/tacho/internal/wire"
)

// exchange is the state of one call under way: what hangs on its request, and
// the tap in its response body. The record is apart from it: who keeps a record
// must not keep a request, its body and its context with it. And nothing here
// may reach the body that the application holds, or a dropped body would never
// be found.
type exchange struct {
	call      *Call
	transport *Transport
	config    *config
	ctx       callContext
	trace     phase.Trace
	watched   *watchedBody
	extra     *extra // nil unless an option wants it; set before the request is handed on
	span      trace.Span
	stop      func() bool // ends the watch over the caller's context
	cleanup   runtime.Cleanup

	key string // that the request carries, which no answer needs to repeat

	mu       sync.Mutex
	rc       io.ReadCloser // the base's body
	dec      *wire.Decoder // from the transport's pool, until the call is told
	sse      sse.Scanner
	mode     bodyMode
	coded    coding
	typed    bool // the content type says event stream
	form     bool // that of the request says multipart form
	nsniff   uint8
	sniff    [8]byte
	frozen   bool
	told     bool
	closed   bool
	failed   bool // a server error was seen inside the stream
	late     bool // what was read may have come earlier
	borrowed bool // the span is a framework's own
	some     bool // something was read
	asked    bool // for the usage, by WithStreamUsage
	direct   bool // net/http's own transport is the base
	// draining is set when the rest is read on behalf of a body that is closed.
	draining atomic.Bool
	// reading is when the Read under way began, plus 1; 0: none is.
	reading atomic.Int64
	left    int64 // of the Content-Length; negative: not known

	returned      time.Duration // when the last Read returned, at first RoundTrip
	last          time.Duration // when the last byte came
	networkAtLast time.Duration // of the last output event
	gapSeries     gapSink
	inflater      *inflater // of a compressed body, else nil
	perEvent      *perEvent // nil: no event is of interest by itself; never part of a body
}

// perEvent is what few exchanges need of each event.
type perEvent struct {
	marks  *markList // where Events wants to know of it
	chunks chunkTimer
}

// extra is what few transports ask for.
type extra struct {
	tries *tries // nil without WithRetries
	guard *guard // nil without a time-out
	tap   tap    // nil without WithTokenCounter

	secrets []string // the credentials of the request, under capture
}

// tap is what counts the tokens, nil without WithTokenCounter.
func (x *exchange) tap() tap {
	if x.extra == nil {
		return nil
	}
	return x.extra.tap
}

// bodyMode says what the body is taken for.
type bodyMode uint8

const (
	bodyUnknown bodyMode = iota // until its first bytes
	bodyStream
	bodyPlain
	bodyOpaque  // of an encoding unknown here: not looked at
	bodyRefusal // events in place of an answer: a status of 400 or more
)

func (x *exchange) since() time.Duration { return time.Since(x.call.start) }

// request returns the request to hand on: the caller's, with a context of our
// own. The caller's is not changed.
func (x *exchange) request(req *http.Request) *http.Request {
	x.key = bearerOf(req.Header)
	known := x.readRequest(req)
	if x.captures() {
		x.keepSecrets(req)
	}
	c := x.call
	if c.asked().Model.Empty() {
		q := *c.asked()
		q.Model.Set([]byte(wire.Deployment(req.URL.Path)))
		c.req = &q
	}
	parent := x.startSpan(x.guardStream(req.Context()))
	if x.tries() != nil {
		parent = x.config.attempts.begin(x, parent, req.URL, 0)
	}
	if m := x.config.metrics; m != nil {
		fenced(func() { m.begin(parent, x.config.first(c), 1) })
		x.httpLevel(parent, 1)
	}
	tcp := phase.ReadTCPInfo
	if x.config.noTCPInfo {
		tcp = nil
	}
	// Our context is the outermost: package context asks it, and no value
	// around it, for AfterFunc.
	x.ctx.parent, x.ctx.x = x.trace.Attach(parent, x.transport.keys, c.start, tcp, &c.phases), x
	// One that has ended is handed on as it is: its Done is closed already, not
	// when a goroutine comes to it.
	if parent.Done() != nil && parent.Err() == nil && (c.asked().Stream || !known || x.guard() != nil) {
		x.ctx.done = make(chan struct{})
		x.stop = context.AfterFunc(parent, x.contextDone)
	}
	r := req.WithContext(&x.ctx)
	if f := x.config.propagate; f != nil {
		fenced(func() { f(x, parent, r) })
	}
	if f := x.config.askUsage; f != nil {
		f(x, req, r, known)
	}
	x.startGuard(c.asked().Stream || !known)
	if !known {
		x.watched = watch(req, x.form, x.keepBody())
		r.Body = x.watched
	}
	return r
}

// response takes what the base returned and returns it, with the tap in its body.
func (x *exchange) response(req, r *http.Request, resp *http.Response, err error) (*http.Response, error) {
	now := x.since()
	x.mu.Lock()
	c := x.call
	if x.watched != nil {
		model := c.asked().Model
		if c.req = x.watched.finish(); c.req.Model.Empty() {
			c.req.Model = model
		}
	}
	if err != nil || resp == nil {
		c.duration = now
		c.fail(x.fault(err, Failed))
		err = x.guarded(err)
		tell := x.claim()
		x.mu.Unlock()
		x.release()
		if tell {
			x.tell()
		}
		return resp, err
	}
	if resp.Request == r {
		resp.Request = req
	} else if n := redirects(resp.Request); n > c.redirects {
		c.redirects = n // followed below a middleware
	}
	if x.captures() && resp.Request != nil {
		x.keepSecrets(resp.Request) // a layer below may have added some
	}
	c.status, c.proto = int32(resp.StatusCode), resp.Proto
	if c.ttfb = x.trace.FirstByte(); c.ttfb < 0 {
		c.ttfb = now // a base that traces nothing: the headers are what is seen
	}
	c.network, c.consumer = 0, 0
	x.returned, x.last = now, now
	kind, coded := x.readHeader(resp.Header)
	if resp.StatusCode == http.StatusSwitchingProtocols || resp.Body == nil || resp.Body == http.NoBody {
		x.decide(c.status >= 200 && c.status < 300 && (kind == typeStream || c.asked().Stream))
		x.endBody(now, io.EOF)
		tell := x.claim()
		x.mu.Unlock()
		x.release()
		if tell {
			x.tell()
		}
		return resp, nil
	}

	x.rc = resp.Body
	if x.left = resp.ContentLength; x.left == 0 {
		x.left = -1 // a base of the application's own, for there is a body
	}
	x.typed = kind == typeStream
	likely := c.status < 400 && (x.typed || c.asked().Stream)
	if x.coded = encoding(coded); x.coded == codedOther || c.status >= 400 {
		x.stopGuard() // no output of it will be seen
	}
	switch {
	case x.isContent(kind):
		x.decide(false)
		x.mode = bodyOpaque // a sound is no broken JSON
		c.unread = c.api != wire.Speech
	default:
		// Until the first bytes say, which those of an encoding unknown here do not.
		c.stream = c.status < 400 && (x.typed || x.coded == codedOther && c.asked().Stream && kind != typeJSON)
	}
	x.mu.Unlock()
	if !likely && c.status < 400 && x.stop == nil && x.coded == notCoded {
		resp.Body = (*plainBody)(x)
		return resp, nil
	}
	b := &streamBody{x: x, from: resp}
	if hides := x.asked && c.status < 300 && x.coded == notCoded && kind != typeJSON; hides {
		b.filter = x.config.newFilter()
	}
	x.cleanup = runtime.AddCleanup(b, dropped, x)
	if x.stop == nil && x.ctx.parent.Done() != nil && likely {
		x.stop = context.AfterFunc(x.ctx.parent, x.contextDone)
	}
	// A copy of the response holds the body: net/http's read loop keeps its own
	// response while the body is open, and through it a dropped body would live.
	out := *resp
	out.Body = b
	b.out = &out
	if b.filter != nil && out.ContentLength > 0 {
		out.Header = out.Header.Clone()
		out.Header.Del("Content-Length")
		out.ContentLength = -1 // it will be shorter
	}
	if x.stop != nil && x.ctx.parent.Err() != nil {
		x.contextDone() // it ended while there was no body to tell of
	}
	return &out, nil
}

// readHeader takes what a header says of the call, and of its body.
func (x *exchange) readHeader(h http.Header) (contentType, string) {
	defer x.fence()
	kind, coded := x.call.facts.ReadHeader(h)
	return bodyType(kind), coded
}

// release lets go of what only a live exchange needs.
func (x *exchange) release() {
	if x.stop != nil {
		x.stop()
		// Nothing will close Done any more, so Err must not tell of an end.
		x.ctx.state.CompareAndSwap(attached, detached)
	}
	if g := x.guard(); g != nil {
		g.cancel(nil)
	}
}

// wait books the time since the last Read returned: to the network what has
// passed of a Read under way, the rest to the application.
func (x *exchange) wait(now time.Duration) {
	away := now
	if began := x.reading.Load(); began > 0 {
		away = time.Duration(began - 1)
		x.call.network += now - away
	}
	x.call.consumer += max(0, away-x.returned)
}

// freeze fixes the duration: what comes later changes neither it nor the outcome.
func (x *exchange) freeze(at time.Duration) {
	x.frozen = true
	x.call.duration = at
}

// claim reports whether the caller, who holds the lock, is the one to tell the call.
func (x *exchange) claim() bool {
	if x.told {
		return false
	}
	x.told = true
	x.stopGuard()
	if x.inflater != nil {
		x.inflater.end()
		x.inflater = nil
	}
	x.flushReader()
	x.transport.readers.put(x.dec)
	x.dec = nil
	return true
}

// flushReader has the reader read what it keeps, so that what is known of a body
// is told although it broke off.
func (x *exchange) flushReader() {
	defer x.fence()
	if x.dec != nil {
		x.dec.Flush()
	}
}
