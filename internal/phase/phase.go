// SPDX-License-Identifier: Apache-2.0

// Package phase times what an HTTP exchange does before its answer: name
// lookup, connecting, the TLS handshake, sending and waiting.
package phase

import (
	"context"
	"crypto/tls"
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
	hooks httptrace.ClientTrace

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
	t.hooks = httptrace.ClientTrace{
		DNSStart:             t.dnsStart,
		DNSDone:              t.dnsDone,
		ConnectStart:         t.connectStart,
		ConnectDone:          t.connectDone,
		TLSHandshakeStart:    t.tlsStart,
		TLSHandshakeDone:     t.tlsDone,
		GotConn:              t.gotConnection,
		WroteRequest:         t.wroteRequest,
		GotFirstResponseByte: t.gotFirstByte,
	}
	if keys != nil && httptrace.ContextClientTrace(ctx) == nil {
		t.keys = keys
		return ctx
	}
	return httptrace.WithClientTrace(ctx, &t.hooks)
}

// enter locks the trace and reads the clock, unless the exchange is over.
func (t *Trace) enter() (now time.Duration, ok bool) {
	now = time.Since(t.start)
	t.mu.Lock()
	if t.frozen {
		t.mu.Unlock()
		return 0, false
	}
	return now, true
}

// dial notes a hook before a connection.
func (t *Trace) dial(mark func(*span, time.Duration), phase int) {
	if now, ok := t.enter(); ok {
		mark(&t.pending[phase], now)
		t.mu.Unlock()
	}
}

func (t *Trace) dnsStart(httptrace.DNSStartInfo) { t.dial((*span).begin, DNS) }
func (t *Trace) dnsDone(httptrace.DNSDoneInfo)   { t.dial((*span).end, DNS) }
func (t *Trace) connectStart(_, _ string)        { t.dial((*span).begin, Connect) }
func (t *Trace) tlsStart()                       { t.dial((*span).begin, TLS) }

func (t *Trace) connectDone(_, _ string, err error) {
	if err == nil {
		t.dial((*span).settle, Connect)
		return
	}
	t.dial((*span).end, Connect)
}

func (t *Trace) tlsDone(_ tls.ConnectionState, err error) {
	if err == nil {
		t.dial((*span).settle, TLS)
		return
	}
	t.dial((*span).end, TLS)
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

func (t *Trace) gotConnection(info httptrace.GotConnInfo) {
	now, ok := t.enter()
	if !ok {
		return
	}
	defer t.mu.Unlock()
	use(t.conn, -1) // an earlier attempt's
	use(info.Conn, 1)
	// What was dialled while another connection became free belongs to the
	// pool, not to this exchange; so does what a dial does from now on, unless
	// a redirect or a transport's own retry asks for a connection again.
	if !info.Reused {
		t.commit(now)
	}
	t.pending = [3]span{}
	t.gotConn, t.wrote = now, None
	t.conn = info.Conn
	t.result.Conns++
	t.result.Reused, t.result.FirstByte = info.Reused, None
	t.retransBase = 0
	if t.tcp != nil && info.Reused {
		if i, ok := t.tcp(info.Conn); ok {
			t.retransBase = i.Retransmits
		}
	}
}

func (t *Trace) wroteRequest(info httptrace.WroteRequestInfo) {
	if now, ok := t.enter(); ok {
		if info.Err == nil {
			t.wrote = now
		}
		t.mu.Unlock()
	}
}

func (t *Trace) gotFirstByte() {
	if now, ok := t.enter(); ok {
		t.result.FirstByte = now
		t.mu.Unlock()
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
// is let go.
func (t *Trace) Freeze() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.frozen {
		return
	}
	t.frozen = true
	r := t.result
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
