// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"io"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// TestManyStreams ends 2,000 concurrent streams in every way there is, and
// adds up: each call is told once, no connection and no goroutine is left.
func TestManyStreams(t *testing.T) { //nolint:paralleltest // counts the goroutines of the process
	const streams = 2000
	whole := []sim.Step{sim.Role(0), sim.Text(0, "a"), sim.Text(0, "b"), sim.Text(0, "c"), sim.Finish(0, "stop"), sim.Done()}
	cuts := func(events int) (steps []sim.Step) { // after so many events
		steps = append(steps, whole[:events]...)
		return append(steps, sim.Cut())
	}
	hang := []sim.Step{sim.Role(0), sim.Text(0, "a"), sim.Text(0, "b"), sim.Hang()}
	before := runtime.NumGoroutine()
	servers := map[string]*rig{}
	for name, steps := range map[string][]sim.Step{"whole": whole, "hang": hang, "cut0": cuts(0), "cut1": cuts(1), "cut2": cuts(2), "cut3": cuts(3), "cut4": cuts(4)} {
		servers[name] = newRig(t, []sim.Option{sim.WithScript(sim.Script{Steps: steps})})
	}
	rec := tacho.NewRecorder()
	var outcomes [tacho.Dropped + 1]atomic.Int64
	observe := func(c *tacho.Call) { outcomes[c.Outcome()].Add(1); rec.Observe(c) }
	ctx := tacho.ContextWithObserver(t.Context(), observe)

	var want [tacho.Dropped + 1]int64
	random := rand.New(rand.NewPCG(7, 11))
	var wg sync.WaitGroup
	start := make(chan struct{})
	for range streams {
		way := []tacho.Outcome{tacho.Complete, tacho.Cut, tacho.Cancelled, tacho.ClosedEarly, tacho.Dropped}[random.IntN(5)]
		want[way]++
		size := 1 + random.IntN(300)
		r := servers["hang"]
		switch way {
		case tacho.Complete:
			r = servers["whole"]
		case tacho.Cut:
			r = servers["cut"+strconv.Itoa(random.IntN(5))]
		}
		wg.Go(func() {
			<-start
			one, cancel := ctx, context.CancelFunc(nil)
			if way == tacho.Cancelled {
				one, cancel = context.WithCancel(ctx)
				defer cancel()
			}
			resp, err := r.client.Do(r.request(one, chatPath, chatStream))
			if err != nil {
				t.Error(err)
				return
			}
			buf := make([]byte, size)
			switch way {
			case tacho.Complete, tacho.Cut:
				io.CopyBuffer(io.Discard, struct{ io.Reader }{resp.Body}, buf)
				resp.Body.Close()
			case tacho.Cancelled:
				resp.Body.Read(buf)
				cancel()
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			case tacho.ClosedEarly:
				resp.Body.Read(buf)
				resp.Body.Close()
				resp.Body.Close()
			case tacho.Dropped:
				resp.Body.Read(buf)
			}
		})
	}
	close(start)
	wg.Wait()
	told := func() (n int64) {
		for i := range outcomes {
			n += outcomes[i].Load()
		}
		return n
	}
	for told() < streams {
		runtime.GC() // the dropped ones are found by the collector
		runtime.Gosched()
	}
	for o := range outcomes {
		if got := outcomes[o].Load(); got != want[o] {
			t.Errorf("%v: told %d, want %d", tacho.Outcome(o), got, want[o])
		}
	}
	if got := rec.Total().Streams.Calls(); got != streams {
		t.Errorf("the recorder has %d calls, want %d", got, streams)
	}
	for name, r := range servers {
		if err := r.tr.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		for r.srv.OpenConns() > 0 {
			r.client.CloseIdleConnections()
			runtime.Gosched()
		}
		if err := r.srv.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for runtime.NumGoroutine() > before {
		runtime.Gosched() // ends of connections; the test's timeout tells of one that does not end
	}
}
