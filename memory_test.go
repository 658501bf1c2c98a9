// SPDX-License-Identifier: Apache-2.0

//go:build !race

package tacho_test

import (
	"bytes"
	"context"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
)

// The race detector has its own use for memory, so the bounds are held without it.

// heapInUse is the heap, without what the collector can take.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // what the first one freed of pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestStreamMemory holds what a stream in flight costs beyond the base: the
// heap with many open streams over net/http, bare and measured, each with half
// an event read.
func TestStreamMemory(t *testing.T) { //nolint:paralleltest // measures the heap of the process
	const streams, limit = 500, 4096
	head, events, _ := bytes.Cut(streamResponse(20), []byte("\r\n\r\n"))
	head = bytes.Replace(head, []byte("Content-Length: "), []byte("Content-Length: 1"), 1) // more is to come
	response := append(append(head, "\r\n\r\n"...), events...)
	use := func(measure func(http.RoundTripper) http.RoundTripper) (perStream int64) {
		base := cannedServer(t, response)
		rt := measure(base)
		open := make([]*http.Response, streams)
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		before := heapInUse()
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
		after := heapInUse()
		for _, resp := range open {
			resp.Body.Close()
		}
		return (after - before) / streams
	}
	// The first round makes what the runtime keeps for ever, for each goroutine
	// that there ever was.
	use(func(rt http.RoundTripper) http.RoundTripper { return rt })
	// The least of three counts: what other tests left to the runtime comes on top.
	bare, with := int64(1<<62), int64(1<<62)
	for range 3 {
		bare = min(bare, use(func(rt http.RoundTripper) http.RoundTripper { return rt }))
		with = min(with, use(func(rt http.RoundTripper) http.RoundTripper {
			return tacho.NewTransport(rt, tacho.WithRecorder(tacho.NewRecorder()), tacho.WithoutTracing(), tacho.WithoutMetrics())
		}))
	}
	t.Logf("bytes a stream: bare %d, with tacho %d, difference %d", bare, with, with-bare)
	if with-bare > limit {
		t.Errorf("a stream in flight costs %d bytes beyond the base, more than %d", with-bare, limit)
	}
}

// TestCallAllocations holds what a plain call allocates beyond the base, over
// net/http, with nothing but a recorder. The least of several rounds counts: a
// collection that empties a pool in the midst of one is not the call's.
func TestCallAllocations(t *testing.T) { //nolint:paralleltest // counts the allocations of the process
	const limit = 20
	base := cannedServer(t, plainResponse())
	buf := make([]byte, 4096)
	least := func(rt http.RoundTripper) float64 {
		n := 1e9
		for range 10 {
			n = min(n, testing.AllocsPerRun(20, func() { call(t, rt, requestBody, buf) }))
		}
		return n
	}
	bare := least(base)
	with := least(tacho.NewTransport(base, tacho.WithRecorder(tacho.NewRecorder()), tacho.WithoutTracing(), tacho.WithoutMetrics(), tacho.WithoutTCPInfo()))
	t.Logf("allocations a call: bare %v, with tacho %v", bare, with)
	if with-bare > limit {
		t.Errorf("a call allocates %v times beyond the base, more than %d", with-bare, limit)
	}
}

// TestEventAllocations holds that an event allocates nothing: a stream of 2,000
// events allocates as often as one of 1,000. The least of many single calls
// counts: a gap of another length, on a busy machine, makes a page of a histogram.
func TestEventAllocations(t *testing.T) { //nolint:paralleltest // counts the allocations of the process
	buf := make([]byte, 8192)
	allocs := func(events, pieces int) float64 {
		_, body, _ := bytes.Cut(streamResponse(events), []byte("\r\n\r\n"))
		rt := tacho.NewTransport(&stub{body, pieces}, tacho.WithRecorder(tacho.NewRecorder()), tacho.WithoutTracing(), tacho.WithoutMetrics())
		n := 1e9
		for range 50 {
			n = min(n, testing.AllocsPerRun(1, func() { call(t, rt, []byte(chatStream), buf) }))
		}
		return n
	}
	for _, pieces := range []int{0, 1} {
		if few, many := allocs(1000, pieces), allocs(2000, pieces); few != many {
			t.Errorf("1,000 events allocate %v times, 2,000 events %v times", few, many)
		}
	}
}

// TestPassAllocations holds that a request that is no call allocates nothing.
func TestPassAllocations(t *testing.T) { //nolint:paralleltest // counts the allocations of the process
	rt := quiet(nothing{})
	req, _ := http.NewRequest("POST", "http://host.invalid/v1/files", nil)
	if n := testing.AllocsPerRun(100, func() { rt.RoundTrip(req) }); n != 0 {
		t.Errorf("it allocates %v times", n)
	}
}

// TestCompressedMemory holds what a compressed stream in flight costs: a window
// and its tables.
func TestCompressedMemory(t *testing.T) { //nolint:paralleltest // measures the heap of the process
	const streams, limit = 200, 128 << 10
	body := compress(t, "gzip", []string{strings.Repeat("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", 2000), "data: [DONE]\n\n"})[0]
	var open []*http.Response
	before := heapInUse()
	for range streams {
		resp, err := quiet(roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Encoding": {"gzip"}, "Content-Type": {"text/event-stream"}}, ContentLength: -1, Body: &pieceBody{rest: body, err: io.EOF}}, nil
		})).RoundTrip(newRequest(t.Context(), t, hostURL, chatStream))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, len(body))); err != nil {
			t.Fatal(err)
		}
		open = append(open, resp)
	}
	each := (heapInUse() - before) / streams
	t.Logf("bytes a compressed stream: %d", each)
	if each > limit {
		t.Errorf("a compressed stream costs %d bytes, more than %d", each, limit)
	}
	for _, resp := range open {
		resp.Body.Close()
	}
}

// TestRecorderMemory fills a label set beyond all use and measures it: 2 MB.
func TestRecorderMemory(t *testing.T) { //nolint:paralleltest // measures the heap of the process
	for _, tc := range []struct {
		name string
		draw func(*rand.Rand) float64
		kept bool // all windows
	}{
		{"lognormal, σ = 2", func(r *rand.Rand) float64 { return math.Exp(18 + 2*r.NormFloat64()) }, true},
		{"everything from 1 ns to 1 h", func(r *rand.Rand) float64 { return math.Exp(28.9 * r.Float64()) }, false},
	} {
		before := heapInUse()
		rec := tacho.FillRecorder(70, 3000, tc.draw)
		used := heapInUse() - before
		t.Logf("%s: %d bytes", tc.name, used)
		if used > 2_000_000 {
			t.Errorf("%s: a label set takes %d bytes, want at most 2 MB", tc.name, used)
		}
		s := rec.Snapshot(time.Hour)
		n := s.Streams.Figure(tacho.Duration).Count()
		t.Logf("%d windows", n/3000)
		if tc.kept && n != 60*3000 {
			t.Errorf("%s: %d durations in the windows", tc.name, n)
		}
		if n := rec.Total().Streams.Figure(tacho.Duration).Count(); n != 70*3000 {
			t.Errorf("%s: %d durations in all", tc.name, n)
		}
		runtime.KeepAlive(rec)
	}
}
