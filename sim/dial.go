// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"syscall"
	"time"
)

// Transport returns a new transport that reaches this server and nothing else,
// without a proxy. The caller closes its idle connections; the server's Close
// does so too.
func (s *Server) Transport() *http.Transport { return TransportTo(s) }

// Client returns a new client over a new Transport.
func (s *Server) Client() *http.Client { return &http.Client{Transport: s.Transport()} }

// TransportTo returns a new transport that reaches each of the servers by the
// host of its URL, and nothing else. In-memory servers need names of their own:
// see WithHost. The servers' Close closes its idle connections.
//
// The transport negotiates HTTP/2 if the first server does, keeps up to 256 idle
// connections for each host and closes none by age.
func TransportTo(servers ...*Server) *http.Transport {
	byAddr := make(map[string]*Server, len(servers))
	roots := x509.NewCertPool()
	t := &http.Transport{MaxIdleConnsPerHost: 256}
	for i, s := range servers {
		byAddr[s.listen.Addr().String()] = s
		if s.cert.Leaf != nil {
			roots.AddCert(s.cert.Leaf)
		}
		if i == 0 {
			t.Protocols = s.protocols()
		}
	}
	t.TLSClientConfig = &tls.Config{RootCAs: roots}
	t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if s := byAddr[addr]; s != nil {
			return s.Dial(ctx, network, addr)
		}
		return nil, unknownHost(network, addr)
	}
	for _, s := range servers {
		s.mu.Lock()
		s.transports = append(s.transports, t)
		s.mu.Unlock()
	}
	return t
}

func unknownHost(network, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	return &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{
		Err: "no such host: the simulation has no server of this name and port", Name: host, IsNotFound: true,
	}}
}

// Dial connects to the server. network is tcp or tcp4 (or empty) and addr the
// host and port of the URL; other addresses are not found. It fails when ctx
// ends and, as a refused connection, when the server is closed. Like net.Dialer
// it calls the connect hooks of net/http/httptrace.
func (s *Server) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	switch {
	case s.cfg.err != nil:
		return nil, s.cfg.err
	case network != "" && network != "tcp" && network != "tcp4":
		return nil, &net.OpError{Op: "dial", Net: network, Err: net.UnknownNetworkError(network)}
	case addr != s.listen.Addr().String():
		return nil, unknownHost(network, addr)
	}
	trace := httptrace.ContextClientTrace(ctx)
	if s.cfg.lookupDelay > 0 {
		if err := s.lookup(ctx, trace); err != nil {
			return nil, err
		}
	}
	if trace != nil && trace.ConnectStart != nil {
		trace.ConnectStart("tcp", addr)
	}
	c, err := s.connect(ctx, addr)
	if err != nil {
		err = &net.OpError{Op: "dial", Net: "tcp", Addr: s.listen.Addr(), Err: err}
	}
	if trace != nil && trace.ConnectDone != nil {
		trace.ConnectDone("tcp", addr, err)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (s *Server) lookup(ctx context.Context, trace *httptrace.ClientTrace) error {
	if trace != nil && trace.DNSStart != nil {
		trace.DNSStart(httptrace.DNSStartInfo{Host: s.hostname()})
	}
	err := s.sleep(ctx, s.cfg.lookupDelay)
	info := httptrace.DNSDoneInfo{Err: err}
	if err == nil {
		info.Addrs = []net.IPAddr{{IP: net.IPv4(127, 0, 0, 1)}}
	} else {
		err = &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	if trace != nil && trace.DNSDone != nil {
		trace.DNSDone(info)
	}
	return err
}

func (s *Server) connect(ctx context.Context, addr string) (net.Conn, error) {
	s.mu.Lock()
	turn := s.dials
	s.dials++
	s.mu.Unlock()

	wait := s.cfg.dialDelay
	var up, down *pace
	if l := s.cfg.link; l != nil {
		up, down = l.pace(2*turn), l.pace(2*turn+1)
		wait += up.delay() + down.delay()
	}
	if err := s.sleep(ctx, wait); err != nil {
		return nil, err
	}
	inner, err := s.open(ctx, addr, turn)
	if err != nil || s.cfg.link == nil {
		return inner, err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = inner.Close()
		return nil, syscall.ECONNREFUSED
	}
	var c *linkConn
	c = newLinkConn(inner, *s.cfg.link, up, down, &s.wg, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.links, c)
	})
	s.links[c] = struct{}{}
	return c, nil
}

// open makes the connection itself, without any emulation.
func (s *Server) open(ctx context.Context, addr string, turn uint64) (net.Conn, error) {
	if s.pipes == nil {
		// The hooks are called by Dial; the dialer must not see them too.
		return new(net.Dialer).DialContext(valueless{ctx}, "tcp4", addr)
	}
	client, server := newPipe(s.cfg.capacity, pipeAddr(fmt.Sprintf("client.invalid:%d", 1024+turn%64512)), s.pipes.addr)
	if err := s.pipes.connect(ctx, server); err != nil {
		return nil, err
	}
	return client, nil
}

// sleep waits d, or less when ctx ends or the server closes.
func (s *Server) sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.stop.Done():
		return syscall.ECONNREFUSED
	}
}

// valueless is a context without the values of its parent.
type valueless struct{ context.Context }

func (valueless) Value(any) any { return nil }
