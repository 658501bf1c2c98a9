// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"fmt"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/load"
	"github.com/tacho-go/tacho/sim"
)

// A load of 50 calls a second on a simulated endpoint.
func Example() {
	srv := sim.NewServer(sim.WithScript(sim.Script{Text: "to be or not to be"}))
	defer srv.Close()

	rec := load.NewRecorder()
	client, err := tacho.NewClient(srv.URL(), "", tacho.WithBase(srv.Transport()), tacho.WithRecorder(rec))
	if err != nil {
		fmt.Println(err)
		return
	}
	chat := load.Chat{Client: client, Model: "m", Prompts: load.Synthetic(16, 64)}
	res, err := load.Run(context.Background(), load.Config{
		Stages:   []load.Stage{load.Constant(50, 200*time.Millisecond)},
		Call:     chat.Call,
		Recorder: rec,
		Limits:   []budget.Limit{{Figure: tacho.TTFT, AtMost: time.Minute}},
		CatchUp:  true, // on a machine that stalls, too
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := &res.Stages[0]
	p99, ok := s.Snapshot.Streams.Figure(tacho.TTFT).Quantile(0.99)
	fmt.Println(s.Name, "offered", s.Offered, "served", s.Served, "good", s.Good, p99 > 0, ok)
	// Output: 50/s constant offered 10 served 10 good 10 true true
}
