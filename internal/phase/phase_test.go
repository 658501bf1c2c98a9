// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptrace"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const ms = time.Millisecond

var errLost = errors.New("lost")

// TestTrace plays hooks in the order in which a transport calls them, or might.
func TestTrace(t *testing.T) {
	t.Parallel()
	type play func(t *httptrace.ClientTrace)
	wait := func(d time.Duration) play { return func(*httptrace.ClientTrace) { time.Sleep(d) } }
	dnsStart := func(h *httptrace.ClientTrace) { h.DNSStart(httptrace.DNSStartInfo{}) }
	dnsDone := func(h *httptrace.ClientTrace) { h.DNSDone(httptrace.DNSDoneInfo{}) }
	connectStart := func(h *httptrace.ClientTrace) { h.ConnectStart("tcp", "a") }
	connectDone := func(h *httptrace.ClientTrace) { h.ConnectDone("tcp", "a", nil) }
	connectLost := func(h *httptrace.ClientTrace) { h.ConnectDone("tcp", "a", errLost) }
	tlsStart := func(h *httptrace.ClientTrace) { h.TLSHandshakeStart() }
	tlsDone := func(h *httptrace.ClientTrace) { h.TLSHandshakeDone(tls.ConnectionState{}, nil) }
	tlsLost := func(h *httptrace.ClientTrace) { h.TLSHandshakeDone(tls.ConnectionState{}, errLost) }
	got := func(h *httptrace.ClientTrace) { h.GotConn(httptrace.GotConnInfo{}) }
	gotReused := func(h *httptrace.ClientTrace) { h.GotConn(httptrace.GotConnInfo{Reused: true}) }
	wrote := func(h *httptrace.ClientTrace) { h.WroteRequest(httptrace.WroteRequestInfo{}) }
	wroteNot := func(h *httptrace.ClientTrace) { h.WroteRequest(httptrace.WroteRequestInfo{Err: errLost}) }
	first := func(h *httptrace.ClientTrace) { h.GotFirstResponseByte() }

	none := Result{Phases: [3]time.Duration{None, None, None}, Send: None, Wait: None, FirstByte: None}
	with := func(f func(*Result)) Result {
		r := none
		f(&r)
		return r
	}
	for _, tc := range []struct {
		name string
		play []play
		want Result
	}{
		{"nothing", nil, none},
		{"a fresh connection", []play{dnsStart, wait(3 * ms), dnsDone, connectStart, wait(4 * ms), connectDone, tlsStart, wait(5 * ms), tlsDone, got, wait(ms), wrote, wait(7 * ms), first},
			with(func(r *Result) {
				r.Phases[DNS], r.Phases[Connect], r.Phases[TLS], r.Send, r.Wait, r.FirstByte = 3*ms, 4*ms, 5*ms, ms, 7*ms, 20*ms
				r.Conns = 1
			})},
		{"a reused connection, while a dial goes on", []play{dnsStart, wait(3 * ms), dnsDone, connectStart, wait(ms), gotReused, wrote, wait(ms), connectDone, tlsStart, first, tlsDone},
			with(func(r *Result) {
				r.Send, r.Wait, r.FirstByte = 0, ms, 5*ms
				r.Reused, r.Conns = true, 1
			})},
		{"two addresses at once: the union, up to the winner", []play{connectStart, wait(300 * ms), connectStart, wait(10 * ms), connectDone, wait(2 * ms), connectLost, got, wrote, first},
			with(func(r *Result) {
				r.Phases[Connect], r.Send, r.Wait, r.FirstByte = 310*ms, 0, 0, 312*ms
				r.Conns = 1
			})},
		{"one address after another: the gap between is none", []play{connectStart, wait(30 * ms), connectLost, wait(5 * ms), connectStart, wait(10 * ms), connectDone, got, wrote, first},
			with(func(r *Result) {
				r.Phases[Connect], r.Send, r.Wait, r.FirstByte = 40*ms, 0, 0, 45*ms
				r.Conns = 1
			})},
		{"a loser that never ends", []play{connectStart, connectStart, wait(10 * ms), connectDone, tlsStart, wait(20 * ms), tlsDone, got, wrote, first, wait(ms), connectLost},
			with(func(r *Result) {
				r.Phases[Connect], r.Phases[TLS], r.Send, r.Wait, r.FirstByte = 10*ms, 20*ms, 0, 0, 30*ms
				r.Conns = 1
			})},
		{"no connection: what was tried counts", []play{dnsStart, wait(3 * ms), dnsDone, connectStart, wait(4 * ms), connectLost, connectStart, wait(5 * ms)},
			with(func(r *Result) { r.Phases[DNS], r.Phases[Connect] = 3*ms, 9*ms })},
		{"a handshake that failed", []play{connectStart, connectDone, tlsStart, wait(5 * ms), tlsLost},
			with(func(r *Result) { r.Phases[Connect], r.Phases[TLS] = 0, 5*ms })},
		{"the answer came before the request was written", []play{gotReused, wait(2 * ms), first, wait(ms), wrote},
			with(func(r *Result) {
				r.Send, r.FirstByte = 3*ms, 2*ms
				r.Reused, r.Conns = true, 1
			})},
		{"the request was not written", []play{gotReused, wroteNot, wait(ms), first},
			with(func(r *Result) { r.FirstByte, r.Reused, r.Conns = ms, true, 1 })},
		{"a redirect to another host", []play{connectStart, wait(4 * ms), connectDone, got, wrote, wait(ms), first, dnsStart, wait(2 * ms), dnsDone, connectStart, wait(5 * ms), connectDone, got, wait(ms), wrote, wait(3 * ms), first},
			with(func(r *Result) {
				r.Phases[DNS], r.Phases[Connect], r.Send, r.Wait, r.FirstByte = 2*ms, 9*ms, ms, 3*ms, 16*ms
				r.Conns = 2
			})},
		{"a stale connection, then a fresh one", []play{gotReused, wroteNot, connectStart, wait(4 * ms), connectDone, got, wrote, wait(ms), first},
			with(func(r *Result) {
				r.Phases[Connect], r.Send, r.Wait, r.FirstByte = 4*ms, 0, ms, 5*ms
				r.Conns = 2
			})},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var tr Trace
				var r Result
				hooks := httptrace.ContextClientTrace(tr.Attach(context.Background(), nil, time.Now(), ReadTCPInfo, &r))
				for _, p := range tc.play {
					p(hooks)
				}
				tr.Freeze(false)
				got := r
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				// What comes late changes nothing.
				for _, p := range tc.play {
					p(hooks)
				}
				tr.Freeze(false)
				if diff := cmp.Diff(got, r); diff != "" {
					t.Errorf("late hooks changed it: %s", diff)
				}
			})
		})
	}
}

// TestConcurrentHooks is for the race detector: hooks run on goroutines of the
// transport, also while and after the exchange is frozen.
func TestConcurrentHooks(t *testing.T) {
	t.Parallel()
	var tr Trace
	var r Result
	h := httptrace.ContextClientTrace(tr.Attach(context.Background(), nil, time.Now(), ReadTCPInfo, &r))
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				h.DNSStart(httptrace.DNSStartInfo{})
				h.ConnectStart("tcp", "a")
				h.DNSDone(httptrace.DNSDoneInfo{})
				h.ConnectDone("tcp", "a", nil)
				h.TLSHandshakeStart()
				h.TLSHandshakeDone(tls.ConnectionState{}, errLost)
				h.GotConn(httptrace.GotConnInfo{Conn: a})
				h.WroteRequest(httptrace.WroteRequestInfo{})
				h.GotFirstResponseByte()
				tr.FirstByte()
			}
		})
	}
	wg.Go(func() { tr.Freeze(false) })
	wg.Wait()
	tr.Freeze(false)
	for name, d := range map[string]time.Duration{"dns": r.Phases[DNS], "connect": r.Phases[Connect], "tls": r.Phases[TLS], "send": r.Send, "wait": r.Wait} {
		if d < None {
			t.Errorf("%s is %v", name, d)
		}
	}
}

// TestRetransmits counts those of the call: on a reused connection less what
// there was before, on a fresh one all of them, those of the dial too.
func TestRetransmits(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	for _, tc := range []struct {
		reused        bool
		before, after int64
		want          int64
	}{{false, 5, 7, 7}, {true, 5, 7, 2}, {true, 5, 5, 0}, {true, 5, 4, 0}} {
		now := tc.before
		var tr Trace
		var r Result
		h := httptrace.ContextClientTrace(tr.Attach(context.Background(), nil, time.Now(), func(net.Conn) (TCPInfo, bool) {
			return TCPInfo{RTT: ms, RTTVar: 2 * ms, Retransmits: now}, true
		}, &r))
		h.GotConn(httptrace.GotConnInfo{Conn: a, Reused: tc.reused})
		now = tc.after
		tr.Freeze(false)
		if want := (TCPInfo{ms, 2 * ms, tc.want}); !r.HasTCP || r.TCP != want {
			t.Errorf("%+v: %+v, want %+v", tc, r.TCP, want)
		}
	}
}
