// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"io"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho/sim"
)

var sample = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+)\} (\S+)$`)

// metrics parses what a server tells at /metrics: samples by name and labels. It
// fails on what is not in Prometheus' text format.
func metrics(t *testing.T, s *sim.Server, c *http.Client) map[string]float64 {
	t.Helper()
	resp, err := c.Get(strings.TrimSuffix(s.URL(), "/v1") + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "type", resp.Header.Get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8")
	got, types, last := map[string]float64{}, map[string]string{}, ""
	buckets := map[string]float64{}
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSuffix(line, "\n")
		if f := strings.Fields(line); f[0] == "#" {
			if f[1] == "TYPE" {
				types[f[2]], last = f[3], f[2]
			}
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("no sample: %q", line)
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil || math.IsNaN(v) || v < 0 {
			t.Errorf("value of %q", line)
		}
		if !strings.HasPrefix(m[1], last) {
			t.Errorf("%s stands under %s", m[1], last)
		}
		if types[last] == "counter" && !strings.HasSuffix(last, "_total") {
			t.Errorf("the counter %s does not end in _total", last)
		}
		if strings.HasSuffix(m[1], "_bucket") {
			if v < buckets[last] {
				t.Errorf("%s falls to %v", line, v)
			}
			buckets[last] = v
		}
		if strings.HasSuffix(m[1], "_count") && types[last] == "histogram" && v != buckets[last] {
			t.Errorf("%s, but %v in buckets", line, buckets[last])
		}
		got[m[1]+"{"+m[2]+"}"] = v
	}
	return got
}

// TestMetrics compares all counts with those of calls worked out by hand.
func TestMetrics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// Prompts of 100 tokens take 100 ms; the first of two calls at once gives
		// tokens at 100, 210, 220, the second at 200, 210, 220; a third waits.
		s := sim.New(t, sim.WithServing(sim.Serving{
			Name: "a \"b\"\\\n", Prefill: 1000, Step: 10 * ms, MaxBatch: 2, KV: 500, Queue: 1, Output: 3, PrefixCache: 1000, ResponseCache: 9,
		}), sim.WithAPIKey("secret"))
		c := s.Client()
		send := func(prompt, more string) {
			r := newRequest(t, s, chatPath, chatBody(prompt, more))
			r.Header.Set("Authorization", "Bearer secret")
			resp, err := c.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Error(err)
			}
		}
		for _, p := range []string{"a", "b", "c", "d"} {
			go send(strings.Repeat(p, 400), "")
			synctest.Wait()
		}
		const model = `model_name="a \"b\"\\\n"`
		check := func(when string, want map[string]float64) {
			t.Helper()
			got := metrics(t, s, c)
			for k, v := range want {
				name, label, _ := strings.Cut(k, " ")
				if label != "" {
					label = "," + label
				}
				g, ok := got[name+"{"+model+label+"}"]
				if !ok || math.Abs(g-v) > 1e-9 {
					t.Errorf("%s: %s is %v (%v), not %v", when, k, g, ok, v)
				}
			}
		}
		check("at first", map[string]float64{
			"vllm:num_requests_running": 2, "vllm:num_requests_waiting": 1, "vllm:kv_cache_usage_perc": 2 * 103.0 / 500,
			"vllm:prompt_tokens_total": 0, `sim:requests_refused_total code="503"`: 1, "vllm:prefix_cache_queries_total": 100,
		})
		time.Sleep(time.Second)
		// The third: 220 to 320, tokens then, at 330 and 340.
		send(strings.Repeat("a", 400), "")                  // a hit
		send(strings.Repeat("a", 400), `,"max_tokens":2`)   // 96 cached: 4 ms, and 10
		send(strings.Repeat("a", 400), `,"max_tokens":500`) // the same, and 20
		check("at last", map[string]float64{
			"vllm:num_requests_running": 0, "vllm:num_requests_waiting": 0, "vllm:kv_cache_usage_perc": 0,
			"vllm:prompt_tokens_total": 500, "vllm:generation_tokens_total": 14,
			`vllm:request_success_total finished_reason="stop"`: 4, `vllm:request_success_total finished_reason="length"`: 1,
			`vllm:request_success_total finished_reason="abort"`: 0,
			"vllm:prefix_cache_queries_total":                    500, "vllm:prefix_cache_hits_total": 192,
			"vllm:time_to_first_token_seconds_count": 5, "vllm:time_to_first_token_seconds_sum": 0.1 + 0.2 + 0.32 + 0.004 + 0.004,
			`vllm:time_to_first_token_seconds_bucket le="0.1"`: 3, `vllm:time_to_first_token_seconds_bucket le="0.25"`: 4,
			// 110, 10 and 10, 10 ms; 10, 10; 10; 10, 10
			"vllm:inter_token_latency_seconds_count": 9, "vllm:inter_token_latency_seconds_sum": 0.19,
			`vllm:inter_token_latency_seconds_bucket le="0.01"`: 8,
			"vllm:e2e_request_latency_seconds_count":            5, "vllm:e2e_request_latency_seconds_sum": 0.22 + 0.22 + 0.34 + 0.014 + 0.024,
			"vllm:request_queue_time_seconds_count": 5, "vllm:request_queue_time_seconds_sum": 0.1 + 0.22,
			"sim:response_cache_hits_total": 1, `sim:requests_refused_total code="429"`: 0,
		})
		if n := len(s.Requests()); n != 7 {
			t.Errorf("%d requests are listed", n)
		}
	})
}
