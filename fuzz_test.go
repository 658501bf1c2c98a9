// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tacho-go/tacho"
)

var errBroken = errors.New("broken")

// pieceBody gives a body in pieces of sizes that repeat, the last one with its
// error or on its own.
type pieceBody struct {
	rest  []byte
	sizes []byte
	k     int
	err   error
	join  bool // the last bytes and the error come in one Read
}

func (b *pieceBody) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		return 0, b.err
	}
	n := len(b.rest)
	if len(b.sizes) > 0 {
		n = 1 + int(b.sizes[b.k%len(b.sizes)])
		b.k++
	}
	n = copy(p[:min(n, len(p))], b.rest)
	if b.rest = b.rest[n:]; len(b.rest) == 0 && b.join {
		return n, b.err
	}
	return n, nil
}

func (b *pieceBody) Close() error { return nil }

// tapped is what came through a transport.
type tapped struct {
	bytes  []byte
	record map[string]any // less its times
}

// tap reads a body through a transport and returns the bytes, the error and the
// record less its times.
func tap(t *testing.T, path, contentType string, status int, body *pieceBody, request string) (tapped, error) {
	t.Helper()
	rt := quiet(roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Proto: "HTTP/1.1", Header: http.Header{"Content-Type": {contentType}}, ContentLength: -1, Body: body}, nil
	}), tacho.WithContent(tacho.ContentInRecord))
	ctx, tr := tacho.Track(t.Context())
	resp, err := rt.RoundTrip(newRequest(ctx, t, "http://host.invalid"+path, request))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	if resp.Body.Close() != nil {
		t.Fatal("Close failed")
	}
	c := one(t, tr)
	rec := record(t, c)
	for _, k := range []string{"start", "ttfb", "ttfc", "ttft", "ttfo", "ttlt", "duration", "network_wait", "consumer_wait", "gaps", "tbt", "tpot", "tokens_per_second", "bound", "buffered"} {
		delete(rec, k)
	}
	return tapped{got, rec}, err
}

// FuzzTap: whatever a server sends, and in whatever pieces it comes, the
// application reads those bytes and gets that error, and the record is the same.
func FuzzTap(f *testing.F) {
	_, stream, _ := bytes.Cut(streamResponse(3), []byte("\r\n\r\n"))
	for _, s := range []string{
		string(stream), chatAnswer, "", " \n ", "data: [DONE]", "data", "\xef\xbb\xbfdata: {}\n\n",
		": keep-alive\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\r\n\r\n",
		"event: error\ndata: {\"error\":{\"code\":\"c\",\"message\":\"m\"}}\n\n",
		"data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n",
		"{\"error\":\"text\"}", "upstream connect error", strings.Repeat("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", 9),
	} {
		f.Add([]byte(s), []byte{0}, uint8(0))
		f.Add([]byte(s), []byte{6, 63, 2}, uint8(0xff))
	}
	f.Fuzz(func(t *testing.T, src, sizes []byte, bits uint8) {
		path, contentType, status, request := "/v1/chat/completions", "text/event-stream", 200, chatStream
		if bits&1 != 0 {
			path, request = "/v1/responses", responsesStream
		}
		if bits&2 != 0 {
			contentType = "application/json"
		}
		if bits&4 != 0 {
			status = 500
		}
		if bits&8 != 0 {
			request = chatPlain
		}
		fail := io.EOF
		if bits&16 != 0 {
			fail = errBroken
		}
		whole, wholeErr := tap(t, path, contentType, status, &pieceBody{rest: src, err: fail}, request)
		got, err := tap(t, path, contentType, status, &pieceBody{rest: src, sizes: sizes, err: fail, join: bits&32 != 0}, request)
		if !bytes.Equal(whole.bytes, src) || !bytes.Equal(got.bytes, src) {
			t.Fatal("the application read other bytes than were sent")
		}
		if fail == io.EOF && (err != nil || wholeErr != nil) || fail != io.EOF && (err != errBroken || wholeErr != errBroken) {
			t.Fatalf("the application got %v and %v", wholeErr, err)
		}
		if diff := cmp.Diff(whole.record, got.record); diff != "" {
			t.Fatalf("(-whole +pieces)\n%s", diff)
		}
	})
}
