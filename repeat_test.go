// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// TestRepeatedEvents: events in one Read are told as each by itself is.
func TestRepeatedEvents(t *testing.T) {
	t.Parallel()
	const events, together = 47, 12 // behind one that has the role alone
	synctest.Test(t, func(t *testing.T) {
		rec := tacho.NewRecorder()
		r := newRig(t, []sim.Option{sim.WithScript(sim.Script{HeaderDelay: 100 * ms, Gap: 10 * ms, Text: strings.Repeat("word ", events-1) + "word", Coalesce: together})}, tacho.WithRecorder(rec))
		c := r.do(chatPath, chatStreamUsage, readAll)
		var gaps []time.Duration
		for i := 1; i < events; i++ {
			gap := time.Duration(0)
			if (i+1)%together == 0 {
				gap = together * 10 * ms
			}
			gaps = append(gaps, gap)
		}
		var sum, squares float64
		for _, g := range gaps {
			sum += float64(g)
		}
		mean := sum / float64(len(gaps))
		for _, g := range gaps {
			squares += (float64(g) - mean) * (float64(g) - mean)
		}
		want := tacho.Gaps{
			Count: len(gaps), Max: together * 10 * ms, Mean: time.Duration(math.Round(mean)), HasStdDev: true,
			StdDev: time.Duration(math.Round(math.Sqrt(squares / float64(len(gaps)-1)))), Network: time.Duration(sum), LongestNetwork: together * 10 * ms,
		}
		if got, _ := c.Gaps(); got != want {
			t.Errorf("gaps %+v, want %+v", got, want)
		}
		h := rec.Snapshot(0).Streams.Figure(tacho.Gap)
		if n, zeros := h.Count(), h.Count()-h.CountAbove(0); n != int64(len(gaps)) || zeros != int64(len(gaps)-3) {
			t.Errorf("%d gaps are recorded, %d of no length", n, zeros)
		}
	})
}

// TestRepeatedEventsInPieces: a stream says the same however it is cut, and whatever
// stands between the events that are alike.
func TestRepeatedEventsInPieces(t *testing.T) {
	t.Parallel()
	likes := func(n int, frame, end string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(frame + `{"id":"a","choices":[{"index":0,"delta":{"content":"w` + strings.Repeat("x", i%7) + `"},"finish_reason":null}]}` + end)
		}
		return b.String()
	}
	const (
		said  = `event: response.output_text.delta` + "\n" + `data: {"type":"response.output_text.delta","delta":"word","item_id":"m"}` + "\n\n"
		coded = `data: {"choices":[{"index":0,"delta":{"content":"word"}}],"type":"t","code":"c","message":"m"}` + "\n\n"
		stop  = `data: {"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":40}}` + "\n\ndata: [DONE]\n\n"
	)
	for name, stream := range map[string]string{
		"nothing":               likes(40, "data: ", "\n\n") + stop,
		"comments":              likes(20, "data: ", "\n\n") + ": ping\n\n" + likes(20, "data: ", "\n\n") + stop,
		"other frames":          likes(10, "data: ", "\n\n") + likes(10, "data:", "\n\n") + likes(10, "id: 7\ndata: ", "\n\n") + likes(10, "data: ", "\r\n\r\n") + stop,
		"an error by its name":  likes(20, "data: ", "\n\n") + likes(1, "event: error\ndata: ", "\n\n") + likes(20, "data: ", "\n\n") + stop,
		"an error with a code":  strings.Repeat(coded, 20) + "event: error\n" + coded + stop,
		"events that are named": strings.Repeat(said, 20) + "event: error\n" + strings.Repeat(said, 20),
		"the end within":        likes(20, "data: ", "\n\n") + stop + likes(20, "data: ", "\n\n"),
		"no end":                likes(20, "data: ", "\n\n") + likes(1, "data: ", "\n\n")[:40],
		"an empty line less":    strings.Replace(likes(40, "data: ", "\n\n"), "}]}\n\ndata", "}]}\ndata", 20) + stop,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := func(size int) map[string]any {
				rt := quiet(roundTripper(func(*http.Request) (*http.Response, error) {
					return &http.Response{
						StatusCode: 200, Proto: "HTTP/1.1", Header: http.Header{"Content-Type": {"text/event-stream"}},
						Body: io.NopCloser(&pieceBody{rest: []byte(stream), sizes: []byte{byte(size - 1)}, err: io.EOF}),
					}, nil
				}))
				ctx, tr := tacho.Track(t.Context())
				url, body := hostURL, chatStream
				if strings.Contains(stream, "response.") {
					url, body = "http://host.invalid/v1/responses", responsesStream
				}
				resp, err := rt.RoundTrip(newRequest(ctx, t, url, body))
				if err != nil {
					t.Fatal(err)
				}
				readAll(resp)
				rec := record(t, one(t, tr))
				gaps, _ := rec["gaps"].(map[string]any)
				told := map[string]any{"gaps": gaps["count"]}
				for _, key := range []string{"outcome", "events", "output_events", "first_output_event", "text_chars", "finish_reasons", "usage", "error", "done_seen", "terminated"} {
					told[key] = rec[key]
				}
				return told
			}
			want := read(1)
			for _, size := range []int{7, 64, 200, 256} {
				if diff := cmp.Diff(want, read(size)); diff != "" {
					t.Errorf("pieces of %d: (-of 1 byte)\n%s", size, diff)
				}
			}
		})
	}
}
