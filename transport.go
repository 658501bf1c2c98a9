// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tacho-go/tacho/internal/phase"
	"github.com/tacho-go/tacho/internal/wire"
)

// Transport is an http.RoundTripper that measures the calls to LLM endpoints
// that pass through it, and lets all other requests pass as they are. Calls are
// POST requests whose path ends in chat/completions, completions, responses,
// embeddings, images/generations, images/edits, images/variations,
// audio/speech, audio/transcriptions, audio/translations or moderations.
//
// It is safe for concurrent use. The zero Transport measures into nothing but
// observers of the context; make one with NewTransport.
type Transport struct {
	base    http.RoundTripper
	config  *config
	pending pending

	// Both are nil in a zero Transport, which does without.
	keys     *phase.Keys
	inMemory reflect.Type // of a body in memory, as http.NewRequest makes it
	readers  readers
	refusing hostSet                   // stream_options
	host     atomic.Pointer[knownHost] // of the first call: most transports have one
}

type knownHost struct{ host, provider string }

// NewTransport returns a Transport over base; a nil base is
// http.DefaultTransport. Unless an option says so (WithStreamUsage,
// WithPropagationTo), it changes neither requests nor responses: the
// application reads the bytes that the server sent and gets the errors that
// base returned.
func NewTransport(base http.RoundTripper, opts ...Option) *Transport {
	return newTransport(base, newConfig(opts))
}

func newTransport(base http.RoundTripper, config *config) *Transport {
	return &Transport{base: base, config: config, keys: phase.NewKeys(), inMemory: reflect.TypeOf(io.NopCloser((*bytes.Reader)(nil)))}
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	base := t.base
	if base == nil {
		base = http.DefaultTransport
	}
	api := route(req)
	if api == wire.NoAPI || exchangeFrom(req.Context()) != nil {
		return base.RoundTrip(req)
	}
	x := t.begin(api, req)
	_, x.direct = base.(*http.Transport)
	return x.send(req, base.RoundTrip)
}

// Middleware measures the request that it hands to next. It has the signature
// of the middlewares of openai-go (v1, v2, v3), which call it once for each
// attempt; redirects that the client follows are part of the attempt. It never
// returns an error of its own.
//
//	client := openai.NewClient(option.WithMiddleware(t.Middleware))
func (t *Transport) Middleware(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	api := route(req)
	if api == wire.NoAPI || exchangeFrom(req.Context()) != nil {
		return next(req)
	}
	x := t.begin(api, req)
	if x.config.sendAgain != nil {
		next = apart(req.Context(), next)
	}
	return x.send(req, next)
}

// Middleware returns a middleware for openai-go that measures each attempt.
// Where Transport.Wait is needed, use the method of a Transport instead.
func Middleware(opts ...Option) func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	return NewTransport(nil, opts...).Middleware
}

// CloseIdleConnections closes those of the base transport, if it can.
func (t *Transport) CloseIdleConnections() {
	base := t.base
	if base == nil {
		base = http.DefaultTransport
	}
	if c, ok := base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Wait returns when nothing of calls that have ended goes on in the background.
// The rest of ended streams was read, or given up, and their connections are
// free for the next call: one made before that dials anew. And calls that ended
// with their context while nobody read were told. Wait returns the context's
// error when that ends first.
func (t *Transport) Wait(ctx context.Context) error { return t.pending.wait(ctx) }

// send hands the request on by next.
func (x *exchange) send(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	r := x.request(req)
	over := false
	defer func() {
		if !over {
			x.panicked()
		}
	}()
	var resp *http.Response
	var err error
	if again := x.config.sendAgain; again != nil {
		r, resp, err = again(x, req, r, next)
	} else {
		r, resp, err = x.once(req, r, next)
	}
	over = true
	return x.response(req, r, resp, err)
}

// panicked tells a call whose base panics, which goes on to the application.
func (x *exchange) panicked() {
	x.mu.Lock()
	x.call.duration = x.since()
	x.call.fail(Failed, "protocol")
	tell := x.claim()
	x.mu.Unlock()
	x.release()
	if tell {
		x.tell()
	}
}

// once is one attempt.
func (x *exchange) once(req, r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Request, *http.Response, error) {
	resp, err := next(r)
	if x.asked && err == nil && resp != nil {
		return x.config.refused(x, req, r, resp, next)
	}
	return r, resp, err
}

// route tells whether a request is a call, at the cost of a look at its path.
func route(req *http.Request) wire.API {
	if req == nil || req.URL == nil {
		return wire.NoAPI
	}
	return wire.Route(req.Method, req.URL.Path)
}

// begin makes the exchange of a request.
func (t *Transport) begin(api wire.API, req *http.Request) *exchange {
	x := &exchange{call: new(Call), transport: t, config: t.config}
	if x.config == nil {
		x.config = &config{atOnce: defaultAtOnce}
	}
	c := x.call
	c.init()
	c.start = time.Now()
	c.api = api
	c.server = req.URL.Host
	c.secure = req.URL.Scheme == "https"
	if c.provider = x.config.provider; c.provider == "" {
		switch known := t.host.Load(); {
		case known == nil:
			c.provider = providerOf(c.server)
			t.host.Store(&knownHost{c.server, c.provider})
		case known.host == c.server:
			c.provider = known.provider
		default:
			c.provider = providerOf(c.server)
		}
	}
	c.attempt = 1
	if h := req.Header["X-Stainless-Retry-Count"]; len(h) == 1 {
		if n, err := strconv.ParseUint(h[0], 10, 16); err == nil {
			c.attempt = int32(n) + 1
		}
	}
	c.redirects = redirects(req)
	ctx := req.Context()
	c.labels, _ = ctx.Value(labelsKey{}).([]Label)
	c.conversation, _ = ctx.Value(conversationKey{}).(string)
	if x.config.attempts != nil {
		x.extra = &extra{tries: new(tries)}
	}
	if f := x.config.newTap; f != nil && (api == wire.ChatCompletions || api == wire.Completions || api == wire.Responses) {
		if x.extra == nil {
			x.extra = new(extra)
		}
		x.extra.tap = f()
		x.extra.tap.begin(req)
	}
	return x
}

// redirects counts the redirects that led to a request.
func redirects(req *http.Request) (n int32) {
	for req != nil && req.Response != nil && n < 32 {
		n++
		req = req.Response.Request
	}
	return n
}

// pending counts what goes on in the background. The zero value is ready.
type pending struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n falls to 0; nil while nobody waits
}

func (p *pending) add() {
	p.mu.Lock()
	p.n++
	p.mu.Unlock()
}

func (p *pending) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n--; p.n == 0 && p.idle != nil {
		close(p.idle)
		p.idle = nil
	}
}

func (p *pending) wait(ctx context.Context) error {
	p.mu.Lock()
	if p.n == 0 {
		p.mu.Unlock()
		return nil
	}
	if p.idle == nil {
		p.idle = make(chan struct{})
	}
	idle := p.idle
	p.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
