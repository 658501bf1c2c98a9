// SPDX-License-Identifier: Apache-2.0

// Openai streams two answers through openai-go v3 with tacho in it, and prints
// the record of each call: the second is refused at first, where the endpoint is
// the simulated one.
//
//	go run ./examples/openai
//	go run ./examples/openai -base-url https://api.openai.com/v1 -model gpt-4o-mini
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/cli"
	"github.com/tacho-go/tacho/examples/internal/term"
	"github.com/tacho-go/tacho/sim"
	"github.com/tacho-go/tacho/tachoopenai"
)

const usage = `openai streams two answers through the openai-go client with tacho in it, and
prints what each call was: its attempts, the waits between them, and the time to
the first token from the call's start and from that of the last attempt.

  export OPENAI_API_KEY=…
  openai -base-url https://api.openai.com/v1 -model gpt-4o-mini

Without an endpoint it calls a built-in simulation, which refuses the second
call once. The exit code is 0 if both calls were complete, else 1.
`

// The simulated server: what it answers, and how it refuses.
var (
	answer  = sim.Script{HeaderDelay: 80 * time.Millisecond, FirstDelay: 40 * time.Millisecond, Gap: 15 * time.Millisecond, Text: "A needle that tells turns a minute."}
	refusal = sim.Script{Status: 429, HeaderDelay: 25 * time.Millisecond, RetryAfter: 750 * time.Millisecond, ErrorCode: "rate_limit_exceeded", ErrorMessage: "Slow down."}
)

func main() { cli.Main(run) }

// program makes its simulated server by listen: on a port, in tests in memory.
type program struct {
	listen         func(...sim.Option) (*sim.Server, error)
	env            func(string) string
	stdout, stderr io.Writer
}

func run(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) int {
	p := program{listen: sim.Listen, env: env, stdout: stdout, stderr: stderr}
	return p.run(ctx, args)
}

func (p *program) run(ctx context.Context, args []string) int {
	fs := flag.NewFlagSet("openai", flag.ContinueOnError)
	var flags cli.TargetFlags
	flags.Add(fs)
	if code, done := cli.Parse(fs, args, usage, p.stdout, p.stderr); done {
		return code
	}
	target, note, err := flags.Target(p.env)
	if err != nil {
		return cli.Bad(p.stderr, "openai", err)
	}
	if note != "" {
		fmt.Fprintln(p.stderr, "openai: "+note)
	}
	opts := []option.RequestOption{option.WithBaseURL(target.Shown)}
	if target.Key != "" {
		opts = append(opts, option.WithAPIKey(target.Key))
	}
	if target.URL == "" {
		srv, err := p.listen(sim.WithScript(answer))
		if err != nil {
			fmt.Fprintf(p.stderr, "openai: the simulated endpoint cannot start: %v\n", err)
			return cli.Failed
		}
		defer srv.Close()
		srv.Play(answer, refusal)
		target = target.Simulated(srv)
		opts = []option.RequestOption{option.WithBaseURL(srv.URL()), option.WithAPIKey("none"), option.WithHTTPClient(srv.Client())}
	}

	// This line measures: it makes an openai.Client whose calls leave a record.
	client := tachoopenai.NewClient(opts...)

	fmt.Fprintf(p.stdout, "openai: %s, model %s\n", target.Shown, target.Model)
	code := cli.OK
	for i := range 2 {
		stop := term.Progress(p.stderr, p.env, "waiting for the answer of "+target.Shown)
		call, text, err := ask(ctx, client, target.Model)
		stop()
		fmt.Fprintf(p.stdout, "\ncall %d: %s\n", i+1, strings.TrimSpace(text))
		if call != nil {
			describe(p.stdout, call)
		}
		if err != nil {
			fmt.Fprintf(p.stderr, "openai: call %d: %v\n", i+1, err)
			code = cli.Failed
		}
	}
	return code
}

// ask streams one answer and returns its text and the record.
func ask(ctx context.Context, client tachoopenai.Client, model string) (*tacho.Call, string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	ctx, tracker := tacho.Track(ctx)
	stream := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Say in one sentence what a tachometer shows.")},
	})
	text := ""
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			text += choice.Delta.Content
		}
	}
	err := stream.Err()
	stream.Close()
	// The end of a stream's body is read in the background, so that the next call
	// finds its connection.
	_ = client.Transport().Wait(context.WithoutCancel(ctx))
	call, _ := tracker.Call()
	return call, text, err
}

// describe prints a call's record: an absent figure as a dash.
func describe(w io.Writer, c *tacho.Call) {
	figure := func(d time.Duration, ok bool) string { return strings.TrimSpace(term.Optional(d, ok)) }
	fmt.Fprintf(w, "  outcome   %s, duration %s\n", c.Outcome(), figure(c.Duration()))
	fmt.Fprintf(w, "  TTFT      %s from the call's start, %s from the last attempt's\n", figure(c.TTFT()), figure(c.OfAttempt(tacho.TTFT)))
	for i, a := range c.Attempts() {
		line := fmt.Sprintf("waited %s, began at %s, took %s, status %d", figure(a.Wait, true), figure(a.Start, true), figure(a.Duration, true), a.Status)
		if a.Error != "" {
			line += ", error " + a.Error
		}
		fmt.Fprintf(w, "  attempt %d %s\n", i+1, line)
	}
}
