// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/load"
)

// standstill is a server whose calls take 2 ms, and which stands still from second
// 5 to second 6 after its start.
func standstill(tb testing.TB) string {
	tb.Helper()
	began := time.Now()
	const answer = `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		wait := 2 * time.Millisecond
		if at := time.Since(began); at >= 5*time.Second && at < 6*time.Second {
			wait += 6*time.Second - at
		}
		time.Sleep(wait)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	})}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	go func() { _ = srv.Serve(l) }()
	tb.Cleanup(func() { _ = srv.Close() })
	return "http://" + l.Addr().String() + "/v1"
}

// BenchmarkOmission puts 100 calls a second for 10 s on a server that stands still
// for one of them, with one call in flight at most and without a bound, and tells
// the P99 of each generator in ms:
//
//	GOWORK=off go test -run '^$' -bench Omission -benchtime 1x .
//
// With one in flight a call that the stop has held up has waited before it
// starts. Who times from the actual start does not see that.
func BenchmarkOmission(b *testing.B) {
	const rate, seconds = 100, 10
	for _, bound := range []int{1, 0} {
		name := "unbounded"
		if bound > 0 {
			name = "one-in-flight"
		}
		b.Run(name+"/tacho", func(b *testing.B) {
			for b.Loop() {
				rec := load.NewRecorder()
				client, err := tacho.NewClient(standstill(b), "", tacho.WithConcurrency(256), tacho.WithRecorder(rec))
				if err != nil {
					b.Fatal(err)
				}
				chat := load.Chat{Client: client, Model: "m", Prompts: load.Fixed("hello"), Plain: true}
				res, err := load.Run(context.Background(), load.Config{Stages: []load.Stage{load.Constant(rate, seconds*time.Second)},
					Call: chat.Call, Recorder: rec, MaxInFlight: bound})
				if err != nil {
					b.Fatal(err)
				}
				client.CloseIdleConnections()
				s := &res.Stages[0]
				intended, _, _ := s.Plain.Duration.Quantile(0.99)
				actual, _ := s.Snapshot.Plain.Figure(tacho.Duration).Quantile(0.99)
				b.ReportMetric(float64(s.Served), "calls")
				b.ReportMetric(ms(intended), "p99-intended-ms")
				b.ReportMetric(ms(actual), "p99-actual-ms")
			}
		})
		b.Run(name+"/vegeta", func(b *testing.B) {
			for b.Loop() {
				url := standstill(b) + "/chat/completions"
				opts := []func(*vegeta.Attacker){}
				if bound > 0 {
					opts = append(opts, vegeta.Workers(1), vegeta.MaxWorkers(1))
				}
				targets := vegeta.NewStaticTargeter(vegeta.Target{Method: http.MethodPost, URL: url,
					Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(strings.TrimSpace(`{"model":"m","messages":[{"role":"user","content":"hello"}]}`))})
				var m vegeta.Metrics
				for r := range vegeta.NewAttacker(opts...).Attack(targets, vegeta.Rate{Freq: rate, Per: time.Second}, seconds*time.Second, "omission") {
					m.Add(r)
				}
				m.Close()
				b.ReportMetric(float64(m.Requests), "calls")
				b.ReportMetric(ms(m.Latencies.P99), "p99-actual-ms")
			}
		})
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
