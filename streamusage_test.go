// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tacho-go/tacho"
)

const (
	askStream = `{"model":"m","stream":true,"messages":[]}`
	askedFor  = `{"stream_options":{"include_usage":true},"model":"m","stream":true,"messages":[]}`
)

// TestStreamUsageRequest says which requests ask for usage, and how they are sent.
func TestStreamUsageRequest(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		path, body, sent string
		change           func(*http.Request)
	}{
		"chat":                 {"chat/completions", askStream, askedFor, nil},
		"completions":          {"completions", askStream, askedFor, nil},
		"white space":          {"chat/completions", " \n" + askStream, " \n" + askedFor, nil},
		"a body in pieces":     {"chat/completions", askStream, askStream, func(r *http.Request) { r.GetBody = nil }},
		"has some":             {"chat/completions", `{"stream":true,"stream_options":{"include_usage":false}}`, "", nil},
		"has none of them":     {"chat/completions", `{"stream":true,"stream_options":{}}`, `{"stream":true,"stream_options":{"include_usage":true}}`, nil},
		"has others":           {"chat/completions", `{"a":[{"stream_options":{}}],"stream_options" : { "include_obfuscation":false } ,"stream":true}`, `{"a":[{"stream_options":{}}],"stream_options" : {"include_usage":true, "include_obfuscation":false } ,"stream":true}`, nil},
		"has null":             {"chat/completions", `{"stream":true,"stream_options":null}`, `{"stream":true,"stream_options":{"include_usage":true}}`, nil},
		"is no object":         {"chat/completions", `{"stream":true,"stream_options":5}`, "", nil},
		"says null":            {"chat/completions", `{"stream":true,"stream_options":{"include_usage":null}}`, "", nil},
		"no stream":            {"chat/completions", `{"model":"m","stream":false}`, "", nil},
		"responses":            {"responses", askStream, "", nil},
		"caller's compression": {"chat/completions", askStream, "", func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip") }},
		"a compressed body":    {"chat/completions", askStream, "", func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }},
		"no JSON":              {"chat/completions", `stream=true`, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.sent == "" {
				tc.sent = tc.body
			}
			closed := false
			rt := tacho.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
				got, err := io.ReadAll(iotest.OneByteReader(r.Body))
				r.Body.Close()
				if err != nil || string(got) != tc.sent || r.ContentLength != int64(len(tc.sent)) || r.Header.Get("Content-Length") != "" && tc.sent != tc.body {
					t.Errorf("sent %q (%v), length %d, %q, want %q", got, err, r.ContentLength, r.Header.Get("Content-Length"), tc.sent)
				}
				if r.GetBody != nil {
					body, _ := r.GetBody()
					if again, _ := io.ReadAll(body); string(again) != tc.sent {
						t.Errorf("GetBody gives %q, want %q", again, tc.sent)
					}
				}
				return answer(`{}`), nil
			}), tacho.WithStreamUsage(), tacho.WithoutTracing(), tacho.WithoutMetrics())
			req := newRequest(t.Context(), t, "http://host.invalid/v1/"+tc.path, tc.body)
			req.Header.Set("Content-Length", fmt.Sprint(len(tc.body)))
			req.Body = &closing{req.Body, &closed}
			if tc.change != nil {
				tc.change(req)
			}
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			readAll(resp)
			if !closed {
				t.Error("the application's body is not closed")
			}
			if req.Header.Get("Content-Length") == "" {
				t.Error("the application's headers are changed")
			}
		})
	}
}

type closing struct {
	io.ReadCloser
	closed *bool
}

func (c *closing) Close() error { *c.closed = true; return c.ReadCloser.Close() }

const usageChunk = `data: {"id":"c","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5}}` + "\n\n"

func chunkOf(text string) string {
	return `data: {"id":"c","choices":[{"index":0,"delta":{"content":"` + text + `"}}],"usage":null}` + "\n\n"
}

// usageStream is a transport that answers every stream with the same bytes.
func usageStream(stream string, pieces func(io.Reader) io.Reader) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
		return &http.Response{
			StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Proto: "HTTP/1.1", ContentLength: int64(len(stream)), Request: r,
			Header: http.Header{"Content-Type": {"text/event-stream"}, "Content-Length": {fmt.Sprint(len(stream))}},
			Body:   io.NopCloser(pieces(strings.NewReader(stream))),
		}, nil
	})
}

// TestStreamUsageHidden: what the application reads is the stream without the
// chunk, whatever its pieces and line ends, and the record has the usage.
func TestStreamUsageHidden(t *testing.T) {
	t.Parallel()
	long := `data: {"id":"` + strings.Repeat("x", 2048) + `","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5}}` + "\n\n"
	for name, tc := range map[string]struct{ before, hidden, after string }{
		"at the end":           {chunkOf("a") + chunkOf("b"), usageChunk, "data: [DONE]\n\n"},
		"the last one":         {chunkOf("a"), usageChunk, ""},
		"behind a comment":     {": ping\n\n" + chunkOf("a") + ": ping\n\n", usageChunk, ": ping\n\ndata: [DONE]\n\n"},
		"with a name":          {chunkOf("a"), "event: chunk\n" + usageChunk, "data: [DONE]\n\n"},
		"in two lines":         {chunkOf("a"), "data: {\"choices\": [ ],\ndata:\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":5}}\n\n", "data: [DONE]\n\n"},
		"usage with a choice":  {chunkOf("a") + `data: {"choices":[{"index":0,"delta":{}}],"usage":{"prompt_tokens":9,"completion_tokens":5}}` + "\n\n", "", "data: [DONE]\n\n"},
		"no choices, no usage": {`data: {"choices":[],"prompt_filter_results":[],"usage":null}` + "\n\n" + chunkOf("a"), usageChunk, "data: [DONE]\n\n"},
		"no JSON":              {"data: {\"choices\":[],\n\n" + chunkOf("a"), usageChunk, "data: [DONE]\n\n"},
		"a chunk in a text":    {chunkOf(`\"choices\":[],\"usage\":{}`), usageChunk, "data: [DONE]\n\n"},
		"too long":             {chunkOf("a") + long, "", "data: [DONE]\n\n"},
		"cut":                  {chunkOf("a"), usageChunk, `data: {"choices":[`},
	} {
		for _, end := range []string{"\n", "\r\n", "\r"} {
			for kind, pieces := range map[string]func(io.Reader) io.Reader{
				"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader, "with the error": iotest.DataErrReader,
			} {
				lines := strings.NewReplacer("\n", end)
				rt := tacho.NewTransport(usageStream(lines.Replace(tc.before+tc.hidden+tc.after), pieces), tacho.WithStreamUsage(), tacho.WithoutTracing(), tacho.WithoutMetrics())
				ctx, calls := tacho.Track(t.Context())
				resp, err := rt.RoundTrip(newRequest(ctx, t, "http://host.invalid/v1/chat/completions", askStream))
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(resp.Body)
				if want := lines.Replace(tc.before + tc.after); err != nil || string(got) != want {
					t.Errorf("%s, %q, %s: read %q (%v), want %q", name, end, kind, got, err, want)
				}
				if resp.ContentLength != -1 || resp.Header.Get("Content-Length") != "" {
					t.Errorf("%s: length %d and %q", name, resp.ContentLength, resp.Header.Get("Content-Length"))
				}
				resp.Body.Close()
				if u := calls.Calls()[0].Usage(); u.Input.N != 9 || u.Output.N != 5 || !u.Output.Reported {
					t.Errorf("%s, %q, %s: usage %+v", name, end, kind, u)
				}
			}
		}
	}
}

// pieces yields one of its strings at each Read.
type pieces []string

func (p *pieces) Read(b []byte) (int, error) {
	if len(*p) == 0 {
		return 0, io.EOF
	}
	n := copy(b, (*p)[0])
	*p = (*p)[1:]
	return n, nil
}

// TestStreamUsageHolds: an event is let go as soon as it has a choice.
func TestStreamUsageHolds(t *testing.T) {
	t.Parallel()
	rt := tacho.NewTransport(usageStream("", func(io.Reader) io.Reader {
		return &pieces{": pi", "ng\n\nda", `ta: {"id":"c","cho`, `ices":`, `[{"delta":{"con`, `tent":"a"}}]}`, "\n\n", usageChunk[:30], usageChunk[30:] + "data: [DO", "NE]\n\n"}
	}), tacho.WithStreamUsage(), tacho.WithoutTracing(), tacho.WithoutMetrics())
	resp, err := rt.RoundTrip(newRequest(t.Context(), t, "http://host.invalid/v1/chat/completions", askStream))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got []string
	buf := make([]byte, 512)
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			got = append(got, string(buf[:n]))
		}
		if err != nil {
			break
		}
	}
	if want := []string{": pi", "ng\n\n", `data: {"id":"c","choices":[{"delta":{"con`, `tent":"a"}}]}`, "\n\n", "data: [DONE]\n\n"}; !slices.Equal(got, want) {
		t.Errorf("Reads of %q, want %q", got, want)
	}
}

// TestStreamUsageRefused: a server that refuses the option gets the request as it
// was, once, in the same call, and is not asked again.
func TestStreamUsageRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status  int
		refusal string
		sent    int // requests of two calls
		outcome tacho.Outcome
	}{
		"400":            {400, `{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`, 3, tacho.Complete},
		"422":            {422, `{"detail":[{"loc":["body","stream_options"],"msg":"extra fields not permitted"}]}`, 3, tacho.Complete},
		"something else": {400, `{"error":{"message":"context too long"}}`, 2, tacho.Failed},
		"another status": {500, `{"error":{"message":"stream_options"}}`, 2, tacho.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent []string
			rt := tacho.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
				body, _ := io.ReadAll(r.Body)
				r.Body.Close()
				sent = append(sent, string(body))
				if strings.Contains(string(body), "stream_options") {
					resp := answer(tc.refusal)
					resp.StatusCode = tc.status
					return resp, nil
				}
				return usageStream(chunkOf("a")+usageChunk+"data: [DONE]\n\n", func(r io.Reader) io.Reader { return r }).RoundTrip(newRequest(r.Context(), t, "http://h.invalid", ""))
			}), tacho.WithStreamUsage(), tacho.WithoutTracing(), tacho.WithoutMetrics())
			ctx, calls := tacho.Track(t.Context())
			for range 2 {
				resp, err := rt.RoundTrip(newRequest(ctx, t, "http://host.invalid/v1/chat/completions", askStream))
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if want := map[bool]string{true: chunkOf("a") + usageChunk + "data: [DONE]\n\n", false: tc.refusal}[tc.outcome == tacho.Complete]; string(body) != want {
					t.Errorf("read %q, want %q", body, want)
				}
			}
			if len(sent) != tc.sent || tc.sent == 3 && (sent[0] != askedFor || sent[1] != askStream || sent[2] != askStream) {
				t.Errorf("sent %q", sent)
			}
			if all := calls.Calls(); len(all) != 2 || all[0].Outcome() != tc.outcome || all[1].Outcome() != tc.outcome {
				t.Errorf("calls %v, want two, %v", all, tc.outcome)
			}
		})
	}
}

// TestStreamUsageEvents: Events does not yield the chunk either, and the times
// are those of the events that it does yield.
func TestStreamUsageEvents(t *testing.T) {
	t.Parallel()
	rt := tacho.NewTransport(usageStream(chunkOf("a")+usageChunk+"data: [DONE]\n\n", func(r io.Reader) io.Reader { return r }), tacho.WithStreamUsage(), tacho.WithoutTracing(), tacho.WithoutMetrics())
	resp, err := rt.RoundTrip(newRequest(t.Context(), t, "http://host.invalid/v1/chat/completions", askStream))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got []string
	for ev, err := range tacho.Events(resp) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %t %t", ev.Channel, ev.Timed, ev.Done))
	}
	if want := []string{"content true false", " true true"}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// FuzzStreamUsage: the pieces in which a stream comes change nothing, what is left
// hides nothing more, and a stream without the word has all its bytes.
func FuzzStreamUsage(f *testing.F) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		f.Add([]byte(strings.ReplaceAll(chunkOf("a")+usageChunk+": c\n\ndata: [DONE]\n\n", "\n", end)), 3)
	}
	f.Add([]byte("\n\ndata: {\"choices\":[\ndata: ],\"usage\":{}}\n\r\n"), 7)
	f.Fuzz(func(t *testing.T, stream []byte, n int) {
		whole := tacho.HideUsage(stream, max(1, len(stream)))
		if got := tacho.HideUsage(stream, min(max(1, n), 4096)); string(got) != string(whole) {
			t.Errorf("%q in pieces of %d: %q, whole %q", stream, n, got, whole)
		}
		if got := tacho.HideUsage(stream, 1); string(got) != string(whole) {
			t.Errorf("%q byte by byte: %q, whole %q", stream, got, whole)
		}
		if !strings.Contains(string(stream), "usage") && string(whole) != string(stream) {
			t.Errorf("%q became %q", stream, whole)
		}
	})
}

// TestStreamUsageGetBody: a body in memory that cannot be had again is sent as it is.
func TestStreamUsageGetBody(t *testing.T) {
	t.Parallel()
	for name, get := range map[string]func() (io.ReadCloser, error){
		"fails":  func() (io.ReadCloser, error) { return nil, errBroken },
		"panics": func() (io.ReadCloser, error) { panic("GetBody") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rt := tacho.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
				if got, err := io.ReadAll(r.Body); err != nil || string(got) != askStream {
					t.Errorf("sent %q, %v", got, err)
				}
				return answer(`{}`), nil
			}), tacho.WithStreamUsage(), tacho.WithoutTracing(), tacho.WithoutMetrics())
			req := newRequest(t.Context(), t, hostURL, askStream)
			req.GetBody = get
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			readAll(resp)
		})
	}
}

// TestStreamUsageAsked: it is asked for where the request's facts are known before it
// is sent, by whatever way the request came.
func TestStreamUsageAsked(t *testing.T) {
	t.Parallel()
	asked := ""
	base := roundTripper(func(r *http.Request) (*http.Response, error) {
		b, err := io.ReadAll(r.Body)
		asked = string(b)
		return answer(`{}`), err
	})
	client, err := tacho.NewClient("http://host.invalid/v1", "", tacho.WithBase(base), tacho.WithStreamUsage(), tacho.WithoutTracing(), tacho.WithoutMetrics())
	if err != nil {
		t.Fatal(err)
	}
	rt := tacho.NewTransport(base, tacho.WithStreamUsage(), tacho.WithoutTracing(), tacho.WithoutMetrics())
	send := func(change func(*http.Request)) func() error {
		return func() error {
			req := newRequest(t.Context(), t, hostURL, askStream)
			change(req)
			resp, err := rt.RoundTrip(req)
			readAll(resp)
			return err
		}
	}
	for name, call := range map[string]func() error{
		"a Client": func() error {
			s, err := client.Stream(t.Context(), "chat/completions", map[string]any{"model": "m"})
			for range s.All() {
				continue
			}
			return err
		},
		"a body in memory": send(func(*http.Request) {}),
		"a GetBody of one": send(func(r *http.Request) { r.Body = onlyReadCloser{r.Body} }),
		"a GetBody of another type": send(func(r *http.Request) {
			r.Body = onlyReadCloser{r.Body}
			r.GetBody = func() (io.ReadCloser, error) { return writingBody{strings.NewReader(askStream)}, nil }
		}),
	} {
		for range 3 {
			if err := call(); err != nil || !strings.Contains(asked, `"include_usage":true`) {
				t.Errorf("%s: sent %q, %v", name, asked, err)
			}
		}
	}
}
