// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// roundTripper is a base made of a function.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func quiet(base http.RoundTripper, opts ...tacho.Option) *tacho.Transport {
	return tacho.NewTransport(base, append([]tacho.Option{tacho.WithoutTracing(), tacho.WithoutMetrics()}, opts...)...)
}

func answer(body string) *http.Response {
	return &http.Response{StatusCode: 200, Proto: "HTTP/1.1", Header: http.Header{"Content-Type": {"application/json"}},
		ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body))}
}

func newRequest(ctx context.Context, t testing.TB, url, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const hostURL = "http://host.invalid/v1/chat/completions"

func TestRoutes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		method, path, api string
	}{
		{"POST", "/v1/chat/completions", "chat_completions"},
		{"POST", "/v1/chat/completions/", "chat_completions"},
		{"POST", "/openai/deployments/name/chat/completions", "chat_completions"},
		{"POST", "/some/gateway/v1/completions", "completions"},
		{"POST", "/v1/responses", "responses"},
		{"POST", "/v1/embeddings", "embeddings"},
		{"POST", "/v1/images/generations", "images/generations"},
		{"POST", "/v1/images/edits", "images/edits"},
		{"POST", "/v1/images/variations", "images/variations"},
		{"POST", "/v1/audio/speech", "audio/speech"},
		{"POST", "/v1/audio/transcriptions", "audio/transcriptions"},
		{"POST", "/v1/audio/translations", "audio/translations"},
		{"POST", "/v1/moderations", "moderations"},
		{"GET", "/v1/responses/resp_1", ""}, // polling is no inference, and would count its usage again
		{"POST", "/v1/responses/input_tokens", ""},
		{"POST", "/v1/responses/resp_1/cancel", ""},
		{"GET", "/v1/organization/usage/embeddings", ""},
		{"GET", "/v1/models", ""},
		{"GET", "/v1/responses", ""},
		{"GET", "/v1/chat/completions", ""},
		{"POST", "/v1/files", ""},
		{"POST", "/", ""},
		{"POST", "", ""},
		{"POST", "/v1/notcompletions", ""},
	} {
		told := 0
		rt := quiet(roundTripper(func(r *http.Request) (*http.Response, error) { return answer(`{}`), nil }),
			tacho.WithObserver(func(c *tacho.Call) {
				told++
				if c.API() != tc.api {
					t.Errorf("%s %s is %q, want %q", tc.method, tc.path, c.API(), tc.api)
				}
			}))
		req := &http.Request{Method: tc.method, URL: &url.URL{Scheme: "http", Host: "h", Path: tc.path}, Header: http.Header{}}
		resp, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
		if want := map[bool]int{true: 1}[tc.api != ""]; told != want {
			t.Errorf("%s %s told %d times, want %d", tc.method, tc.path, told, want)
		}
	}
}

// TestPassesOthersUntouched hands the very request on when it is no call.
func TestPassesOthersUntouched(t *testing.T) {
	t.Parallel()
	var got *http.Request
	rt := quiet(roundTripper(func(r *http.Request) (*http.Response, error) { got = r; return answer("x"), nil }))
	req := newRequest(t.Context(), t, "http://host.invalid/v1/files", "body")
	if _, err := rt.RoundTrip(req); err != nil {
		t.Fatal(err)
	}
	if got != req {
		t.Error("the base got another request")
	}
}

// TestLayers installs every way in at once: the outermost measures, and nothing
// is told twice.
func TestLayers(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		var told []string
		name := func(n string) tacho.Option {
			return tacho.WithObserver(func(*tacho.Call) { told = append(told, n) })
		}
		srv := sim.New(t, sim.WithScript(sim.Script{Text: "a b"}))
		inner := quiet(quiet(srv.Transport(), name("innermost")), name("inner"))
		mw := tacho.Middleware(name("outer"), tacho.WithoutTracing(), tacho.WithoutMetrics())
		body := chatPlain
		if stream {
			body = chatStream
		}
		resp, err := mw(newRequest(t.Context(), t, srv.URL()+chatPath, body), inner.RoundTrip)
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
		if diff := cmp.Diff([]string{"outer"}, told); diff != "" {
			t.Error(diff)
		}
		inner.CloseIdleConnections()
	}
}

func TestRequestIsNotChanged(t *testing.T) {
	t.Parallel()
	var sent *http.Request
	rt := quiet(roundTripper(func(r *http.Request) (*http.Response, error) {
		sent = r
		b, err := io.ReadAll(r.Body)
		if err != nil || string(b) != chatStream {
			t.Errorf("the base read %q, %v", b, err)
		}
		again, err := r.GetBody()
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := io.ReadAll(again); string(b) != chatStream {
			t.Errorf("GetBody gave %q", b)
		}
		resp := answer(`{}`)
		resp.Request = r
		return resp, nil
	}))
	type key struct{}
	req := newRequest(context.WithValue(t.Context(), key{}, "v"), t, hostURL, chatStream)
	req.Header.Set("Authorization", "Bearer x")
	before := *req
	header := req.Header.Clone()
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
	if resp.Request != req {
		t.Error("the response names another request than the caller's")
	}
	if req.Context() != before.Context() || req.Body != before.Body || req.ContentLength != before.ContentLength {
		t.Error("the caller's request was changed")
	}
	if diff := cmp.Diff(header, req.Header); diff != "" {
		t.Errorf("the caller's headers were changed: %s", diff)
	}
	if sent == req || !reflect.DeepEqual(sent.Header, header) {
		t.Error("the base did not get a request of its own with the same headers")
	}
	if sent.Context().Value(key{}) != "v" {
		t.Error("the caller's context values are lost")
	}
}

func TestRequestFacts(t *testing.T) {
	t.Parallel()
	const body = `{"model":"m\u0031","n":2,"max_completion_tokens":50,"temperature":0.3,"top_p":1,"stream":true,"stream_options":{"include_usage":true},
		"tools":[{"type":"function","function":{"name":"f","parameters":{"model":"no","n":7}}}],"messages":[{"role":"user","content":"\"model\":\"no\""},{"role":"user","content":["x"]}]}`
	want := map[string]any{"n": 2.0, "max_tokens": 50.0, "temperature": 0.3, "top_p": 1.0, "has_tools": true, "include_usage": true, "message_count": 2.0}
	big := strings.Replace(body, `["x"]`, `[{"type":"image_url","image_url":{"url":"data:image/png;base64,`+strings.Repeat("A", 5<<20)+`"}}]`, 1)
	for _, tc := range []struct {
		name, body string
		prepare    func(*http.Request)
	}{
		{"in memory", body, func(*http.Request) {}},
		{"in memory, GetBody is none", body, func(r *http.Request) { r.GetBody = nil }},
		{"in memory, a buffer", body, func(r *http.Request) { r.Body = io.NopCloser(bytes.NewBufferString(body)) }},
		{"in memory, bytes of which some were read", body, func(r *http.Request) {
			b := bytes.NewReader([]byte("read " + body))
			b.Seek(5, io.SeekStart)
			r.Body = io.NopCloser(b)
		}},
		{"through GetBody", body, func(r *http.Request) { r.Body = onlyReadCloser{r.Body} }},
		{"through GetBody, of another type", body, func(r *http.Request) {
			r.Body = onlyReadCloser{r.Body}
			r.GetBody = func() (io.ReadCloser, error) { return writingBody{strings.NewReader(body)}, nil }
		}},
		{"through a GetBody that is no bytes in memory", body, func(r *http.Request) {
			r.Body = onlyReadCloser{r.Body}
			r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(onlyReader{strings.NewReader(body)}), nil }
		}},
		{"watched while it is sent", body, func(r *http.Request) { r.Body, r.GetBody = onlyReadCloser{r.Body}, nil }},
		{"watched, since GetBody fails", body, func(r *http.Request) {
			r.Body = onlyReadCloser{r.Body}
			r.GetBody = func() (io.ReadCloser, error) { return nil, errors.New("no") }
		}},
		{"watched, since GetBody panics", body, func(r *http.Request) {
			r.Body = onlyReadCloser{r.Body}
			r.GetBody = func() (io.ReadCloser, error) { panic("no") }
		}},
		{"an image of 5 MiB", big, func(*http.Request) {}},
		{"an image of 5 MiB, watched", big, func(r *http.Request) { r.Body, r.GetBody = onlyReadCloser{r.Body}, nil }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			rt := quiet(roundTripper(func(r *http.Request) (*http.Response, error) {
				got, err := io.ReadAll(r.Body)
				if err != nil || string(got) != tc.body {
					t.Errorf("the base read %d bytes, %v; want %d", len(got), err, len(tc.body))
				}
				return answer(`{}`), nil
			}))
			ctx, tr := tacho.Track(t.Context())
			req := newRequest(ctx, t, hostURL, tc.body)
			tc.prepare(req)
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			readAll(resp)
			c := one(t, tr)
			if c.RequestModel() != "m1" {
				t.Errorf("model %q", c.RequestModel())
			}
			if diff := cmp.Diff(want, record(t, c)["request"]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type onlyReader struct{ io.Reader }

type onlyReadCloser struct{ io.ReadCloser }

type writingBody struct{ *strings.Reader }

func (writingBody) Close() error { return nil }

// TestSwitchingProtocols keeps a 101 body an io.ReadWriteCloser, the very one.
func TestSwitchingProtocols(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	defer b.Close()
	rt := quiet(roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 101, Header: http.Header{}, Body: a}, nil
	}))
	ctx, tr := tacho.Track(t.Context())
	resp, err := rt.RoundTrip(newRequest(ctx, t, hostURL, chatStream))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.Body != io.ReadCloser(a) {
		t.Error("the body is another one")
	}
	if c := one(t, tr); c.Outcome() != tacho.Complete {
		t.Errorf("outcome %v", c.Outcome())
	}
}

// TestBrokenBases hands on what a base must not return.
func TestBrokenBases(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	full := answer(`{}`)
	for _, tc := range []struct {
		name string
		resp *http.Response
		err  error
		want tacho.Outcome
	}{
		{"neither response nor error", nil, nil, tacho.Failed},
		{"an error", nil, bad, tacho.Failed},
		{"response and error", full, bad, tacho.Failed},
		{"no body", &http.Response{StatusCode: 200, Header: http.Header{}}, nil, tacho.Complete},
		{"an empty body", &http.Response{StatusCode: 204, Header: http.Header{}, Body: http.NoBody}, nil, tacho.Complete},
		{"no headers", &http.Response{StatusCode: 200, Body: http.NoBody}, nil, tacho.Complete},
	} {
		ctx, tr := tacho.Track(t.Context())
		resp, err := quiet(roundTripper(func(*http.Request) (*http.Response, error) { return tc.resp, tc.err })).RoundTrip(newRequest(ctx, t, hostURL, chatPlain))
		if resp != tc.resp || err != tc.err {
			t.Errorf("%s: got %v, %v", tc.name, resp, err)
		}
		if c := one(t, tr); c.Outcome() != tc.want {
			t.Errorf("%s: outcome %v, want %v", tc.name, c.Outcome(), tc.want)
		}
	}
}

// TestPanicsAreFenced has observers and a context's observer that panic.
func TestPanicsAreFenced(t *testing.T) {
	t.Parallel()
	told := 0
	rt := quiet(roundTripper(func(*http.Request) (*http.Response, error) { return answer(`{}`), nil }),
		tacho.WithObserver(func(*tacho.Call) { panic("observer") }), tacho.WithObserver(func(*tacho.Call) { told++ }))
	ctx := tacho.ContextWithObserver(t.Context(), func(*tacho.Call) { told++ })
	ctx = tacho.ContextWithObserver(ctx, func(*tacho.Call) { panic("context") })
	resp, err := rt.RoundTrip(newRequest(ctx, t, hostURL, chatPlain))
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
	if told != 2 {
		t.Errorf("the other observers were told %d times, want 2", told)
	}
}

// TestExistingTrace keeps the hooks of a trace that the caller has.
func TestExistingTrace(t *testing.T) {
	t.Parallel()
	srv := sim.New(t, sim.WithLookupDelay(ms), sim.WithScript(sim.Script{Text: "a"}))
	base := srv.Transport()
	defer base.CloseIdleConnections()
	var hooks []string
	note := func(s string) { hooks = append(hooks, s) }
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		GetConn: func(string) { note("get") }, DNSStart: func(httptrace.DNSStartInfo) { note("dns") }, DNSDone: func(httptrace.DNSDoneInfo) { note("dns done") },
		ConnectStart: func(_, _ string) { note("connect") }, ConnectDone: func(_, _ string, _ error) { note("connect done") },
		TLSHandshakeStart: func() { note("tls") }, TLSHandshakeDone: func(tls.ConnectionState, error) { note("tls done") },
		GotConn: func(httptrace.GotConnInfo) { note("got") }, GotFirstResponseByte: func() { note("byte") },
	})
	ctx, tr := tacho.Track(ctx)
	resp, err := quiet(base).RoundTrip(newRequest(ctx, t, srv.URL()+chatPath, chatPlain))
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
	if diff := cmp.Diff([]string{"get", "dns", "dns done", "connect", "connect done", "got", "byte"}, hooks); diff != "" {
		t.Error(diff)
	}
	for _, f := range []tacho.Figure{tacho.DNS, tacho.Connect, tacho.Send, tacho.Wait} {
		if _, ok := one(t, tr).Figure(f); !ok {
			t.Errorf("%v is absent", f)
		}
	}
}

func TestLabelsAndAttempts(t *testing.T) {
	t.Parallel()
	rt := quiet(roundTripper(func(*http.Request) (*http.Response, error) { return answer(`{}`), nil }))
	ctx := tacho.ContextWithLabels(t.Context(), "region", "eu", "tier", "a")
	ctx, tr := tacho.Track(tacho.ContextWithLabels(ctx, "tier", "b", "odd"))
	for attempt, retries := range []string{"", "0", "1", "2", "x", "11"} {
		req := newRequest(ctx, t, hostURL, chatPlain)
		if retries != "" {
			req.Header.Set("X-Stainless-Retry-Count", retries)
		}
		resp, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
		if got, want := tr.Calls()[attempt].Attempt(), []int{1, 1, 2, 3, 1, 12}[attempt]; got != want {
			t.Errorf("retry count %q is attempt %d, want %d", retries, got, want)
		}
	}
	c, _ := tr.Call()
	if diff := cmp.Diff([]tacho.Label{{Name: "region", Value: "eu"}, {Name: "tier", Value: "b"}, {Name: "odd"}}, c.Labels()); diff != "" {
		t.Error(diff)
	}
}

// TestRedirects: a middleware sees one call with all its hops, a transport one
// exchange a hop.
func TestRedirects(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	defer srv.Close()
	mux.HandleFunc("/old/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/v1/chat/completions", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(w, r.Body)
	})
	base := &http.Transport{}
	defer base.CloseIdleConnections()

	rec := tacho.NewRecorder()
	ctx, tr := tacho.Track(t.Context())
	client := &http.Client{Transport: quiet(base, tacho.WithRecorder(rec))}
	resp, err := client.Do(newRequest(ctx, t, srv.URL+"/old/chat/completions", chatPlain))
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
	var got []string
	for _, c := range tr.Calls() {
		status, _ := c.Status()
		got = append(got, fmt.Sprintf("%d after %d redirects", status, c.Redirects()))
	}
	if diff := cmp.Diff([]string{"307 after 0 redirects", "200 after 1 redirects"}, got); diff != "" {
		t.Error(diff)
	}
	if n := rec.Total().Plain.Calls(); n != 1 {
		t.Errorf("the recorder counts %d calls, want 1: a redirect is no answer", n)
	}

	ctx, tr = tacho.Track(t.Context())
	mw := tacho.Middleware(tacho.WithoutTracing(), tacho.WithoutMetrics())
	plain := &http.Client{Transport: base}
	resp, err = mw(newRequest(ctx, t, srv.URL+"/old/chat/completions", chatPlain), plain.Do)
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
	c := one(t, tr)
	if status, _ := c.Status(); status != 200 || c.Redirects() != 1 {
		t.Errorf("status %d after %d redirects, want 200 after 1", status, c.Redirects())
	}
}

// TestTCPInfo asks the kernel about a loopback connection, bare and under TLS.
func TestTCPInfo(t *testing.T) {
	t.Parallel()
	for _, opts := range [][]sim.Option{nil, {sim.WithTLS()}, {sim.WithTLS(), sim.WithHTTP2()}} {
		srv, err := sim.Listen(opts...)
		if err != nil {
			t.Fatal(err)
		}
		defer srv.Close()
		base := srv.Transport()
		defer base.CloseIdleConnections()
		for _, with := range []bool{true, false} {
			o := []tacho.Option{tacho.WithoutTCPInfo()}
			if with {
				o = nil
			}
			ctx, tr := tacho.Track(t.Context())
			resp, err := quiet(base, o...).RoundTrip(newRequest(ctx, t, srv.URL()+chatPath, chatPlain))
			if err != nil {
				t.Fatal(err)
			}
			readAll(resp)
			conn, _ := record(t, one(t, tr))["conn"].(map[string]any)
			_, rtt := conn["rtt"].(float64)
			retransmits, there := conn["retransmits"].(float64)
			if want := with && runtime.GOOS == "linux"; rtt != want || there != want || retransmits < 0 {
				t.Errorf("%v with %v: conn %v", opts, with, conn)
			}
			if proto := conn["protocol"]; proto != map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"}[len(opts) == 2] {
				t.Errorf("protocol %v", proto)
			}
		}
	}
}

// TestConcurrentReadAndClose has a Close while a Read waits, as net/http allows.
func TestConcurrentReadAndClose(t *testing.T) {
	t.Parallel()
	srv := sim.New(t, sim.WithScript(sim.Script{Steps: []sim.Step{sim.Role(0), sim.Hang()}}))
	base := srv.Transport()
	defer base.CloseIdleConnections()
	for range 50 {
		ctx, tr := tacho.Track(t.Context())
		resp, err := quiet(base).RoundTrip(newRequest(ctx, t, srv.URL()+chatPath, chatStream))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			io.Copy(io.Discard, resp.Body)
		}()
		resp.Body.Close()
		<-done
		if o := one(t, tr).Outcome(); o != tacho.ClosedEarly {
			t.Errorf("outcome %v", o)
		}
	}
}

// TestZeroTransport works unconstructed, for observers of the context.
func TestZeroTransport(t *testing.T) {
	t.Parallel()
	srv, err := sim.Listen(sim.WithScript(sim.Script{Text: "a"}))
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	ctx, tr := tacho.Track(t.Context())
	var zero tacho.Transport
	resp, err := zero.RoundTrip(newRequest(ctx, t, srv.URL()+chatPath, chatPlain))
	if err != nil {
		t.Fatal(err)
	}
	readAll(resp)
	if o := one(t, tr).Outcome(); o != tacho.Complete {
		t.Errorf("outcome %v", o)
	}
	zero.CloseIdleConnections()
}

// TestBytesPass reads with every sort of Read what a stream sends.
func TestBytesPass(t *testing.T) {
	t.Parallel()
	_, body, _ := bytes.Cut(streamResponse(30), []byte("\r\n\r\n"))
	for size := 1; size < 400; size += 13 {
		resp, err := quiet(&stub{body: body}).RoundTrip(newRequest(t.Context(), t, hostURL, chatStream))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if _, err := io.CopyBuffer(&got, onlyReader{resp.Body}, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), body) {
			t.Fatalf("Reads of %d: other bytes than were sent", size)
		}
	}
}
