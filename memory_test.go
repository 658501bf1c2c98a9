// SPDX-License-Identifier: Apache-2.0

//go:build !race

package tacho_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"runtime"
	"testing"

	"github.com/tacho-go/tacho"
)

// The race detector has its own use for memory, so the bounds are held without it.

// TestStreamMemory holds what a stream in flight costs beyond the base: the
// heap with many open streams over net/http, bare and measured, each with half
// an event read.
func TestStreamMemory(t *testing.T) {
	const streams, limit = 500, 4096
	head, events, _ := bytes.Cut(streamResponse(20), []byte("\r\n\r\n"))
	head = bytes.Replace(head, []byte("Content-Length: "), []byte("Content-Length: 1"), 1) // more is to come
	response := append(append(head, "\r\n\r\n"...), events...)
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	use := func(measure func(http.RoundTripper) http.RoundTripper) (perStream int64) {
		base := cannedServer(t, response)
		rt := measure(base)
		open := make([]*http.Response, streams)
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		before := heap()
		for i := range open {
			one, cancel := context.WithCancel(ctx)
			defer cancel()
			req, _ := http.NewRequestWithContext(one, "POST", "http://host.invalid/v1/chat/completions", bytes.NewReader([]byte(chatStream)))
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(resp.Body, make([]byte, 2500)); err != nil {
				t.Fatal(err)
			}
			open[i] = resp
		}
		after := heap()
		for _, resp := range open {
			resp.Body.Close()
		}
		return (after - before) / streams
	}
	bare := use(func(rt http.RoundTripper) http.RoundTripper { return rt })
	with := use(func(rt http.RoundTripper) http.RoundTripper {
		return tacho.NewTransport(rt, tacho.WithRecorder(tacho.NewRecorder()), tacho.WithoutTracing(), tacho.WithoutMetrics())
	})
	t.Logf("bytes a stream: bare %d, with tacho %d, difference %d", bare, with, with-bare)
	if with-bare > limit {
		t.Errorf("a stream in flight costs %d bytes beyond the base, more than %d", with-bare, limit)
	}
}
