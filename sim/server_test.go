// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho/sim"
)

func TestConnectionReuse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(t)
		c := s.Client()
		for i := range 20 {
			fetch(t, s, c, chatPath, []string{streamBody, plainBody}[i%2])
		}
		equal(t, "accepted", s.Accepted(), 1)
		equal(t, "open", s.OpenConns(), 1)
		c.CloseIdleConnections()
		synctest.Wait()
		equal(t, "open after close", s.OpenConns(), 0)
		fetch(t, s, c, chatPath, plainBody)
		equal(t, "accepted after close", s.Accepted(), 2)
	})
}

func TestParallelCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(t, sim.WithScript(sim.Script{HeaderDelay: time.Second}))
		c := s.Client()
		var wg sync.WaitGroup
		start := time.Now()
		for range 50 {
			wg.Go(func() { fetch(t, s, c, chatPath, streamBody) })
		}
		wg.Wait()
		equal(t, "time", time.Since(start), time.Second)
		equal(t, "accepted", s.Accepted(), 50)
		equal(t, "received", len(s.Requests()), 50)
	})
}

// TestBackPressure shows that a client that does not read stops the server only
// after the capacity of the pipe: the cut at the end is reached, or it is not.
func TestBackPressure(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ capacity, open int }{{1 << 20, 0}, {4 << 10, 1}} {
		t.Run(fmt.Sprint(tc.capacity), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				big := sim.Raw(make([]byte, 64<<10))
				s := sim.New(t, sim.WithPipeCapacity(tc.capacity),
					sim.WithScript(sim.Script{Gap: 10 * ms, Steps: []sim.Step{big, big, sim.Cut()}}))
				resp := post(t, s, s.Client(), chatPath, streamBody)
				defer resp.Body.Close()
				time.Sleep(time.Hour)
				equal(t, "open connections", s.OpenConns(), tc.open)
				n, err := io.Copy(io.Discard, resp.Body)
				equal(t, "bytes", n, 128<<10)
				equal(t, "error", err, io.ErrUnexpectedEOF)
			})
		})
	}
}

func TestDialErrors(t *testing.T) {
	t.Parallel()
	s := sim.New(t, sim.WithDialDelay(time.Hour))
	var dns *net.DNSError
	if _, err := s.Client().Get("http://elsewhere.invalid/v1/models"); !errors.As(err, &dns) || !dns.IsNotFound || dns.Name != "elsewhere.invalid" {
		t.Errorf("unknown host: %v", err)
	}
	if _, err := s.Dial(t.Context(), "udp", "sim.invalid:80"); err == nil {
		t.Error("udp: no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Dial(ctx, "tcp", "sim.invalid:80"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	s.Close()
	if _, err := s.Dial(t.Context(), "tcp", "sim.invalid:80"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("closed: %v", err)
	}
}

func TestCloseTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sim.NewServer(sim.WithScript(sim.Script{Steps: []sim.Step{sim.Hang()}}))
		resp := post(t, s, s.Client(), chatPath, streamBody)
		defer resp.Body.Close()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { s.Close() })
		}
		wg.Wait()
		equal(t, "open", s.OpenConns(), 0)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestSeveralServers(t *testing.T) {
	t.Parallel()
	a := sim.New(t, sim.WithHost("a.invalid"), sim.WithScript(sim.Script{Model: "ma"}))
	b := sim.New(t, sim.WithHost("b.invalid"), sim.WithScript(sim.Script{Model: "mb"}))
	c := &http.Client{Transport: sim.TransportTo(a, b)}
	for s, want := range map[*sim.Server]string{a: `"model":"ma"`, b: `"model":"mb"`} {
		if _, body := fetch(t, s, c, chatPath, plainBody); !strings.Contains(body, want) {
			t.Errorf("%s: %s", s.URL(), body)
		}
	}
	equal(t, "URL", a.URL(), "http://a.invalid/v1")
}

// TestDialHooks gives the phases of a dial in the order of the hooks.
func TestDialHooks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		opts []sim.Option
		want string
	}{
		{"no delay", nil, "connect 0s connected 0s <nil> "},
		{"all", []sim.Option{sim.WithLookupDelay(3 * ms), sim.WithDialDelay(20 * ms), sim.WithLink(sim.Link{Delay: 50 * ms})},
			"dns sim.invalid 0s addrs 1 3ms connect 3ms connected 123ms <nil> "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := sim.New(t, tc.opts...)
				got, start := "", time.Now()
				note := func(format string, args ...any) { got += fmt.Sprintf(format+" ", args...) }
				ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
					DNSStart:     func(i httptrace.DNSStartInfo) { note("dns %s %v", i.Host, time.Since(start)) },
					DNSDone:      func(i httptrace.DNSDoneInfo) { note("addrs %d %v", len(i.Addrs), time.Since(start)) },
					ConnectStart: func(_, _ string) { note("connect %v", time.Since(start)) },
					ConnectDone:  func(_, _ string, err error) { note("connected %v %v", time.Since(start), err) },
				})
				c, err := s.Dial(ctx, "tcp", "sim.invalid:80")
				if err != nil {
					t.Fatal(err)
				}
				c.Close()
				equal(t, "hooks", got, tc.want)
			})
		})
	}
}

// TestLargeBody sends more than is accepted: the client gets the refusal, and
// the server does not wait for the rest.
func TestLargeBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(t)
		resp, body := fetch(t, s, s.Client(), chatPath, strings.Repeat(" ", 32<<20+1))
		equal(t, "status", resp.StatusCode, http.StatusRequestEntityTooLarge)
		equal(t, "body", body, `{"error":{"message":"The request body is over 33554432 bytes.","type":"invalid_request_error","param":null,"code":null}}`)
		equal(t, "listed", len(s.Requests()), 0)
	})
}
