// SPDX-License-Identifier: Apache-2.0

package bare_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// errCause is the cause of contexts that end with one.
var errCause = errors.New("the caller's own reason")

// ending is a way in which the caller's context ends: by a call, or by its
// deadline after an hour.
type ending struct {
	name    string
	make    func(context.Context) (context.Context, func())
	outcome tacho.Outcome
}

var endings = []ending{
	{"cancel", func(ctx context.Context) (context.Context, func()) {
		ctx, cancel := context.WithCancel(ctx)
		return ctx, cancel
	}, tacho.Cancelled},
	{"cancel with cause", func(ctx context.Context) (context.Context, func()) {
		ctx, cancel := context.WithCancelCause(ctx)
		return ctx, func() { cancel(errCause) }
	}, tacho.Cancelled},
	{"cancel before a deadline", func(ctx context.Context) (context.Context, func()) {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Hour)
		return ctx, cancel
	}, tacho.Cancelled},
	{"cancel of a foreign context", func(ctx context.Context) (context.Context, func()) {
		f := &foreignContext{Context: ctx, done: make(chan struct{})}
		return f, f.cancel
	}, tacho.Cancelled},
	{"deadline", func(ctx context.Context) (context.Context, func()) {
		ctx, cancel := context.WithTimeout(ctx, time.Hour)
		return ctx, cancel
	}, tacho.Deadline},
	{"deadline with cause", func(ctx context.Context) (context.Context, func()) {
		ctx, cancel := context.WithTimeoutCause(ctx, time.Hour, errCause)
		return ctx, cancel
	}, tacho.Deadline},
}

// foreignContext is a context that package context does not know.
type foreignContext struct {
	context.Context
	mu   sync.Mutex
	done chan struct{}
	err  error
}

func (f *foreignContext) Done() <-chan struct{} { return f.done }
func (f *foreignContext) Value(any) any         { return nil } // hides what lies below

func (f *foreignContext) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *foreignContext) cancel() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = context.Canceled
		close(f.done)
	}
}

// moment is what the exchange is at when the context ends.
type moment struct {
	name   string
	script sim.Script
	opts   []sim.Option
	// reads is how often the application reads before the context ends: a
	// Read that is under way then is the one after them.
	reads int
	// Before, between and closed change that: the context has ended before the
	// request, no Read is under way, the body is closed.
	before, between, closed bool
	streamOnly              bool
	outcome                 tacho.Outcome // if it is not the ending's
}

// never is later than all contexts end.
const never = 24 * time.Hour

var moments = []moment{
	{name: "before the request", before: true},
	{name: "while connecting", opts: []sim.Option{sim.WithDialDelay(never)}},
	{name: "before headers", script: sim.Script{HeaderDelay: never}},
	{name: "before the body", script: sim.Script{FirstDelay: never, BodyDelay: never}},
	{name: "mid-body", script: hanging, reads: 1},
	{name: "mid-body, between two Reads", script: hanging, reads: 1, between: true},
	{name: "mid-body, after Close", script: hanging, reads: 1, closed: true, outcome: tacho.ClosedEarly},
	{name: "behind [DONE]", script: tailed, reads: 4, streamOnly: true, outcome: tacho.Complete},
	{name: "behind [DONE], after Close", script: tailed, reads: 4, closed: true, streamOnly: true, outcome: tacho.Complete},
	{name: "behind [DONE], between two Reads", script: tailed, reads: 4, between: true, streamOnly: true, outcome: tacho.Complete},
}

var (
	hanging = sim.Script{Steps: []sim.Step{sim.Text(0, "a"), sim.Hang()}, Gap: time.Second}
	tailed  = sim.Script{Gap: time.Second, TailDelay: never, Steps: []sim.Step{
		sim.Role(0), sim.Text(0, "a"), sim.Finish(0, "stop"), sim.Done()}}
)

// way is how the application sends its request.
type way struct {
	name string
	// send sends it over base, with tacho on the way unless tr is nil.
	send func(base http.RoundTripper, tr *tacho.Transport, req *http.Request) (*http.Response, error)
}

var ways = []way{
	{"RoundTrip", func(base http.RoundTripper, tr *tacho.Transport, req *http.Request) (*http.Response, error) {
		return over(base, tr).RoundTrip(req)
	}},
	{"Client", func(base http.RoundTripper, tr *tacho.Transport, req *http.Request) (*http.Response, error) {
		return (&http.Client{Transport: over(base, tr)}).Do(req)
	}},
	{"Client with a longer Timeout", func(base http.RoundTripper, tr *tacho.Transport, req *http.Request) (*http.Response, error) {
		return (&http.Client{Transport: over(base, tr), Timeout: never}).Do(req)
	}},
	{"Middleware", func(base http.RoundTripper, tr *tacho.Transport, req *http.Request) (*http.Response, error) {
		c := &http.Client{Transport: base}
		if tr == nil {
			return c.Do(req)
		}
		return tr.Middleware(req, c.Do)
	}},
}

func over(base http.RoundTripper, tr *tacho.Transport) http.RoundTripper {
	if tr == nil {
		return base
	}
	return tr
}

// Requests differ in what tacho can know of them beforehand.
var requests = []struct {
	name   string
	stream bool
	body   func() io.Reader
}{
	{"stream", true, func() io.Reader { return strings.NewReader(streamRequest) }},
	{"stream, body sent once", true, func() io.Reader { return struct{ io.Reader }{strings.NewReader(streamRequest)} }},
	{"plain", false, func() io.Reader { return strings.NewReader(plainRequest) }},
}

const (
	streamRequest = `{"model":"m","stream":true,"messages":[]}`
	plainRequest  = `{"model":"m","messages":[]}`
)

// TestErrorIdentity compares, step by step, what an application sees over a
// bare http.Transport and with tacho on the way, when its context ends: the
// types of the errors and what they wrap, what they are to errors.Is, their
// texts, and the Reads and Closes after them. In a bubble the end comes when
// everything else has come to rest, so that both runs are the same to the
// nanosecond.
func TestErrorIdentity(t *testing.T) {
	t.Parallel()
	for _, proto := range []struct {
		name string
		opts []sim.Option
	}{{"HTTP1", nil}, {"HTTP2", []sim.Option{sim.WithHTTP2()}}} {
		for _, w := range ways {
			for _, r := range requests {
				t.Run(proto.name+"/"+w.name+"/"+r.name, func(t *testing.T) {
					t.Parallel()
					for _, m := range moments {
						if m.streamOnly && !r.stream {
							continue
						}
						for _, e := range endings {
							opts := append(append([]sim.Option{sim.WithScript(m.script)}, proto.opts...), m.opts...)
							run := attempt{w, m, e, r.body}
							name := m.name + ", " + e.name
							bare, _ := run.inBubble(t, opts, false)
							with, calls := run.inBubble(t, opts, true)
							if bare != with {
								t.Errorf("%s\nbare:\n%s\nwith tacho:\n%s", name, bare, with)
							}
							want := e.outcome
							if m.outcome != 0 {
								want = m.outcome
							}
							if len(calls) != 1 || calls[0].Outcome() != want {
								t.Errorf("%s: told %v, want one call, %v", name, outcomes(calls), want)
							}
						}
					}
				})
			}
		}
	}
}

// attempt is one exchange of the table.
type attempt struct {
	way
	moment
	ending
	body func() io.Reader
}

func (a *attempt) inBubble(t *testing.T, opts []sim.Option, measured bool) (seen string, calls []*tacho.Call) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := sim.New(t, opts...)
		seen, calls = a.run(t.Context(), t, srv, measured)
	})
	return seen, calls
}

func (a *attempt) run(parent context.Context, t *testing.T, srv *sim.Server, measured bool) (string, []*tacho.Call) {
	t.Helper()
	ctx, end := a.make(parent)
	defer end()
	cctx, tracker := tacho.Track(ctx)
	req, err := http.NewRequestWithContext(cctx, http.MethodPost, srv.URL()+"/chat/completions", a.body())
	if err != nil {
		t.Fatal(err)
	}
	base := srv.Transport()
	defer base.CloseIdleConnections()
	var tr *tacho.Transport
	if measured {
		tr = tacho.NewTransport(base)
	}
	started := make(chan struct{}) // the Reads before the end are done
	start := sync.OnceFunc(func() { close(started) })
	finish := func() {
		<-started
		synctest.Wait()
		if a.ending.outcome == tacho.Cancelled {
			end()
		}
		<-ctx.Done()
		synctest.Wait()
	}
	if a.reads == 0 {
		start()
	}
	if a.before {
		finish()
	}
	var log eventLog
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer start()
		resp, err := a.send(base, tr, req)
		log.add("response", -1, err)
		if err != nil {
			return
		}
		log.addf("status %d, the caller's request: %t", resp.StatusCode, resp.Request == req)
		buf := make([]byte, 32<<10)
		for range a.reads {
			n, err := resp.Body.Read(buf)
			log.add("read", n, err)
		}
		start()
		if a.closed {
			log.add("close", -1, resp.Body.Close())
			n, err := resp.Body.Read(buf) // though the rest may be on its way
			log.add("read after close", n, err)
		}
		if a.between || a.closed {
			finish()
		}
		for range 2 {
			n, err := resp.Body.Read(buf)
			log.add("read", n, err)
		}
		log.add("close", -1, resp.Body.Close())
		n, err := resp.Body.Read(buf)
		log.add("read after close", n, err)
		log.add("close", -1, resp.Body.Close())
	}()
	if !a.before && !a.between && !a.closed {
		finish()
	}
	<-done
	synctest.Wait()
	return log.String(), tracker.Calls()
}

// eventLog is what an application sees, in words.
type eventLog struct{ strings.Builder }

func (l *eventLog) addf(format string, args ...any) { fmt.Fprintf(l, "  "+format+"\n", args...) }

func (l *eventLog) add(what string, n int, err error) {
	if n >= 0 {
		what = fmt.Sprintf("%s %d", what, n)
	}
	l.addf("%s: %s", what, describe(err))
}

var port = regexp.MustCompile(`(127\.0\.0\.1|client\.invalid):\d+`)

// describe tells all that an application can learn of an error.
func describe(err error) string {
	if err == nil {
		return "nil"
	}
	var types []string
	for e := err; e != nil; e = errors.Unwrap(e) {
		types = append(types, fmt.Sprintf("%T", e))
	}
	s := strings.Join(types, " > ") + " " + port.ReplaceAllString(fmt.Sprintf("%q", err), "$1")
	for _, is := range []error{context.Canceled, context.DeadlineExceeded, errCause, os.ErrDeadlineExceeded, io.ErrUnexpectedEOF} {
		if errors.Is(err, is) {
			s += fmt.Sprintf(", is %q", is)
		}
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) {
		s += fmt.Sprintf(", timeout %t", timeout.Timeout())
	}
	var temporary interface{ Temporary() bool }
	if errors.As(err, &temporary) {
		s += fmt.Sprintf(", temporary %t", temporary.Temporary())
	}
	return s
}

func outcomes(calls []*tacho.Call) []tacho.Outcome {
	var o []tacho.Outcome
	for _, c := range calls {
		o = append(o, c.Outcome())
	}
	return o
}

// TestErrorIdentityOnSockets does the same on loopback sockets, where the
// kernel has its say in the errors, for ends that need no clock: the test
// cancels when the server has the request, or the application the first event.
func TestErrorIdentityOnSockets(t *testing.T) {
	t.Parallel()
	for _, http2 := range []bool{false, true} {
		for _, m := range []moment{
			{name: "before headers", script: sim.Script{HeaderDelay: never}},
			{name: "mid-body", script: hanging, reads: 1},
		} {
			for _, e := range endings {
				if e.outcome != tacho.Cancelled {
					continue
				}
				for _, w := range ways {
					proto := "HTTP1"
					if http2 {
						proto = "HTTP2"
					}
					t.Run(strings.Join([]string{proto, m.name, e.name, w.name}, "/"), func(t *testing.T) {
						t.Parallel()
						a := attempt{w, m, e, func() io.Reader { return strings.NewReader(streamRequest) }}
						bare, _ := a.onSocket(t, http2, false)
						with, call := a.onSocket(t, http2, true)
						if bare != with {
							t.Errorf("bare:\n%s\nwith tacho:\n%s", bare, with)
						}
						if call.Outcome() != e.outcome {
							t.Errorf("outcome %v, want %v", call.Outcome(), e.outcome)
						}
					})
				}
			}
		}
	}
}

func (a *attempt) onSocket(t *testing.T, http2, measured bool) (string, *tacho.Call) {
	t.Helper()
	endpoint := sim.NewEndpoint(sim.WithScript(a.script))
	arrived := make(chan struct{})
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		endpoint.ServeHTTP(w, r)
	}))
	if srv.EnableHTTP2 = http2; http2 {
		srv.StartTLS()
	} else {
		srv.Start()
	}
	defer srv.Close()
	ctx, end := a.make(t.Context())
	defer end()
	told := make(chan *tacho.Call, 2)
	cctx := tacho.ContextWithObserver(ctx, func(c *tacho.Call) { told <- c })
	req, err := http.NewRequestWithContext(cctx, http.MethodPost, srv.URL+"/v1/chat/completions", a.body())
	if err != nil {
		t.Fatal(err)
	}
	base := srv.Client().Transport
	var tr *tacho.Transport
	if measured {
		tr = tacho.NewTransport(base)
	}
	if a.reads == 0 {
		go func() {
			<-arrived
			end()
		}()
	}
	var log eventLog
	resp, err := a.send(base, tr, req)
	log.add("response", -1, err)
	if err == nil {
		defer resp.Body.Close()
		buf := make([]byte, 32<<10)
		for range a.reads {
			n, err := resp.Body.Read(buf)
			log.add("read", n, err)
		}
		go end()
		n, err := resp.Body.Read(buf)
		log.add("read", n, err)
	}
	if !measured {
		return log.String(), nil
	}
	return log.String(), <-told // the end of a context is told asynchronously
}
