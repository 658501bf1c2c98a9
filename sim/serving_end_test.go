// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho/sim"
)

// TestServingCancelled cancels calls that wait, are prefilled and decode: each
// leaves its place to the next at once.
func TestServingCancelled(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		giveUp   []time.Duration // of the calls, in order; they come 1 ms apart
		lastDone time.Duration
	}{
		// Each takes 100 ms for its prompt and 100 ms for 10 more tokens, alone.
		{"none", []time.Duration{time.Hour, time.Hour, time.Hour}, 600 * ms},
		{"one that waits", []time.Duration{time.Hour, 50 * ms, time.Hour}, 400 * ms},
		{"one that waits first", []time.Duration{time.Hour, 150 * ms, time.Hour}, 400 * ms},
		// The prefill under way goes on until 100.
		{"one in prefill", []time.Duration{50 * ms, 20 * ms, time.Hour}, 300 * ms},
		// So does the step, until 130.
		{"one that decodes", []time.Duration{125 * ms, 20 * ms, time.Hour}, 330 * ms},
		{"all", []time.Duration{125 * ms, 20 * ms, 30 * ms}, 125 * ms},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := sim.New(t, sim.WithServing(sim.Serving{Prefill: 1000, Step: 10 * ms, MaxBatch: 1, Output: 11}))
				c, start := s.Client(), time.Now()
				var wg sync.WaitGroup
				for i, limit := range tc.giveUp {
					wg.Go(func() {
						time.Sleep(time.Duration(i) * ms)
						ctx, cancel := context.WithDeadline(t.Context(), start.Add(limit))
						defer cancel()
						resp, err := c.Do(newRequest(t, s, chatPath, chatBody(strings.Repeat("word", 100), "")).WithContext(ctx))
						if err == nil {
							_, err = io.Copy(io.Discard, resp.Body)
							resp.Body.Close()
						}
						if (err != nil) != (limit < time.Hour) {
							t.Errorf("call %d: %v", i, err)
						}
					})
				}
				wg.Wait()
				equal(t, "end", time.Since(start), tc.lastDone)
				synctest.Wait()
				m := metrics(t, s, c)
				equal(t, "running", m[`vllm:num_requests_running{model_name="sim-model"}`], 0)
				equal(t, "waiting", m[`vllm:num_requests_waiting{model_name="sim-model"}`], 0)
			})
		})
	}
}

// TestServingClose closes a server with calls in all states.
func TestServingClose(t *testing.T) {
	t.Parallel()
	s, err := sim.Listen(sim.WithServing(sim.Serving{MaxBatch: 1, Step: time.Hour}))
	if err != nil {
		t.Fatal(err)
	}
	c := s.Client()
	first := post(t, s, c, chatPath, chatBody("x", ""))
	defer first.Body.Close()
	var wg sync.WaitGroup
	wg.Go(func() {
		if resp, err := c.Do(newRequest(t, s, chatPath, chatBody("x", ""))); err == nil {
			resp.Body.Close()
			t.Errorf("status %d", resp.StatusCode)
		}
	})
	for metrics(t, s, c)[`vllm:num_requests_waiting{model_name="sim-model"}`] == 0 {
		runtime.Gosched()
	}
	s.Close()
	if _, err := io.Copy(io.Discard, first.Body); err == nil {
		t.Error("the answer ended well")
	}
	wg.Wait()
}

func TestServingOptions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(t, sim.WithServing(sim.Serving{MaxBatch: 1}))
		s.Play(sim.Script{Text: "scripted"})
		_, body := fetch(t, s, s.Client(), chatPath, plainBody)
		if !strings.Contains(body, "scripted") {
			t.Errorf("body %s", body)
		}
		if !strings.HasPrefix(s.String(), "sim: serving sim-model: ") {
			t.Errorf("text %s", s)
		}
	})
	s := sim.New(t)
	resp, err := s.Client().Get("http://sim.invalid/metrics")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	equal(t, "metrics without a serving model", resp.StatusCode, http.StatusNotFound)
}
