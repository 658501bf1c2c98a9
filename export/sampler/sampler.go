// SPDX-License-Identifier: Apache-2.0

// Package sampler has a head sampler for OpenTelemetry's SDK that keeps so many
// spans a second, whatever the load.
//
//	tp := trace.NewTracerProvider(trace.WithSampler(trace.ParentBased(sampler.New(10, sampler.WithFloor(0.5)))), …)
//
// Samplers of the same trace agree: the decision compares the trace's id with a
// threshold, which is told in the trace state as OpenTelemetry's specification of
// consistent probability sampling has it (ot=th:…), so that a backend can count
// each span for those that it stands for.
//
// A head sampler decides before anything is known of the call but its model, host
// and attempt. To keep each failed and each slow call, keep all spans and let a
// collector decide when the trace is whole: tail_sampling with the policies
// status_code and latency. The recorder and the metrics see every call either way.
package sampler

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"
)

// Sampler keeps a target of spans a second. Make one with New. It is safe for
// concurrent use.
type Sampler struct {
	target, floor float64
	memory        float64 // seconds

	mu             sync.Mutex
	last           time.Time
	spans, seconds float64 // of late, older ones counting less
}

// Option configures New.
type Option func(*Sampler)

// WithFloor keeps at least this share of the spans that start after something
// went wrong: those with the attribute error.type, with tacho.attempt above 1 or
// http.request.resend_count above 0. They come on top of the target when they are
// many. Attempts inside one call (tacho.WithRetries) are children of its span and
// share its fate below ParentBased: the floor sees those that an SDK makes, each a
// call. By default there is no floor. It panics unless p is 0 to 1.
func WithFloor(p float64) Option {
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("sampler: WithFloor(%v): a share is 0 to 1", p))
	}
	return func(s *Sampler) { s.floor = p }
}

// WithMemory sets the time constant with which the past is forgotten. By default
// it is 10 s: a span of 30 s ago counts 5 % of one of now. It panics unless d is above 0.
func WithMemory(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("sampler: WithMemory(%v): it is above 0", d))
	}
	return func(s *Sampler) { s.memory = d.Seconds() }
}

// New returns a sampler that keeps so many spans a second in the mean. It panics
// unless the target is above 0 and finite.
func New(target float64, opts ...Option) *Sampler {
	if !(target > 0) || math.IsInf(target, 0) {
		panic(fmt.Sprintf("sampler: New(%v): the target, in spans a second, is above 0", target))
	}
	s := &Sampler{target: target, memory: 10}
	for _, o := range opts {
		o(s)
	}
	return s
}

// Description implements trace.Sampler.
func (s *Sampler) Description() string {
	return fmt.Sprintf("TachoAdaptive{target=%v/s,floor=%v}", s.target, s.floor)
}

// ShouldSample implements trace.Sampler.
func (s *Sampler) ShouldSample(p trace.SamplingParameters) trace.SamplingResult {
	share := s.share(time.Now())
	if s.floor > share && wentWrong(p.Attributes) {
		share = s.floor
	}
	state := api.SpanContextFromContext(p.ParentContext).TraceState()
	th := threshold(share)
	if randomness(p.TraceID, state) < th {
		return trace.SamplingResult{Decision: trace.Drop, Tracestate: state}
	}
	return trace.SamplingResult{Decision: trace.RecordAndSample, Tracestate: withThreshold(state, th)}
}

// share returns the share to keep, with a span that starts now counted. Spans and
// seconds fade alike, by e for each memory that passes, so that their ratio is the
// rate of late.
func (s *Sampler) share(now time.Time) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last.IsZero() {
		s.last = now
	}
	passed := max(0, now.Sub(s.last).Seconds())
	s.last = now
	fade := math.Exp(-passed / s.memory)
	s.spans = s.spans*fade + 1
	// What has passed fades as it passes: the integral of e^(−t ÷ memory).
	s.seconds = s.seconds*fade + s.memory*(1-fade)
	if s.spans <= s.target {
		return 1 // fewer than a second's worth: there is no rate yet to speak of
	}
	return min(1, s.target*s.seconds/s.spans)
}

// wentWrong reports whether a span starts after a failure.
func wentWrong(attrs []attribute.KeyValue) bool {
	for _, kv := range attrs {
		switch kv.Key {
		case "error.type":
			return true
		case "tacho.attempt":
			if kv.Value.AsInt64() > 1 {
				return true
			}
		case "http.request.resend_count":
			if kv.Value.AsInt64() > 0 {
				return true
			}
		}
	}
	return false
}

// Of the 56 random bits of a trace, those at or above the threshold are kept
// (opentelemetry.io/docs/specs/otel/trace/tracestate-probability-sampling).
const randomBits = 56

func threshold(share float64) uint64 {
	return uint64(math.Round((1 - share) * (1 << randomBits)))
}

// randomness is what the trace state tells of it, else the end of the trace's id.
func randomness(id api.TraceID, state api.TraceState) uint64 {
	for member := range strings.SplitSeq(state.Get("ot"), ";") {
		if hex, ok := strings.CutPrefix(member, "rv:"); ok && len(hex) == randomBits/4 {
			if v, err := strconv.ParseUint(hex, 16, 64); err == nil {
				return v
			}
		}
	}
	return binary.BigEndian.Uint64(id[8:]) & (1<<randomBits - 1)
}

// withThreshold puts the threshold into the trace state; what else stands there
// stays.
func withThreshold(state api.TraceState, th uint64) api.TraceState {
	hex := strings.TrimRight(fmt.Sprintf("%014x", th), "0")
	if hex == "" {
		hex = "0"
	}
	members := []string{"th:" + hex}
	for member := range strings.SplitSeq(state.Get("ot"), ";") {
		if member != "" && !strings.HasPrefix(member, "th:") {
			members = append(members, member)
		}
	}
	next, err := state.Insert("ot", strings.Join(members, ";"))
	if err != nil {
		return state
	}
	return next
}
