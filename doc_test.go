// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// A simulated endpoint stands for a real one in the examples.
func exampleServer() *sim.Server {
	return sim.NewServer(sim.WithScript(sim.Script{Text: "Hello to you."}))
}

func ExampleNewTransport() {
	srv := exampleServer()
	defer srv.Close()

	rec := tacho.NewRecorder()
	client := &http.Client{Transport: tacho.NewTransport(srv.Transport(), tacho.WithRecorder(rec))}
	defer client.CloseIdleConnections()

	resp, err := client.Post(srv.URL()+"/chat/completions", "application/json",
		strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"Hello."}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()

	streams := rec.Total().Streams
	_, ok := streams.Figure(tacho.TTFT).Quantile(0.99)
	fmt.Println(streams.Calls(), "call, P99 of TTFT known:", ok)
	// Output: 1 call, P99 of TTFT known: true
}

func ExampleTrack() {
	srv := exampleServer()
	defer srv.Close()
	client := &http.Client{Transport: tacho.NewTransport(srv.Transport())}
	defer client.CloseIdleConnections()

	ctx, tracker := tacho.Track(context.Background())
	req, _ := http.NewRequestWithContext(ctx, "POST", srv.URL()+"/responses", strings.NewReader(`{"model":"m","input":"Hello."}`))
	resp, err := client.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()

	call, _ := tracker.Call()
	_, hasTTFT := call.TTFT() // absent: a plain response has no first token
	fmt.Println(call.Outcome(), call.API(), call.FinishReasons(), call.Usage().Output.N, hasTTFT)
	// Output: complete responses [stop] 3 false
}

func ExampleClient_Stream() {
	srv := exampleServer()
	defer srv.Close()
	client, err := tacho.NewClient(srv.URL(), "", tacho.WithBase(srv.Transport()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.CloseIdleConnections()

	stream, err := client.Stream(context.Background(), "chat/completions",
		`{"model":"m","messages":[{"role":"user","content":"Hello."}]}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	outputs := 0
	for ev, err := range stream.All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		if ev.Channel != "" {
			outputs++
		}
	}
	call, _ := stream.Call()
	fmt.Println(outputs, "events with output,", call.Outcome())
	// Output: 3 events with output, complete
}

// TestREADMEProgram builds the program of the README and runs it against a
// simulated endpoint.
func TestREADMEProgram(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(readme), "```go\npackage main\n")
	source, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("README.md has no program")
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte("package main\n"+source), 0o600); err != nil {
		t.Fatal(err)
	}
	srv, err := sim.Listen(sim.WithScript(sim.Script{Text: "Hello to you."}))
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	cmd := exec.CommandContext(t.Context(), "go", "run", file)
	cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+srv.URL(), "OPENAI_API_KEY=key", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !regexp.MustCompile(`(?m)^TTFT +\d.*s\n(.*\n)*\{"operation":"chat"`).Match(out) {
		t.Errorf("it printed\n%s", out)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if !regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`).MatchString(tacho.Version) {
		t.Errorf("Version %q is no semantic version", tacho.Version)
	}
}
