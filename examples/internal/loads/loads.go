// SPDX-License-Identifier: Apache-2.0

// Package loads holds what the programs that put a load on endpoints share: the
// flags, the running of several loads side by side, and the telling of results.
package loads

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/examples/internal/term"
	"github.com/tacho-go/tacho/lab/report"
	"github.com/tacho-go/tacho/load"
)

// Flags are those of a load.
type Flags struct {
	Duration, Warmup, Drain, Timeout time.Duration
	Arrivals                         string
	CV                               float64
	Seed                             uint64
	InFlight                         int
	Objectives                       []budget.Budget
	Out                              string
	Overwrite                        bool
	segment                          string

	Segment load.Segment
}

// Add defines the flags.
func (f *Flags) Add(fs *flag.FlagSet, duration, warmup time.Duration) {
	fs.DurationVar(&f.Duration, "duration", duration, "the `time` that each stage is measured; hours and days are fine")
	fs.DurationVar(&f.Warmup, "warmup", warmup, "the `time` before it in which calls are made and not counted")
	fs.DurationVar(&f.Drain, "drain", 30*time.Second, "the `time` that calls under way at the end may take")
	fs.DurationVar(&f.Timeout, "timeout", 5*time.Minute, "the longest `time` of a call")
	fs.StringVar(&f.Arrivals, "arrivals", "constant", "open stages: `kind` of arrivals, constant, poisson or gamma")
	fs.Float64Var(&f.CV, "cv", 2, "gamma arrivals: standard deviation ÷ mean of the gaps")
	fs.Uint64Var(&f.Seed, "seed", 1, "the `number` that arrivals and prompts are drawn from")
	fs.IntVar(&f.InFlight, "max-in-flight", 0, "open stages: the `number` of calls at a time at most; 0 is no bound")
	fs.StringVar(&f.segment, "segment", "", "this generator's part of the schedule, `i/n`: 1/2 and 2/2 for two machines")
	fs.Func("slo", "judge the calls by an `OBJECTIVE`, as \"ttft p99 <= 5s\"; may be repeated", func(text string) error {
		b, err := budget.Parse(text)
		f.Objectives = append(f.Objectives, b)
		return err
	})
	fs.StringVar(&f.Out, "out", "", "write the report and the histograms to the folder `DIR`: JSON, CSV, HTML, HDR logs")
	fs.BoolVar(&f.Overwrite, "overwrite", false, "replace a report that is in -out")
}

// Check checks what the flags say.
func (f *Flags) Check() error {
	switch {
	case f.Duration < 100*time.Millisecond:
		return fmt.Errorf("-duration %v: give 100ms or more", f.Duration)
	case f.Warmup < 0 || f.Drain < 0 || f.Timeout <= 0:
		return errors.New("-warmup, -drain, -timeout: give times that are not negative")
	case f.InFlight < 0:
		return fmt.Errorf("-max-in-flight %d: give 1 or more, or 0 for no bound", f.InFlight)
	}
	if _, err := f.process(); err != nil {
		return err
	}
	if f.segment == "" {
		return nil
	}
	var ok bool
	if f.Segment, ok = load.ParseSegment(f.segment); !ok {
		return fmt.Errorf("-segment %q: give i/n, such as 1/2", f.segment)
	}
	return nil
}

func (f *Flags) process() (load.Process, error) {
	switch f.Arrivals {
	case "constant":
		return load.Steady(), nil
	case "poisson":
		return load.Random(), nil
	case "gamma":
		if !(f.CV >= 0.01 && f.CV <= 100) {
			return load.Process{}, fmt.Errorf("-cv %g: give 0.01 to 100", f.CV)
		}
		return load.Bursty(f.CV), nil
	}
	return load.Process{}, fmt.Errorf("-arrivals %q: there are constant, poisson and gamma", f.Arrivals)
}

// Config is a load of stages as the flags have it.
func (f *Flags) Config(call func(context.Context, load.Job) error, rec *tacho.Recorder, stages ...load.Stage) load.Config {
	return load.Config{
		Stages: stages, Call: call, Recorder: rec, Seed: f.Seed, Segment: f.Segment, MaxInFlight: f.InFlight,
		// 0 is the default there, and at once here.
		Drain: max(f.Drain, time.Nanosecond),
	}
}

// Open is an open stage of the flags' length and kind.
func (f *Flags) Open(rate float64) load.Stage {
	p, _ := f.process()
	return load.Stage{Name: fmt.Sprintf("%g/s", rate), Rate: rate, Process: p, For: f.Duration, Warmup: f.Warmup}
}

// Closed is a closed stage of the flags' length.
func (f *Flags) Closed(workers int) load.Stage {
	return load.Workers(workers, f.Duration).After(f.Warmup).Named(fmt.Sprintf("%d workers", workers))
}

// Numbers reads a list such as "20,100,200".
func Numbers(name, text string) (list []float64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || !(v > 0 && v <= 1e6) {
			return nil, fmt.Errorf("-%s %q: give numbers above 0 with commas between them", name, text)
		}
		list = append(list, v)
	}
	return list, nil
}

// Run runs loads side by side, each with its own configuration, and shows how far
// they are. The error is that of a bad configuration.
func Run(ctx context.Context, stderr io.Writer, env func(string) string, configs []load.Config) ([]*load.Result, error) {
	var now progress
	quiet := term.Watch(stderr, env, now.String)
	defer quiet()
	now.of = make([]load.Progress, len(configs))
	results, errs := make([]*load.Result, len(configs)), make([]error, len(configs))
	var wg sync.WaitGroup
	for i, c := range configs {
		c.Progress = func(p load.Progress) { now.set(i, p) }
		wg.Go(func() { results[i], errs[i] = load.Run(ctx, c) })
	}
	wg.Wait()
	return results, errors.Join(errs...)
}

// progress is how far loads are that run side by side.
type progress struct {
	mu sync.Mutex
	of []load.Progress
}

func (p *progress) set(i int, of load.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of[i] = of
}

// String tells of all of them in a line.
func (p *progress) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var sum load.Progress
	for _, o := range p.of {
		sum.Stage, sum.Total = o.Stage, max(sum.Total, o.Total)
		sum.InFlight += o.InFlight
		sum.Served += o.Served
		sum.Refused += o.Refused
		sum.Failed += o.Failed
	}
	if sum.Total == 0 {
		return "starting"
	}
	text := fmt.Sprintf("%s, %d in flight, %d served, %d refused, %d failed, of %v", sum.Stage, sum.InFlight, sum.Served, sum.Refused, sum.Failed, sum.Total.Round(time.Second))
	return text
}

// Limit reads a limit such as "ttft <= 2s".
func Limit(text string) (budget.Limit, error) {
	name, d, ok := strings.Cut(text, "<=")
	if !ok {
		return budget.Limit{}, fmt.Errorf("%q: give FIGURE <= TIME, such as ttft <= 2s", text)
	}
	at, err := time.ParseDuration(strings.TrimSpace(d))
	if err != nil || at <= 0 {
		return budget.Limit{}, fmt.Errorf("%q: %q is no time, such as 500ms or 2s", text, strings.TrimSpace(d))
	}
	var names []string
	for f := tacho.DNS; f <= tacho.ConsumerWait; f++ {
		if f.String() == strings.ToLower(strings.TrimSpace(name)) {
			return budget.Limit{Figure: f, AtMost: at}, nil
		}
		names = append(names, f.String())
	}
	return budget.Limit{}, fmt.Errorf("%q: %q is no figure; there are %s", text, strings.TrimSpace(name), strings.Join(names, ", "))
}

// File reads a file by a function.
func File[T any](name string, read func(io.Reader) (T, error)) (out T, err error) {
	f, err := os.Open(name)
	if err != nil {
		return out, err
	}
	defer f.Close()
	return read(f)
}

// Save writes a report and files to -out, if that is given, and says where.
func (f *Flags) Save(w io.Writer, r *report.Report, files ...report.File) error {
	if f.Out == "" {
		return nil
	}
	d, err := report.NewDirectory(f.Out, f.Overwrite)
	if err != nil {
		return err
	}
	paths, err := d.Write(r, files...)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nWritten: %s\n", strings.Join(paths, ", "))
	return nil
}
