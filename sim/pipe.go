// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// pipeConn is one end of a buffered in-memory connection. Unlike net.Pipe a
// writer waits only when the peer's buffer is full, as with a socket. A close
// is an orderly one: the peer reads what was written, then io.EOF; there is no
// reset, even when unread bytes are dropped.
type pipeConn struct {
	in, out       *flow
	local, remote pipeAddr
	closed        atomic.Bool
}

// newPipe returns the two ends of a connection that buffers capacity bytes in
// each direction.
func newPipe(capacity int, client, server pipeAddr) (*pipeConn, *pipeConn) {
	up, down := newFlow(capacity, 0, nil), newFlow(capacity, 0, nil)
	return &pipeConn{in: down, out: up, local: client, remote: server},
		&pipeConn{in: up, out: down, local: server, remote: client}
}

func (c *pipeConn) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	return n, c.wrap("read", err)
}

func (c *pipeConn) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	return n, c.wrap("write", err)
}

func (c *pipeConn) Close() error {
	if c.closed.Swap(true) {
		return c.wrap("close", net.ErrClosed)
	}
	c.in.closeRead()
	c.out.closeWrite(io.EOF)
	return nil
}

// CloseWrite ends the sending direction and leaves the other one open.
func (c *pipeConn) CloseWrite() error {
	c.out.closeWrite(io.EOF)
	return nil
}

func (c *pipeConn) LocalAddr() net.Addr  { return c.local }
func (c *pipeConn) RemoteAddr() net.Addr { return c.remote }

func (c *pipeConn) SetDeadline(t time.Time) error {
	c.in.setReadDeadline(t)
	c.out.setWriteDeadline(t)
	return nil
}

func (c *pipeConn) SetReadDeadline(t time.Time) error {
	c.in.setReadDeadline(t)
	return nil
}

func (c *pipeConn) SetWriteDeadline(t time.Time) error {
	c.out.setWriteDeadline(t)
	return nil
}

// wrap gives an error the form that net/http expects from a socket.
func (c *pipeConn) wrap(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &net.OpError{Op: op, Net: c.local.Network(), Source: c.local, Addr: c.remote, Err: err}
}

// pipeAddr is the address of one end, in the form host:port.
type pipeAddr string

func (pipeAddr) Network() string  { return "sim" }
func (a pipeAddr) String() string { return string(a) }

// pipeListener hands the server ends of dialled pipes to an http.Server.
type pipeListener struct {
	addr  pipeAddr
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeListener(addr pipeAddr) *pipeListener {
	return &pipeListener{addr: addr, conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return l.addr }

// connect delivers the server's end, or gives up when ctx or the listener ends.
func (l *pipeListener) connect(ctx context.Context, server net.Conn) error {
	select {
	case l.conns <- server:
		return nil
	case <-l.done:
		return syscall.ECONNREFUSED
	case <-ctx.Done():
		return ctx.Err()
	}
}
