// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/examples/internal/cli"
	"github.com/tacho-go/tacho/examples/internal/loads"
	"github.com/tacho-go/tacho/lab/report"
	"github.com/tacho-go/tacho/load"
)

const usage = `models puts the same load on several models side by side: calls at a rate (open
loop), then a number of callers (closed loop), and tells what each model was
offered, served and refused, and how long it took.

  models                     three simulated models, as published in 2024
  models -base-url https://api.openai.com/v1 -model gpt-4o,gpt-4o-mini -duration 5m
  models -model small=http://localhost:8000/v1,large=http://localhost:8001/v1
  models -duration 12h       72 hours of load in all

On the simulation prompts and answers are 16 times shorter (-scale), and so are
batch and budgets of the servers: requests a second and first tokens are those
of full-length calls, answers end 16 times sooner.

  models -slo "ttft p99 <= 5s" -slo "errors <= 1%" -good "ttft <= 2s" -out results
  models -trace azure.csv -prompts sharegpt.json -base-url URL -model NAME
  models merge DIR DIR       the results of several generators, each with a -segment

Exit code: 0 fine; 1 a model served nothing, or stopped by Ctrl-C (what was
measured is told, marked incomplete); 2 a bad command line; 3 an objective of
-slo is broken.
`

// model is a name, and where it is served if not on the simulation.
type model struct{ name, url, shown string }

// settings are what the flags say.
type settings struct {
	flags           loads.Flags
	models          []model
	key             string
	rates, workers  []float64
	think           time.Duration
	system, context int
	maxTokens       int
	scale           int // of the simulation
	temperature     float64
	topP            float64
	plain           bool
	stopSaturated   bool
	prompts         load.Prompts
	trace           []load.Request
	limits          []budget.Limit
	simulated       bool
	note            string
	merged          bool // no flags of a load were given
	ended           time.Time
}

// published is the load of the report of 2024 (tokens of system instruction and
// context, limit of tokens).
const (
	publishedSystem, publishedContext, publishedMax = 128, 512, 1024
)

// unloaded is how long one caller alone measures what no load adds.
const unloaded = 3 * time.Second

// parse reads the command line. done says that the program ends with code.
func (p *program) parse(args []string) (s settings, code int, done bool) {
	fs := flag.NewFlagSet("models", flag.ContinueOnError)
	var target cli.TargetFlags
	target.Add(fs)
	s.flags.Add(fs, 2500*time.Millisecond, 4*time.Second)
	rates := fs.String("rates", "20,100,200", "open loop: calls a second, a stage each; empty is none")
	workers := fs.String("concurrency", "50,100,200", "closed loop: callers, a stage each; empty is none")
	fs.DurationVar(&s.think, "think", 0, "closed loop: the `time` that a caller thinks between two calls")
	fs.IntVar(&s.system, "system", publishedSystem, "tokens of system instruction in a prompt")
	fs.IntVar(&s.context, "context", publishedContext, "tokens of context in a prompt")
	fs.IntVar(&s.maxTokens, "max-tokens", publishedMax, "the `number` of tokens that an answer may have")
	fs.IntVar(&s.scale, "scale", 16, "simulation: prompts and answers are so many times shorter; 1 is full length")
	fs.Float64Var(&s.temperature, "temperature", 0.3, "the temperature of a call")
	fs.Float64Var(&s.topP, "top-p", 1, "the top_p of a call")
	fs.BoolVar(&s.plain, "no-stream", false, "make plain calls in place of streams: there are no first tokens then")
	fs.BoolVar(&s.stopSaturated, "stop-saturated", false, "end a model's run when its calls in flight grow without end")
	trace := fs.String("trace", "", "replay the arrivals of `FILE`, CSV or JSONL, in place of -rates and -concurrency")
	prompts := fs.String("prompts", "", "draw prompts from `FILE`: ShareGPT's JSON, or JSONL; in place of -system and -context")
	fs.Func("good", "a `LIMIT` that a good call keeps, as \"ttft <= 2s\", for the goodput; may be repeated", func(text string) error {
		l, err := loads.Limit(text)
		s.limits = append(s.limits, l)
		return err
	})
	if code, done := cli.Parse(fs, args, usage, p.stdout, p.stderr); done {
		return s, code, true
	}
	err := s.resolve(fs, &target, p.env, *rates, *workers)
	if err == nil {
		err = s.read(*trace, *prompts)
	}
	if err != nil {
		return s, cli.Bad(p.stderr, "models", err), true
	}
	if s.note != "" {
		fmt.Fprintln(p.stderr, "models: "+s.note)
	}
	return s, cli.OK, false
}

func (s *settings) resolve(fs *flag.FlagSet, target *cli.TargetFlags, env func(string) string, rates, workers string) (err error) {
	if s.models, s.key, s.note, err = modelsOf(target, env); err != nil {
		return err
	}
	if len(s.models) == 0 {
		s.simulated = true
		for _, name := range presets {
			s.models = append(s.models, model{name: name})
		}
	}
	for _, m := range s.models {
		if m.url == "" {
			s.simulated = true
		}
	}
	if s.rates, err = loads.Numbers("rates", rates); err != nil {
		return err
	}
	if s.workers, err = loads.Numbers("concurrency", workers); err != nil {
		return err
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case len(s.rates)+len(s.workers) == 0:
		return errors.New("-rates and -concurrency are empty: there is no load")
	case s.think < 0:
		return fmt.Errorf("-think %v: give a time that is not negative", s.think)
	case s.system < 0 || s.context < 1 || s.maxTokens < 1:
		return errors.New("-system, -context, -max-tokens: give 1 or more")
	case !(s.temperature >= 0 && s.temperature <= 100), !(s.topP >= 0 && s.topP <= 1):
		return fmt.Errorf("-temperature %g, -top-p %g: give 0 or more, and 0 to 1", s.temperature, s.topP)
	case s.scale < 1 || s.scale > 64:
		return fmt.Errorf("-scale %d: give 1 to 64", s.scale)
	case given["scale"] && !s.simulated:
		return errors.New("-scale is for the simulation: give -system, -context and -max-tokens for an endpoint")
	}
	for _, w := range s.workers {
		if w != float64(int(w)) {
			return fmt.Errorf("-concurrency %g: callers are whole", w)
		}
	}
	if s.simulated {
		s.system, s.context, s.maxTokens = s.system/s.scale, max(1, s.context/s.scale), max(1, s.maxTokens/s.scale)
	} else {
		s.scale = 1
	}
	if err := s.flags.Check(); err != nil {
		return err
	}
	if s.flags.Out != "" {
		_, err = report.NewDirectory(s.flags.Out, s.flags.Overwrite)
	}
	return err
}

// read reads the files of arrivals and prompts.
func (s *settings) read(trace, prompts string) (err error) {
	s.prompts = load.Synthetic(s.system, s.context)
	if prompts != "" {
		list, err := loads.File(prompts, func(f io.Reader) ([]load.Prompt, error) { return load.ReadPrompts(f, maxPrompts, nil) })
		if err != nil {
			return fmt.Errorf("-prompts: %w", err)
		}
		s.prompts = load.Unique(load.Drawn(list))
	}
	if trace != "" {
		s.trace, err = loads.File(trace, load.ReadTrace)
		if err != nil {
			return fmt.Errorf("-trace: %w", err)
		}
	}
	return nil
}

// maxPrompts bounds what is kept of a file of conversations.
const maxPrompts = 100_000

// modelsOf are the models of -model: NAME at -base-url, or NAME=URL.
func modelsOf(target *cli.TargetFlags, env func(string) string) (list []model, key, note string, err error) {
	t, note, err := target.Target(env)
	if err != nil {
		return nil, "", "", err
	}
	for part := range strings.SplitSeq(t.Model, ",") {
		name, url, own := strings.Cut(part, "=")
		if part == "" {
			continue
		}
		if name == "" || own && url == "" {
			return nil, "", "", fmt.Errorf("-model %q: give NAME or NAME=URL, with commas between them", part)
		}
		if slices.ContainsFunc(list, func(m model) bool { return m.name == name }) {
			return nil, "", "", fmt.Errorf("-model: %s is there twice: name each model once, for the report tells them apart by name", name)
		}
		m := model{name: name, url: cmp.Or(url, t.URL)}
		if m.shown = t.Shown; own {
			m.shown = report.CleanURL(url)
		}
		list = append(list, m)
	}
	return list, t.Key, note, nil
}

// stages are those of the load: one caller alone, the rates, the callers.
func (s settings) stages() (list []load.Stage) {
	list = append(list, load.Workers(1, min(unloaded, s.flags.Duration+s.flags.Warmup)).Named("unloaded"))
	if s.trace != nil {
		t := load.Replay(s.trace).Named("trace")
		if s.trace[len(s.trace)-1].At == 0 {
			t.For = s.flags.Duration // of one moment, which is no time
		}
		return append(list, t)
	}
	for _, r := range s.rates {
		list = append(list, s.flags.Open(r))
	}
	for _, w := range s.workers {
		list = append(list, s.flags.Closed(int(w)).Thinking(s.think))
	}
	return list
}

// atOnce is how many connections are kept: more calls than that at a time dial.
func (s settings) atOnce() int {
	n := 256.0
	for _, w := range append(s.rates, s.workers...) {
		n = max(n, 4*w)
	}
	return int(n)
}

// broken reports whether a model breaks an objective.
func (s settings) broken(sides []*side) bool {
	for _, sd := range sides {
		if len(s.flags.Objectives) > 0 && verdicts(s.flags.Objectives, sd).Failed() {
			return true
		}
	}
	return false
}

// verdicts judges all measured calls of a model.
func verdicts(of []budget.Budget, sd *side) budget.Report {
	return budget.ObservedSnapshot(recorded(sd)).AllowUndecided().Report(of...)
}

// recorded is what all stages of a model recorded.
func recorded(sd *side) (s tacho.Snapshot) {
	for i := range sd.result.Stages {
		s = s.Merge(sd.result.Stages[i].Snapshot)
	}
	return s
}
