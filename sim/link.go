// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Link describes an emulated network link. It delays what a connection carries,
// in both directions alike, on the client's side of the connection: every write
// is split into packets, each packet arrives Delay plus a random jitter later,
// and none overtakes an earlier one. Connecting costs one packet each way. It
// has no loss and no bandwidth limit; at most 256 KiB are in flight each way.
//
// It is an emulation in user space: it shows how a measurement responds to a
// known delay. It says nothing of a real network or of a virtual machine's
// network card. The zero Link delays nothing but still splits into packets.
type Link struct {
	Delay     time.Duration // one way, of each packet
	Jitter    time.Duration // mean of the exponential distribution that is added; a draw is cut at 8 × Jitter
	PerPacket int           // bytes of a packet's payload; 0 means 1460
	Seed      uint64        // of the jitter; the same seed gives the same draws for the k-th connection
}

const (
	linkWindow    = 256 << 10
	defaultPacket = 1460
	jitterCut     = 8
)

// String prints the parameters in one line.
func (l Link) String() string {
	return fmt.Sprintf("emulated link: delay %v each way, jitter exponential with mean %v (cut at %v), packets of %d bytes, seed %d",
		l.Delay, l.Jitter, jitterCut*l.Jitter, l.packet(), l.Seed)
}

func (l Link) packet() int {
	if l.PerPacket == 0 {
		return defaultPacket
	}
	return l.PerPacket
}

func (l Link) check() error {
	switch {
	case l.Delay < 0:
		return fmt.Errorf("sim: Link.Delay is negative: %v", l.Delay)
	case l.Jitter < 0:
		return fmt.Errorf("sim: Link.Jitter is negative: %v", l.Jitter)
	case l.PerPacket < 0:
		return fmt.Errorf("sim: Link.PerPacket is negative: %d", l.PerPacket)
	}
	return nil
}

// delays returns the draws of one direction of one connection. It is not safe
// for concurrent use: a flow calls it under its lock.
func (l Link) delays(stream uint64) func() time.Duration {
	r := rand.New(rand.NewPCG(l.Seed, stream))
	return func() time.Duration {
		if l.Jitter == 0 {
			return l.Delay
		}
		return l.Delay + time.Duration(min(r.ExpFloat64(), jitterCut)*float64(l.Jitter))
	}
}

// linkConn carries an inner connection over a Link. One goroutine for each
// direction moves packets between the inner connection and a delayed flow.
type linkConn struct {
	net.Conn // the inner connection: addresses only
	in, out  *flow
	closed   atomic.Bool
}

// newLinkConn starts the two goroutines; they count in wg and end soon after
// Close (one delay later) or at once on abort. done is called when both ended.
func newLinkConn(inner net.Conn, l Link, up, down func() time.Duration, wg *sync.WaitGroup, done func()) *linkConn {
	c := &linkConn{
		Conn: inner,
		in:   newFlow(linkWindow, l.packet(), down),
		out:  newFlow(linkWindow, l.packet(), up),
	}
	var left atomic.Int32
	left.Store(2)
	run := func(f func()) {
		wg.Go(func() {
			f()
			if left.Add(-1) == 0 {
				done()
			}
		})
	}
	run(func() { c.send(make([]byte, l.packet())) })
	run(func() { c.receive(make([]byte, l.packet())) })
	return c
}

// send moves packets that crossed the link into the inner connection.
func (c *linkConn) send(buf []byte) {
	for {
		n, err := c.out.Read(buf)
		if n > 0 {
			if _, err := c.Conn.Write(buf[:n]); err != nil {
				c.out.closeRead()
				return
			}
		}
		if err == nil {
			continue
		}
		_ = c.Conn.Close()
		return
	}
}

// receive moves what the inner connection delivers onto the link.
func (c *linkConn) receive(buf []byte) {
	for {
		n, err := c.Conn.Read(buf)
		if n > 0 {
			if _, err := c.in.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			c.in.closeWrite(err)
			return
		}
	}
}

func (c *linkConn) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	return n, c.wrap("read", err)
}

func (c *linkConn) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	return n, c.wrap("write", err)
}

// Close lets what was written arrive, and then the close itself.
func (c *linkConn) Close() error {
	if c.closed.Swap(true) {
		return c.wrap("close", net.ErrClosed)
	}
	c.in.closeRead()
	c.out.closeWrite(io.EOF)
	return nil
}

// abort drops all that is in flight.
func (c *linkConn) abort() {
	c.in.closeRead()
	c.out.closeRead()
	_ = c.Conn.Close()
}

func (c *linkConn) SetDeadline(t time.Time) error {
	c.in.setReadDeadline(t)
	c.out.setWriteDeadline(t)
	return nil
}

func (c *linkConn) SetReadDeadline(t time.Time) error {
	c.in.setReadDeadline(t)
	return nil
}

func (c *linkConn) SetWriteDeadline(t time.Time) error {
	c.out.setWriteDeadline(t)
	return nil
}

func (c *linkConn) wrap(op string, err error) error {
	var wrapped *net.OpError
	if err == nil || errors.Is(err, io.EOF) || errors.As(err, &wrapped) {
		return err
	}
	return &net.OpError{Op: op, Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}
