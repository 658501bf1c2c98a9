// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
)

// Benchmarks come in pairs: the same calls bare, and with tacho. Their
// difference is what tacho costs.

// cannedServer answers every request on a pipe with the same bytes, without
// allocating, so that what is counted is the client's.
func cannedServer(b testing.TB, response []byte) *http.Transport {
	b.Helper()
	tr := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			r := bufio.NewReader(server)
			for {
				length := 0
				for {
					line, err := r.ReadSlice('\n')
					if err != nil {
						return
					}
					if n, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
						for _, c := range bytes.TrimSpace(n) {
							length = length*10 + int(c-'0')
						}
					}
					if len(line) <= 2 {
						break
					}
				}
				if _, err := r.Discard(length); err != nil {
					return
				}
				if _, err := server.Write(response); err != nil {
					return
				}
			}
		}()
		return client, nil
	}}
	b.Cleanup(tr.CloseIdleConnections)
	return tr
}

const chatAnswer = `{"id":"chatcmpl-BpUinPP6uoKQ7wujISoeiCaI3hAIf","object":"chat.completion","created":1751612521,"model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,"message":{"role":"assistant","content":"Atlantic Ocean","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":22,"completion_tokens":2,"total_tokens":24,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"service_tier":"default","system_fingerprint":"fp_34a54ae93c"}`

func plainResponse() []byte {
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(chatAnswer), chatAnswer)
}

func streamResponse(events int) []byte {
	var body bytes.Buffer
	for i := range events {
		fmt.Fprintf(&body, "data: {\"id\":\"chatcmpl-BpUinPP6uoKQ7wujISoeiCaI3hAIf\",\"object\":\"chat.completion.chunk\",\"created\":1751612521,\"model\":\"gpt-4o-mini-2024-07-18\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_34a54ae93c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word%d\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null,\"obfuscation\":\"x%d\"}\n\n", i, i*7)
	}
	body.WriteString("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", body.Len(), body.String())
}

var requestBody = []byte(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"` + strings.Repeat("x", 400) + `"}],"max_tokens":50,"temperature":0.3}`)

func pairs(b *testing.B, base *http.Transport, run func(b *testing.B, rt http.RoundTripper)) {
	b.Run("bare", func(b *testing.B) { run(b, base) })
	b.Run("recorder", func(b *testing.B) {
		run(b, tacho.NewTransport(base, tacho.WithRecorder(tacho.NewRecorder()), tacho.WithoutTracing(), tacho.WithoutMetrics(), tacho.WithoutTCPInfo()))
	})
}

func BenchmarkChat(b *testing.B) {
	pairs(b, cannedServer(b, plainResponse()), func(b *testing.B, rt http.RoundTripper) {
		buf := make([]byte, 4096)
		b.ReportAllocs()
		for b.Loop() {
			call(b, rt, requestBody, buf)
		}
	})
}

func BenchmarkStream200(b *testing.B) {
	pairs(b, cannedServer(b, streamResponse(200)), func(b *testing.B, rt http.RoundTripper) {
		buf := make([]byte, 4096)
		body := bytes.Replace(requestBody, []byte(`{"model"`), []byte(`{"stream":true,"model"`), 1)
		b.ReportAllocs()
		for b.Loop() {
			call(b, rt, body, buf)
		}
	})
}

// BenchmarkChatOver is the difference itself: batches of bare and measured
// calls in turn, so that a machine whose speed wanders wanders for both, and
// the median of the differences. ns/op is of no use here.
func BenchmarkChatOver(b *testing.B) {
	base := cannedServer(b, plainResponse())
	with := tacho.NewTransport(base, tacho.WithRecorder(tacho.NewRecorder()), tacho.WithoutTracing(), tacho.WithoutMetrics(), tacho.WithoutTCPInfo())
	over(b, func(measured bool, buf []byte) {
		if measured {
			call(b, with, requestBody, buf)
		} else {
			call(b, base, requestBody, buf)
		}
	})
}

// over runs batches in turn and reports medians.
func over(b *testing.B, run func(measured bool, buf []byte)) {
	const batch = 100
	buf := make([]byte, 8192)
	var bare, diffs []float64
	times := func(measured bool) float64 {
		start := time.Now()
		for range batch {
			run(measured, buf)
		}
		return float64(time.Since(start).Nanoseconds()) / batch
	}
	for b.Loop() {
		x := times(false)
		y := times(true)
		bare, diffs = append(bare, x), append(diffs, y-x)
	}
	slices.Sort(bare)
	slices.Sort(diffs)
	b.ReportMetric(bare[len(bare)/2], "ns/bare-call")
	b.ReportMetric(diffs[len(diffs)/2], "ns/call-over-bare")
}

// BenchmarkPass is what a request costs that is no call.
func BenchmarkPass(b *testing.B) {
	pairs(b, nil, func(b *testing.B, rt http.RoundTripper) {
		if rt == http.RoundTripper((*http.Transport)(nil)) {
			rt = nothing{}
		} else {
			rt = tacho.NewTransport(nothing{}, tacho.WithoutTracing(), tacho.WithoutMetrics())
		}
		req, _ := http.NewRequest("POST", "http://host/v1/files/batch", nil)
		b.ReportAllocs()
		for b.Loop() {
			rt.RoundTrip(req)
		}
	})
}

type nothing struct{}

func (nothing) RoundTrip(*http.Request) (*http.Response, error) { return nil, nil }

func call(b testing.TB, rt http.RoundTripper, body, buf []byte) {
	req, err := http.NewRequest("POST", "http://bench.invalid/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		b.Fatal(err)
	}
	for {
		if _, err := resp.Body.Read(buf); err != nil {
			if err != io.EOF {
				b.Fatal(err)
			}
			break
		}
	}
	resp.Body.Close()
}

// stub is a base whose response's body is read from memory.
type stub struct {
	body   []byte
	pieces int // bytes a Read; 0: as many as fit
}

func (s *stub) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Proto: "HTTP/1.1", Header: http.Header{"Content-Type": {"text/event-stream"}},
		ContentLength: -1, Body: &stubBody{s.body, s.pieces}}, nil
}

type stubBody struct {
	rest   []byte
	pieces int
}

func (b *stubBody) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	n := len(p)
	if b.pieces > 0 {
		n = bytes.Index(b.rest, []byte("\n\n")) + 2
	}
	n = copy(p, b.rest[:min(n, len(b.rest))])
	b.rest = b.rest[n:]
	return n, nil
}

func (b *stubBody) Close() error { return nil }

// BenchmarkEvent is what one event of a stream costs in the tap: when a Read
// brings many, and when each comes alone.
func BenchmarkEvent(b *testing.B) {
	const events = 1000
	_, body, _ := bytes.Cut(streamResponse(events), []byte("\r\n\r\n"))
	request := []byte(`{"stream":true,"model":"gpt-4o-mini","messages":[]}`)
	for _, bb := range []struct {
		name   string
		pieces int
	}{{"many", 0}, {"alone", 1}} {
		b.Run(bb.name, func(b *testing.B) {
			for _, with := range []bool{false, true} {
				name := map[bool]string{false: "bare", true: "recorder"}[with]
				b.Run(name, func(b *testing.B) {
					var rt http.RoundTripper = &stub{body, bb.pieces}
					if with {
						rt = tacho.NewTransport(rt, tacho.WithRecorder(tacho.NewRecorder()), tacho.WithoutTracing(), tacho.WithoutMetrics())
					}
					buf := make([]byte, 8192)
					b.ReportAllocs()
					for b.Loop() {
						call(b, rt, request, buf)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
				})
			}
		})
	}
}
