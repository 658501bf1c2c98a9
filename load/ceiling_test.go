// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/load"
)

const (
	ceilingWorkers = 16
	ceilingEvents  = 64
)

// streams is a server on a port that answers with a stream of 64 events, each
// flushed by itself or all at once.
func streams(b *testing.B, each bool) (url string) {
	b.Helper()
	var events [][]byte
	for i := range ceilingEvents {
		events = append(events, fmt.Appendf(nil, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":" word%02d"},"finish_reason":null}]}`+"\n\n", i))
	}
	end := []byte(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	whole := append(bytes.Join(events, nil), end...)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		if !each {
			_, _ = w.Write(whole)
			return
		}
		flush := w.(http.Flusher) //nolint:forcetypeassert // net/http's has it
		for _, e := range events {
			_, _ = w.Write(e)
			flush.Flush()
		}
		_, _ = w.Write(end)
	})}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = srv.Serve(l) }()
	b.Cleanup(func() { _ = srv.Close() })
	return "http://" + l.Addr().String() + "/v1"
}

// plainReader reads streams line by line with net/http, as the simplest client
// does, and returns how many in a time.
func plainReader(b *testing.B, url string, body []byte, d time.Duration) int64 {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: ceilingWorkers}}
	defer client.CloseIdleConnections()
	var n atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(d)
	for range ceilingWorkers {
		wg.Go(func() {
			for time.Now().Before(end) {
				resp, err := client.Post(url+"/chat/completions", "application/json", bytes.NewReader(body))
				if err != nil {
					b.Error(err)
					return
				}
				lines := bufio.NewScanner(resp.Body)
				events := 0
				for lines.Scan() {
					if bytes.HasPrefix(lines.Bytes(), []byte("data: ")) {
						events++
					}
				}
				resp.Body.Close()
				if events != ceilingEvents+2 {
					b.Errorf("%d events", events)
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return n.Load()
}

// BenchmarkCeiling is how many streams a second 16 workers read, by a plain line
// reader and by a load, in turns of a second in the same run:
//
//	go test -run '^$' -bench Ceiling -benchtime 10x ./load
func BenchmarkCeiling(b *testing.B) {
	for _, each := range []bool{true, false} {
		name := "at-once"
		if each {
			name = "flushed"
		}
		b.Run(name, func(b *testing.B) {
			url := streams(b, each)
			body := []byte(`{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}],"stream_options":{"include_usage":true}}`)
			var shares, plains, loads []float64
			for b.Loop() {
				plain := float64(plainReader(b, url, body, time.Second))
				rec := load.NewRecorder()
				client, err := tacho.NewClient(url, "", tacho.WithConcurrency(ceilingWorkers), tacho.WithRecorder(rec))
				if err != nil {
					b.Fatal(err)
				}
				chat := load.Chat{Client: client, Model: "m", Prompts: load.Fixed("hello")}
				res, err := load.Run(context.Background(), load.Config{Stages: []load.Stage{load.Workers(ceilingWorkers, time.Second)}, Call: chat.Call, Recorder: rec})
				if err != nil {
					b.Fatal(err)
				}
				client.CloseIdleConnections()
				served := float64(res.Stages[0].EndedServed)
				plains, loads, shares = append(plains, plain), append(loads, served), append(shares, served/plain)
			}
			b.ReportMetric(median(plains), "plain/s")
			b.ReportMetric(median(loads), "load/s")
			b.ReportMetric(100*median(shares), "%")
		})
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// TestMemory: a load ten times as long, in time and in calls, keeps no more.
func TestMemory(t *testing.T) {
	heap := func(calls int64) (held uint64) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var n atomic.Int64
		res, err := load.Run(ctx, load.Config{
			Stages: []load.Stage{load.Workers(4, time.Hour)},
			Call: func(ctx context.Context, _ load.Job) error {
				if n.Add(1) == calls {
					defer cancel()
				}
				return plainCall(ctx, 0)
			},
		})
		if err != nil || res.Stages[0].Started < calls {
			t.Fatalf("%v, %+v", err, res)
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		runtime.KeepAlive(res)
		return m.HeapAlloc
	}
	heap(1000)
	few, many := heap(2000), heap(20_000)
	if many > few+128<<10 {
		t.Errorf("20,000 calls hold %d bytes more than 2,000", many-few)
	}
}
