// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho/sim"
)

func TestListen(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name         string
		opts         []sim.Option
		scheme, want string
	}{
		{"plain", nil, "http://", "HTTP/1.1"},
		{"TLS", []sim.Option{sim.WithTLS()}, "https://", "HTTP/1.1"},
		{"HTTP/2", []sim.Option{sim.WithHTTP2()}, "https://", "HTTP/2.0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, err := sim.Listen(append(tc.opts, sim.WithScript(sim.Script{Text: "a b"}))...)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if u := s.URL(); !strings.HasPrefix(u, tc.scheme+"127.0.0.1:") || !strings.HasSuffix(u, "/v1") {
				t.Error(u)
			}
			c := s.Client()
			for range 3 {
				resp, body := fetch(t, s, c, chatPath, streamBody)
				equal(t, "protocol", resp.Proto, tc.want)
				if !strings.HasSuffix(body, done) {
					t.Error(body)
				}
			}
			equal(t, "accepted", s.Accepted(), 1)

			s.Play(sim.Script{Steps: []sim.Step{sim.Raw([]byte("abc")), sim.Cut()}})
			resp := post(t, s, c, chatPath, streamBody)
			if _, err := resp.Body.Read(make([]byte, 3)); err != nil {
				t.Error(err)
			}
			if n, err := resp.Body.Read(make([]byte, 3)); err == nil {
				t.Errorf("%d bytes after the cut", n)
			}
			resp.Body.Close()

			s.Play(sim.Script{Steps: []sim.Step{sim.Hang()}})
			resp = post(t, s, c, chatPath, streamBody)
			defer resp.Body.Close()
			s.Close()
			equal(t, "open after close", s.OpenConns(), 0)
			if _, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.URL(), tc.scheme), "/v1")); err == nil {
				t.Error("the port still answers")
			}
		})
	}
}

// TestForeignClient uses the certificate with a transport that is not the server's.
func TestForeignClient(t *testing.T) {
	t.Parallel()
	s, err := sim.Listen(sim.WithTLS())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer tr.CloseIdleConnections()
	resp, err := (&http.Client{Transport: tr}).Get(s.URL() + "/models")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if _, err := (&http.Client{Transport: &http.Transport{}}).Get(s.URL() + "/models"); err == nil {
		t.Error("a client without the certificate got an answer")
	}
}

// TestSecureBubble serves TLS and HTTP/2 in memory, in fake time. Three flights
// of the handshake and connection, and one round trip for the answer, cross the link.
func TestSecureBubble(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		opt  sim.Option
		want string
	}{{sim.WithTLS(), "HTTP/1.1"}, {sim.WithHTTP2(), "HTTP/2.0"}} {
		t.Run(tc.want, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := sim.New(t, tc.opt, sim.WithLink(sim.Link{Delay: 10 * ms}), sim.WithScript(sim.Script{FirstDelay: time.Second}))
				start := time.Now()
				resp, body := fetch(t, s, s.Client(), chatPath, streamBody)
				equal(t, "protocol", resp.Proto, tc.want)
				equal(t, "time", time.Since(start), time.Second+60*ms)
				equal(t, "end", strings.HasSuffix(body, done), true)
				equal(t, "URL", s.URL(), "https://sim.invalid/v1")
			})
		})
	}
}
