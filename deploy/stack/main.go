// SPDX-License-Identifier: Apache-2.0

// Stack starts a Collector, Prometheus and VictoriaLogs on loopback, lets
// examples/stack make its calls, prints what a query answers, and stops it all:
//
//	make stack
//
// With -hold it stays up until Ctrl-C.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/tacho-go/tacho/deploy/internal/backend"
)

func main() {
	log.SetFlags(0)
	deploy := flag.String("deploy", ".", "the `folder` deploy/ of the repository")
	calls := flag.Int("calls", 120, "how many calls the service makes")
	hold := flag.Bool("hold", false, "stay up until Ctrl-C")
	expr := flag.String("query", "sum by (gen_ai_request_model, tacho_outcome) (tacho_client_calls_total)", "the `PromQL` to ask")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *deploy, *calls, *expr, *hold); err != nil {
		log.Fatal("stack: ", err)
	}
}

func run(ctx context.Context, deploy string, calls int, expr string, hold bool) error {
	began := time.Now()
	programs, err := backend.Find(backend.Collector, backend.Prometheus, backend.VictoriaLogs)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "tacho-stack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := backend.Start(ctx, programs, filepath.Join(deploy, "out"), dir)
	if err != nil {
		return err
	}
	defer s.Stop()
	fmt.Printf("up after %.1f s: OTLP %s, Prometheus %s, VictoriaLogs %s\n", time.Since(began).Seconds(), s.OTLP, s.Prometheus, s.Logs)
	said, err := s.Serve(ctx, filepath.Join(deploy, "..", "examples"), dir, calls)
	if err != nil {
		return err
	}
	fmt.Printf("the service says: %v of %d calls\n\n%s\n", said.Calls, said.Total(), expr)
	err = backend.Until(ctx, 20*time.Second, func() error { return complete(ctx, s, said) })
	if err != nil {
		return err
	}
	all, err := s.Query(ctx, expr)
	if err != nil {
		return err
	}
	for _, line := range lines(all) {
		fmt.Println(" ", line)
	}
	if hold {
		fmt.Println("\nCtrl-C ends it.")
		<-ctx.Done()
	}
	s.Stop()
	fmt.Printf("\ndown after %.1f s\n", time.Since(began).Seconds())
	return nil
}

// complete says when Prometheus has all calls.
func complete(ctx context.Context, s *backend.Stack, said *backend.Figures) error {
	n, err := s.One(ctx, "sum(tacho_client_calls_total)")
	if err == nil && n != float64(said.Total()) {
		err = fmt.Errorf("of %d calls Prometheus has %g", said.Total(), n)
	}
	return err
}

func lines(all []backend.Series) []string {
	out := make([]string, len(all))
	for i, one := range all {
		names := make([]string, 0, len(one.Metric))
		for k, v := range one.Metric {
			names = append(names, fmt.Sprintf("%s=%q", k, v))
		}
		slices.Sort(names)
		out[i] = fmt.Sprintf("%8g  %v", one.Value, names)
	}
	slices.Sort(out)
	return out
}
