// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tacho-go/tacho"
)

// TestKeyInWords sends the request's own key back where an answer has words that
// are told as they are: none of them tells it, with capture or without.
func TestKeyInWords(t *testing.T) {
	t.Parallel()
	const key = "sk-proj-aaaabbbbccccdddd"
	for _, header := range []string{"Authorization", "Api-Key", "X-Api-Key"} {
		for _, body := range []string{
			`{"id":"KEY","model":"KEY","service_tier":"KEY","system_fingerprint":"KEY","choices":[{"index":0,"message":{"content":"a"},"finish_reason":"KEY"}]}`,
			`{"model":"gpt/KEY/long-enough-to-be-kept-apart-from-the-name-itself","error":{"code":"KEY","type":"KEY","message":"KEY"}}`,
			`{"error":{"type":"x-KEY"}}`,
		} {
			for _, status := range []int{200, 401} {
				req := func(int) *http.Request {
					r := newRequest(t.Context(), t, hostURL, chatPlain)
					if r.Header.Set(header, key); header == "Authorization" {
						r.Header.Set(header, "Bearer "+key)
					}
					return r
				}
				resp := answer(strings.ReplaceAll(body, "KEY", key))
				resp.StatusCode = status
				if text := told(t, []*http.Response{resp}, req); strings.Contains(text, key) {
					t.Errorf("%s, status %d, %s: the key is told", header, status, body)
				}
			}
		}
	}
}

// TestKeyInContent hides credentials that are escaped, stand in addresses, or were
// added below.
func TestKeyInContent(t *testing.T) {
	t.Parallel()
	const key = "sk-abc/def+ghi=jkl"
	for name, tc := range map[string]struct{ request, answer string }{
		"escaped arguments":   {chatPlain, `{"choices":[{"index":0,"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"h\":\"sk-abc\\/def\\u002bghi=jkl\"}"}}]},"finish_reason":"stop"}]}`},
		"an odd part":         {`{"model":"m","messages":[{"role":"user","content":[{"type":"odd","x":"sk-abc\/def\u002bghi=jkl"}]}]}`, `{}`},
		"a tool's parameters": {`{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"f","parameters":{"default":"sk-abc\/def\u002bghi=jkl"}}}]}`, `{}`},
		"an error":            {chatPlain, `{"error":{"message":"bad key sk-abc/def+ghi=jkl"}}`},
		"an address":          {`{"model":"m","messages":[{"role":"user","content":[{"type":"odd","image_url":"https://u:sk-abc%2Fdef@x/y?sig=sk-abc/def+ghi=jkl"}]}]}`, `{}`},
	} {
		for _, below := range []bool{false, true} {
			o := tacho.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
				io.Copy(io.Discard, r.Body)
				resp := answer(tc.answer)
				if below {
					r = r.Clone(r.Context())
					r.Header.Set("Authorization", "Bearer "+key)
				}
				resp.Request = r
				return resp, nil
			}), tacho.WithContent(tacho.ContentInRecord), tacho.WithoutTracing(), tacho.WithoutMetrics())
			ctx, tr := tacho.Track(t.Context())
			req := newRequest(ctx, t, hostURL, tc.request)
			if !below {
				req.Header.Set("Authorization", "Bearer "+key)
			}
			resp, err := o.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			readAll(resp)
			content := fmt.Sprintf("%+v", one(t, tr).Content())
			for _, s := range []string{key, "u002bghi", "sk-abc%2F", "sig="} {
				if strings.Contains(content, s) {
					t.Errorf("%s, added below %v: %s", name, below, content)
				}
			}
		}
	}
}
