// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho/sim"
)

// TestModelTimes compares the times with those that the parameters give.
func TestModelTimes(t *testing.T) {
	t.Parallel()
	exact := sim.Model{Base: 100 * ms, Prefill: 1000, PerToken: 20 * ms, Spread: -1, Output: 5, OutputSpread: -1}
	prompt := strings.Repeat("x", 400) // 100 tokens, 100 ms
	for _, tc := range []struct {
		name, path, fields string
		first, last        time.Duration
	}{
		{"chat stream", chatPath, `"stream":true,"messages":[{"role":"user","content":"` + prompt + `"}]`, 200 * ms, 280 * ms},
		{"limit", chatPath, `"stream":true,"max_completion_tokens":3,"messages":["` + prompt + `"]`, 200 * ms, 240 * ms},
		{"two choices", chatPath, `"stream":true,"n":2,"messages":["` + prompt + `"]`, 200 * ms, 280 * ms},
		{"completions stream", completionsPath, `"stream":true,"prompt":"` + prompt + `"`, 200 * ms, 280 * ms},
		{"responses stream", responsesPath, `"stream":true,"max_output_tokens":2,"input":"` + prompt + `"`, 200 * ms, 220 * ms},
		{"plain", chatPath, `"messages":["` + prompt + `"]`, 280 * ms, 280 * ms},
		{"embeddings", "/embeddings", `"input":"` + prompt + `"`, 200 * ms, 200 * ms},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := sim.New(t, sim.WithModel(exact))
				start := time.Now()
				resp := post(t, s, s.Client(), tc.path, "{"+tc.fields+"}")
				got := arrivals(t, start, resp.Body)
				resp.Body.Close()
				equal(t, "first line", got[0].at, tc.first)
				equal(t, "last line", got[len(got)-1].at, tc.last)
			})
		})
	}
}

// streamed is what a chat stream of one choice says.
func streamed(t *testing.T, body string) (deltas, completion int, finish string) {
	t.Helper()
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var c struct {
			Choices []struct {
				Delta        struct{ Content string }
				FinishReason string `json:"finish_reason"`
			}
			Usage struct {
				CompletionTokens int `json:"completion_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatal(err)
		}
		for _, ch := range c.Choices {
			if ch.Delta.Content != "" {
				deltas++
			}
			finish += ch.FinishReason
		}
		completion += c.Usage.CompletionTokens
	}
	return deltas, completion, finish
}

func TestModelUsage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(t)
		limited := 0
		for range 40 {
			_, body := fetch(t, s, s.Client(), chatPath, `{"stream":true,"max_tokens":60,"stream_options":{"include_usage":true}}`)
			deltas, completion, finish := streamed(t, body)
			equal(t, "usage", completion, deltas)
			want := "stop"
			if deltas == 60 && finish == "length" {
				limited++
				want = "length"
			}
			equal(t, "finish reason", finish, want)
		}
		if limited == 0 || limited == 40 {
			t.Errorf("%d of 40 answers reached the limit", limited)
		}
	})
}

// TestModelSpread checks mean and deviation of the gaps against the parameters.
func TestModelSpread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(t, sim.WithModel(sim.Model{Output: 20_000, OutputSpread: -1}))
		start := time.Now()
		resp := post(t, s, s.Client(), chatPath, `{"stream":true}`)
		got := times(arrivals(t, start, resp.Body))
		resp.Body.Close()
		got = got[1 : len(got)-3] // role, finish, [DONE], EOF
		var sum, logs, squares float64
		for i := 1; i < len(got); i++ {
			gap := (got[i] - got[i-1]).Seconds()
			sum += gap
			logs += math.Log(gap)
			squares += math.Log(gap) * math.Log(gap)
		}
		n := float64(len(got) - 1)
		mean, sigma := sum/n, math.Sqrt(squares/n-logs/n*logs/n)
		if n != 19_999 || math.Abs(mean-0.018) > 0.0002 || math.Abs(sigma-0.25) > 0.005 {
			t.Errorf("%v gaps, mean %v s, σ of the logarithm %v", n, mean, sigma)
		}
	})
}

// TestSeed plays three calls three times: all bytes and times depend on the seed alone.
func TestSeed(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) (all string) {
		synctest.Test(t, func(t *testing.T) {
			s := sim.New(t, sim.WithSeed(seed))
			start := time.Now()
			for _, path := range []string{chatPath, completionsPath, responsesPath, "/embeddings"} {
				resp := post(t, s, s.Client(), path, `{"stream":true,"input":"x"}`)
				all += resp.Header.Get("X-Request-Id") + "\n"
				for _, a := range arrivals(t, start, resp.Body) {
					all += a.at.String() + " " + a.line + "\n"
				}
				resp.Body.Close()
			}
		})
		return all
	}
	one := run(1)
	if one != run(1) {
		t.Error("the same seed gives different answers")
	}
	if one == run(2) {
		t.Error("different seeds give the same answers")
	}
}

// TestModelSlots offers requests at once to two slots and a short queue.
func TestModelSlots(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		queue  int
		counts map[time.Duration]int // answers by time
	}{
		{"no bound", 0, map[time.Duration]int{time.Second: 2, 2 * time.Second: 2, 3 * time.Second: 2}},
		{"two may wait", 2, map[time.Duration]int{0: 2, time.Second: 2, 2 * time.Second: 2}},
		{"none may wait", -1, map[time.Duration]int{0: 4, time.Second: 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := sim.New(t, sim.WithModel(sim.Model{Base: time.Second, Prefill: -1, Output: 1, OutputSpread: -1, Slots: 2, Queue: tc.queue}))
				c := s.Client()
				times := make(chan time.Duration, 6)
				start := time.Now()
				for range 6 {
					go func() {
						resp, err := c.Do(newRequest(t, s, chatPath, plainBody))
						if err != nil {
							t.Error(err)
							return
						}
						resp.Body.Close()
						if refused := resp.StatusCode == http.StatusTooManyRequests; refused != (time.Since(start) == 0) {
							t.Errorf("status %d after %v", resp.StatusCode, time.Since(start))
						}
						times <- time.Since(start)
					}()
				}
				got := map[time.Duration]int{}
				for range 6 {
					got[<-times]++
				}
				if !maps.Equal(got, tc.counts) {
					t.Errorf("got %v, want %v", got, tc.counts)
				}
			})
		})
	}
}

// TestModelSlotGivenUp cancels a request that waits: the one behind it moves up.
func TestModelSlotGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(t, sim.WithModel(sim.Model{Base: time.Second, Prefill: -1, Output: 1, OutputSpread: -1, Slots: 1}))
		c := s.Client()
		start := time.Now()
		var wg sync.WaitGroup
		for i, limit := range []time.Duration{time.Hour, time.Second / 2, time.Hour} {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				if resp, err := c.Do(newRequest(t, s, chatPath, plainBody).WithContext(ctx)); err == nil {
					resp.Body.Close()
				}
				equal(t, "time", time.Since(start), []time.Duration{time.Second, time.Second / 2, 2 * time.Second}[i])
			})
			synctest.Wait()
		}
		wg.Wait()
	})
}

func TestDescriptions(t *testing.T) {
	t.Parallel()
	const model = "model: base 40ms, prefill 4000 tokens/s, 18ms a token (lognormal, σ 0.25), output median 64 tokens (lognormal, σ 0.5)"
	equal(t, "model", sim.Model{}.String(), model)
	equal(t, "none", sim.Model{Base: -1, Prefill: -1, PerToken: -1, Spread: -1, Output: 2, OutputSpread: -1}.String(),
		"model: base 0s, prefill none, 0s a token (lognormal, σ 0), output median 2 tokens (lognormal, σ 0)")
	equal(t, "slots", sim.Model{Slots: 4, Queue: -1}.String(), model+", 4 slots, queue of 0")
	shapes := ""
	for s := sim.UsageAsAsked; s <= sim.UsageXGroq+1; s++ {
		shapes += s.String() + ", "
	}
	equal(t, "shapes", shapes, "as asked, none, on last chunk, on finish chunk, on every chunk, x_groq, UsageShape(6), ")
	equal(t, "server", sim.New(t, sim.WithSeed(4)).String(), "sim: "+model+", seed 4; in memory")
}
