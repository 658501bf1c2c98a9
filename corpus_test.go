// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tacho-go/tacho"
)

// recording is one recorded exchange of the corpus.
type recording struct {
	ProviderHost    string            `json:"provider_host"`
	URLPath         string            `json:"url_path"`
	Endpoint        string            `json:"endpoint"`
	Method          string            `json:"method"`
	RequestBody     json.RawMessage   `json:"request_body"`
	Status          int               `json:"status"`
	ResponseHeaders map[string]string `json:"response_headers"`
	ResponseBody    string            `json:"response_body"`
	Fidelity        string            `json:"fidelity"`
	Stream          bool              `json:"stream"`
}

// TestCorpus replays recorded exchanges over HTTP and compares the record with
// what is known to be right, key by key. TACHO_CORPUS names a folder that holds
// corpus/ and corpus-expected/.
func TestCorpus(t *testing.T) { //nolint:paralleltest // its subtests are
	dir := os.Getenv("TACHO_CORPUS")
	if dir == "" {
		t.Skip("TACHO_CORPUS names no folder with corpus/ and corpus-expected/")
	}
	files, err := filepath.Glob(filepath.Join(dir, "corpus", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s: %v", filepath.Join(dir, "corpus"), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rec recording
			load(t, file, &rec)
			var want map[string]any
			load(t, filepath.Join(dir, "corpus-expected", filepath.Base(file)), &want)
			whole := rec.check(t, want, 0)
			if rec.Fidelity != "raw-body" {
				return
			}
			for _, size := range []int{1, 7, 64, -1} {
				if diff := cmp.Diff(whole, rec.check(t, want, size)); diff != "" {
					t.Errorf("in pieces of %d: (-whole +pieces)\n%s", size, diff)
				}
			}
		})
	}
}

func load(t *testing.T, file string, v any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// chunks is a transport whose body comes in pieces of a size; -1 is random.
type chunks struct {
	base http.RoundTripper
	size int
}

func (c chunks) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.base.RoundTrip(r)
	if err == nil && c.size != 0 {
		resp.Body = &chunkBody{resp.Body, c.size, rand.New(rand.NewPCG(1, 2))}
	}
	return resp, err
}

type chunkBody struct {
	io.ReadCloser
	size int
	rand *rand.Rand
}

func (b *chunkBody) Read(p []byte) (int, error) {
	n := b.size
	if n < 0 {
		n = 1 + b.rand.IntN(200)
	}
	return b.ReadCloser.Read(p[:min(n, len(p))])
}

// path is the recorded one, or where that was not kept the endpoint's.
func (rec *recording) path() string {
	if i := strings.Index(rec.URLPath, "/"); i >= 0 {
		return rec.URLPath[i:]
	}
	return "/v1/" + strings.TrimPrefix(rec.Endpoint, "/")
}

// check compares the record of the exchange, its body in pieces of a size, with
// what is wanted, and returns it without its times.
func (rec *recording) check(t *testing.T, want map[string]any, size int) map[string]any {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		for k, v := range rec.ResponseHeaders {
			switch strings.ToLower(k) {
			case "content-length", "transfer-encoding", "connection", "date":
				continue
			}
			w.Header().Set(k, v)
		}
		if w.Header().Get("Content-Type") == "" {
			w.Header()["Content-Type"] = nil
		}
		w.WriteHeader(rec.Status)
		io.WriteString(w, rec.ResponseBody)
	}))
	defer srv.Close()

	var calls []*tacho.Call
	base := &http.Transport{DisableCompression: true} // recordings of decoded bodies keep their header
	defer base.CloseIdleConnections()
	rt := tacho.NewTransport(chunks{base, size}, tacho.WithContent(tacho.ContentInRecord), tacho.WithContentLimits(64<<20, 64<<20), tacho.WithoutTracing(), tacho.WithoutMetrics(),
		tacho.WithObserver(func(c *tacho.Call) { calls = append(calls, c) }))
	var body io.Reader
	contentType := "application/json"
	if len(rec.RequestBody) > 0 && string(rec.RequestBody) != "null" {
		body = bytes.NewReader(rec.RequestBody)
		var text string
		if json.Unmarshal(rec.RequestBody, &text) == nil {
			if b, ok := strings.CutPrefix(text, "base64:"); ok {
				// The recording is cut: what is there is the begin of a form.
				if i := strings.IndexFunc(b, func(r rune) bool {
					return r != '+' && r != '/' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
				}); i >= 0 {
					b = b[:i]
				}
				form, err := base64.StdEncoding.DecodeString(b[:len(b)&^3])
				if err != nil {
					t.Fatal(err)
				}
				body, contentType = bytes.NewReader(form), "multipart/form-data; boundary=b"
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, strings.ToUpper(rec.Method), srv.URL+rec.path(), body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != rec.ResponseBody {
		t.Errorf("size %d: the application read other bytes than were sent", size)
	}
	if len(calls) != 1 {
		if op := want["operation"]; op == "other" && len(calls) == 0 {
			return nil // a poll is no inference
		}
		t.Fatalf("size %d: told %d times", size, len(calls))
	}
	b, err := json.Marshal(calls[0])
	if err != nil {
		t.Fatal(err)
	}
	var have map[string]any
	if err := json.Unmarshal(b, &have); err != nil {
		t.Fatal(err)
	}
	text, _ := have["text"].(string)
	if _, long := want["text"].(map[string]any); long {
		sum := sha256.Sum256([]byte(text))
		have["text"] = map[string]any{"chars": float64(utf8.RuneCountInString(text)), "sha256": hex.EncodeToString(sum[:])}
	}
	have["total_tokens"] = nil
	if n := calls[0].Usage().Total; n.Reported {
		have["total_tokens"] = float64(n.N)
	}
	for _, diff := range compare(want, have) {
		t.Errorf("size %d: %s", size, diff)
	}
	for _, k := range []string{"start", "server", "phases", "conn", "ttfb", "ttfc", "ttft", "ttfo", "ttlt", "duration", "network_wait", "consumer_wait",
		"gaps", "tbt", "tpot", "tokens_per_second", "bound", "buffered"} {
		delete(have, k)
	}
	return have
}

// compare lists the keys of an expectation that the record does not meet. Null
// is absent, and so are the zeros of a stream's keys on a plain response.
func compare(want, have map[string]any) (diffs []string) {
	stream, _ := want["stream"].(bool)
	for key, w := range want {
		switch key {
		case "usage_reported", "body_parsed", "notes", "operation_alternatives", "error_alternatives":
			continue
		case "reasoning_chars":
			if w == 0.0 && !stream {
				w = nil
			}
			if have[key] == 0.0 && !stream {
				delete(have, key)
			}
		case "events", "done_seen", "output_events", "first_output_event", "first_visible_event", "first_channel", "terminated":
			if !stream {
				w = nil // their zeros mean that there is no such thing
			}
		}
		h := have[key]
		if key == "error" {
			h = errorOf(h)
			w = errorOf(w)
		}
		if same(w, h) {
			continue
		}
		alternatives, _ := want[key+"_alternatives"].([]any)
		ok := false
		for _, a := range alternatives {
			if key == "error" {
				a = errorOf(a)
			}
			ok = ok || same(a, h)
		}
		if !ok {
			diffs = append(diffs, fmt.Sprintf("%s: have %s, want %s", key, show(h), show(w)))
		}
	}
	return diffs
}

func errorOf(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	return map[string]any{"type": m["type"], "code": m["code"], "mid_stream": m["mid_stream"]}
}

func show(v any) string {
	b, _ := json.Marshal(v)
	return string(b[:min(len(b), 300)])
}

// same compares two JSON values; null, a missing key, false and an empty
// collection are the same absence, but a number 0 is none.
func same(w, h any) bool {
	if empty(w) && empty(h) {
		return true
	}
	switch w := w.(type) {
	case map[string]any:
		m, _ := h.(map[string]any)
		for k := range m {
			if _, ok := w[k]; !ok && !empty(m[k]) {
				return false
			}
		}
		for k, v := range w {
			if !same(v, m[k]) {
				return false
			}
		}
		return true
	case []any:
		l, _ := h.([]any)
		if len(l) != len(w) {
			return false
		}
		for i := range w {
			if !same(w[i], l[i]) {
				return false
			}
		}
		return true
	case float64:
		f, ok := h.(float64)
		return ok && math.Abs(f-w) <= 1e-9*math.Max(1, math.Abs(w))
	}
	return w == h
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, x := range v {
			if !empty(x) {
				return false
			}
		}
		return true
	}
	return false
}
