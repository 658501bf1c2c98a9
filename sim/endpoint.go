// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
)

// Endpoint is a simulated OpenAI-compatible endpoint: an http.Handler for the
// paths that end in chat/completions, completions, responses, embeddings and
// models, with anything before them (/v1, or Azure's /openai/deployments/NAME).
// It plays scripts, and where there is none, a Model or a Serving, with which it
// also has the path /metrics. It is safe for concurrent use. Its zero value plays the zero Model with seed 0.
//
// When it aborts an answer it panics with http.ErrAbortHandler, as a handler
// does to make an http.Server close the connection. It also does so under a
// ResponseWriter that cannot flush, since every time would be wrong.
type Endpoint struct {
	cfg   config
	slots slots // of the model
	live  *live // with a Serving

	mu       sync.Mutex
	queue    []Script
	number   uint64 // of the next request that is played
	seen     int    // requests received
	received []Received
	bytes    int // of the bodies in received
}

// Received is a request as it arrived.
type Received struct {
	Number int // in order of arrival, from 0
	Method string
	Path   string
	Query  url.Values
	Header http.Header
	Body   []byte
}

const (
	maxBody          = 32 << 20
	maxReceived      = 1024
	maxReceivedBytes = 32 << 20
)

// NewEndpoint returns an endpoint without a network, to be served by any
// http.Server. With bad options it answers every request with status 500 and
// an error object that says what is wrong.
func NewEndpoint(opts ...EndpointOption) *Endpoint { return newEndpoint(newConfig(opts)) }

func newEndpoint(cfg config) *Endpoint {
	e := &Endpoint{cfg: cfg}
	if cfg.serving != nil && cfg.err == nil {
		e.live = newLive(*cfg.serving, cfg.seed)
	}
	return e
}

// Play queues scripts: the next requests for a completion, a response or an
// embedding play one each, in order of arrival. When the queue is empty, what
// WithScript, WithModel or WithServing set applies. Requests that are refused before (status
// 400, 401, 404, 405, 413) and requests for models take no script.
func (e *Endpoint) Play(scripts ...Script) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.queue = append(e.queue, scripts...)
}

// Requests returns what was received, oldest first: the last 1024 requests, and
// fewer when their bodies exceed 32 MiB together. A request is listed once its
// body was read, whatever the answer; one whose body broke off or is over
// 32 MiB is not. The contents are shared: callers must not change them.
func (e *Endpoint) Requests() []Received {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Received(nil), e.received...)
}

// String prints what the endpoint plays without queued scripts, in one line, and
// a Serving in two.
func (e *Endpoint) String() string {
	what := e.cfg.model.String()
	if e.cfg.script != nil {
		what = "a script"
	}
	if e.cfg.serving != nil {
		what = e.cfg.serving.String()
	}
	return fmt.Sprintf("sim: %s, seed %d", what, e.cfg.seed)
}

func (e *Endpoint) record(r *http.Request, body []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.received = append(e.received, Received{
		Number: e.seen, Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(), Body: body,
	})
	e.seen++
	e.bytes += len(body)
	drop := 0
	for len(e.received)-drop > maxReceived || e.bytes > maxReceivedBytes {
		e.bytes -= len(e.received[drop].Body)
		drop++
	}
	if drop > 0 {
		clear(e.received[:drop])
		e.received = e.received[drop:]
	}
}

// take gives the call its number and the script it plays.
func (e *Endpoint) take(c *call) (s Script, scripted bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c.number = e.number
	e.number++
	if len(e.queue) > 0 {
		s = e.queue[0]
		e.queue[0] = Script{}
		e.queue = e.queue[1:]
		return s, true
	}
	if e.cfg.script != nil {
		return *e.cfg.script, true
	}
	return Script{}, false
}

// ServeHTTP answers one request.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if e.live != nil && isMetrics(r.URL.Path) {
		e.live.serveMetrics(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if !errors.As(err, &tooLarge) {
			abort()
		}
		writeError(w, http.StatusRequestEntityTooLarge, "", "invalid_request_error",
			fmt.Sprintf("The request body is over %d bytes.", maxBody))
		return
	}
	e.record(r, body)
	if e.cfg.err != nil {
		writeError(w, http.StatusInternalServerError, "", simError, e.cfg.err.Error())
		return
	}
	a, name := route(r.URL.Path)
	method := http.MethodPost
	if a == apiModels {
		method = http.MethodGet
	}
	switch {
	case a == apiNone:
		writeError(w, http.StatusNotFound, "unknown_url", "invalid_request_error",
			fmt.Sprintf("Unknown request URL: %s %s.", r.Method, r.URL.Path))
	case r.Method != method:
		w.Header().Set("Allow", method)
		writeError(w, http.StatusMethodNotAllowed, "method_not_supported", "invalid_request_error",
			fmt.Sprintf("Not allowed to %s on %s.", r.Method, r.URL.Path))
	case !e.authorized(r):
		writeError(w, http.StatusUnauthorized, "invalid_api_key", "invalid_request_error", "Incorrect API key provided.")
	case a == apiModels:
		writeJSON(w, http.StatusOK, models(name))
	default:
		c, err := parseCall(a, name, body)
		if err != nil {
			writeError(w, http.StatusBadRequest, "", "invalid_request_error", err.Error())
			return
		}
		e.answer(w, r, c, body)
	}
}

func (e *Endpoint) authorized(r *http.Request) bool {
	k := e.cfg.apiKey
	return k == "" || r.Header.Get("Authorization") == "Bearer "+k || r.Header.Get("Api-Key") == k
}

// answer plays a script, or what the model makes of the request.
func (e *Endpoint) answer(w http.ResponseWriter, r *http.Request, c call, body []byte) {
	s, scripted := e.take(&c)
	if !scripted && e.live != nil {
		e.serve(w, r, c, body)
		return
	}
	if !scripted {
		m := e.cfg.model
		if m.Slots > 0 {
			if !e.slots.enter(r.Context(), m.Slots, m.queue()) {
				writeError(w, http.StatusTooManyRequests, "queue_full", "server_overloaded", "The queue of requests is full.")
				return
			}
			defer e.slots.leave()
		}
		s = m.script(c, e.cfg.seed)
	}
	p, err := newPlayer(w, r, c, s, newIDs(e.cfg.seed, c.number))
	if err != nil {
		writeError(w, http.StatusInternalServerError, "", simError, err.Error())
		return
	}
	p.play()
}

// simError is the type of error objects that tell of a mistake in the
// simulation's own set-up.
const simError = "sim_error"

func writeError(w http.ResponseWriter, status int, code, typ, message string) {
	writeJSON(w, status, errorObject(code, typ, message))
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that is gone is no concern of the endpoint.
	_, _ = w.Write(body)
}
