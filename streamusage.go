// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/tacho-go/tacho/internal/wire"
)

// WithStreamUsage asks for the usage of streams: stream_options with
// include_usage is added to the body of each streamed request of Chat Completions
// and of legacy completions that does not say itself whether it wants it, and the chunk
// that brings the usage, the one without choices, does not reach the application.
// All other bytes are those that the server sent; an event is held back only
// while it can still be that chunk, and at most 2 KiB of it.
//
// Nothing is added to a request without GetBody, nor when the application set
// Accept-Encoding itself. A server that refuses the request with 400 or 422 and
// names stream_options gets it once more as it was, in the same call, and is not
// asked again by this Transport. Do not use it below what signs request bodies.
//
// By default nothing is added.
func WithStreamUsage() Option {

	return optionFunc(func(c *config) {
		c.askUsage, c.refused = (*exchange).askUsage, (*exchange).withoutUsage
		c.newFilter = func() bodyFilter { return new(usageFilter) }
		c.linkAttempts()
	})

}

// usageOption is what is added behind a body's opening brace.
const usageOption = `"stream_options":{"include_usage":true},`

// askUsage adds the option to r, the copy of req that is handed on.
func (x *exchange) askUsage(req, r *http.Request, known bool) {
	q := x.call.asked()
	switch {
	case !known || !q.Stream || q.IncludeUsage || !q.Read,
		x.call.api != wire.ChatCompletions && x.call.api != wire.Completions,
		req.GetBody == nil || req.ContentLength <= 0 || x.form,
		req.Header["Accept-Encoding"] != nil || req.Header["Content-Encoding"] != nil,
		x.transport.refusing.has(req.URL.Host):
		return
	}
	more := int64(len(usageOption))
	get := func() (io.ReadCloser, error) {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		return &usageBody{ReadCloser: body}, nil
	}
	if q.StreamOptions {
		whole, ok := withUsage(req)
		if !ok {
			return
		}
		more = int64(len(whole)) - req.ContentLength
		get = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(whole)), nil }
	}
	body := bodyOf(&http.Request{GetBody: get})
	if body == nil {
		return
	}
	// The application's body is closed by who closes ours, as it would be.
	r.Body, r.GetBody = &bothBodies{body, req.Body}, get
	r.ContentLength = req.ContentLength + more
	if r.Header["Content-Length"] != nil {
		r.Header = r.Header.Clone()
		r.Header.Del("Content-Length")
	}
	x.asked = true
}

// withUsage returns the body of a request whose stream_options are silent about
// the usage, with include_usage among them.
func withUsage(req *http.Request) ([]byte, bool) {
	if req.ContentLength > maxWhole {
		return nil, false
	}
	from := bodyOf(req)
	if from == nil {
		return nil, false
	}
	defer from.Close()
	body, err := io.ReadAll(from)
	if err != nil {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, false
		}
		if name != "stream_options" {
			continue
		}
		end := int(d.InputOffset())
		var members map[string]json.RawMessage
		if json.Unmarshal(value, &members) != nil || members["include_usage"] != nil {
			return nil, false
		}
		option := `{"include_usage":true}`
		if len(members) > 0 {
			option = `{"include_usage":true,` + string(value[1:])
		}
		return slices.Concat(body[:end-len(value)], []byte(option), body[end:]), true
	}
	return nil, false
}

// maxWhole bounds a request body that is held for that.
const maxWhole = 16 << 20

// usageBody is a request body with the option in it.
type usageBody struct {
	io.ReadCloser
	over bool   // it is in its place
	rest []byte // of what comes first
}

func (b *usageBody) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(b.rest) > 0 {
		n := copy(p, b.rest)
		b.rest = b.rest[n:]
		return n, nil
	}
	n, err := b.ReadCloser.Read(p)
	if b.over {
		return n, err
	}
	i := bytes.IndexByte(p[:n], '{')
	if i < 0 {
		return n, err
	}
	b.over = true
	b.rest = append([]byte(usageOption), p[i+1:n]...)
	return i + 1, nil // the error, if any, comes again, or its like
}

// bothBodies reads one body and closes two.
type bothBodies struct {
	io.ReadCloser
	other io.Closer
}

func (b *bothBodies) Close() error { return errors.Join(b.ReadCloser.Close(), b.other.Close()) }

// maxRefusal bounds how much of a refusal is searched for the option's name.
const maxRefusal = 64 << 10

// withoutUsage sends a request once more, as the application made it, if the
// server refused the option. Any other answer is returned as it is.
func (x *exchange) withoutUsage(req, r *http.Request, resp *http.Response, next func(*http.Request) (*http.Response, error)) (*http.Request, *http.Response, error) {
	if resp.StatusCode != http.StatusBadRequest && resp.StatusCode != http.StatusUnprocessableEntity || resp.Body == nil {
		return r, resp, nil
	}
	head, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err == nil && bytes.Contains(head, []byte("stream_options")) {
		body := bodyOf(req)
		if body != nil && req.Context().Err() == nil {
			resp.Body = &restored{bytes.NewReader(head), resp.Body}
			x.failedAttempt(resp, nil)
			x.transport.refusing.add(req.URL.Host)
			x.asked = false
			again := req.WithContext(&x.ctx)
			again.Header, again.Body = r.Header.Clone(), body
			x.nextAttempt(again, 0)
			resp, err = next(again)
			return again, resp, err
		}
	}
	var rest io.Reader = resp.Body
	if err != nil {
		rest = failing{err}
	}
	resp.Body = &restored{io.MultiReader(bytes.NewReader(head), rest), resp.Body}
	return r, resp, nil
}

// failing is a reader that only fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// restored is a body of which the first part was read before.
type restored struct {
	io.Reader
	io.Closer
}

// maxRefusing bounds the hosts that are remembered.
const maxRefusing = 1000

// hostSet remembers hosts. The zero value is ready.
type hostSet struct {
	mu    sync.RWMutex
	hosts map[string]struct{}
}

func (s *hostSet) has(host string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, ok := s.hosts[host]
	return ok
}

func (s *hostSet) add(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts == nil {
		s.hosts = map[string]struct{}{}
	}
	if len(s.hosts) < maxRefusing {
		s.hosts[host] = struct{}{}
	}
}
