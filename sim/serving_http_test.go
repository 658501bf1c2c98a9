// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho/sim"
)

// chatBody asks for a stream with usage for a prompt of so many tokens.
func chatBody(prompt string, more string) string {
	return `{"model":"m","stream":true,"stream_options":{"include_usage":true}` + more + `,"messages":[{"role":"user","content":"` + prompt + `"}]}`
}

// served is a call to a server as its client saw it.
type served struct {
	status int
	header http.Header
	end    time.Duration
	tokens []time.Duration // times of events with content
	usage  struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		In         struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		Out struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	finish string
	lines  string // all, with their times
}

// watch reads a stream; times are since start.
func watch(t *testing.T, start time.Time, resp *http.Response) served {
	t.Helper()
	defer resp.Body.Close()
	s := served{status: resp.StatusCode, header: resp.Header}
	for _, a := range arrivals(t, start, resp.Body) {
		s.lines += fmt.Sprintln(a.at, a.line)
		s.end = a.at
		data, ok := strings.CutPrefix(a.line, "data: {")
		if !ok {
			continue
		}
		var c struct {
			Choices []struct {
				Delta        struct{ Content string }
				FinishReason string `json:"finish_reason"`
			}
			Usage json.RawMessage
		}
		if err := json.Unmarshal([]byte("{"+data), &c); err != nil {
			t.Error(err)
		}
		for _, ch := range c.Choices {
			if ch.Delta.Content != "" {
				s.tokens = append(s.tokens, a.at)
			}
			s.finish += ch.FinishReason
		}
		if len(c.Choices) == 0 {
			if err := json.Unmarshal(c.Usage, &s.usage); err != nil {
				t.Error(err)
			}
		}
	}
	return s
}

// busy is a server with everything in it that depends on the seed, a queue that
// fills and limits that refuse.
func busy() sim.Serving {
	return sim.Serving{
		Base: 30 * ms, Prefill: 20_000, Knee: 4000, PrefillSpread: sim.Spread{Name: "gamma", CV: 0.5},
		Step: 8 * ms, PerSequence: ms, PerThousandKV: 300 * time.Microsecond, StepSpread: sim.Spread{Name: "lognormal", CV: 0.3},
		MaxBatch: 4, KV: 3000, Queue: 3, Output: 12, OutputSpread: sim.Spread{Name: "exponential"},
		Reasoning: 5, ReasoningTime: 20 * ms, ReasoningSpread: sim.Spread{Name: "uniform", CV: 0.4},
		RequestsPerMinute: 60 * 45, RequestBurst: 10, TokensPerMinute: 60 * 20_000, TokenBurst: 15_000,
		PrefixCache: 4000, Speeds: []float64{1, 0.5}, Dispatch: sim.LeastLoaded,
	}
}

// load makes calls to a server over HTTP in a bubble, and the same in virtual time.
func load(n int) (bodies []string, calls []sim.Arrival) {
	r := rand.New(rand.NewPCG(3, 4))
	at := time.Duration(0)
	for i := range n {
		at += time.Duration(r.ExpFloat64()*float64(20*ms)) + 1
		prompt := 100 + r.IntN(500)
		shared := r.IntN(3) * 100
		prefix := fmt.Sprintf("%c", 'a'+r.IntN(2))
		text := strings.Repeat(prefix, 4*min(shared, prompt))
		text += strings.Repeat(fmt.Sprintf("%04d", i), prompt-min(shared, prompt))
		bodies = append(bodies, chatBody(text, ""))
		calls = append(calls, sim.Arrival{At: at, Prompt: prompt, Prefix: prefix, PrefixTokens: shared, Times: true})
	}
	return bodies, calls
}

// overHTTP sends the bodies at the times of the calls.
func overHTTP(t *testing.T, s sim.Serving, seed uint64, bodies []string, calls []sim.Arrival) []served {
	got := make([]served, len(bodies))
	synctest.Test(t, func(t *testing.T) {
		srv := sim.New(t, sim.WithServing(s), sim.WithSeed(seed))
		c, start := srv.Client(), time.Now()
		var wg sync.WaitGroup
		for i, body := range bodies {
			wg.Go(func() {
				time.Sleep(calls[i].At)
				resp, err := c.Do(newRequest(t, srv, chatPath, body))
				if err != nil {
					t.Error(err)
					return
				}
				got[i] = watch(t, start, resp)
			})
		}
		wg.Wait()
	})
	return got
}

// TestServingOverHTTP compares all times and counts of a busy server over HTTP
// with those in virtual time: to the nanosecond, for each token.
func TestServingOverHTTP(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		change func(*sim.Serving)
	}{
		{"as it is", func(*sim.Serving) {}},
		{"chunks, shared queue", func(s *sim.Serving) { s.Chunk, s.Dispatch = 200, sim.SharedQueue }},
		{"no base, no thinking", func(s *sim.Serving) { s.Base, s.Reasoning, s.ReasoningTime, s.ReasoningSpread = 0, 0, 0, sim.Spread{} }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := busy()
			tc.change(&s)
			bodies, calls := load(150)
			over, virtual := overHTTP(t, s, 5, bodies, calls), outcomes5(t, s, calls)
			statuses, cached := map[int]int{}, 0
			for i, o := range virtual {
				statuses[o.Status]++
				cached += o.Cached
				h := over[i]
				equal(t, "status", h.status, o.Status)
				equal(t, "end", h.end, o.End)
				equal(t, "tokens", fmt.Sprint(h.tokens), fmt.Sprint(o.Times))
				if o.Status == 200 {
					equal(t, "counts", fmt.Sprint(h.usage), fmt.Sprintf("{%d %d {%d} {%d}}", o.Prompt, o.Output, o.Cached, o.Reasoning))
				}
				if t.Failed() {
					t.Fatalf("call %d: %+v", i, o)
				}
			}
			t.Log(statuses, cached)
			if statuses[200] < 50 || statuses[429] < 5 || statuses[503] < 5 || cached == 0 {
				t.Errorf("the load does not show all: %v, %d cached", statuses, cached)
			}
		})
	}
}

func outcomes5(t *testing.T, s sim.Serving, calls []sim.Arrival) []sim.Outcome {
	got := slices.Collect(simulate(t, s, slices.Values(calls), 5))
	slices.SortFunc(got, func(a, b sim.Outcome) int { return a.Number - b.Number })
	return got
}

// TestServingSeed gives the same bytes at the same times for the same seed.
func TestServingSeed(t *testing.T) {
	t.Parallel()
	bodies, calls := load(40)
	all := func(seed uint64) (text string) {
		for _, s := range overHTTP(t, busy(), seed, bodies, calls) {
			text += fmt.Sprintln(s.status, s.header) + s.lines
		}
		return text
	}
	one := all(1)
	if one != all(1) {
		t.Error("the same seed gives different answers")
	}
	if one == all(2) {
		t.Error("different seeds give the same answers")
	}
}

// TestServingRefusals shows the refusals' headers and error objects.
func TestServingRefusals(t *testing.T) {
	t.Parallel()
	prompt := strings.Repeat("word", 100)
	for _, tc := range []struct {
		name, more string
		s          sim.Serving
		wait       time.Duration
		header     string
		body       string
	}{
		// One of a burst of one is taken, and a tenth has come back after 100 ms.
		{"requests", "", sim.Serving{RequestsPerMinute: 60, RequestBurst: 1}, 100 * ms,
			"429 Requests 60/0/900ms Tokens // Retry 1 900",
			`{"error":{"message":"Rate limit reached for m on requests per min.","type":"requests","param":null,"code":"rate_limit_exceeded"}}`},
		// 228 of 300 are taken and 10 have come back after 100 ms; 146 more are
		// wanted, which takes 1.46 s.
		{"tokens", "", sim.Serving{TokensPerMinute: 6000, TokenBurst: 300}, 100 * ms,
			"429 Requests // Tokens 6000/82/2.18s Retry 2 1460",
			`{"error":{"message":"Rate limit reached for m on tokens per min.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`},
		{"queue", "", sim.Serving{MaxBatch: 1, Queue: -1, RetryAfter: 2500 * ms}, 100 * ms,
			"503 Requests // Tokens // Retry 3 2500",
			`{"error":{"message":"The server is overloaded. Please try again later.","type":"server_error","param":null,"code":"overloaded"}}`},
		{"KV", "", sim.Serving{KV: 227}, 100 * ms, "400 Requests // Tokens // Retry  ",
			`{"error":{"message":"The request needs 228 tokens and 1 sequences, more than the server has.","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}}`},
		{"choices", `,"n":3`, sim.Serving{MaxBatch: 2}, 100 * ms, "400 Requests // Tokens // Retry  ",
			`{"error":{"message":"The request needs 484 tokens and 3 sequences, more than the server has.","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := sim.New(t, sim.WithServing(tc.s))
				c, start := s.Client(), time.Now()
				first := post(t, s, c, chatPath, chatBody(prompt, tc.more))
				defer first.Body.Close()
				time.Sleep(time.Until(start.Add(tc.wait)))
				resp, body := fetch(t, s, c, chatPath, chatBody(prompt, tc.more))
				h := resp.Header
				got := fmt.Sprintf("%d", resp.StatusCode)
				for _, what := range []string{"Requests", "Tokens"} {
					got += fmt.Sprintf(" %s %s/%s/%s", what, h.Get("X-Ratelimit-Limit-"+what), h.Get("X-Ratelimit-Remaining-"+what), h.Get("X-Ratelimit-Reset-"+what))
				}
				got += fmt.Sprintf(" Retry %s %s", h.Get("Retry-After"), h.Get("Retry-After-Ms"))
				equal(t, "headers", got, tc.header)
				equal(t, "body", body, tc.body)
			})
		})
	}
}

// TestServingAnswers shows the forms of an answer: streams, plain, embeddings,
// limits of tokens, choices, events of several tokens.
func TestServingAnswers(t *testing.T) {
	t.Parallel()
	prompt := strings.Repeat("word", 100) // 100 ms
	s := sim.Serving{Prefill: 1000, Step: 10 * ms, Output: 5, TokensPerEvent: 2, RequestsPerMinute: 600}
	for _, tc := range []struct {
		name, path, body string
		first, end       time.Duration
		want             string // is in the answer
	}{
		{"stream", chatPath, chatBody(prompt, ""), 110 * ms, 140 * ms, `"completion_tokens":5,`},
		{"limit", chatPath, chatBody(prompt, `,"max_tokens":3`), 110 * ms, 120 * ms, `"finish_reason":"length"`},
		{"no end before the limit", chatPath, chatBody(prompt, `,"max_tokens":9,"ignore_eos":true`), 110 * ms, 180 * ms, `"completion_tokens":9,`},
		{"choices", chatPath, chatBody(prompt, `,"n":3`), 110 * ms, 140 * ms, `"completion_tokens":15,`},
		{"plain", chatPath, `{"messages":["` + prompt + `"]}`, 140 * ms, 140 * ms, `"completion_tokens":5,`},
		{"completions", completionsPath, `{"stream":true,"prompt":"` + prompt + `"}`, 110 * ms, 140 * ms, `"finish_reason":"stop"`},
		{"responses", responsesPath, `{"stream":true,"input":"` + prompt + `"}`, 110 * ms, 140 * ms, `"output_tokens":5,`},
		{"responses, plain", responsesPath, `{"input":"` + prompt + `"}`, 140 * ms, 140 * ms, `"input_tokens":100,`},
		{"embeddings", "/embeddings", `{"input":"` + prompt + `"}`, 100 * ms, 100 * ms, `"prompt_tokens":100,`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv := sim.New(t, sim.WithServing(s))
				start := time.Now()
				resp := post(t, srv, srv.Client(), tc.path, tc.body)
				got := arrivals(t, start, resp.Body)
				resp.Body.Close()
				equal(t, "status", resp.StatusCode, 200)
				equal(t, "remaining", resp.Header.Get("X-Ratelimit-Remaining-Requests"), "599")
				equal(t, "first", got[0].at, tc.first)
				equal(t, "end", got[len(got)-1].at, tc.end)
				all := ""
				for _, a := range got {
					all += a.line + "\n"
				}
				if !strings.Contains(all, tc.want) {
					t.Errorf("no %s in\n%s", tc.want, all)
				}
			})
		})
	}
}

// TestServingCachesOverHTTP sends a body twice: the answer is the same to the
// byte, at once, and says where it comes from.
func TestServingCachesOverHTTP(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(t, sim.WithServing(sim.Serving{Base: ms, ResponseCache: 10, PrefixCache: 1000, Output: 20, OutputSpread: sim.Spread{Name: "gamma", CV: 0.5}}))
		c := s.Client()
		prompt := strings.Repeat("x", 400)
		first, one := fetch(t, s, c, chatPath, chatBody(prompt, ""))
		start := time.Now()
		second, two := fetch(t, s, c, chatPath, chatBody(prompt, ""))
		equal(t, "time", time.Since(start), ms)
		equal(t, "answer", two, one)
		equal(t, "first", first.Header.Get("X-Cache"), "MISS")
		equal(t, "second", second.Header.Get("X-Cache"), "HIT")

		// Another limit is another request, of the same prompt: 96 of its 100 tokens are known.
		third, three := fetch(t, s, c, chatPath, chatBody(prompt, `,"max_tokens":100`))
		equal(t, "third", third.Header.Get("X-Cache"), "MISS")
		if !strings.Contains(three, `"cached_tokens":96}`) {
			t.Errorf("cached tokens: %s", three)
		}
		// Another model has another cache.
		_, four := fetch(t, s, c, chatPath, strings.Replace(chatBody(prompt, ""), `"m"`, `"m2"`, 1))
		if !strings.Contains(four, `"cached_tokens":0}`) {
			t.Errorf("cached tokens: %s", four)
		}
	})
}
