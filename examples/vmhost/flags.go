// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/examples/internal/chat"
	"github.com/tacho-go/tacho/examples/internal/cli"
	"github.com/tacho-go/tacho/sim"
)

const usage = `vmhost measures calls of one short prompt over a kept connection. The first
call of a connection, the cold one, is shown and left out of the statistics.

  vmhost                     both sides on a simulated endpoint: this process, and
                             through an emulated virtual network card
  vmhost run                 this machine and the endpoint that -base-url names;
                             with -base-url the word run can be left out
  vmhost show FILE           print what a run wrote with -out; with -html PAGE
                             before FILE also write it as a page

With an endpoint a run measures one side, the machine that it runs on. Run it on
the host and in the virtual machine, same endpoint, same model, in turns.
Comparing two files is not there yet: show prints one.

  vmhost -slo "ttft p99 <= 500ms" -slo 'duration mean <= 1s {side="VM"}'

  export OPENAI_API_KEY=…
  vmhost run -base-url https://api.openai.com/v1 -model gpt-4o-mini \
    -out host-1.json -html host-1.html

Exit code: 0 fine; 1 a call failed, no figures, or stopped by Ctrl-C (what was
measured is printed, marked incomplete, and written if a call is in the figures);
2 a bad command line; 3 an objective of -slo is broken.
`

const htmlUsage = "write the report as one HTML page that needs nothing else to `FILE`, which must not exist"

const defaultPrompt = "Say in one sentence what a tachometer shows."

// settings are what the flags say.
type settings struct {
	target cli.Target
	ask    chat.Request
	calls  int
	both   bool // sides, on the simulation
	blocks int
	link   sim.Link
	slos   []budget.Budget
	out    *os.File // nil: write no report
	page   *os.File // nil: write no page
}

// parse reads the command line behind the command. done says that the program
// ends with code.
func (p *program) parse(command string, args []string) (s settings, code int, done bool) {
	name := "vmhost"
	if command != "" {
		name += " " + command
	}
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	var target cli.TargetFlags
	target.Add(fs)
	fs.IntVar(&s.calls, "calls", 10, "the `number` of calls on a connection, without the cold one")
	fs.IntVar(&s.ask.MaxTokens, "max-tokens", 50, "the `number` of tokens that an answer may have")
	fs.StringVar(&s.ask.Prompt, "prompt", defaultPrompt, "the `text` of each call")
	fs.BoolVar(&s.ask.Plain, "no-stream", false, "make plain calls in place of streams")
	fs.DurationVar(&s.ask.Timeout, "timeout", time.Minute, "the longest `time` of a call")
	fs.Func("slo", "judge the warm calls by an `OBJECTIVE`, as \"ttft p99 <= 500ms\"; may be repeated", func(text string) error {
		b, err := budget.Parse(text)
		s.slos = append(s.slos, b)
		return err
	})
	out := fs.String("out", "", "write the report as JSON to `FILE`, which must not exist")
	page := fs.String("html", "", htmlUsage)
	fs.IntVar(&s.blocks, "blocks", 8, "both sides: the `number` of blocks, a multiple of 4, in the order ABBA")
	// Below a millisecond the timers of an idle Linux would hide the jitter.
	fs.DurationVar(&s.link.Delay, "nic-delay", 500*time.Microsecond, "both sides: the `time` that the emulated card adds to each packet")
	fs.DurationVar(&s.link.Jitter, "nic-jitter", time.Millisecond, "both sides: the mean `time` of its exponential jitter")
	if code, done := cli.Parse(fs, args, usage, p.stdout, p.stderr); done {
		return s, code, true
	}
	t, note, err := target.Target(p.env)
	if err == nil {
		err = s.check()
	}
	s.target, s.both = t, command == "" && t.URL == ""
	fs.Visit(func(f *flag.Flag) {
		if one := f.Name == "blocks" || f.Name == "nic-delay" || f.Name == "nic-jitter"; one && !s.both && err == nil {
			err = fmt.Errorf("-%s is for the run of both sides on the simulation: without run, without an endpoint", f.Name)
		}
	})
	if err != nil {
		return s, cli.Bad(p.stderr, name, err), true
	}
	if s.out, err = reserve(*out); err != nil {
		return s, cli.Bad(p.stderr, name, fmt.Errorf("-out: %w", err)), true
	}
	if s.page, err = reserve(*page); err != nil {
		discard(s.out)
		return s, cli.Bad(p.stderr, name, fmt.Errorf("-html: %w", err)), true
	}
	if note != "" {
		fmt.Fprintln(p.stderr, "vmhost: "+note)
	}
	return s, cli.OK, false
}

func (s *settings) check() error {
	switch {
	case s.calls < 2 || s.calls > 10_000:
		return fmt.Errorf("-calls %d: give 2 to 10000, as one call has no deviation", s.calls)
	case s.ask.MaxTokens < 1:
		return fmt.Errorf("-max-tokens %d: give 1 or more", s.ask.MaxTokens)
	case s.ask.Prompt == "":
		return errors.New("-prompt is empty: give a text, or leave it out")
	case s.ask.Timeout <= 0:
		return fmt.Errorf("-timeout %v: give a time such as 60s", s.ask.Timeout)
	case s.blocks < 4 || s.blocks%4 != 0 || s.blocks > 1000:
		return fmt.Errorf("-blocks %d: give a multiple of 4, so that each side comes first as often as the other", s.blocks)
	case s.link.Delay < 0 || s.link.Jitter < 0:
		return errors.New("-nic-delay and -nic-jitter: give 0 or more, such as 500us")
	}
	return nil
}
