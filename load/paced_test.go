// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/load"
	"github.com/tacho-go/tacho/sim"
)

// BenchmarkPaced keeps 200 streams in flight, each with a token every 20 ms, from
// a simulated endpoint in the same process, and tells how the generator fared: the
// share of the CPUs that the process took, the P99 of the schedule delay, and the
// P99 of the gaps, which the endpoint makes 20 ms:
//
//	go test -run '^$' -bench Paced -benchtime 1x ./load
func BenchmarkPaced(b *testing.B) {
	for b.Loop() {
		// 100 tokens in 2 s, 100 calls a second.
		srv, err := sim.Listen(sim.WithModel(sim.Model{Base: 20 * time.Millisecond, Prefill: -1, PerToken: 20 * time.Millisecond, Spread: -1, Output: 100, OutputSpread: -1}))
		if err != nil {
			b.Fatal(err)
		}
		rec := load.NewRecorder()
		client, err := tacho.NewClient(srv.URL(), "", tacho.WithConcurrency(256), tacho.WithRecorder(rec))
		if err != nil {
			b.Fatal(err)
		}
		chat := load.Chat{Client: client, Model: "m", Prompts: load.Synthetic(16, 64)}
		res, err := load.Run(context.Background(), load.Config{Stages: []load.Stage{load.Constant(100, 10*time.Second).After(3 * time.Second)}, Call: chat.Call, Recorder: rec})
		if err != nil {
			b.Fatal(err)
		}
		client.CloseIdleConnections()
		_ = srv.Close()
		s := &res.Stages[0]
		n, _ := s.Flow.InFlight()
		delay, _ := s.Delay.Quantile(0.99)
		gap, _ := s.Snapshot.Streams.Figure(tacho.Gap).Quantile(0.99)
		stall, _ := res.Health.Stalls.Quantile(0.99)
		b.ReportMetric(n, "in-flight")
		if res.Health.CPU != nil {
			b.ReportMetric(100**res.Health.CPU, "cpu-%")
		}
		b.ReportMetric(inMs(delay), "delay-p99-ms")
		b.ReportMetric(inMs(gap), "gap-p99-ms")
		b.ReportMetric(inMs(stall), "stall-p99-ms")
	}
}

func inMs(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
