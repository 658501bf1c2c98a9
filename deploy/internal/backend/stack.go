// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Stack is a collector with a Prometheus for the metrics, a VictoriaLogs for the
// log lines and a Traces for the spans. Everything listens on loopback.
type Stack struct {
	OTLP       string // the collector's URL
	Prometheus string
	Logs       string
	Traces     *Traces

	processes []*process
}

// Start starts a stack in dir with the files of out, which are taken as they are
// but for one thing: rules are evaluated each second.
func Start(ctx context.Context, programs Programs, out, dir string) (s *Stack, err error) {
	s = new(Stack)
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	var at [4]string
	for i := range at {
		if at[i], err = freeAddress(); err != nil {
			return s, err
		}
	}
	otlp, health, prometheus, logs := at[0], at[1], at[2], at[3]
	s.OTLP, s.Prometheus, s.Logs = "http://"+otlp, "http://"+prometheus, "http://"+logs
	if s.Traces, err = listenTraces(); err != nil {
		return s, err
	}
	if err := copyPrometheus(out, dir); err != nil {
		return s, err
	}
	err = s.run(ctx, dir, Prometheus, programs, s.Prometheus+"/-/ready", nil,
		"--config.file=prometheus/prometheus.yaml", "--storage.tsdb.path=tsdb", "--web.listen-address="+prometheus,
		"--web.enable-otlp-receiver", "--enable-feature=exemplar-storage")
	if err != nil {
		return s, err
	}
	if err := s.run(ctx, dir, VictoriaLogs, programs, s.Logs+"/health", nil, "-storageDataPath=logs", "-httpListenAddr="+logs); err != nil {
		return s, err
	}
	config, err := filepath.Abs(filepath.Join(out, "collector.yaml"))
	if err != nil {
		return s, err
	}
	return s, s.run(ctx, dir, Collector, programs, "http://"+health, []string{
		"TACHO_OTLP_LISTEN=" + otlp, "TACHO_HEALTH_LISTEN=" + health, "TACHO_PROMETHEUS=" + s.Prometheus,
		"TACHO_LOGS=" + s.Logs + "/insert/opentelemetry/v1/logs", "TACHO_TRACES=" + s.Traces.URL,
		"TACHO_BATCH_TIMEOUT=200ms", "TACHO_DECISION_WAIT=2s", "TACHO_SLOW_MS=500", "TACHO_SHARE_PERCENT=30",
	}, "--config", config)
}

func (s *Stack) run(ctx context.Context, dir, name string, programs Programs, ready string, env []string, args ...string) error {
	p, err := start(dir, name, programs.Path(name), env, args...)
	if err != nil {
		return err
	}
	s.processes = append(s.processes, p)
	return p.ready(ctx, ready)
}

// Stop ends all programs, the collector first. Another Stop does nothing.
func (s *Stack) Stop() {
	for i := len(s.processes) - 1; i >= 0; i-- {
		s.processes[i].stop()
	}
	s.processes = nil
	if s.Traces != nil {
		s.Traces.close()
	}
}

func copyPrometheus(out, dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "prometheus"), 0o755); err != nil {
		return err
	}
	for _, name := range []string{"prometheus/prometheus.yaml", "prometheus/rules.yaml"} {
		b, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return err
		}
		b = bytes.Replace(b, []byte("evaluation_interval: 15s"), []byte("evaluation_interval: 1s"), 1)
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Figures are what examples/stack says that its calls came to.
type Figures struct {
	Calls map[string]int64
	Usage struct {
		Input, Output, Reasoning int64
		CacheRead                int64 `json:"cache_read"`
	}
	TTFT, Gap struct {
		Count    int64
		P50, P99 float64
	}
	Failed, Slow, Stalled, Fine []string
}

// Total is how many calls there were.
func (f *Figures) Total() (n int64) {
	for _, k := range f.Calls {
		n += k
	}
	return n
}

// Serve builds examples/stack and lets it make its calls; examples is its module.
// It returns when the figures are out and the last telemetry is sent.
func (s *Stack) Serve(ctx context.Context, examples, dir string, calls int) (*Figures, error) {
	program := filepath.Join(dir, "service")
	build := exec.CommandContext(ctx, "go", "build", "-p", "2", "-o", program, "./stack")
	build.Dir, build.Env = examples, append(os.Environ(), "GOWORK=off")
	if b, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w: %s", err, b)
	}
	run := exec.CommandContext(ctx, program, "-otlp", s.OTLP, "-calls", fmt.Sprint(calls), "-interval", "500ms", "-linger", "3s", "-json")
	run.WaitDelay = time.Second
	b, err := run.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, err
	}
	f := new(Figures)
	return f, json.Unmarshal(b, f)
}
