// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho/sim"
)

func TestLinkDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const d = 30 * ms
		s := sim.New(t, sim.WithLink(sim.Link{Delay: d}), sim.WithScript(sim.Script{HeaderDelay: 100 * ms, Gap: 7 * ms, Text: "a b"}))
		c := s.Client()
		// Connecting costs a round trip; each answer another one.
		for i, first := range []time.Duration{100*ms + 4*d, 100*ms + 2*d} {
			start := time.Now()
			resp := post(t, s, c, chatPath, streamBody)
			got := times(arrivals(t, start, resp.Body))
			resp.Body.Close()
			want := []time.Duration{first, first + 7*ms, first + 14*ms, first + 21*ms, first + 28*ms, first + 28*ms}
			if !slices.Equal(got, want) {
				t.Errorf("call %d:\n got %v\nwant %v", i, got, want)
			}
		}
		equal(t, "accepted", s.Accepted(), 1)
	})
}

// TestLinkPackets sends 1000 bytes in packets of 100 and notes their arrivals.
func TestLinkPackets(t *testing.T) {
	t.Parallel()
	const delay, jitter = 10 * ms, 5 * ms
	run := func(seed uint64) (at []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			s := sim.New(t, sim.WithLink(sim.Link{Delay: delay, Jitter: jitter, PerPacket: 100, Seed: seed}),
				sim.WithScript(sim.Script{Body: make([]byte, 100_000)}))
			resp := post(t, s, s.Client(), chatPath, plainBody)
			defer resp.Body.Close()
			// Headers and body were written at the same time, so that what has
			// come so far shares the time of the first packet.
			start := time.Now()
			total := 0
			for buf := make([]byte, 64<<10); ; {
				n, err := resp.Body.Read(buf)
				total += n
				if at = append(at, time.Since(start)); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			equal(t, "bytes", total, 100_000)
		})
		return slices.Compact(at)
	}
	one, again, two := run(1), run(1), run(2)
	if !slices.Equal(one, again) {
		t.Errorf("the same seed gives\n%v and\n%v", one, again)
	}
	if slices.Equal(one, two) {
		t.Error("another seed gives the same times")
	}
	// Order is kept: only a packet later than all before it has a time of its own.
	if len(one) < 3 || !slices.IsSorted(one) || one[len(one)-1] > 8*jitter {
		t.Errorf("arrivals %v", one)
	}
}

func TestLinkCloseAndCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(t, sim.WithLink(sim.Link{Delay: time.Second}))
		s.Play(sim.Script{Steps: []sim.Step{sim.Raw([]byte("abc")), sim.Cut()}}, sim.Script{Steps: []sim.Step{sim.Hang()}})
		c := s.Client()
		resp := post(t, s, c, chatPath, streamBody)
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(got) != "abc" || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q %v", got, err)
		}

		resp = post(t, s, c, chatPath, streamBody)
		equal(t, "open", s.OpenConns(), 1)
		resp.Body.Close() // the server learns of it one delay later
		time.Sleep(time.Second - 1)
		synctest.Wait()
		equal(t, "open just before", s.OpenConns(), 1)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		equal(t, "open after", s.OpenConns(), 0)
	})
}

func TestLinkDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(t, sim.WithLink(sim.Link{Delay: time.Second}))
		c, err := s.Dial(t.Context(), "tcp", "sim.invalid:80")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		c.SetDeadline(start.Add(time.Second))
		c.SetReadDeadline(start.Add(time.Minute))
		_, err = c.Read(make([]byte, 1))
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("error %v", err)
		}
		equal(t, "time", time.Since(start), time.Minute)
		if _, err = c.Write([]byte{0}); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("write: %v", err)
		}
		c.Close()
		if _, err = c.Write([]byte{0}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("write after close: %v", err)
		}
	})
}

func TestLinkString(t *testing.T) {
	t.Parallel()
	equal(t, "text", sim.Link{Delay: 5 * ms, Jitter: ms, Seed: 3}.String(),
		"emulated link: delay 5ms each way, jitter exponential with mean 1ms (cut at 8ms), packets of 1460 bytes, seed 3")
	equal(t, "all", sim.Link{Delay: 5 * ms, Bandwidth: 1e6, Loss: 0.01, Window: 1000}.String(), "emulated link: delay 5ms each way,"+
		" jitter exponential with mean 0s (cut at 0s), 1e+06 bytes/s, loss 0.01 (timeout 210ms), window 1000 bytes, packets of 1460 bytes, seed 0")
}

// exchange sends a request for 100,000 bytes over a connection and returns how many
// bytes went there and came back, and when the last came.
func exchange(t *testing.T, l sim.Link) (up, down int, took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(t, sim.WithLink(l), sim.WithScript(sim.Script{Body: make([]byte, 100_000)}))
		c, err := s.Dial(t.Context(), "tcp", "sim.invalid:80")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		start := time.Now()
		up, err = fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, c)
		if err != nil {
			t.Fatal(err)
		}
		down, took = int(n), time.Since(start)
	})
	return up, down, took
}

// TestLinkBandwidth takes 1 µs for each byte there and back, and two delays.
func TestLinkBandwidth(t *testing.T) {
	t.Parallel()
	up, down, took := exchange(t, sim.Link{Delay: 30 * ms, Bandwidth: 1e6})
	equal(t, "time", took, 60*ms+time.Duration(up+down)*time.Microsecond)
}

// TestLinkWindow sends 10,000 bytes in each round trip of 60 ms.
func TestLinkWindow(t *testing.T) {
	t.Parallel()
	_, down, took := exchange(t, sim.Link{Delay: 30 * ms, Window: 10_000})
	equal(t, "time", took, 60*ms+time.Duration((down-1)/10_000)*60*ms)
	// A window that a round trip does not fill costs nothing.
	_, _, took = exchange(t, sim.Link{Delay: 30 * ms, Window: 200_000})
	equal(t, "time with a large window", took, 60*ms)
}

// TestLinkLoss loses packets of an answer, whose bytes come nevertheless.
func TestLinkLoss(t *testing.T) {
	t.Parallel()
	_, down, took := exchange(t, sim.Link{Delay: 30 * ms, Loss: 0.1, Timeout: time.Second, Seed: 1})
	if down < 100_000 || took < time.Second || (took-60*ms)%time.Second != 0 {
		t.Errorf("%d bytes in %v", down, took)
	}
}

func TestLinkErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		l    sim.Link
		want string
	}{
		{sim.Link{Bandwidth: -1}, "sim: Link.Bandwidth is -1 bytes a second, not 0 to 1e15"},
		{sim.Link{Bandwidth: math.NaN()}, "sim: Link.Bandwidth is NaN bytes a second, not 0 to 1e15"},
		{sim.Link{Bandwidth: 0.5}, "sim: Link.Bandwidth is 0.5: it is at least 1 byte a second"},
		{sim.Link{Loss: 1}, "sim: Link.Loss is 1, not a probability of 0 to 0.9"},
		{sim.Link{Timeout: 1}, "sim: Link.Timeout needs Loss"},
		{sim.Link{Timeout: -1, Loss: 0.1}, "sim: Link.Timeout is negative: -1ns"},
		{sim.Link{Window: -1}, "sim: Link.Window is negative: -1"},
	} {
		_, err := sim.Listen(sim.WithLink(tc.l))
		if err == nil || err.Error() != tc.want {
			t.Errorf("error %v, not %s", err, tc.want)
		}
	}
}

// TestLinkOnPort shows that bytes pass; how long they take is for bubbles.
func TestLinkOnPort(t *testing.T) {
	t.Parallel()
	s, err := sim.Listen(sim.WithLink(sim.Link{Delay: 1, PerPacket: 7}), sim.WithScript(sim.Script{Text: "a b"}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	resp, body := fetch(t, s, s.Client(), chatPath, plainBody)
	equal(t, "status", resp.StatusCode, http.StatusOK)
	equal(t, "length", int64(len(body)), resp.ContentLength)
}
