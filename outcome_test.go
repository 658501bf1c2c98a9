// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// readEvents reads a body until the tap can have seen so many bytes, and
// leaves the rest.
func readEvents(t *testing.T, resp *http.Response, reads int) {
	t.Helper()
	buf := make([]byte, 4096)
	for range reads {
		if _, err := resp.Body.Read(buf); err != nil && err != io.EOF {
			t.Fatal(err)
		}
	}
}

// TestOutcomes has a case for each way that a call can end. Times: headers at
// 100 ms, then an event each 10 ms: role 100, a 110, b 120, finish 130, [DONE] 140.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	base := sim.Script{HeaderDelay: 100 * ms, Gap: 10 * ms}
	steps := func(s ...sim.Step) sim.Script {
		b := base
		b.Steps = s
		return b
	}
	role, a, b := sim.Role(0), sim.Text(0, "a"), sim.Text(0, "b")
	finish, done := sim.Finish(0, "stop"), sim.Done()
	whole := steps(role, a, b, finish, done)
	fail := tacho.Failure{}
	type act func(t *testing.T, resp *http.Response, cancel context.CancelCauseFunc)
	readAndClose := func(t *testing.T, resp *http.Response, _ context.CancelCauseFunc) { readAll(resp) }
	for _, tc := range []struct {
		name       string
		script     sim.Script
		path, body string
		timeout    time.Duration
		act        act
		want       tacho.Outcome
		failure    tacho.Failure
		duration   time.Duration
		terminated string
	}{
		{"complete at the done mark", whole, chatPath, chatStream, 0, readAndClose, tacho.Complete, fail, 140 * ms, "done"},
		{"complete by a terminal event", steps(a, b, finish), responsesPath, responsesStream, 0, readAndClose, tacho.Complete, fail, 120 * ms, "terminal_event"},
		{"complete: done after a terminal event is seen", steps(a, finish, done), responsesPath, responsesStream, 0, readAndClose, tacho.Complete, fail, 110 * ms, "done"},
		{"complete by a clean end after the finish reason", steps(role, a, finish), chatPath, chatStream, 0, readAndClose, tacho.Complete, fail, 120 * ms, "eof"},
		{"complete: incomplete response", steps(a, sim.Finish(0, "length")), responsesPath, responsesStream, 0, readAndClose, tacho.Complete, fail, 110 * ms, "terminal_event"},
		{"complete: a whole plain body", base, chatPath, chatPlain, 0, readAndClose, tacho.Complete, fail, 100 * ms, ""},
		{"complete: a plain document read to its last byte, not to EOF", base, chatPath, chatPlain, 0,
			func(t *testing.T, resp *http.Response, _ context.CancelCauseFunc) {
				var v any
				if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Second) // what the caller does then is none of the call's
				resp.Body.Close()
			}, tacho.Complete, fail, 100 * ms, ""},

		{"stream error, then the end", steps(role, a, sim.Error("server_overloaded", "server_error", "x")), chatPath, chatStream, 0, readAndClose,
			tacho.StreamError, tacho.Failure{Type: "server_error", Code: "server_overloaded", MidStream: true}, 120 * ms, "eof"},
		{"stream error wins over a later done", steps(role, sim.Error("c", "t", "x"), done), chatPath, chatStream, 0, readAndClose,
			tacho.StreamError, tacho.Failure{Type: "t", Code: "c", MidStream: true}, 120 * ms, "done"},
		{"stream error: failed response", steps(a, sim.Error("c", "", "x")), responsesPath, responsesStream, 0, readAndClose,
			tacho.StreamError, tacho.Failure{Code: "c", MidStream: true}, 110 * ms, "terminal_event"},
		{"stream error, then a cut", steps(role, sim.Error("c", "t", "x"), sim.Cut()), chatPath, chatStream, 0, readAndClose,
			tacho.StreamError, tacho.Failure{Type: "t", Code: "c", MidStream: true}, 120 * ms, ""},
		{"error object under 200", sim.Script{Status: 200, HeaderDelay: 100 * ms, Body: []byte(`{"error":{"message":"m","code":"content_filter"}}`), ContentType: "application/json"},
			chatPath, chatPlain, 0, readAndClose, tacho.StreamError, tacho.Failure{Code: "content_filter"}, 100 * ms, ""},

		{"error status", sim.Script{Status: 429, HeaderDelay: 100 * ms, ErrorCode: "rate_limit_exceeded", ErrorType: "requests", RetryAfter: 2 * time.Second},
			chatPath, chatStream, 0, readAndClose, tacho.Failed, tacho.Failure{Type: "requests", Code: "rate_limit_exceeded"}, 100 * ms, ""},
		{"error status, closed unread", sim.Script{Status: 503, HeaderDelay: 100 * ms, ErrorCode: "overloaded"}, chatPath, chatStream, 0,
			func(t *testing.T, resp *http.Response, _ context.CancelCauseFunc) { resp.Body.Close() },
			tacho.Failed, fail, 100 * ms, ""},

		{"cut: a clean end without a finish reason", steps(role, a, b), chatPath, chatStream, 0, readAndClose, tacho.Cut, fail, 120 * ms, "eof"},
		{"cut: an empty stream", sim.Script{HeaderDelay: 100 * ms, Body: []byte{}, ContentType: "text/event-stream"}, chatPath, chatStream, 0, readAndClose, tacho.Cut, fail, 100 * ms, "eof"},
		{"cut: the connection broke", steps(role, a, sim.Cut()), chatPath, chatStream, 0, readAndClose, tacho.Cut, tacho.Failure{Type: "connection"}, 120 * ms, ""},
		{"cut: a plain body broke", steps(a, sim.Cut()), chatPath, chatPlain, 0, readAndClose, tacho.Cut, tacho.Failure{Type: "connection"}, 100 * ms, ""},
		{"cut after a finish reason is a cut", steps(role, a, finish, sim.Cut()), chatPath, chatStream, 0, readAndClose, tacho.Cut, tacho.Failure{Type: "connection"}, 130 * ms, ""},

		{"cancelled while reading", steps(role, a, sim.Hang()), chatPath, chatStream, 0,
			func(t *testing.T, resp *http.Response, cancel context.CancelCauseFunc) {
				time.AfterFunc(50*ms, func() { cancel(nil) })
				readAll(resp)
			}, tacho.Cancelled, tacho.Failure{Type: "cancelled"}, 150 * ms, ""},
		{"cancelled while nobody reads", steps(role, a, sim.Hang()), chatPath, chatStream, 0,
			func(t *testing.T, resp *http.Response, cancel context.CancelCauseFunc) {
				readEvents(t, resp, 1)
				time.Sleep(20 * ms)
				cancel(errors.New("cause"))
				synctest.Wait()
				time.Sleep(20 * ms)
				resp.Body.Close()
			}, tacho.Cancelled, tacho.Failure{Type: "cancelled"}, 120 * ms, ""},
		{"deadline while reading", steps(role, a, sim.Hang()), chatPath, chatStream, 130 * ms, readAndClose, tacho.Deadline, tacho.Failure{Type: "timeout"}, 130 * ms, ""},
		{"deadline after the end is none", whole, chatPath, chatStream, 150 * ms,
			func(t *testing.T, resp *http.Response, _ context.CancelCauseFunc) {
				readAll(resp)
				time.Sleep(time.Second)
			}, tacho.Complete, fail, 140 * ms, "done"},
		{"context done after the terminal event, before anything else", steps(a, finish, sim.Hang()), responsesPath, responsesStream, 0,
			func(t *testing.T, resp *http.Response, cancel context.CancelCauseFunc) {
				time.AfterFunc(50*ms, func() { cancel(nil) })
				readAll(resp)
			}, tacho.Complete, fail, 110 * ms, "terminal_event"},

		{"closed early", steps(role, a, sim.Hang()), chatPath, chatStream, 0,
			func(t *testing.T, resp *http.Response, _ context.CancelCauseFunc) {
				readEvents(t, resp, 2)
				time.Sleep(7 * ms)
				resp.Body.Close()
			}, tacho.ClosedEarly, fail, 117 * ms, ""},
		{"closed before the done mark", whole, chatPath, chatStream, 0,
			func(t *testing.T, resp *http.Response, _ context.CancelCauseFunc) {
				readEvents(t, resp, 4)
				resp.Body.Close()
			}, tacho.ClosedEarly, fail, 130 * ms, ""},
		{"closed at the done mark", whole, chatPath, chatStream, 0,
			func(t *testing.T, resp *http.Response, _ context.CancelCauseFunc) {
				readEvents(t, resp, 5)
				resp.Body.Close()
			}, tacho.Complete, fail, 140 * ms, "done"},
		{"closed unread", base, chatPath, chatPlain, 0,
			func(t *testing.T, resp *http.Response, _ context.CancelCauseFunc) { resp.Body.Close() },
			tacho.ClosedEarly, fail, 100 * ms, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, []sim.Option{sim.WithScript(tc.script)})
				ctx, tr := tacho.Track(t.Context())
				ctx, cancel := context.WithCancelCause(ctx)
				defer cancel(nil)
				if tc.timeout > 0 {
					var stop context.CancelFunc
					ctx, stop = context.WithTimeout(ctx, tc.timeout)
					defer stop()
				}
				resp, err := r.client.Do(r.request(ctx, tc.path, tc.body))
				if err != nil {
					t.Fatal(err)
				}
				tc.act(t, resp, cancel)
				synctest.Wait()
				c := one(t, tr)
				if c.Outcome() != tc.want {
					t.Errorf("outcome %v, want %v", c.Outcome(), tc.want)
				}
				if got, _ := c.Failure(); got != tc.failure {
					t.Errorf("failure %+v, want %+v", got, tc.failure)
				}
				if d, _ := c.Duration(); d != tc.duration {
					t.Errorf("duration %v, want %v", d, tc.duration)
				}
				if got := record(t, c)["terminated"]; got != tc.terminated && !(got == nil && tc.terminated == "") {
					t.Errorf("terminated %v, want %v", got, tc.terminated)
				}
			})
		})
	}
}

// TestEndedContextIsToldInTime cancels streams in the midst of a Read: the call
// is in the tracker when the Read returns. And when nobody reads, after Close
// and Wait.
func TestEndedContextIsToldInTime(t *testing.T) {
	t.Parallel()
	srv := sim.New(t, sim.WithScript(sim.Script{Steps: []sim.Step{sim.Role(0), sim.Hang()}}))
	base := srv.Transport()
	defer base.CloseIdleConnections()
	tr := quiet(base)
	for i := range 400 {
		ctx, tracker := tacho.Track(t.Context())
		ctx, cancel := context.WithCancel(ctx)
		resp, err := tr.RoundTrip(newRequest(ctx, t, srv.URL()+chatPath, chatStream))
		if err != nil {
			t.Fatal(err)
		}
		readEvents(t, resp, 1)
		if i%2 == 0 {
			go cancel()
			if _, err := io.Copy(io.Discard, resp.Body); !errors.Is(err, context.Canceled) {
				t.Fatalf("error %v", err)
			}
		} else {
			cancel()
		}
		resp.Body.Close()
		if err := tr.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if o := one(t, tracker).Outcome(); o != tacho.Cancelled {
			t.Fatalf("outcome %v", o)
		}
	}
}

// TestNoResponse ends calls before there is a response.
func TestNoResponse(t *testing.T) {
	t.Parallel()
	hang := sim.Script{HeaderDelay: time.Hour}
	for _, tc := range []struct {
		name    string
		script  sim.Script
		timeout time.Duration // of the context
		client  time.Duration // of the http.Client
		cancel  time.Duration
		want    tacho.Outcome
		failure string
		after   time.Duration
	}{
		{"aborted", sim.Script{HeaderDelay: 30 * ms, Abort: true}, 0, 0, 0, tacho.Failed, "connection", 30 * ms},
		{"deadline", hang, 40 * ms, 0, 0, tacho.Deadline, "timeout", 40 * ms},
		{"client's timeout", hang, 0, 40 * ms, 0, tacho.Deadline, "timeout", 40 * ms},
		{"cancelled", hang, 0, 0, 25 * ms, tacho.Cancelled, "cancelled", 25 * ms},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, []sim.Option{sim.WithScript(tc.script)})
				r.client.Timeout = tc.client
				ctx, tr := tacho.Track(t.Context())
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				if tc.timeout > 0 {
					var stop context.CancelFunc
					ctx, stop = context.WithTimeout(ctx, tc.timeout)
					defer stop()
				}
				if tc.cancel > 0 {
					time.AfterFunc(tc.cancel, cancel)
				}
				if resp, err := r.client.Do(r.request(ctx, chatPath, chatStream)); err == nil {
					resp.Body.Close()
					t.Fatal("a response came")
				}
				c := one(t, tr)
				f, _ := c.Failure()
				d, _ := c.Duration()
				if c.Outcome() != tc.want || f.Type != tc.failure || d != tc.after {
					t.Errorf("%v %q after %v, want %v %q after %v", c.Outcome(), f.Type, d, tc.want, tc.failure, tc.after)
				}
				if _, ok := c.Status(); ok {
					t.Error("there is a status")
				}
			})
		})
	}
}

// TestDropped abandons a stream without reading its end or closing it. The
// collector finds that, so it runs outside a bubble.
func TestDropped(t *testing.T) { //nolint:paralleltest // runs the collector again and again
	for _, tc := range []struct { //nolint:paralleltest // as above
		name, body string
		script     sim.Script
		want       tacho.Outcome
	}{
		{"stream", chatStream, sim.Script{Steps: []sim.Step{sim.Role(0), sim.Text(0, "a"), sim.Hang()}}, tacho.Dropped},
		{"error status", chatPlain, sim.Script{Status: 500, ErrorCode: "c"}, tacho.Failed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, []sim.Option{sim.WithScript(tc.script)})
			told := make(chan *tacho.Call, 2)
			func() {
				ctx := tacho.ContextWithObserver(t.Context(), func(c *tacho.Call) { told <- c })
				resp, err := r.client.Do(r.request(ctx, chatPath, tc.body))
				if err != nil {
					t.Fatal(err)
				}
				if tc.want == tacho.Dropped {
					if _, err := io.ReadFull(resp.Body, make([]byte, 200)); err != nil {
						t.Fatal(err)
					}
				}
			}()
			var c *tacho.Call
			for c == nil {
				runtime.GC()
				select {
				case c = <-told:
				default:
				}
			}
			if c.Outcome() != tc.want {
				t.Errorf("outcome %v, want %v", c.Outcome(), tc.want)
			}
			for r.srv.OpenConns() > 0 {
				r.client.CloseIdleConnections()
				runtime.Gosched() // the dropped body's connection is closed, or given back
			}
			if len(told) > 0 {
				t.Error("told twice")
			}
		})
	}
}

// record returns the JSON record of a call.
func record(t *testing.T, c *tacho.Call) map[string]any {
	t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}
