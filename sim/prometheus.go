// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// isMetrics reports whether the path is that of the metrics, whatever stands
// before it, and not that of a model of this name.
func isMetrics(path string) bool {
	a, _ := route(path)
	return a == apiNone && strings.HasSuffix(path, "/metrics")
}

// serveMetrics answers with the counts of the engine as it is now.
func (l *live) serveMetrics(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		writeError(w, http.StatusMethodNotAllowed, "method_not_supported", "invalid_request_error",
			fmt.Sprintf("Not allowed to %s on %s.", r.Method, r.URL.Path))
		return
	}
	l.mu.Lock()
	l.e.advance(time.Since(l.start))
	text := l.e.prometheus()
	l.arm()
	l.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	// A client that is gone is no concern of the endpoint.
	_, _ = io.WriteString(w, text)
}

// prometheus writes the metrics in Prometheus' text format.
func (e *engine) prometheus() string {
	m, p := e.meter, promText{model: e.s.Name}
	running, waiting, kv := 0, e.shared.n, 0
	for _, r := range e.replicas {
		running += r.running
		waiting += r.queue.n
		kv += r.kv
	}
	p.one("vllm:num_requests_running", "gauge", "Requests that have their places in a batch.", float64(running))
	p.one("vllm:num_requests_waiting", "gauge", "Requests that wait for their places.", float64(waiting))
	if e.s.KV > 0 {
		p.one("vllm:kv_cache_usage_perc", "gauge", "Share of the KV budget that is reserved; 1 is all.",
			float64(kv)/(float64(e.s.KV)*float64(len(e.replicas))))
	}
	p.one("vllm:prompt_tokens_total", "counter", "Tokens of prompts whose prefill is complete.", float64(m.prompt))
	p.one("vllm:generation_tokens_total", "counter", "Tokens generated, hidden ones included.", float64(m.generated))
	p.head("vllm:request_success_total", "counter", "Requests that ended, by reason.")
	for i, n := range m.finished {
		p.line("vllm:request_success_total", `finished_reason="`+finishNames[i]+`"`, float64(n))
	}
	p.one("vllm:prefix_cache_queries_total", "counter", "Tokens of prompts looked up in the prefix cache.", float64(m.queried))
	p.one("vllm:prefix_cache_hits_total", "counter", "Tokens of prompts found in the prefix cache.", float64(m.found))
	p.histogram("vllm:time_to_first_token_seconds", "Time to the first token.", m.ttft)
	p.histogram("vllm:inter_token_latency_seconds", "Time between two tokens of a sequence.", m.gap)
	p.histogram("vllm:e2e_request_latency_seconds", "Time to the end of a request.", m.total)
	p.histogram("vllm:request_queue_time_seconds", "Time to the begin of the prefill.", m.queue)
	p.head("sim:requests_refused_total", "counter", "Requests refused, by HTTP status.")
	for _, status := range []int{statusTooLarge, statusLimited, statusOverloaded} {
		p.line("sim:requests_refused_total", `code="`+strconv.Itoa(status)+`"`, float64(m.refused[status]))
	}
	p.one("sim:response_cache_hits_total", "counter", "Requests answered by the response cache.", float64(m.hits))
	return p.String()
}

// promText builds the text.
type promText struct {
	strings.Builder
	model string
}

func (p *promText) head(name, kind, help string) {
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (p *promText) one(name, kind, help string, v float64) {
	p.head(name, kind, help)
	p.line(name, "", v)
}

// line writes one sample; label is further labels, or empty.
func (p *promText) line(name, label string, v float64) {
	if label != "" {
		label = "," + label
	}
	model := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(p.model)
	fmt.Fprintf(p, "%s{model_name=\"%s\"%s} %s\n", name, model, label, strconv.FormatFloat(v, 'g', -1, 64))
}

func (p *promText) histogram(name, help string, h *timeHistogram) {
	p.head(name, "histogram", help)
	n := 0
	for i, c := range h.counts {
		n += c
		bound := "+Inf"
		if i < len(h.bounds) {
			bound = strconv.FormatFloat(h.bounds[i], 'g', -1, 64)
		}
		p.line(name+"_bucket", `le="`+bound+`"`, float64(n))
	}
	p.line(name+"_sum", "", h.sum.Seconds())
	p.line(name+"_count", "", float64(n))
}
