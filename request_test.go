// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tacho-go/tacho"
)

// TestCapturedIsNotShared: what is taken out of a record under capture is in those of
// like requests.
func TestCapturedIsNotShared(t *testing.T) {
	t.Parallel()
	rt := quiet(roundTripper(func(*http.Request) (*http.Response, error) { return answer(`{"text":"hi"}`), nil }), tacho.WithContent(tacho.ContentInRecord))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				ctx, tr := tacho.Track(t.Context())
				resp, err := rt.RoundTrip(newRequest(ctx, t, "http://host.invalid/v1/audio/transcriptions", `{"model":"m","stop":["a"]}`))
				if err != nil {
					t.Error(err)
					return
				}
				readAll(resp)
				calls := tr.Calls()
				if len(calls) != 1 {
					t.Errorf("told %d times, want once", len(calls))
					return
				}
				if diff := cmp.Diff([]string{"a"}, calls[0].Content().Stop); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
	wg.Wait()
}

// TestNilReader: a body that cannot be read is the base's concern, and the call is told.
func TestNilReader(t *testing.T) {
	t.Parallel()
	rt := quiet(roundTripper(func(*http.Request) (*http.Response, error) { return answer(chatAnswer), nil }))
	for _, r := range []io.Reader{(*bytes.Reader)(nil), (*bytes.Buffer)(nil), (*strings.Reader)(nil), nil} {
		u, err := url.Parse(hostURL)
		if err != nil {
			t.Fatal(err)
		}
		ctx, tr := tacho.Track(t.Context())
		resp, err := rt.RoundTrip((&http.Request{Method: "POST", URL: u, Header: http.Header{}, Body: io.NopCloser(r)}).WithContext(ctx))
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
		if c := one(t, tr); c.Outcome() != tacho.Complete || c.RequestModel() != "" {
			t.Errorf("%T: %v, model %q", r, c.Outcome(), c.RequestModel())
		}
	}
}

// TestFormPreamble: a form says the same whether it is in memory or not, and whatever
// stands before its first part.
func TestFormPreamble(t *testing.T) {
	t.Parallel()
	const form = "--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper\r\n--b--\r\n"
	for _, before := range []string{"", "\r\n", "preamble\r\n"} {
		for _, body := range []io.Reader{strings.NewReader(before + form), io.MultiReader(strings.NewReader(before + form))} {
			rt := quiet(roundTripper(func(r *http.Request) (*http.Response, error) {
				_, err := io.Copy(io.Discard, r.Body)
				return answer(`{"text":"hi"}`), err
			}))
			ctx, tr := tacho.Track(t.Context())
			req := newRequest(ctx, t, "http://host.invalid/v1/audio/transcriptions", "")
			req.Body, req.ContentLength = io.NopCloser(body), -1
			req.Header.Set("Content-Type", "multipart/form-data; boundary=b")
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			readAll(resp)
			if m := one(t, tr).RequestModel(); m != "whisper" {
				t.Errorf("behind %q, %T: model %q", before, body, m)
			}
		}
	}
}
