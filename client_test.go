// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

func newClient(t *testing.T, base, key string, opts ...tacho.ClientOption) *tacho.Client {
	t.Helper()
	c, err := tacho.NewClient(base, key, append([]tacho.ClientOption{tacho.WithoutTracing(), tacho.WithoutMetrics()}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func TestClientURLs(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got *http.Request
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = r
		fmt.Fprint(w, `{}`)
	}))
	defer srv.Close()
	for _, tc := range []struct{ base, path, want string }{
		{"", "chat/completions", "/v1/chat/completions"},
		{"/", "/chat/completions", "/v1/chat/completions"},
		{"/v1", "chat/completions", "/v1/chat/completions"},
		{"/v1/", "chat/completions", "/v1/chat/completions"},
		{"/api//", "responses", "/api/responses"},
		{"/openai/deployments/name?api-version=2024-10-21", "chat/completions", "/openai/deployments/name/chat/completions?api-version=2024-10-21"},
	} {
		c := newClient(t, srv.URL+tc.base, "key", tacho.WithHeader("X-Extra", "a"), tacho.WithHeader("X-Other", "b"))
		if _, err := c.Do(t.Context(), tc.path, map[string]any{"model": "m"}); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		if uri := got.URL.RequestURI(); uri != tc.want {
			t.Errorf("%q and %q make %q, want %q", tc.base, tc.path, uri, tc.want)
		}
		h := got.Header
		if h.Get("Authorization") != "Bearer key" || h.Get("X-Extra") != "a" || h.Get("X-Other") != "b" || h.Get("Content-Type") != "application/json" {
			t.Errorf("headers %v", h)
		}
		mu.Unlock()
	}
}

func TestClientAzureKey(t *testing.T) {
	t.Parallel()
	c := newClient(t, "http://name.openai.azure.com/openai/deployments/d?api-version=1", "key")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	// The request is not sent; what it would be is seen in its error.
	_, err := c.Do(ctx, "chat/completions", `{}`)
	if want := "tacho: POST http://name.openai.azure.com/openai/deployments/d/chat/completions: context canceled"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if !errors.Is(err, context.Canceled) {
		t.Error("the error is not the context's")
	}
}

func TestNewClientRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		base, key, want string
		opts            []tacho.ClientOption
	}{
		{"", "k", "tacho: the base URL does not begin with http:// or https://: give one like https://api.openai.com/v1", nil},
		{"api.openai.com/v1?api-key=SECRET", "k", "tacho: the base URL does not begin with http:// or https://: give one like https://api.openai.com/v1", nil},
		{"sk-SECRET", "https://api.openai.com/v1", "tacho: the base URL does not begin with http:// or https://: give one like https://api.openai.com/v1", nil},
		{"user:SECRET@h/v1", "k", "tacho: the base URL does not begin with http:// or https://: give one like https://api.openai.com/v1", nil},
		{"ftp://SECRET@h/v1", "k", "tacho: the base URL does not begin with http:// or https://: give one like https://api.openai.com/v1", nil},
		{"https://user:SECRET@", "k", "tacho: the base URL names no host: give one like https://api.openai.com/v1", nil},
		{"https:///v1?key=SECRET", "k", "tacho: the base URL names no host: give one like https://api.openai.com/v1", nil},
		{"https://h/v1?key=SECRET#x", "k", "tacho: the base URL has a part behind #: give one like https://api.openai.com/v1", nil},
		{"https://user:sec ret@h\x01", "k", "tacho: the base URL cannot be read: give one like https://api.openai.com/v1", nil},
		{"https://h/v1", "k\n", "tacho: the API key has white space or a control character in it: check how it was copied", nil},
		{"https://h/v1", "k", "tacho: WithConcurrency(0): the number of calls in flight must be 1 or more", []tacho.ClientOption{tacho.WithConcurrency(0)}},
		{"https://h/v1", "k", `tacho: WithHeader("host"): net/http does not take this header from a request's headers`, []tacho.ClientOption{tacho.WithHeader("host", "x")}},
		{"https://h/v1", "k", `tacho: WithHeader("X Y"): the name or the value has a character that no header can hold`, []tacho.ClientOption{tacho.WithHeader("X Y", "x")}},
		{"https://h/v1", "k", `tacho: WithHeader("X"): the name or the value has a character that no header can hold`, []tacho.ClientOption{tacho.WithHeader("X", "a\r\nb")}},
		{"https://h/v1", "k", "tacho: WithConcurrency and WithBase exclude each other: the base keeps the connections",
			[]tacho.ClientOption{tacho.WithConcurrency(1), tacho.WithBase(http.DefaultTransport)}},
	} {
		_, err := tacho.NewClient(tc.base, tc.key, tc.opts...)
		if err == nil || err.Error() != tc.want {
			t.Errorf("%q: error %v, want %s", tc.base, err, tc.want)
		}
	}
}

func TestClientErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, body string
		status     int
		want       tacho.APIError
		text       string
	}{
		{"OpenAI", `{"error":{"message":"No such model","type":"invalid_request_error","code":"model_not_found"}}`, 404,
			tacho.APIError{Type: "invalid_request_error", Code: "model_not_found", Message: "No such model"}, "404 Not Found: No such model (code model_not_found) (request req-1)"},
		{"a code that is a number", `{"error":{"message":"m","code":429}}`, 429, tacho.APIError{Code: "429", Message: "m"}, "429 Too Many Requests: m (code 429) (request req-1)"},
		{"a null code", `{"error":{"message":"m","code":null}}`, 400, tacho.APIError{Message: "m"}, "400 Bad Request: m (request req-1)"},
		{"xAI", `{"code":"invalid-argument","error":"Incorrect API key"}`, 400, tacho.APIError{Code: "invalid-argument", Message: "Incorrect API key"},
			"400 Bad Request: Incorrect API key (code invalid-argument) (request req-1)"},
		{"detail", `{"detail":"Not allowed"}`, 403, tacho.APIError{Message: "Not allowed"}, "403 Forbidden: Not allowed (request req-1)"},
		{"plain text", "upstream connect error\nmore", 503, tacho.APIError{Message: "upstream connect error"}, "503 Service Unavailable: upstream connect error (request req-1)"},
		{"nothing", "", 404, tacho.APIError{}, "404 Not Found (request req-1): is the base URL right? It usually ends in /v1"},
	} {
		srv := sim.New(t, sim.WithScript(sim.Script{Status: tc.status, Body: []byte(tc.body), Header: http.Header{"X-Request-Id": {"req-1"}}}))
		port := httptest.NewServer(srv)
		defer port.Close()
		c := newClient(t, port.URL, "")
		for _, stream := range []bool{false, true} {
			var err error
			if stream {
				_, err = c.Stream(t.Context(), "chat/completions", `{"model":"m"}`)
			} else {
				var r *tacho.Response
				if r, err = c.Do(t.Context(), "chat/completions", `{"model":"m"}`); r == nil || r.Status != tc.status || r.Call.Outcome() != tacho.Failed {
					t.Errorf("%s: response %+v", tc.name, r)
				}
			}
			var api *tacho.APIError
			if !errors.As(err, &api) {
				t.Fatalf("%s: error %v", tc.name, err)
			}
			if api.Call == nil || api.Call.Outcome() != tacho.Failed {
				t.Errorf("%s: the error's call is %v", tc.name, api.Call)
			}
			want := tc.want
			want.URL, want.Status, want.RequestID = port.URL+"/v1/chat/completions", tc.status, "req-1"
			if diff := cmp.Diff(want, *api, cmpopts.IgnoreFields(tacho.APIError{}, "Call")); diff != "" {
				t.Errorf("%s: %s", tc.name, diff)
			}
			if text := "tacho: POST " + want.URL + ": " + tc.text; err.Error() != text {
				t.Errorf("%s: %q, want %q", tc.name, err, text)
			}
		}
	}
}

func TestClientBodies(t *testing.T) {
	t.Parallel()
	srv := sim.New(t, sim.WithScript(sim.Script{Text: "a"}))
	port := httptest.NewServer(srv)
	defer port.Close()
	c := newClient(t, port.URL, "")
	messages := `"messages":[{"role":"user","content":"hi"}]`
	for _, tc := range []struct {
		body any
		want string
	}{
		{`{` + messages + `}`, `{"stream":true,` + messages + `}`},
		{[]byte(" \n{ \"model\":\"m\"," + messages + "}"), `{"stream":true, "model":"m",` + messages + `}`},
		{json.RawMessage(`{"stream":true,` + messages + `}`), `{"stream":true,` + messages + `}`},
		{map[string]any{"messages": []any{map[string]string{"role": "user", "content": "hi"}}}, `{"stream":true,"messages":[{"content":"hi","role":"user"}]}`},
	} {
		s, err := c.Stream(t.Context(), "chat/completions", tc.body)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range s.All() {
			if err != nil {
				t.Fatal(err)
			}
		}
		received := srv.Requests()
		if got := string(received[len(received)-1].Body); got != tc.want {
			t.Errorf("sent %s, want %s", got, tc.want)
		}
	}
	for _, tc := range []struct {
		body any
		want string
	}{
		{`{"stream":false}`, `tacho: the request body says "stream": false: use Do, or leave it out`},
		{`{"stream":null}`, `tacho: the request body says "stream": null: use Do, or leave it out`},
		{`[]`, "tacho: the request body is no JSON object"},
		{`null`, "tacho: the request body is no JSON object"},
		{nil, "tacho: the request body is no JSON object"},
		{(*int)(nil), "tacho: the request body is no JSON object"},
		{`{"a"`, "tacho: the request body is no JSON object"},
		{func() {}, "tacho: the request body cannot be written as JSON: json: unsupported type: func()"},
	} {
		if _, err := c.Stream(t.Context(), "chat/completions", tc.body); err == nil || err.Error() != tc.want {
			t.Errorf("%v: error %v, want %s", tc.body, err, tc.want)
		}
	}
	if _, err := c.Do(t.Context(), "chat/completions?api-key=SECRET", chatPlain); err == nil || err.Error() != "tacho: the path has a ? or # in it: a query belongs to the base URL" {
		t.Errorf("error %v", err)
	}
	if _, err := c.Do(t.Context(), "chat/completions", `{"stream":true}`); err == nil || !strings.Contains(err.Error(), "use Stream") {
		t.Errorf("error %v", err)
	}
}

// TestClientStream reads measured events.
func TestClientStream(t *testing.T) {
	t.Parallel()
	srv := sim.New(t, sim.WithScript(sim.Script{Steps: []sim.Step{sim.Role(0), sim.Reasoning(0, "r"), sim.KeepAlive(), sim.Text(0, "a"), sim.Finish(0, "stop"), sim.Done()}}))
	port := httptest.NewServer(srv)
	defer port.Close()
	c := newClient(t, port.URL, "")
	s, err := c.Stream(t.Context(), "chat/completions", `{"model":"m","messages":[]}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Call(); ok {
		t.Error("the call is told before its end")
	}
	var channels []string
	var at []time.Duration
	for ev, err := range s.All() {
		if err != nil {
			t.Fatal(err)
		}
		if !ev.Timed || !ev.Done && !json.Valid(ev.Data) {
			t.Errorf("event %+v", ev)
		}
		channels = append(channels, ev.Channel)
		at = append(at, ev.At)
	}
	if diff := cmp.Diff([]string{"", "reasoning", "content", "", ""}, channels); diff != "" {
		t.Error(diff)
	}
	if !slices.IsSorted(at) {
		t.Errorf("times %v", at)
	}
	call, ok := s.Call()
	if !ok || call.Outcome() != tacho.Complete {
		t.Fatalf("call %v, %v", call, ok)
	}
	if ttft, _ := call.TTFT(); ttft != at[1] {
		t.Errorf("TTFT %v, the event's time is %v", ttft, at[1])
	}
	if ttfo, _ := call.TTFO(); ttfo != at[2] {
		t.Errorf("TTFO %v, the event's time is %v", ttfo, at[2])
	}

	// Leaving the loop closes the stream.
	srv.Play(sim.Script{Steps: []sim.Step{sim.Role(0), sim.Hang()}})
	if s, err = c.Stream(t.Context(), "chat/completions", `{"model":"m","messages":[]}`); err != nil {
		t.Fatal(err)
	}
	for range s.All() {
		break
	}
	if call, ok := s.Call(); !ok || call.Outcome() != tacho.ClosedEarly {
		t.Errorf("left early: %v", ok)
	}
}

// TestEventsWithoutTransport reads the events of any response, untimed.
func TestEventsWithoutTransport(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	resp := &http.Response{Body: io.NopCloser(io.MultiReader(strings.NewReader("event: e\ndata: a\n\ndata: [DONE]\n\ndata: op"), failing{broken}))}
	var got []string
	var last error
	for ev, err := range tacho.Events(resp) {
		if err != nil {
			last = err
			continue
		}
		got = append(got, fmt.Sprintf("%s|%s|%v|%v", ev.Name, ev.Data, ev.Done, ev.Timed))
	}
	if diff := cmp.Diff([]string{"e|a|false|false", "|[DONE]|true|false", "|op|false|false"}, got); diff != "" || last != broken {
		t.Errorf("%s, error %v", diff, last)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestClientHidesItsKey has servers that quote the key they refuse, also where
// a message is cut.
func TestClientHidesItsKey(t *testing.T) {
	t.Parallel()
	const key = "sk-secret-0123456789"
	for _, body := range []string{
		`{"error":{"message":"bad key ` + key + `","code":"` + key + `"}}`, "no such key: " + key,
		strings.Repeat("x", 190) + key, `{"detail":"` + key + `"}`,
	} {
		srv := sim.New(t, sim.WithScript(sim.Script{Status: 401, Body: []byte(body)}))
		c := newClient(t, srv.URL(), key, tacho.WithBase(srv.Transport()))
		_, err := c.Do(t.Context(), "chat/completions", `{"model":"m"}`)
		if err == nil || strings.Contains(err.Error(), key[:12]) {
			t.Errorf("%s: error %v", body, err)
		}
	}
}

// TestClientRedirects follows a redirect to another host without the key and
// the caller's headers, and one to the same host with them.
func TestClientRedirects(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"name.openai.azure.com", "other.invalid"} {
		var got http.Header
		base := roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path != "/final/chat/completions" {
				resp := answer("")
				resp.StatusCode = http.StatusTemporaryRedirect
				resp.Header.Set("Location", "http://"+host+"/final/chat/completions")
				return resp, nil
			}
			got = r.Header
			return answer(`{}`), nil
		})
		c := newClient(t, "http://Name.OpenAI.Azure.com/v1", "KEY", tacho.WithBase(base), tacho.WithHeader("X-Secret", "s"))
		if _, err := c.Do(t.Context(), "chat/completions", chatPlain); err != nil {
			t.Fatal(err)
		}
		if same := strings.HasPrefix(host, "name"); (got.Get("Api-Key") == "KEY") != same || (got.Get("X-Secret") == "s") != same || got.Get("Authorization") != "" {
			t.Errorf("to %s went %v", host, got)
		}
	}
}

// TestClientKeepsConnections has as many connections as callers, and no more,
// over several rounds: the default of net/http keeps two.
func TestClientKeepsConnections(t *testing.T) {
	t.Parallel()
	srv, err := sim.Listen(sim.WithScript(sim.Script{Text: "a"}))
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	const callers = 8
	c := newClient(t, srv.URL(), "", tacho.WithConcurrency(callers))
	for range 5 {
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				if _, err := c.Do(t.Context(), "chat/completions", chatPlain); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	if n := srv.Accepted(); n > 2*callers {
		t.Errorf("%d connections were opened for %d callers", n, callers)
	}
}
