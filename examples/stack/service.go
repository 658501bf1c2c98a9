// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/sim"
)

// objectives are the service's own; deploy/ has their error budgets.
var objectives = []string{"errors <= 1%", "ttft p99 <= 2s", "longest_stall <= 5s"}

// service answers questions through the endpoint of a region.
type service struct {
	telemetry *telemetry
	recorder  *tacho.Recorder
	endpoints []*sim.Server
	clients   []*tacho.Client
	tracer    trace.Tracer
	log       *slog.Logger
	tally     tally
}

func newService(ctx context.Context, s settings) (*service, error) {
	svc := &service{recorder: tacho.NewRecorder(tacho.WithSeriesBy("operation", "provider", "model", "server", "region"))}
	var err error
	if svc.telemetry, err = newTelemetry(ctx, s, svc.recorder); err != nil {
		return nil, err
	}
	svc.tracer, svc.log = svc.telemetry.traces.Tracer("stack"), svc.telemetry.logger()
	budgets := make([]budget.Budget, len(objectives))
	for i, text := range objectives {
		budgets[i] = budget.MustParse(text)
	}
	judged, err := budget.Objectives(budgets...)
	if err != nil {
		return nil, err
	}
	for _, region := range regions {
		srv := sim.NewServer(sim.WithHost(region+".sim.invalid"), sim.WithTLS(), sim.WithLookupDelay(time.Millisecond), sim.WithDialDelay(time.Millisecond))
		client, err := tacho.NewClient(srv.URL(), "", tacho.WithBase(srv.Transport()),
			tacho.WithTracerProvider(svc.telemetry.traces), tacho.WithMeterProvider(svc.telemetry.metrics), tacho.WithLogger(svc.log),
			tacho.WithRecorder(svc.recorder), tacho.WithMetricLabels("region"), tacho.WithBudgets(judged...), tacho.WithObserver(svc.tally.add),
			tacho.WithStreamUsage(), tacho.WithRetries(tacho.RetryPolicy{}), tacho.WithSlowLimit(slow), tacho.WithStallLimit(stall))
		if err != nil {
			return nil, err
		}
		svc.endpoints, svc.clients = append(svc.endpoints, srv), append(svc.clients, client)
	}
	return svc, nil
}

func (s *service) close() {
	for i := range s.clients {
		s.clients[i].CloseIdleConnections()
		_ = s.endpoints[i].Close()
	}
}

// answerAll makes n calls, those of a region one after the other, so that each
// plays its own script.
func (s *service) answerAll(ctx context.Context, n int) {
	var wg sync.WaitGroup
	for i := range regions {
		wg.Go(func() {
			for k := i; k < n && ctx.Err() == nil; k += len(regions) {
				s.answer(ctx, i, plan(i, k/len(regions)))
				_ = s.clients[i].Transport().Wait(ctx) // for the connection, which is the next call's
			}
		})
	}
	wg.Wait()
}

// answer serves one request: a span of its own, a line of its own, and one call.
func (s *service) answer(ctx context.Context, i int, t turn) {
	ctx, span := s.tracer.Start(ctx, "answer", trace.WithSpanKind(trace.SpanKindServer))
	defer span.End()
	ctx = tacho.ContextWithLabels(ctx, "region", regions[i])
	s.endpoints[i].Play(t.scripts...)
	stream, err := s.clients[i].Stream(ctx, "chat/completions", map[string]any{
		"model":    t.model,
		"messages": []map[string]string{{"role": "user", "content": "A question."}},
	})
	events := 0
	if err == nil {
		for ev, failed := range stream.All() {
			if err = failed; err == nil && ev.Channel != "" {
				if events++; events == 2 {
					time.Sleep(t.pause)
				}
			}
		}
	}
	s.log.InfoContext(ctx, "answered", slog.String("model", t.model), slog.Int("events", events), slog.Bool("failed", err != nil))
}
