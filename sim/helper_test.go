// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho/sim"
)

// TestMain fails when a goroutine is left after all tests.
func TestMain(m *testing.M) {
	// Fuzzing listens to signals, for which the runtime starts a goroutine that
	// stays: it is there beforehand.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	signal.Stop(signals)
	before := runtime.NumGoroutine()
	code := m.Run()
	// A closed connection's goroutines need a moment of the scheduler, not of the clock.
	for range 100_000 {
		if runtime.NumGoroutine() <= before {
			break
		}
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); code == 0 && n > before {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		fmt.Fprintf(os.Stderr, "%d goroutines are left:\n%s", n-before, stacks)
		code = 1
	}
	os.Exit(code)
}

const (
	chatPath        = "/chat/completions"
	completionsPath = "/completions"
	responsesPath   = "/responses"

	streamBody = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}`
	usageBody  = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello"}]}`
	plainBody  = `{"model":"m","messages":[{"role":"user","content":"hello"}]}`
)

func newRequest(t *testing.T, s *sim.Server, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return r
}

func post(t *testing.T, s *sim.Server, c *http.Client, path, body string) *http.Response {
	t.Helper()
	resp, err := c.Do(newRequest(t, s, path, body))
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// fetch posts and returns the whole body.
func fetch(t *testing.T, s *sim.Server, c *http.Client, path, body string) (*http.Response, string) {
	t.Helper()
	resp := post(t, s, c, path, body)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("after %q: %v", b, err)
	}
	return resp, string(b)
}

// arrival is a line of a stream and the time at which it was read.
type arrival struct {
	at   time.Duration
	line string
}

// arrivals reads the lines of a body that are not empty; the end is a line "EOF".
func arrivals(t *testing.T, start time.Time, body io.Reader) []arrival {
	t.Helper()
	var got []arrival
	sc := bufio.NewScanner(body)
	for sc.Scan() {
		if sc.Text() != "" {
			got = append(got, arrival{time.Since(start), sc.Text()})
		}
	}
	end := "EOF"
	if err := sc.Err(); err != nil {
		end = err.Error()
	}
	return append(got, arrival{time.Since(start), end})
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}
