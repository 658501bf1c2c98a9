// SPDX-License-Identifier: Apache-2.0

package bare_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tacho-go/tacho"
)

// TestCloseDuringRead closes a body behind [DONE] while a Read waits for more,
// which ends that Read: there is nothing to drain behind a Read's back. The rest
// of the body is held back until the Read has ended, for net/http's Close returns
// a moment before it has closed the connection.
func TestCloseDuringRead(t *testing.T) {
	t.Parallel()
	for _, measured := range []bool{false, true} {
		name := "bare"
		if measured {
			name = "with tacho"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rest := make(chan struct{})
			release := sync.OnceFunc(func() { close(rest) })
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, "data: {}\n\ndata: [DONE]\n\n")
				w.(http.Flusher).Flush()
				<-rest
			}))
			defer srv.Close()
			defer release()
			reads := make(chan struct{}, 4)
			var closed atomic.Bool
			base := srv.Client().Transport
			var rt http.RoundTripper = roundTrip(func(req *http.Request) (*http.Response, error) {
				resp, err := base.RoundTrip(req)
				if err == nil {
					resp.Body = tellReads{resp.Body, reads, &closed}
				}
				return resp, err
			})
			if measured {
				rt = tacho.NewTransport(rt)
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/v1/chat/completions", strings.NewReader(streamRequest))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			buf := make([]byte, 512)
			if _, err := resp.Body.Read(buf); err != nil {
				t.Fatal(err)
			}
			<-reads
			end := make(chan error)
			go func() {
				_, err := resp.Body.Read(buf)
				end <- err
			}()
			<-reads
			if err := resp.Body.Close(); err != nil {
				t.Error(err)
			}
			if !closed.Load() {
				t.Error("the Close has not reached the base")
			}
			if err := <-end; err == nil || err == io.EOF {
				t.Errorf("the Read ends with %v, want an error", err)
			}
		})
	}
}

// tellReads tells of each Read that begins, and of the Close.
type tellReads struct {
	io.ReadCloser
	reads  chan<- struct{}
	closed *atomic.Bool
}

func (r tellReads) Close() error {
	r.closed.Store(true)
	return r.ReadCloser.Close()
}

func (r tellReads) Read(p []byte) (int, error) {
	select {
	case r.reads <- struct{}{}:
	default:
	}
	return r.ReadCloser.Read(p)
}
