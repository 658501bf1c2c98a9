// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/cli"
	"github.com/tacho-go/tacho/examples/internal/loads"
	"github.com/tacho-go/tacho/lab/report"
)

const usage = `latency calls an endpoint at a steady rate and tells the quantiles by label,
such as region and device: what decides an objective, what a tail hides, streams
beside plain calls, first and last token apart.

  latency                    a simulated endpoint, from two regions and devices
  latency -base-url https://api.openai.com/v1 -model gpt-4o-mini -label region=eu -duration 10m
  latency -model m -from region=eu@https://eu.example.com/v1 -from region=us@https://us.example.com/v1

Runs from several machines, each with its -label, come together in their
histograms: -out writes them, and tacho.ReadHDR merges several.

  latency -slo 'ttft p99 <= 500ms {stream="true"}' -out results

Exit code: 0 fine; 1 no call was served, or stopped by Ctrl-C (what was measured
is told, marked incomplete); 2 a bad command line; 3 an objective is broken.
`

// from is a place: labels, and the endpoint as it is called from there.
type from struct {
	labels []string // names and values in turn
	url    string
}

// settings are what the flags say.
type settings struct {
	flags     loads.Flags
	target    cli.Target
	from      []from
	names     []string // of the labels
	rate      float64
	prompt    int
	maxTokens int
	only      string // streams, plain, or both
	tail      float64
}

func (p *program) parse(args []string) (s settings, code int, done bool) {
	fs := flag.NewFlagSet("latency", flag.ContinueOnError)
	var target cli.TargetFlags
	target.Add(fs)
	s.flags.Add(fs, 25*time.Second, 3*time.Second)
	fs.Float64Var(&s.rate, "rate", 4, "calls a second from each place, of each kind")
	fs.IntVar(&s.prompt, "prompt-tokens", 640, "tokens of a prompt")
	fs.IntVar(&s.maxTokens, "max-tokens", 128, "the `number` of tokens that an answer may have")
	fs.StringVar(&s.only, "kind", "both", "`kind` of calls: streams, plain, or both side by side")
	fs.Float64Var(&s.tail, "tail", 3, "P99.9 ÷ P99 above which a tail is called long")
	label := []string{}
	fs.Func("label", "`NAME=VALUE` of this machine's calls; may be repeated", func(text string) error {
		pair, err := labels(text)
		label = append(label, pair...)
		return err
	})
	fs.Func("from", "`NAME=VALUE,…@URL`: labels, and the endpoint as it is called there; may be repeated", func(text string) error {
		head, url, ok := strings.Cut(text, "@")
		pairs, err := labels(head)
		if err == nil && !ok {
			err = errors.New("give labels and a URL, as region=eu@https://eu.example.com/v1")
		}
		s.from = append(s.from, from{pairs, url})
		return err
	})
	if code, done := cli.Parse(fs, args, usage, p.stdout, p.stderr); done {
		return s, code, true
	}
	note, err := s.resolve(&target, p.env, label)
	if err != nil {
		return s, cli.Bad(p.stderr, "latency", err), true
	}
	if note != "" {
		fmt.Fprintln(p.stderr, "latency: "+note)
	}
	return s, cli.OK, false
}

// labels reads NAME=VALUE with commas between.
func labels(text string) (pairs []string, err error) {
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok || name == "" || value == "" {
			return nil, fmt.Errorf("%q: give NAME=VALUE", part)
		}
		if slices.Contains([]string{"stage", "warmup", "stream"}, name) {
			return nil, fmt.Errorf("%q is a label of the program's own: take another name", name)
		}
		pairs = append(pairs, name, value)
	}
	return pairs, nil
}

func (s *settings) resolve(target *cli.TargetFlags, env func(string) string, label []string) (note string, err error) {
	if len(s.from) > 0 {
		// The endpoint is named there.
		own := env
		env = func(name string) string {
			if name == "OPENAI_BASE_URL" {
				return s.from[0].url
			}
			return own(name)
		}
	}
	if s.target, note, err = target.Target(env); err != nil {
		return "", err
	}
	if len(s.from) == 0 && s.target.URL != "" {
		s.from = []from{{nil, s.target.URL}}
	}
	for i := range s.from {
		s.from[i].labels = append(s.from[i].labels, label...)
		if _, err := tacho.NewClient(s.from[i].url, ""); err != nil {
			return "", fmt.Errorf("-from: %w", err)
		}
	}
	seen := map[string]bool{}
	for _, f := range s.from {
		s.name(f.labels)
		key := strings.Join(pairs(f.labels), ", ")
		if seen[key] {
			return "", fmt.Errorf("-from: two places are %s: give each labels of its own", key)
		}
		seen[key] = true
	}
	switch {
	case len(s.from) > 0 && len(s.names) == 0:
		s.names = []string{"model"}
	case len(s.from) == 0:
		if len(label) > 0 {
			return "", errors.New("-label is of calls to an endpoint: add -base-url")
		}
		s.names = []string{"region", "device"}
	}
	switch {
	case !(s.rate > 0 && s.rate <= 10_000):
		return "", fmt.Errorf("-rate %g: give a number above 0", s.rate)
	case s.prompt < 5 || s.maxTokens < 1:
		return "", errors.New("-prompt-tokens: give 5 or more; -max-tokens: 1 or more")
	case !slices.Contains([]string{"streams", "plain", "both"}, s.only):
		return "", fmt.Errorf("-kind %q: there are streams, plain and both", s.only)
	case s.tail < 1:
		return "", fmt.Errorf("-tail %g: give 1 or more", s.tail)
	}
	if err := s.flags.Check(); err != nil {
		return "", err
	}
	if s.flags.Out != "" {
		_, err = report.NewDirectory(s.flags.Out, s.flags.Overwrite)
	}
	return note, err
}

// name notes names of labels.
func (s *settings) name(pairs []string) {
	for i := 0; i < len(pairs); i += 2 {
		if !slices.Contains(s.names, pairs[i]) {
			s.names = append(s.names, pairs[i])
		}
	}
}

// kinds are the kinds of calls, whether they are plain.
func (s settings) kinds() []bool {
	switch s.only {
	case "streams":
		return []bool{false}
	case "plain":
		return []bool{true}
	}
	return []bool{false, true}
}
