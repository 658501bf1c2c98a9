// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// receiver counts what comes by OTLP, by path.
type receiver struct {
	mu   sync.Mutex
	seen map[string]int
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	_, _ = io.Copy(io.Discard, req.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[req.URL.Path]++
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// TestPlan makes 20 calls in each region, once through the plan.
func TestPlan(t *testing.T) {
	t.Parallel()
	r := &receiver{seen: map[string]int{}}
	srv := httptest.NewServer(r)
	defer srv.Close()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-otlp", srv.URL, "-calls", "40", "-json"}, nil, &stdout, &stderr); code != 0 {
		t.Fatalf("code %d: %s", code, &stderr)
	}
	var f figures
	if err := json.Unmarshal(stdout.Bytes(), &f); err != nil {
		t.Fatal(err)
	}
	if want := map[string]int64{"complete": 34, "error": 2, "cut": 2, "stream_error": 2}; !maps.Equal(f.Calls, want) {
		t.Errorf("%v, want %v", f.Calls, want)
	}
	// In each region one call takes two attempts and one three.
	if want := int64(40 + 2*(1+2)); f.Attempts != want {
		t.Errorf("%d attempts, want %d", f.Attempts, want)
	}
	if n := f.Calls["complete"] * 64; f.Usage.CacheRead != n {
		t.Errorf("%d tokens from a cache, want %d", f.Usage.CacheRead, n)
	}
	if len(f.Failed) != 6 || len(f.Stalled) < 2 || len(f.Slow) < 2 {
		t.Errorf("%d failed, %d stalled, %d slow", len(f.Failed), len(f.Stalled), len(f.Slow))
	}
	for _, path := range []string{"/v1/traces", "/v1/metrics", "/v1/logs"} {
		if r.seen[path] == 0 {
			t.Errorf("nothing came to %s", path)
		}
	}
	if text := f.String(); !strings.HasPrefix(text, "calls    2 cut, 2 error, 2 stream_error, 34 complete, in 46 attempts\n") {
		t.Errorf("printed:\n%s", text)
	}
}

func TestBadFlags(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-otlp", "127.0.0.1:4318"}, {"-calls", "0"}, {"-interval", "0s"}, {"more"}} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, nil, &stdout, &stderr); code != 2 || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "stack: ") {
			t.Errorf("%q: code %d, %q, %q", args, code, &stdout, &stderr)
		}
	}
}

// TestNoCollector: one line says what is missing and what to run. It was the
// exporters' errors, one after the other.
func TestNoCollector(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(http.NotFoundHandler())
	gone := closed.URL
	closed.Close()
	none := httptest.NewServer(http.NotFoundHandler())
	defer none.Close()
	for url, why := range map[string]string{gone: "refused", none.URL: "status 404"} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{"-otlp", url, "-calls", "1000000"}, nil, &stdout, &stderr)
		text := stderr.String()
		if code != 1 || stdout.Len() > 0 || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "stack: no collector at "+url+" takes traces; ") ||
			!strings.Contains(text, "make stack") || !strings.Contains(text, "-otlp") || !strings.Contains(text, why) {
			t.Errorf("code %d, %q, %q", code, &stdout, text)
		}
	}
}
