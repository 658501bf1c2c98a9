// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
)

// TB is the part of testing.TB that New needs.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Server is an Endpoint on a network: in memory (New, NewServer) or on a port
// of the loopback interface (Listen). It is safe for concurrent use.
//
// In memory it works inside a testing/synctest bubble, if it is created there:
// it blocks only where fake time can pass, and a delay of a script is exact to
// the nanosecond.
type Server struct {
	*Endpoint

	cfg    config
	listen net.Listener
	pipes  *pipeListener // nil on a port
	http   *http.Server
	cert   tls.Certificate

	mu         sync.Mutex
	idle       sync.Cond // signals that conns or handlers fell
	conns      int
	accepted   int
	handlers   int
	dials      uint64
	closed     bool
	links      map[*linkConn]struct{}
	transports []*http.Transport

	stop   context.Context // ends when Close begins
	cancel context.CancelFunc
	wg     sync.WaitGroup // Serve and the goroutines of links
	done   chan struct{}  // closed when Close has ended
}

// New returns an in-memory server that closes itself at the end of the test.
// Bad options fail the test.
func New(tb TB, opts ...Option) *Server {
	tb.Helper()
	s := NewServer(opts...)
	if err := s.cfg.err; err != nil {
		_ = s.Close()
		tb.Fatalf("%v", err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// NewServer returns an in-memory server. The caller ends it with Close.
// With bad options it is a server whose Dial returns the error.
func NewServer(opts ...Option) *Server {
	cfg := newConfig(opts)
	port := ":80"
	if cfg.tls {
		port = ":443"
	}
	pipes := newPipeListener(pipeAddr(cfg.host + port))
	return start(cfg, pipes, pipes)
}

// Listen returns a server on a free port of 127.0.0.1. The caller ends it with
// Close. It fails on bad options and when it gets no port.
func Listen(opts ...Option) (*Server, error) {
	cfg := newConfig(opts)
	if cfg.hasCapacity {
		cfg.fail(errors.New("sim: WithPipeCapacity does not go with Listen"))
	}
	if cfg.host != defaultHost {
		cfg.fail(errors.New("sim: WithHost does not go with Listen"))
	}
	if cfg.err != nil {
		return nil, cfg.err
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	s := start(cfg, l, nil)
	if s.cfg.err != nil {
		_ = s.Close()
		return nil, s.cfg.err
	}
	return s, nil
}

func start(cfg config, l net.Listener, pipes *pipeListener) *Server {
	s := &Server{
		cfg:    cfg,
		listen: l,
		pipes:  pipes,
		links:  make(map[*linkConn]struct{}),
		done:   make(chan struct{}),
	}
	s.idle.L = &s.mu
	s.stop, s.cancel = context.WithCancel(context.Background())
	s.http = &http.Server{
		Handler:     http.HandlerFunc(s.serve),
		ConnState:   s.connState,
		BaseContext: func(net.Listener) context.Context { return s.stop },
		// Cut connections and foreign TLS clients are what a simulation is for.
		ErrorLog: log.New(io.Discard, "", 0), //nolint:forbidigo // keeps the http.Server from logging
	}
	if cfg.tls {
		cert, err := newCertificate(s.hostname())
		s.cfg.fail(err)
		s.cert = cert
		s.http.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}}
	}
	s.http.Protocols = s.protocols()
	s.Endpoint = newEndpoint(s.cfg)
	s.wg.Go(func() {
		// It ends when Close closes the listener, with an error that says so.
		if cfg.tls {
			_ = s.http.ServeTLS(l, "", "")
			return
		}
		_ = s.http.Serve(l)
	})
	return s
}

func (s *Server) protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetHTTP2(s.cfg.http2)
	return p
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.handlers++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.handlers--
		s.idle.Broadcast()
		s.mu.Unlock()
	}()
	s.ServeHTTP(w, r)
}

func (s *Server) connState(_ net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.conns++
		s.accepted++
	case http.StateClosed, http.StateHijacked:
		s.conns--
		s.idle.Broadcast()
	}
}

// OpenConns returns the number of connections that are open on the server's side now.
func (s *Server) OpenConns() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

// Accepted returns the number of connections accepted so far.
func (s *Server) Accepted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// URL returns the base URL of the API, which ends in "/v1": http://sim.invalid/v1
// in memory, a name that no DNS resolves, and http://127.0.0.1:PORT/v1 on a
// port; https with WithTLS.
func (s *Server) URL() string {
	scheme, host := "http://", s.listen.Addr().String()
	if s.cfg.tls {
		scheme = "https://"
	}
	if s.pipes != nil {
		host = s.hostname()
	}
	return scheme + host + "/v1"
}

// hostname is the host of the URL without a port.
func (s *Server) hostname() string {
	host, _, _ := strings.Cut(s.listen.Addr().String(), ":")
	return host
}

// Close ends the server: it aborts calls that are being answered, closes the
// connections and the idle connections of its transports, and waits for the
// server's goroutines. Further calls wait for the first and do nothing else.
// It must not be called from a handler. The error is always nil.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if !first {
		<-s.done
		return nil
	}
	defer close(s.done)
	s.cancel()
	_ = s.http.Close()
	// A server that is closed before Serve began to listen leaves its listener.
	_ = s.listen.Close()
	s.mu.Lock()
	for c := range s.links {
		c.abort()
	}
	transports := s.transports
	s.transports = nil
	s.mu.Unlock()
	for _, t := range transports {
		t.CloseIdleConnections()
	}
	s.wg.Wait()
	s.mu.Lock()
	for s.conns > 0 || s.handlers > 0 {
		s.idle.Wait()
	}
	s.mu.Unlock()
	return nil
}

// String prints what the server plays and over which network, in one line.
func (s *Server) String() string {
	net := "in memory"
	if s.pipes == nil {
		net = "on " + s.listen.Addr().String()
	}
	if s.cfg.link != nil {
		net += ", " + s.cfg.link.String()
	}
	return s.Endpoint.String() + "; " + net
}
