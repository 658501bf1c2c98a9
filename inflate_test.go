// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tacho-go/tacho"
)

// compressors by content encoding, and what is not what it says.
var compressors = map[string]func(io.Writer) flusher{
	"gzip":   func(w io.Writer) flusher { return gzip.NewWriter(w) },
	"X-Gzip": func(w io.Writer) flusher { return gzip.NewWriter(w) },
	"deflate": func(w io.Writer) flusher {
		return zlib.NewWriter(w)
	},
	"Deflate": func(w io.Writer) flusher { // bare, as some send it
		f, _ := flate.NewWriter(w, flate.BestSpeed)
		return f
	},
}

type flusher interface {
	io.WriteCloser
	Flush() error
}

// compress compresses pieces, each flushed, and returns what each became.
func compress(t *testing.T, encoding string, pieces []string) (out [][]byte) {
	t.Helper()
	var b bytes.Buffer
	w := compressors[encoding](&b)
	for i, p := range pieces {
		_, err := io.WriteString(w, p)
		if err == nil {
			err = w.Flush()
		}
		if i == len(pieces)-1 && err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, bytes.Clone(b.Bytes()))
		b.Reset()
	}
	return out
}

// TestCompressed gives a caller that asked for compression its compressed
// bytes, and the record that the plain bytes would have had, in any pieces.
func TestCompressed(t *testing.T) {
	t.Parallel()
	_, stream, _ := strings.Cut(string(streamResponse(50)), "\r\n\r\n")
	events := strings.SplitAfter(stream, "\n\n")
	for _, tc := range []struct {
		name, contentType, request string
		status                     int
		pieces                     []string
	}{
		{"stream", "text/event-stream", chatStream, 200, events},
		{"stream without a content type", "", chatStream, 200, events},
		{"answer", "application/json", chatPlain, 200, []string{chatAnswer}},
		{"error", "application/json", chatStream, 429, []string{`{"error":{"code":"slow_down","type":"requests","message":"m"}}`}},
		{"a stream cut short", "text/event-stream", chatStream, 200, events[:20]},
	} {
		plain := strings.Join(tc.pieces, "")
		want := through(t, "/v1/chat/completions", tc.status, http.Header{"Content-Type": {tc.contentType}}, plain, tc.request, io.EOF)
		for encoding := range compressors {
			t.Run(tc.name+"/"+encoding, func(t *testing.T) {
				t.Parallel()
				body := bytes.Join(compress(t, encoding, tc.pieces), nil)
				got := through(t, "/v1/chat/completions", tc.status, http.Header{"Content-Type": {tc.contentType}, "Content-Encoding": {encoding}}, string(body), tc.request, io.EOF)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-plain +compressed)\n%s", diff)
				}
				resp, err := quiet(roundTripper(func(*http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: 200, Header: http.Header{"Content-Encoding": {encoding}}, Body: io.NopCloser(bytes.NewReader(body))}, nil
				})).RoundTrip(newRequest(t.Context(), t, hostURL, tc.request))
				if err != nil {
					t.Fatal(err)
				}
				if b, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(b, body) {
					t.Errorf("the application read other bytes, or %v", err)
				}
				resp.Body.Close()
			})
		}
	}
}

// TestDecodedBefore has bodies that somebody decoded before the tap and left the
// header of their encoding, and ones of an encoding that the tap cannot read.
func TestDecodedBefore(t *testing.T) {
	t.Parallel()
	_, stream, _ := strings.Cut(string(streamResponse(5)), "\r\n\r\n")
	for _, tc := range []struct {
		name, contentType, body string
		status                  int
	}{
		{"stream", "text/event-stream", stream, 200}, {"answer", "application/json", chatAnswer, 200}, {"error", "application/json", `{"error":{"code":"c"}}`, 429},
		{"short", "application/json", "{}", 200}, {"behind white space", "", "\n\n" + chatAnswer, 200}, {"text", "text/plain", "<html>", 502}, {"nothing", "application/json", "", 200},
	} {
		want := through(t, "/v1/chat/completions", tc.status, http.Header{"Content-Type": {tc.contentType}}, tc.body, chatStream, io.EOF)
		for _, encoding := range []string{"gzip", "deflate", "br", "zstd", "utf-8"} {
			got := through(t, "/v1/chat/completions", tc.status, http.Header{"Content-Type": {tc.contentType}, "Content-Encoding": {encoding}}, tc.body, chatStream, io.EOF)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s: (-plain +said to be encoded)\n%s", tc.name, encoding, diff)
			}
		}
	}
	for typ, stream := range map[string]bool{"application/json": false, "text/event-stream": true, "": true} {
		got := through(t, "/v1/chat/completions", 200, http.Header{"Content-Type": {typ}, "Content-Encoding": {"br"}}, "\x1b\x03\x00\xf8\x8d\x94", chatStream, io.EOF)
		if got["stream"] != stream || got["outcome"] != "complete" || got["text_chars"] != nil || got["events"] != nil {
			t.Errorf("brotli as %q: %v, want it complete and unread, stream %v", typ, got, stream)
		}
	}
}

// TestCompressedFaults has faults behind what was read: they take nothing of it
// back.
func TestCompressedFaults(t *testing.T) {
	t.Parallel()
	_, stream, _ := strings.Cut(string(streamResponse(5)), "\r\n\r\n")
	header := http.Header{"Content-Type": {"text/event-stream"}, "Content-Encoding": {"gzip"}}
	want := through(t, "/v1/chat/completions", 200, http.Header{"Content-Type": {"text/event-stream"}}, stream, chatStream, io.EOF)
	whole := string(bytes.Join(compress(t, "gzip", []string{stream}), nil))
	wrong := []byte(whole)
	wrong[len(wrong)-6] ^= 1
	for name, body := range map[string]string{"bytes too many": whole + "\x00\x00garbage", "a wrong checksum": string(wrong),
		"two members": string(bytes.Join(append(compress(t, "gzip", []string{stream[:700]}), compress(t, "gzip", []string{stream[700:]})...), nil))} {
		if diff := cmp.Diff(want, through(t, "/v1/chat/completions", 200, header, body, chatStream, io.EOF)); diff != "" {
			t.Errorf("%s: (-plain +compressed)\n%s", name, diff)
		}
	}
}

// TestCompressedAtOnce: what a Read brought is looked at when it returns, though
// no other member and no end of the body has come: the last event too.
func TestCompressedAtOnce(t *testing.T) {
	t.Parallel()
	_, stream, _ := strings.Cut(string(streamResponse(5)), "\r\n\r\n")
	for encoding := range compressors {
		var b bytes.Buffer
		z := compressors[encoding](&b)
		io.WriteString(z, stream)
		z.Close() // with no flush before: the last block is open until its end
		body := b.Bytes()
		r, w := io.Pipe()
		rt := quiet(roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Encoding": {encoding}, "Content-Type": {"text/event-stream"}}, ContentLength: -1, Body: r}, nil
		}))
		ctx, tr := tacho.Track(t.Context())
		resp, err := rt.RoundTrip(newRequest(ctx, t, hostURL, chatStream))
		if err != nil {
			t.Fatal(err)
		}
		go w.Write(body)
		if _, err := io.ReadFull(resp.Body, make([]byte, len(body))); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if c := one(t, tr); c.Outcome() != tacho.Complete {
			t.Errorf("%s: %v, want complete", encoding, c.Outcome())
		}
	}
}

// TestCompressedBomb: a body that inflates a thousandfold is not looked at
// beyond a bound, and no figure is taken of it.
func TestCompressedBomb(t *testing.T) {
	t.Parallel()
	for encoding := range compressors {
		bomb := bytes.Join(compress(t, encoding, []string{"data: " + strings.Repeat("a", 4<<20), "\n\ndata: [DONE]\n\n"}), nil)
		got := through(t, "/v1/chat/completions", 200, http.Header{"Content-Type": {"text/event-stream"}, "Content-Encoding": {encoding}}, string(bomb), chatStream, io.EOF)
		if got["events"] != nil || got["outcome"] != "complete" {
			t.Errorf("%s: events %v, outcome %v; want none, complete", encoding, got["events"], got["outcome"])
		}
	}
}

// TestCompressedTimes: an event's time is that of the Read that fed it.
func TestCompressedTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pieces := compress(t, "gzip", []string{
			"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n", "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n",
			"data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\n", "data: [DONE]\n\n"})
		r, w := io.Pipe()
		go func() {
			for _, p := range pieces {
				time.Sleep(10 * ms)
				w.Write(p)
			}
			w.Close()
		}()
		rt := quiet(roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Encoding": {"gzip"}, "Content-Type": {"text/event-stream"}}, ContentLength: -1, Body: r}, nil
		}))
		ctx, tr := tacho.Track(t.Context())
		resp, err := rt.RoundTrip(newRequest(ctx, t, hostURL, chatStream))
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
		figures{tacho.TTFB: 0, tacho.TTFC: 10 * ms, tacho.TTFT: 20 * ms, tacho.TTFO: 20 * ms, tacho.TTLT: 30 * ms, tacho.Duration: 40 * ms,
			tacho.NetworkWait: 40 * ms, tacho.ConsumerWait: 0}.check(t, one(t, tr))
	})
}

// TestCompressedEnds ends compressed bodies in every way: the goroutine ends
// with each. TestMain finds one that does not.
func TestCompressedEnds(t *testing.T) { //nolint:paralleltest // runs the collector again and again
	body := bytes.Join(compress(t, "gzip", []string{"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", "data: [DONE]\n\n"}), nil)
	for name, tc := range map[string]struct {
		body []byte
		use  func(*http.Response)
		want tacho.Outcome
	}{
		"read":           {body, readAll, tacho.Complete},
		"closed unread":  {body, func(r *http.Response) { r.Body.Close() }, tacho.ClosedEarly},
		"closed early":   {body, func(r *http.Response) { r.Body.Read(make([]byte, 9)); r.Body.Close() }, tacho.ClosedEarly},
		"dropped":        {body, func(r *http.Response) { r.Body.Read(make([]byte, 9)) }, tacho.Dropped},
		"cut":            {body[:len(body)/2], readAll, tacho.Cut},
		"not compressed": {[]byte("data: [DONE]\n\n"), readAll, tacho.Complete},
		"empty":          {nil, readAll, tacho.Cut},
	} {
		told := make(chan *tacho.Call, 1)
		func() {
			rt := quiet(roundTripper(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Encoding": {"gzip"}, "Content-Type": {"text/event-stream"}}, ContentLength: -1, Body: &pieceBody{rest: tc.body, err: io.EOF}}, nil
			}))
			resp, err := rt.RoundTrip(newRequest(tacho.ContextWithObserver(t.Context(), func(c *tacho.Call) { told <- c }), t, hostURL, chatStream))
			if err != nil {
				t.Fatal(err)
			}
			tc.use(resp)
		}()
		for c := (*tacho.Call)(nil); c == nil; {
			runtime.GC()
			select {
			case c = <-told:
				if c.Outcome() != tc.want {
					t.Errorf("%s: %v, want %v", name, c.Outcome(), tc.want)
				}
			default:
				runtime.Gosched()
			}
		}
	}
}
