// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"crypto/tls"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// hooks are those of httptrace for a Trace. They are an object apart, since ten
// allocations make them: where a http.Transport took a connection that was idle
// and has told of all that it does with one, none of them comes late, and they
// serve the next Trace. Those of any other exchange are given up.
type hooks struct {
	trace  atomic.Pointer[Trace] // nil when its exchange is over
	client httptrace.ClientTrace
}

func newHooks() *hooks {
	h := new(hooks)
	h.client = httptrace.ClientTrace{
		DNSStart:             h.dnsStart,
		DNSDone:              h.dnsDone,
		ConnectStart:         h.connectStart,
		ConnectDone:          h.connectDone,
		TLSHandshakeStart:    h.tlsStart,
		TLSHandshakeDone:     h.tlsDone,
		GotConn:              h.gotConnection,
		WroteRequest:         h.wroteRequest,
		GotFirstResponseByte: h.gotFirstByte,
	}
	return h
}

// enter locks the trace and reads the clock; it returns nil when the exchange is over.
func (h *hooks) enter() (t *Trace, now time.Duration) {
	if t = h.trace.Load(); t == nil {
		return nil, 0
	}
	now = time.Since(t.start)
	t.mu.Lock()
	if t.frozen {
		t.mu.Unlock()
		return nil, 0
	}
	return t, now
}

// dial notes a hook before a connection.
func (h *hooks) dial(mark func(*span, time.Duration), phase int) {
	if t, now := h.enter(); t != nil {
		mark(&t.pending[phase], now)
		t.mu.Unlock()
	}
}

// won notes the end of a connect or handshake: of all of them, if it succeeded.
func (h *hooks) won(err error, phase int) {
	mark := (*span).end
	if err == nil {
		mark = (*span).settle
	}
	h.dial(mark, phase)
}

func (h *hooks) dnsStart(httptrace.DNSStartInfo)        { h.dial((*span).begin, DNS) }
func (h *hooks) dnsDone(httptrace.DNSDoneInfo)          { h.dial((*span).end, DNS) }
func (h *hooks) connectStart(_, _ string)               { h.dial((*span).begin, Connect) }
func (h *hooks) connectDone(_, _ string, err error)     { h.won(err, Connect) }
func (h *hooks) tlsStart()                              { h.dial((*span).begin, TLS) }
func (h *hooks) tlsDone(_ tls.ConnectionState, e error) { h.won(e, TLS) }

func (h *hooks) gotConnection(info httptrace.GotConnInfo) {
	t, now := h.enter()
	if t == nil {
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
	t.idle = info.WasIdle
	t.result.Reused, t.result.FirstByte = info.Reused, None
	t.retransBase = 0
	if t.tcp != nil && info.Reused {
		if i, ok := t.tcp(info.Conn); ok {
			t.retransBase = i.Retransmits
		}
	}
}

func (h *hooks) wroteRequest(info httptrace.WroteRequestInfo) {
	if t, now := h.enter(); t != nil {
		if info.Err == nil {
			t.wrote = now
		}
		t.mu.Unlock()
	}
}

func (h *hooks) gotFirstByte() {
	if t, now := h.enter(); t != nil {
		t.result.FirstByte = now
		t.mu.Unlock()
	}
}
