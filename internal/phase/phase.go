// SPDX-License-Identifier: Apache-2.0

// Package phase times what an HTTP exchange does before its answer: name
// lookup, connecting, the TLS handshake, sending and waiting.
package phase

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync"
	"time"
)

// None is the time of what has not happened.
const None time.Duration = -1

// Trace takes the times of one exchange as offsets from its start. Hooks run
// on goroutines of the transport, concurrently, and some after the exchange
// has ended; those are ignored. A Trace must not be copied after Attach.
type Trace struct {
	mu    sync.Mutex
	start time.Time
	hooks *hooks

	pending [3]span // since the last connection came
	gotConn time.Duration
	wrote   time.Duration
	conn    net.Conn
	result  *Result

	keys *Keys           // nil: the hooks hang on the context
	net  context.Context // what package net wants, once it asked

	retransBase int64
	tcp         func(net.Conn) (TCPInfo, bool)
	frozen      bool
	idle        bool // the connection waited for the exchange, which has dialled none therefore
}

// span is the union of intervals that may overlap.
type span struct {
	since time.Duration
	total time.Duration
	open  int32
	any   bool
}

func (s *span) begin(t time.Duration) {
	if s.open == 0 {
		s.since = t
	}
	s.open++
	s.any = true
}

func (s *span) end(t time.Duration) {
	if s.open == 0 {
		return // the loser of a race that was decided before
	}
	if s.open--; s.open == 0 {
		s.total += t - s.since
	}
}

// settle ends all that is open: a race was won.
func (s *span) settle(t time.Duration) {
	if s.open > 0 {
		s.total += t - s.since
		s.open = 0
	}
}

// noResult is what has not been found.
func noResult() Result {
	return Result{Phases: [3]time.Duration{None, None, None}, Send: None, Wait: None, FirstByte: None}
}

// The phases of a dial, which index Result.Phases.
const (
	DNS = iota
	Connect
	TLS
)

// Attach returns a context whose exchange is timed from start on. A trace that
// ctx has already keeps its hooks. Where it has none, and keys are given, the
// context is ctx itself: Value has the hooks then, which costs half. With tcp, which
// is ReadTCPInfo or nil, the kernel's view of the connection is read at the begin
// and the end. What is found goes to r, which does not change any more once the
// trace is frozen.
func (t *Trace) Attach(ctx context.Context, keys *Keys, start time.Time, tcp func(net.Conn) (TCPInfo, bool), r *Result) context.Context {
	t.start, t.tcp, t.result = start, tcp, r
	t.gotConn, t.wrote = None, None
	*r = noResult()
	if keys != nil && httptrace.ContextClientTrace(ctx) == nil {
		t.keys = keys
		t.hooks, _ = keys.free.Get().(*hooks)
	}
	if t.hooks == nil {
		t.hooks = newHooks()
	}
	t.hooks.trace.Store(t)
	if t.keys != nil {
		return ctx
	}
	return httptrace.WithClientTrace(ctx, &t.hooks.client)
}

// commit adds what was dialled for this exchange to its phases.
func (t *Trace) commit(now time.Duration) {
	for i := range t.pending {
		p := &t.pending[i]
		if p.settle(now); p.any {
			t.result.Phases[i] = max(0, t.result.Phases[i]) + p.total
		}
	}
}

// FirstByte returns when the first response byte came, None if no hook told.
func (t *Trace) FirstByte() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.result.FirstByte
}

// Result is what a Trace found. Durations that do not exist are None.
type Result struct {
	Phases     [3]time.Duration // DNS, Connect, TLS
	Send, Wait time.Duration
	FirstByte  time.Duration
	Conns      int // connections used: more than one after redirects and transport retries
	Remote     net.Addr
	TCP        TCPInfo
	HasTCP     bool
	Reused     bool
}

// Restart begins another attempt: what was found of the last one is forgotten.
func (t *Trace) Restart() {
	t.mu.Lock()
	defer t.mu.Unlock()
	use(t.conn, -1)
	t.conn = nil
	t.pending = [3]span{}
	t.gotConn, t.wrote = None, None
	*t.result = noResult()
}

// Remote returns the address of the connection in use, nil when there is none.
func (t *Trace) Remote() net.Addr {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conn != nil {
		return t.conn.RemoteAddr()
	}
	return t.result.Remote
}

// Freeze ends the trace. Hooks that come later are ignored, and the connection
// is let go. With last, the exchange was one of HTTP/1 by a http.Transport that
// has nothing else to do for it: then the hooks may serve another one.
func (t *Trace) Freeze(last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.frozen {
		return
	}
	t.frozen = true
	r := t.result
	t.hooks.trace.Store(nil)
	if last && t.keys != nil && t.idle && t.net == nil && r.Conns == 1 && t.wrote >= 0 && r.FirstByte >= 0 {
		t.keys.free.Put(t.hooks)
	}
	if r.Conns == 0 {
		// No connection came: what was tried is told as far as it went.
		t.commit(time.Since(t.start))
	}
	if t.gotConn >= 0 && t.wrote >= 0 {
		r.Send = t.wrote - t.gotConn
		if r.FirstByte >= t.wrote {
			r.Wait = r.FirstByte - t.wrote
		}
	}
	if t.conn == nil {
		return
	}
	r.Remote = t.conn.RemoteAddr()
	if t.tcp != nil {
		if r.TCP, r.HasTCP = t.tcp(t.conn); r.HasTCP {
			r.TCP.Retransmits = max(0, r.TCP.Retransmits-t.retransBase)
		}
	}
	use(t.conn, -1)
	t.conn = nil
}

// User is a connection that counts the exchanges on it.
type User interface{ Use(n int) }

// use tells a connection, or the one that it wraps, of an exchange more or less.
func use(c net.Conn, n int) {
	for range maxWraps {
		switch v := c.(type) {
		case User:
			v.Use(n)
			return
		case interface{ NetConn() net.Conn }:
			c = v.NetConn()
		default:
			return
		}
	}
}

// maxWraps bounds the way to the connection that others wrap.
const maxWraps = 4

// TCPInfo is the kernel's view of a connection.
type TCPInfo struct {
	RTT, RTTVar time.Duration
	Retransmits int64
}

// tcpConn unwraps TLS and other wrappers that say what they wrap.
func tcpConn(c net.Conn) (*net.TCPConn, bool) {
	for range maxWraps {
		switch v := c.(type) {
		case *net.TCPConn:
			return v, true
		case interface{ NetConn() net.Conn }:
			c = v.NetConn()
		default:
			return nil, false
		}
	}
	return nil, false
}
