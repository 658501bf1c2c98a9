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

	pending     [3]span          // since the last connection came
	total       [3]time.Duration // None: never happened
	gotConn     time.Duration
	wrote       time.Duration
	firstByte   time.Duration
	conn        net.Conn
	retransBase int64
	conns       int
	reused      bool
	seen        bool // some hook was called: the base is one that traces
	tcpInfo     bool
	frozen      bool
}

// span is the union of intervals that may overlap.
type span struct {
	open  int
	since time.Duration
	total time.Duration
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

// The three phases of a dial.
const (
	dns = iota
	connect
	tlsHandshake
)

// Attach returns a context whose exchange is timed from start on. A trace that
// ctx has already keeps its hooks. With tcpInfo the kernel's view of the
// connection is read at the begin and the end.
func (t *Trace) Attach(ctx context.Context, start time.Time, tcpInfo bool) context.Context {
	t.start, t.tcpInfo = start, tcpInfo
	t.gotConn, t.wrote, t.firstByte = None, None, None
	t.total = [3]time.Duration{None, None, None}
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
	t.seen = true
	return now, true
}

// dial notes a hook before a connection.
func (t *Trace) dial(mark func(*span, time.Duration), phase int) {
	if now, ok := t.enter(); ok {
		mark(&t.pending[phase], now)
		t.mu.Unlock()
	}
}

func (t *Trace) dnsStart(httptrace.DNSStartInfo) { t.dial((*span).begin, dns) }
func (t *Trace) dnsDone(httptrace.DNSDoneInfo)   { t.dial((*span).end, dns) }
func (t *Trace) connectStart(_, _ string)        { t.dial((*span).begin, connect) }
func (t *Trace) tlsStart()                       { t.dial((*span).begin, tlsHandshake) }

func (t *Trace) connectDone(_, _ string, err error) {
	if err == nil {
		t.dial((*span).settle, connect)
		return
	}
	t.dial((*span).end, connect)
}

func (t *Trace) tlsDone(_ tls.ConnectionState, err error) {
	if err == nil {
		t.dial((*span).settle, tlsHandshake)
		return
	}
	t.dial((*span).end, tlsHandshake)
}

// commit adds what was dialled for this exchange to its phases.
func (t *Trace) commit(now time.Duration) {
	for i := range t.pending {
		p := &t.pending[i]
		if p.settle(now); p.any {
			t.total[i] = max(0, t.total[i]) + p.total
		}
	}
}

func (t *Trace) gotConnection(info httptrace.GotConnInfo) {
	now, ok := t.enter()
	if !ok {
		return
	}
	defer t.mu.Unlock()
	// What was dialled while another connection became free belongs to the
	// pool, not to this exchange; so does what a dial does from now on, unless
	// a redirect or a transport's own retry asks for a connection again.
	if !info.Reused {
		t.commit(now)
	}
	t.pending = [3]span{}
	t.conns++
	t.gotConn, t.wrote, t.firstByte = now, None, None
	t.conn, t.reused = info.Conn, info.Reused
	t.retransBase = 0
	if t.tcpInfo && info.Reused {
		if i, ok := readTCPInfo(info.Conn); ok {
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
		t.firstByte = now
		t.mu.Unlock()
	}
}

// FirstByte returns when the first response byte came, None if no hook told.
func (t *Trace) FirstByte() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.firstByte
}

// Result is what a Trace found. Durations that do not exist are None.
type Result struct {
	DNS, Connect, TLS, Send, Wait time.Duration

	FirstByte time.Duration
	HasConn   bool
	Reused    bool
	Conns     int // connections used: more than one after redirects and transport retries
	Remote    net.Addr
	TCP       TCPInfo
	HasTCP    bool
}

// Freeze ends the trace and returns what it found. Hooks that come later are
// ignored, and the connection is let go.
func (t *Trace) Freeze() Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := !t.frozen
	t.frozen = true
	r := Result{DNS: None, Connect: None, TLS: None, Send: None, Wait: None,
		FirstByte: t.firstByte, Conns: t.conns, HasConn: t.conns > 0, Reused: t.reused}
	if t.conns == 0 && first {
		// No connection came: what was tried is told as far as it went.
		t.commit(time.Since(t.start))
	}
	r.DNS, r.Connect, r.TLS = t.total[dns], t.total[connect], t.total[tlsHandshake]
	if t.gotConn >= 0 && t.wrote >= 0 {
		r.Send = t.wrote - t.gotConn
		if t.firstByte >= t.wrote {
			r.Wait = t.firstByte - t.wrote
		}
	}
	if t.conn != nil {
		r.Remote = t.conn.RemoteAddr()
		if t.tcpInfo {
			if r.TCP, r.HasTCP = readTCPInfo(t.conn); r.HasTCP {
				r.TCP.Retransmits = max(0, r.TCP.Retransmits-t.retransBase)
			}
		}
		t.conn = nil
	}
	return r
}

// TCPInfo is the kernel's view of a connection.
type TCPInfo struct {
	RTT, RTTVar time.Duration
	Retransmits int64
}

// tcpConn unwraps TLS and other wrappers that say what they wrap.
func tcpConn(c net.Conn) (*net.TCPConn, bool) {
	for range 4 {
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
