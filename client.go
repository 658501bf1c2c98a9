// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/tacho-go/tacho/internal/conv"
)

// Client calls an OpenAI-compatible endpoint with raw JSON, without an SDK,
// and hands out measured responses and events. It does not retry. It is safe
// for concurrent use; make one with NewClient.
type Client struct {
	base      *url.URL
	key       string
	azure     bool
	headers   [][2]string
	transport *Transport
}

// NewClient returns a client of the endpoint at baseURL, such as
// https://api.openai.com/v1. A trailing slash does not matter; /v1 is added to
// a bare host only. A query, such as Azure's ?api-version=…, is kept on every
// request. With an empty apiKey no key is sent.
//
// It returns an error for a URL or a key that cannot be used.
func NewClient(baseURL, apiKey string, opts ...ClientOption) (*Client, error) {
	u, err := parseBase(baseURL)
	if err != nil {
		return nil, err
	}
	for i := range len(apiKey) {
		if c := apiKey[i]; c <= ' ' || c == 0x7f {
			return nil, errors.New("tacho: the API key has white space or a control character in it: check how it was copied")
		}
	}
	config := newConfig(opts)
	for _, h := range config.headers {
		if err := checkHeader(h[0], h[1]); err != nil {
			return nil, err
		}
	}
	base := config.base
	switch n := config.concurrency; {
	case config.sized && base != nil:
		return nil, errors.New("tacho: WithConcurrency and WithBase exclude each other: the base keeps the connections")
	case config.sized && n < 1:
		return nil, fmt.Errorf("tacho: WithConcurrency(%d): the number of calls in flight must be 1 or more", n)
	case base == nil && !config.sized:
		base = newIdleTransport(defaultConcurrency)
	case base == nil:
		base = newIdleTransport(n)
	}
	if own, ok := base.(*http.Transport); ok && config.base == nil && config.optIn&conv.HTTP != 0 {
		own.DialContext = MeasureDial(own.DialContext, WithMeterProvider(config.meters))
	}
	return &Client{
		base: u, key: apiKey, azure: isAzure(u.Hostname()), headers: config.headers,
		transport: newTransport(base, config),
	}, nil
}

// checkHeader refuses what could not be sent, or what net/http takes from
// elsewhere and would ignore here.
func checkHeader(name, value string) error {
	switch http.CanonicalHeaderKey(name) {
	case "Host", "Content-Length", "Transfer-Encoding", "Trailer":
		return fmt.Errorf("tacho: WithHeader(%q): net/http does not take this header from a request's headers", name)
	}
	if name == "" || strings.ContainsFunc(name, notInToken) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return fmt.Errorf("tacho: WithHeader(%q): the name or the value has a character that no header can hold", name)
	}
	return nil
}

// notInToken tells what a header's name must not hold (RFC 9110, 5.6.2).
func notInToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// newIdleTransport is the default transport with room for n idle connections
// to one host.
func newIdleTransport(n int) *http.Transport {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	if d, ok := http.DefaultTransport.(*http.Transport); ok {
		t = d.Clone()
	}
	t.MaxIdleConnsPerHost = n
	t.MaxIdleConns = max(t.MaxIdleConns, n)
	return t
}

func parseBase(base string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	switch {
	case err != nil:
		return nil, badBase("cannot be read")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, badBase("does not begin with http:// or https://")
	case u.Host == "":
		return nil, badBase("names no host")
	case u.Fragment != "":
		return nil, badBase("has a part behind #")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	if u.Path == "" {
		u.Path = "/v1"
	}
	return u, nil
}

// badBase does not quote the URL: it may hold credentials, also where a URL has
// none, as when key and URL are in each other's place.
func badBase(what string) error {
	return errors.New("tacho: the base URL " + what + ": give one like https://api.openai.com/v1")
}

func isAzure(host string) bool {
	host = strings.ToLower(host)
	for _, s := range [...]string{".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"} {
		if strings.HasSuffix(host, s) {
			return true
		}
	}
	return false
}

// Response is a plain response, read whole, and the record of its call.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	Call   *Call
}

// maxBody bounds what Do reads of a response.
const maxBody = 64 << 20

// Do posts body to path, such as "chat/completions", and reads the whole
// response. A body of type []byte, json.RawMessage or string is sent as it is,
// any other is marshalled. For a status of 400 or more the error is an
// *APIError, and the Response is returned beside it. The error of an exchange
// that failed names the URL; errors.Unwrap gives what the transport returned.
func (c *Client) Do(ctx context.Context, path string, body any) (*Response, error) {
	ctx, tr := Track(ctx)
	resp, target, err := c.post(ctx, path, body, false)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("tacho: POST %s: %w", target, err)
	}
	if len(b) > maxBody {
		return nil, fmt.Errorf("tacho: POST %s: the response is longer than %d MiB", target, maxBody>>20)
	}
	resp.Body.Close()
	r := &Response{Status: resp.StatusCode, Header: resp.Header, Body: b}
	r.Call, _ = tr.Call()
	if resp.StatusCode >= 400 {
		return r, c.newAPIError(target, resp, b, r.Call)
	}
	return r, nil
}

// Stream posts body to path and returns the stream of events that answers it.
// "stream": true is added to a body that does not say it. The caller must read
// the stream to its end or close it. Errors are those of Do.
func (c *Client) Stream(ctx context.Context, path string, body any) (*Stream, error) {
	ctx, tr := Track(ctx)
	resp, target, err := c.post(ctx, path, body, true)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 400 {
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		resp.Body.Close()
		call, _ := tr.Call()
		return nil, c.newAPIError(target, resp, b, call)
	}
	return &Stream{Header: resp.Header, resp: resp, tracker: tr}, nil
}

// Stream is a streamed response. It is not safe for concurrent use.
type Stream struct {
	Header  http.Header
	resp    *http.Response
	tracker *Tracker
}

// All yields the events of the stream, measured, and closes it at its end or
// when the loop is left; see Events.
func (s *Stream) All() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		defer s.Close()
		for ev, err := range Events(s.resp) {
			if !yield(ev, err) {
				return
			}
		}
	}
}

// Call returns the record, absent until the stream has ended or was closed.
func (s *Stream) Call() (*Call, bool) { return s.tracker.Call() }

// Close closes the stream.
func (s *Stream) Close() error { return s.resp.Body.Close() }

// CloseIdleConnections closes the connections that no call is using.
func (c *Client) CloseIdleConnections() { c.transport.CloseIdleConnections() }

// Transport returns the measuring transport, to await its drains.
func (c *Client) Transport() *Transport { return c.transport }

// NewRequest returns a POST request for path with a JSON body, as Do and Stream
// send it: at the endpoint's URL, with its key and headers. It is for who reads
// the response by other means; send it through Transport, which measures it.
func (c *Client) NewRequest(ctx context.Context, path string, body []byte) (*http.Request, error) {
	if strings.ContainsAny(path, "?#") {
		return nil, errors.New("tacho: the path has a ? or # in it: a query belongs to the base URL")
	}
	u := *c.base
	u.Path += "/" + strings.TrimLeft(path, "/")
	u.RawPath = ""
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("tacho: path %q cannot be used: %w", path, errors.Unwrap(err))
	}
	req.Header.Set("Content-Type", "application/json")
	switch {
	case c.key == "":
	case c.azure:
		req.Header.Set("Api-Key", c.key)
	default:
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	for _, h := range c.headers {
		req.Header.Set(h[0], h[1])
	}
	return req, nil
}

func (c *Client) post(ctx context.Context, path string, body any, stream bool) (*http.Response, string, error) {
	b, err := marshalBody(body, stream)
	if err != nil {
		return nil, "", err
	}
	req, err := c.NewRequest(ctx, path, b)
	if err != nil {
		return nil, "", err
	}
	if stream && req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "text/event-stream")
	}
	target := shown(req.URL)
	hc := http.Client{Transport: c.transport, CheckRedirect: c.checkRedirect}
	resp, err := hc.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return nil, target, fmt.Errorf("tacho: POST %s: %w", target, err)
	}
	return resp, target, nil
}

// checkRedirect follows as net/http does, but takes no key and no header of
// the caller's to another host: net/http itself knows only some as secret.
func (c *Client) checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("stopped after 10 redirects")
	}
	if !strings.EqualFold(req.URL.Host, via[0].URL.Host) {
		req.Header.Del("Api-Key")
		req.Header.Del("Authorization")
		for _, h := range c.headers {
			req.Header.Del(h[0])
		}
	}
	return nil
}

// shown is a URL without what may be secret in it.
func shown(u *url.URL) string {
	v := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return v.String()
}

func marshalBody(body any, stream bool) ([]byte, error) {
	var b []byte
	switch v := body.(type) {
	case []byte:
		b = v
	case json.RawMessage:
		b = v
	case string:
		b = []byte(v)
	default:
		var err error
		if b, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("tacho: the request body cannot be written as JSON: %w", err)
		}
	}
	var top map[string]json.RawMessage // a struct would match keys in any case
	if err := json.Unmarshal(b, &top); err != nil || top == nil {
		return nil, errors.New("tacho: the request body is no JSON object")
	}
	said, given := top["stream"]
	switch on := string(said) == "true"; {
	case stream && !given:
		return addStream(b), nil
	case stream && !on:
		return nil, fmt.Errorf(`tacho: the request body says "stream": %s: use Do, or leave it out`, said)
	case !stream && on:
		return nil, errors.New(`tacho: the request body says "stream": true: use Stream, or leave it out`)
	}
	return b, nil
}

// addStream puts "stream": true first into a JSON object.
func addStream(b []byte) []byte {
	inner := bytes.TrimLeft(b, " \t\r\n")[1:]
	out := append([]byte(`{"stream":true`), ',')
	if rest := bytes.TrimLeft(inner, " \t\r\n"); len(rest) > 0 && rest[0] == '}' {
		out = out[:len(out)-1]
	}
	return append(out, inner...)
}
