// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// ends returns the two ends of a pipe that is closed after the test.
func ends(t *testing.T, capacity int) (client, server net.Conn) {
	t.Helper()
	c, s := newPipe(capacity, "c:1", "s:1")
	t.Cleanup(func() { c.Close(); s.Close() })
	return c, s
}

func TestPipeBuffers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, s := ends(t, 4)
		if n, err := c.Write([]byte("abcd")); n != 4 || err != nil {
			t.Fatal(n, err)
		}
		start := time.Now()
		time.AfterFunc(time.Second, func() { s.Read(make([]byte, 3)) })
		if n, err := c.Write([]byte("efg")); n != 3 || err != nil {
			t.Fatal(n, err)
		}
		if d := time.Since(start); d != time.Second {
			t.Errorf("the full pipe took a write after %v", d)
		}
		c.Close()
		if b, err := io.ReadAll(s); string(b) != "defg" || err != nil {
			t.Errorf("%q %v", b, err)
		}
	})
}

func TestPipeDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, s := ends(t, 1)
		start := time.Now()
		expect := func(what string, err, want error, at time.Duration) {
			t.Helper()
			var op *net.OpError
			if !errors.Is(err, want) || !errors.As(err, &op) || op.Timeout() != errors.Is(want, os.ErrDeadlineExceeded) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
			if d := time.Since(start); d != at {
				t.Errorf("%s: after %v, want %v", what, d, at)
			}
		}
		c.SetReadDeadline(start.Add(time.Second))
		_, err := c.Read(make([]byte, 1))
		expect("read", err, os.ErrDeadlineExceeded, time.Second)

		c.SetReadDeadline(start.Add(time.Hour))
		time.AfterFunc(time.Second, func() { c.SetReadDeadline(start) })
		_, err = c.Read(make([]byte, 1))
		expect("deadline moved into the past", err, os.ErrDeadlineExceeded, 2*time.Second)

		c.SetDeadline(time.Time{})
		c.SetWriteDeadline(start.Add(3 * time.Second))
		n, err := c.Write([]byte("xy"))
		expect("write", err, os.ErrDeadlineExceeded, 3*time.Second)
		if n != 1 {
			t.Errorf("wrote %d bytes", n)
		}

		s.Close()
		c.SetDeadline(time.Time{})
		_, err = c.Write([]byte("z"))
		expect("write to a closed peer", err, syscall.EPIPE, 3*time.Second)
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("read from a closed peer: %v", err)
		}

		time.AfterFunc(time.Second, func() { c.Close() })
		c2, _ := ends(t, 1)
		time.AfterFunc(time.Second, func() { c2.Close() })
		_, err = c2.Read(make([]byte, 1))
		expect("closed under a read", err, net.ErrClosed, 4*time.Second)
		_, err = c2.Write([]byte("z"))
		expect("write after close", err, net.ErrClosed, 4*time.Second)
		expect("second close", c2.Close(), net.ErrClosed, 4*time.Second)
	})
}

func TestPipeHalfClose(t *testing.T) {
	t.Parallel()
	c, s := ends(t, 16)
	c.Write([]byte("ask"))
	c.(*pipeConn).CloseWrite()
	if b, err := io.ReadAll(s); string(b) != "ask" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	s.Write([]byte("answer"))
	s.Close()
	if b, err := io.ReadAll(c); string(b) != "answer" || err != nil {
		t.Errorf("%q %v", b, err)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "a": 1, "a b": 2, " a  b\n": 3, "äö ü": 2, "  ": 1} {
		got, sum := words(text), ""
		for _, w := range got {
			sum += w
		}
		if len(got) != want || sum != text {
			t.Errorf("words(%q) = %q", text, got)
		}
	}
}
