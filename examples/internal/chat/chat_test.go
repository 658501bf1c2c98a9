// SPDX-License-Identifier: Apache-2.0

package chat_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/chat"
	"github.com/tacho-go/tacho/examples/internal/cli"
	"github.com/tacho-go/tacho/sim"
)

const secret = "sk-secret"

// call makes calls in a bubble, one after the other on one client.
func call(t *testing.T, n int, q chat.Request, opts ...sim.Option) (all []chat.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := sim.New(t, opts...)
		client, err := tacho.NewClient(srv.URL(), secret, tacho.WithBase(srv.Transport()))
		if err != nil {
			t.Fatal(err)
		}
		c := chat.New(client, cli.Target{Key: secret, Model: "m"})
		defer c.Close()
		for range n {
			all = append(all, c.Call(context.Background(), q))
		}
	})
	return all
}

func TestStream(t *testing.T) {
	t.Parallel()
	script := sim.Script{Text: "to be or", HeaderDelay: 50 * time.Millisecond, FirstDelay: 10 * time.Millisecond, Gap: 20 * time.Millisecond}
	rs := call(t, 3, chat.Request{Prompt: "p", MaxTokens: 5, Timeout: time.Minute}, sim.WithScript(script), sim.WithAPIKey(secret))
	for i, r := range rs {
		if status, _ := r.Call.Status(); r.Err != nil || status != 200 || r.Call.Outcome() != tacho.Complete {
			t.Fatalf("call %d: %v, status %d, %v", i, r.Err, status, r.Call.Outcome())
		}
		// Role, then a word every 20 ms.
		want := []time.Duration{80 * time.Millisecond, 100 * time.Millisecond, 120 * time.Millisecond}
		if len(r.Outs) != 3 || r.Outs[0] != want[0] || r.Outs[1] != want[1] || r.Outs[2] != want[2] {
			t.Errorf("call %d: outputs at %v, want %v", i, r.Outs, want)
		}
		if reused, ok := r.Call.Reused(); !ok || reused != (i > 0) {
			t.Errorf("call %d: reused %v, %v", i, reused, ok)
		}
		if n := r.Call.Usage().Output; !n.Reported || n.N != 3 {
			t.Errorf("call %d: output tokens %+v", i, n)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		opt      sim.Option
		err      string
		hopeless bool
		advice   string
	}{
		{"wrong key", sim.WithAPIKey("another"), "401 Unauthorized: ", true, "Check the key: -api-key or OPENAI_API_KEY."},
		{"the key is echoed", sim.WithScript(sim.Script{Status: 400, ErrorMessage: "bad key sk-secret"}), "400 Bad Request: bad key [the key]", true,
			"The endpoint does not take the request: check -model and -max-tokens."},
		{"no such model", sim.WithScript(sim.Script{Status: 404, ErrorMessage: "no model m"}), "404 Not Found: no model m", true,
			"Check -model, and the base URL, which usually ends in /v1."},
		{"a body that is no JSON", sim.WithScript(sim.Script{Status: 502, Body: []byte("<html>")}), "502 Bad Gateway: <html>", false, ""},
		{"rate limit", sim.WithScript(sim.Script{Status: 429, ErrorMessage: "slow down"}), "429 Too Many Requests: slow down", false,
			"The endpoint refuses by its rate limit: try later, or with fewer calls."},
		{"cut", sim.WithScript(sim.Script{Steps: []sim.Step{sim.Text(0, "a"), sim.Cut()}}), "unexpected EOF", false, ""},
		{"no answer", sim.WithScript(sim.Script{Abort: true}), "EOF", false, ""},
		{"too slow", sim.WithScript(sim.Script{HeaderDelay: time.Hour}), "context deadline exceeded", false, "The time for a call was up: raise -timeout."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := call(t, 1, chat.Request{Prompt: "p", MaxTokens: 5, Timeout: time.Minute}, tt.opt)[0]
			if r.Err == nil || !strings.HasPrefix(r.Err.Error(), tt.err) || strings.Contains(r.Err.Error(), secret) {
				t.Errorf("error %v, want %q", r.Err, tt.err)
			}
			if r.Call == nil {
				t.Fatal("no record")
			}
			if r.Hopeless() != tt.hopeless || r.Advice() != tt.advice {
				t.Errorf("hopeless %v, advice %q; want %v, %q", r.Hopeless(), r.Advice(), tt.hopeless, tt.advice)
			}
		})
	}
}

// A web page under status 200 was a complete call without an error.
func TestOtherKind(t *testing.T) {
	t.Parallel()
	const (
		page   = "<!doctype html><title>It works</title>"
		object = `{"id":"1","object":"chat.completion","model":"sim","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`
		bare   = `{"choices":[{"message":{"content":"hi"}}]}`
		events = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

		noAnswer = "the answer is not of the kind asked for: no answer of a model in place of "
		base     = "Check the base URL, which usually ends in /v1: what answers there may be a web page."
	)
	tests := []struct {
		name, body, content string
		plain               bool
		err, advice         string // "": of the kind asked for
	}{
		{"page for a stream", page, "text/html; charset=utf-8", false, noAnswer + "a stream", base},
		{"page for an object", page, "text/html; charset=utf-8", true, noAnswer + "one JSON object", base},
		{"text for a stream", "OK", "text/plain", false, noAnswer + "a stream", base},
		{"another object for a stream", `{"status":"ok"}`, "application/json", false, noAnswer + "a stream", base},
		{"another object for an object", `{"status":"ok"}`, "application/json", true, noAnswer + "one JSON object", base},
		{"object for a stream", object, "application/json", false,
			"the answer is not of the kind asked for: one JSON object in place of a stream", "The endpoint answers without a stream: add -no-stream."},
		{"stream for an object", events, "text/event-stream", true,
			"the answer is not of the kind asked for: a stream in place of one JSON object", "The endpoint answers in streams: leave -no-stream out."},
		{"object", object, "application/json", true, "", ""},
		{"object with a choice alone", bare, "application/json", true, "", ""},
		{"stream", events, "text/event-stream", false, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			script := sim.Script{Body: []byte(tt.body), ContentType: tt.content}
			r := call(t, 1, chat.Request{Prompt: "p", MaxTokens: 5, Timeout: time.Minute, Plain: tt.plain}, sim.WithScript(script))[0]
			got := ""
			if r.Err != nil {
				got = r.Err.Error()
			}
			if got != tt.err || r.Advice() != tt.advice || r.OtherKind() != (tt.err != "") || r.Call.Outcome() != tacho.Complete {
				t.Errorf("%v, error %q, advice %q, other kind %v; want %q, %q", r.Call.Outcome(), got, r.Advice(), r.OtherKind(), tt.err, tt.advice)
			}
		})
	}
}
