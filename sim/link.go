// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Link describes an emulated network link. It delays what a connection carries,
// in both directions alike, on the client's side of the connection: every write
// is split into packets, each packet arrives Delay plus a random jitter later,
// and none overtakes an earlier one. Connecting costs one packet each way.
//
// With Bandwidth, a packet leaves when those before it on its connection and in
// its direction have left, and takes its bytes ÷ Bandwidth to do so: a write of
// n bytes on an idle connection has arrived n ÷ Bandwidth + Delay later. A packet
// counts with its payload alone; connecting and closing have none. Connections do
// not share the bandwidth.
//
// With Loss, a packet is lost with that probability and is sent again after a
// time-out, which doubles if it is lost again. Since nothing overtakes it, the
// whole direction stalls for so long. There is no other recovery: to a receiver
// it looks as if only time-outs told of losses, as on a stream whose packets are
// few and far between. What is sent again takes no bandwidth.
//
// With Window, at most so many bytes are sent and not acknowledged; what has
// arrived is acknowledged Delay later. So a connection carries at most Window in
// a round trip, 2 × Delay, whatever its Bandwidth. Without it 256 KiB may be in
// flight, from being sent to being read.
//
// It is an emulation in user space: it shows how a measurement responds to a
// known delay. It says nothing of a real network or of a virtual machine's
// network card. The zero Link delays nothing but still splits into packets.
type Link struct {
	Delay     time.Duration // one way, of each packet
	Jitter    time.Duration // mean of the exponential distribution that is added; a draw is cut at 8 × Jitter
	Bandwidth float64       // bytes a second in each direction of a connection; 0: no limit
	Loss      float64       // probability that a packet is lost, 0 to 0.9
	Timeout   time.Duration // of the first retransmission; 0 means 200 ms + 2 × Delay; not without Loss
	Window    int           // bytes in flight each way until they are acknowledged; 0: see above
	PerPacket int           // bytes of a packet's payload; 0 means 1460
	Seed      uint64        // of jitter and loss; the same seed gives the same draws for the k-th connection
}

const (
	linkWindow    = 256 << 10
	defaultPacket = 1460
	jitterCut     = 8
)

// String prints the parameters in one line.
func (l Link) String() string {
	more := ""
	if l.Bandwidth > 0 {
		more += fmt.Sprintf(", %g bytes/s", l.Bandwidth)
	}
	if l.Loss > 0 {
		more += fmt.Sprintf(", loss %g (timeout %v)", l.Loss, l.timeout())
	}
	if l.Window > 0 {
		more += fmt.Sprintf(", window %d bytes", l.Window)
	}
	return fmt.Sprintf("emulated link: delay %v each way, jitter exponential with mean %v (cut at %v)%s, packets of %d bytes, seed %d",
		l.Delay, l.Jitter, jitterCut*l.Jitter, more, l.packet(), l.Seed)
}

// timeout is that of the first retransmission. 200 ms is the least that Linux
// waits beyond the round trip.
func (l Link) timeout() time.Duration {
	if l.Timeout == 0 {
		return 200*time.Millisecond + 2*l.Delay
	}
	return l.Timeout
}

func (l Link) packet() int {
	if l.PerPacket == 0 {
		return defaultPacket
	}
	return l.PerPacket
}

// limit is what a direction holds from being sent to being read.
func (l Link) limit() int { return max(linkWindow, l.Window) }

func (l Link) check() error {
	switch {
	case l.Delay < 0:
		return fmt.Errorf("sim: Link.Delay is negative: %v", l.Delay)
	case l.Jitter < 0:
		return fmt.Errorf("sim: Link.Jitter is negative: %v", l.Jitter)
	case l.PerPacket < 0:
		return fmt.Errorf("sim: Link.PerPacket is negative: %d", l.PerPacket)
	case !(l.Bandwidth >= 0 && l.Bandwidth <= 1e15):
		return fmt.Errorf("sim: Link.Bandwidth is %g bytes a second, not 0 to 1e15", l.Bandwidth)
	case l.Bandwidth > 0 && l.Bandwidth < 1:
		return fmt.Errorf("sim: Link.Bandwidth is %g: it is at least 1 byte a second", l.Bandwidth)
	case !(l.Loss >= 0 && l.Loss <= 0.9):
		return fmt.Errorf("sim: Link.Loss is %g, not a probability of 0 to 0.9", l.Loss)
	case l.Timeout < 0:
		return fmt.Errorf("sim: Link.Timeout is negative: %v", l.Timeout)
	case l.Timeout > 0 && l.Loss == 0:
		return errors.New("sim: Link.Timeout needs Loss")
	case l.Window < 0:
		return fmt.Errorf("sim: Link.Window is negative: %d", l.Window)
	}
	return nil
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
func newLinkConn(inner net.Conn, l Link, up, down *pace, wg *sync.WaitGroup, done func()) *linkConn {
	c := &linkConn{
		Conn: inner,
		in:   newFlow(l.limit(), l.packet(), down),
		out:  newFlow(l.limit(), l.packet(), up),
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
