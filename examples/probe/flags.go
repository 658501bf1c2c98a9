// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/tacho-go/tacho/examples/internal/chat"
	"github.com/tacho-go/tacho/examples/internal/cli"
)

const usage = `probe makes one call to an OpenAI-compatible endpoint and draws where its time went:
name lookup, connecting, TLS, first byte, first token, last token, each gap between.

  export OPENAI_API_KEY=…
  probe -base-url https://api.openai.com/v1 -model gpt-4o-mini
  probe -base-url http://127.0.0.1:8080 -model llama -prompt "Count to ten." -json

Without an endpoint it calls a built-in simulation.

Exit code: 0 the call was complete; 1 it was not, or its answer is not of the
kind asked for (what there is of it is printed); 2 a bad command line.
`

// settings are what the flags say.
type settings struct {
	target cli.Target
	ask    chat.Request
	json   bool
}

// parse reads the command line. done says that the program ends with code.
func (p *program) parse(args []string) (s settings, code int, done bool) {
	fs := flag.NewFlagSet("probe", flag.ContinueOnError)
	var target cli.TargetFlags
	target.Add(fs)
	fs.IntVar(&s.ask.MaxTokens, "max-tokens", 64, "the `number` of tokens that the answer may have")
	fs.StringVar(&s.ask.Prompt, "prompt", "Say in one sentence what a tachometer shows.", "the `text` to send")
	fs.BoolVar(&s.ask.Plain, "no-stream", false, "make a plain call in place of a stream")
	fs.DurationVar(&s.ask.Timeout, "timeout", 2*time.Minute, "the longest `time` of the call")
	fs.BoolVar(&s.json, "json", false, "print the record as JSON and nothing else")
	if code, done := cli.Parse(fs, args, usage, p.stdout, p.stderr); done {
		return s, code, true
	}
	t, note, err := target.Target(p.env)
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return s, cli.Bad(p.stderr, "probe", err), true
	}
	if note != "" {
		fmt.Fprintln(p.stderr, "probe: "+note)
	}
	s.target = t
	return s, cli.OK, false
}

func (s *settings) check() error {
	switch {
	case s.ask.MaxTokens < 1:
		return fmt.Errorf("-max-tokens %d: give 1 or more", s.ask.MaxTokens)
	case s.ask.Prompt == "":
		return errors.New("-prompt is empty: give a text, or leave it out")
	case s.ask.Timeout <= 0:
		return fmt.Errorf("-timeout %v: give a time such as 60s", s.ask.Timeout)
	}
	return nil
}
