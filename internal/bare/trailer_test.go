// SPDX-License-Identifier: Apache-2.0

package bare_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tacho-go/tacho"
)

// TestTrailers shows that trailers reach the application, those that the
// response's head does not announce included: net/http sets them, once the
// body is read, in the very Response that the base transport returned.
func TestTrailers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name      string
		announced bool
		stream    bool
	}{
		{"announced", true, true},
		{"unannounced", false, true},
		{"announced, plain", true, false},
		{"unannounced, plain", false, false},
	} {
		for _, http2 := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/HTTP2 %t", tc.name, http2), func(t *testing.T) {
				t.Parallel()
				srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					name := http.TrailerPrefix + "X-Cost"
					if tc.announced {
						name = "X-Cost"
						w.Header().Set("Trailer", name)
					}
					body := `{"object":"chat.completion"}`
					if tc.stream {
						w.Header().Set("Content-Type", "text/event-stream")
						body = "data: {}\n\ndata: [DONE]\n\n"
					}
					io.WriteString(w, body)
					w.(http.Flusher).Flush()
					w.Header().Set(name, "42")
				}))
				if srv.EnableHTTP2 = http2; http2 {
					srv.StartTLS()
				} else {
					srv.Start()
				}
				defer srv.Close()
				base := srv.Client().Transport
				for _, rt := range []http.RoundTripper{base, tacho.NewTransport(base)} {
					req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/v1/chat/completions",
						strings.NewReader(fmt.Sprintf(`{"model":"m","stream":%t}`, tc.stream)))
					if err != nil {
						t.Fatal(err)
					}
					resp, err := rt.RoundTrip(req)
					if err != nil {
						t.Fatal(err)
					}
					var announced []string
					if tc.announced {
						announced = []string{"X-Cost"}
					}
					if got := slices.Collect(maps.Keys(resp.Trailer)); !slices.Equal(got, announced) {
						t.Errorf("%T: announced %q, want %q", rt, got, announced)
					}
					if _, err := io.Copy(io.Discard, resp.Body); err != nil {
						t.Error(err)
					}
					resp.Body.Close()
					if got := resp.Trailer.Get("X-Cost"); got != "42" {
						t.Errorf("%T: trailer %q, want 42", rt, got)
					}
				}
			})
		}
	}
}
