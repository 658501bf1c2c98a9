// SPDX-License-Identifier: Apache-2.0

package sampler_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho/export/sampler"
)

func id(random uint64) (id api.TraceID) {
	binary.BigEndian.PutUint64(id[8:], random)
	id[0] = 1
	return id
}

func ask(s trace.Sampler, random uint64, state string, kv ...attribute.KeyValue) (kept bool, out string) {
	ts, _ := api.ParseTraceState(state)
	ctx := api.ContextWithSpanContext(context.Background(), api.NewSpanContext(api.SpanContextConfig{TraceState: ts}))
	r := s.ShouldSample(trace.SamplingParameters{ParentContext: ctx, TraceID: id(random), Attributes: kv})
	return r.Decision == trace.RecordAndSample, r.Tracestate.String()
}

// TestRate: whatever the load, so many spans a second are kept once the sampler
// knows it; below the target all of them.
func TestRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sampler.New(10)
		random := rand.New(rand.NewPCG(1, 2))
		for _, load := range []int{5, 1000, 50, 2000, 2} {
			kept := 0
			for sec := range 160 {
				for range load {
					time.Sleep(time.Second / time.Duration(load))
					if ok, _ := ask(s, random.Uint64(), ""); ok && sec >= 60 {
						kept++
					}
				}
			}
			want := 100 * float64(min(load, 10))
			if got := float64(kept); got < 0.88*want || got > 1.12*want {
				t.Errorf("of %d spans a second %v in 100 s were kept, want %v", load, got, want)
			}
		}
	})
}

// TestConsistent: the decision is by the trace's random bits, or by those that
// the trace state tells, and the threshold is in the trace state.
func TestConsistent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sampler.New(1, sampler.WithMemory(time.Second))
		if ok, state := ask(s, 0, "a=b"); !ok || state != "ot=th:0,a=b" {
			t.Errorf("the first span: %t, %q", ok, state)
		}
		// Without time passing the rate has no bound.
		for range 1000 {
			ask(s, 0, "")
		}
		const all = 1<<56 - 1
		if ok, state := ask(s, 0, "ot=p:8"); ok || state != "ot=p:8" {
			t.Errorf("the least of traces: %t, %q", ok, state)
		}
		if ok, _ := ask(s, all, "ot=rv:00000000000000"); ok {
			t.Error("kept against the trace state")
		}
		time.Sleep(time.Second)
		ok, state := ask(s, all, "ot=th:8;x:1")
		if !ok || len(state) < len("ot=th:f;x:1") || state[len(state)-4:] != ";x:1" {
			t.Errorf("the greatest of traces: %t, %q", ok, state)
		}
		if ok, _ := ask(s, 0, "ot=rv:ffffffffffffff"); !ok {
			t.Error("dropped against the trace state")
		}
	})
}

// TestFloor: a span that starts after a failure has its own share.
func TestFloor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sampler.New(1, sampler.WithFloor(0.5))
		for range 1000 {
			ask(s, 0, "")
		}
		const half = 1 << 55
		for _, tc := range []struct {
			kv   attribute.KeyValue
			want bool
		}{
			{attribute.Int("tacho.attempt", 2), true}, {attribute.Int("tacho.attempt", 1), false},
			{attribute.String("error.type", "429"), true}, {attribute.Int("http.request.resend_count", 1), true}, {attribute.String("a", "b"), false},
		} {
			if ok, state := ask(s, half, "", tc.kv); ok != tc.want || ok && state != "ot=th:8" {
				t.Errorf("%v: kept %t with %q, want %t", tc.kv, ok, state, tc.want)
			}
			if ok, _ := ask(s, half-1, "", tc.kv); ok {
				t.Errorf("%v: kept below the floor", tc.kv)
			}
		}
	})
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := sampler.New(1e9)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 1000 {
				if ok, state := ask(s, uint64(i), ""); !ok || state != "ot=th:0" {
					t.Errorf("far below the target: kept %t with %q", ok, state)
				}
			}
		})
	}
	wg.Wait()
}

func TestNonsense(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(){
		"no target": func() { sampler.New(0) }, "a floor above 1": func() { sampler.WithFloor(1.1) }, "no memory": func() { sampler.WithMemory(0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			f()
		}()
	}
}
