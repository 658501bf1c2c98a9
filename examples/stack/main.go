// SPDX-License-Identifier: Apache-2.0

// Stack is a small service on two simulated endpoints, and tells all of its
// telemetry: traces, metrics and logs go by OTLP over HTTP to a collector, linked
// by the trace's id.
//
//	go run ./examples/stack -otlp http://127.0.0.1:4318
//
// Its calls are a plan: which are refused once, fail, are cut, slow or stall is
// known beforehand, and so are the tokens. What it prints in the end is what a
// backend has to answer; deploy/ compares the two.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/tacho-go/tacho/examples/internal/cli"
)

const usage = `usage: stack [flags]

Makes calls to two simulated endpoints and sends traces, metrics and logs to an
OpenTelemetry Collector, which has to run: make stack brings one up with its
backends, runs this program and asks for its figures.
`

func main() { cli.Main(run) }

// settings are what the command line says.
type settings struct {
	otlp     string
	calls    int
	interval time.Duration
	linger   time.Duration
	json     bool
}

func run(ctx context.Context, args []string, _ func(string) string, stdout, stderr io.Writer) int {
	var s settings
	fs := flag.NewFlagSet("stack", flag.ContinueOnError)
	fs.StringVar(&s.otlp, "otlp", "http://127.0.0.1:4318", "the `URL` of a collector's OTLP receiver for HTTP")
	fs.IntVar(&s.calls, "calls", 200, "how many calls to make")
	fs.DurationVar(&s.interval, "interval", time.Second, "the time between two exports of the metrics")
	fs.DurationVar(&s.linger, "linger", 0, "how long to go on telling the metrics after the last call")
	fs.BoolVar(&s.json, "json", false, "print the figures as JSON")
	if code, done := cli.Parse(fs, args, usage, stdout, stderr); done {
		return code
	}
	if err := s.check(); err != nil {
		return cli.Bad(stderr, "stack", err)
	}
	f, err := serve(ctx, s)
	if f != nil {
		print(stdout, f, s.json)
	}
	if err != nil {
		fmt.Fprintf(stderr, "stack: %v\n", err)
		return cli.Failed
	}
	return cli.OK
}

func (s *settings) check() error {
	u, err := url.Parse(s.otlp)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("-otlp %q is no URL of a collector", s.otlp)
	case s.calls < 1:
		return fmt.Errorf("-calls %d: there is at least one", s.calls)
	case s.interval <= 0 || s.linger < 0:
		return errors.New("-interval is above 0, -linger 0 or above")
	}
	return nil
}

// serve makes the calls and returns what they came to, also when it ends early.
func serve(ctx context.Context, s settings) (*figures, error) {
	if err := reach(ctx, s.otlp); err != nil {
		return nil, err
	}
	svc, err := newService(ctx, s)
	if err != nil {
		return nil, err
	}
	defer svc.close()
	svc.answerAll(ctx, s.calls)
	select {
	case <-time.After(s.linger):
	case <-ctx.Done():
	}
	// What has not been sent is sent now, after a Ctrl-C too.
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer stop()
	err = svc.telemetry.shutdown(last)
	return svc.figures(), errors.Join(err, context.Cause(ctx))
}

func print(w io.Writer, f *figures, asJSON bool) {
	if asJSON {
		_ = json.NewEncoder(w).Encode(f)
		return
	}
	fmt.Fprint(w, f)
}
