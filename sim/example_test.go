// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tacho-go/tacho/sim"
)

// A stream that breaks off after its first word.
func ExampleEndpoint_Play() {
	srv := sim.NewServer()
	defer srv.Close()
	srv.Play(sim.Script{Steps: []sim.Step{
		sim.Raw([]byte("data: {}\n\n")),
		sim.Cut().After(time.Millisecond),
	}})
	resp, err := srv.Client().Post(srv.URL()+"/chat/completions", "application/json", strings.NewReader(`{"stream":true}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Printf("%q %v\n", body, err)
	// Output: "data: {}\n\n" unexpected EOF
}

// An endpoint that refuses a call and says when to come back.
func ExampleScript() {
	srv := sim.NewServer(sim.WithScript(sim.Script{
		Status:       http.StatusTooManyRequests,
		ErrorCode:    "rate_limit_exceeded",
		ErrorMessage: "Slow down.",
		RetryAfter:   2 * time.Second,
	}))
	defer srv.Close()
	resp, err := srv.Client().Post(srv.URL()+"/responses", "application/json", strings.NewReader(`{}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.Status, resp.Header.Get("Retry-After"))
	fmt.Println(string(body))
	// Output:
	// 429 Too Many Requests 2
	// {"error":{"message":"Slow down.","type":"invalid_request_error","param":null,"code":"rate_limit_exceeded"}}
}

// Ten requests at once to a server with room for two, and for two more to wait.
func ExampleServing_Simulate() {
	server := sim.Serving{Prefill: 1000, Step: 10 * time.Millisecond, MaxBatch: 2, Queue: 2, Output: 11}
	outcomes, err := server.Simulate(slices.Values(slices.Repeat([]sim.Arrival{{Prompt: 100}}, 10)), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	refused := 0
	for o := range outcomes {
		if ttft, ok := o.TTFT(); ok {
			fmt.Println(o.Number, "first token", ttft, "end", o.End)
		} else {
			refused++
		}
	}
	fmt.Println(refused, "refused")
	// Output:
	// 0 first token 100ms end 300ms
	// 1 first token 200ms end 300ms
	// 2 first token 400ms end 600ms
	// 3 first token 500ms end 600ms
	// 6 refused
}

// The parameters of a model, as an experiment prints them.
func ExampleModel() {
	fmt.Println(sim.Model{PerToken: 5 * time.Millisecond, Output: 200})
	// Output: model: base 40ms, prefill 4000 tokens/s, 5ms a token (lognormal, σ 0.25), output median 200 tokens (lognormal, σ 0.5)
}
