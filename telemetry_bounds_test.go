// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/tacho-go/tacho"
)

// words collects the values that attributes take.
type words map[attribute.Key]map[string]bool

func (w words) add(kv attribute.KeyValue) {
	if w[kv.Key] == nil {
		w[kv.Key] = map[string]bool{}
	}
	if kv.Value.Type() != attribute.STRINGSLICE {
		w[kv.Key][kv.Value.String()] = true
		return
	}
	for _, s := range kv.Value.AsStringSlice() {
		w[kv.Key][s] = true
	}
}

// spanWords is a sampler of the first spans and of each tenth of the others, and a
// span processor that keeps their words.
type spanWords struct {
	words words
	names map[string]bool
	begun int
	other int // finish reasons that were folded
}

func (p *spanWords) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult {
	if p.begun++; p.begun < 1000 || p.begun%10 == 0 {
		return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample}
	}
	return sdktrace.SamplingResult{Decision: sdktrace.Drop}
}

func (*spanWords) Description() string { return "each tenth" }

func (*spanWords) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (*spanWords) Shutdown(context.Context) error                  { return nil }
func (*spanWords) ForceFlush(context.Context) error                { return nil }
func (p *spanWords) OnEnd(s sdktrace.ReadOnlySpan) {
	p.names[s.Name()] = true
	p.words.add(attribute.String("status", s.Status().Description))
	for _, kv := range s.Attributes() {
		p.words.add(kv)
		if kv.Key == "gen_ai.response.finish_reasons" && slices.Contains(kv.Value.AsStringSlice(), "_OTHER") {
			p.other++
		}
	}
}

// underRace reports whether the race detector is at work.
func underRace() bool {
	b, _ := debug.ReadBuildInfo()
	return b != nil && slices.Contains(b.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// manyWords makes calls and returns what became of their words: on spans, and on
// metrics, with the number of series of each and what was counted as folded.
func manyWords(t *testing.T, calls int, word func(call, kind int) string, opts ...sdkmetric.Option) (spans *spanWords, onMetrics words, series map[string]int, folded int64) {
	t.Helper()
	spans = &spanWords{words: words{}, names: map[string]bool{}}
	reader := sdkmetric.NewManualReader()
	call := 0
	rt := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
		resp := answer(`{"model":"` + word(call, 0) + `","service_tier":"` + word(call, 1) + `","error":{"code":"` + word(call, 2) + `"},"choices":[{"finish_reason":"` + word(call, 3) + `"}]}`)
		resp.Header.Set("X-Ratelimit-Remaining-Requests", "7")
		return resp, nil
	}), tacho.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans), sdktrace.WithSampler(spans))),
		tacho.WithMeterProvider(sdkmetric.NewMeterProvider(append(opts, sdkmetric.WithReader(reader), sdkmetric.WithExemplarFilter(func(context.Context) bool { return false }))...)),
		tacho.WithConventions(tacho.ConventionsLatest))
	for call = range calls {
		resp, err := rt.RoundTrip(newRequest(t.Context(), t, hostURL, `{"model":"`+word(call, 4)+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
	}
	var rm metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &rm); err != nil {
		t.Fatal(err)
	}
	onMetrics, series = words{}, map[string]int{}
	counted := int64(0)
	for _, m := range rm.ScopeMetrics[0].Metrics {
		for _, set := range slices.Concat(sets(m.Data), gaugeSets(m.Data)) {
			series[m.Name]++
			for _, kv := range set.ToSlice() {
				onMetrics.add(kv)
			}
		}
		if d, ok := m.Data.(metricdata.Sum[int64]); ok {
			for _, p := range d.DataPoints {
				if kind, _ := p.Attributes.Value("tacho.overflow.kind"); kind.AsString() == "attribute" {
					folded += p.Value
				}
				if m.Name == "tacho.client.calls" {
					counted += p.Value
				}
			}
		}
	}
	if counted != int64(calls) {
		t.Errorf("%d calls are counted, want %d", counted, calls)
	}
	return spans, onMetrics, series, folded
}

func gaugeSets(data metricdata.Aggregation) (s []attribute.Set) {
	if g, ok := data.(metricdata.Gauge[int64]); ok {
		for _, p := range g.DataPoints {
			s = append(s, p.Attributes)
		}
	}
	return s
}

// TestCardinality has 100,000 models asked for, models answering, tiers, codes of
// errors and finish reasons, no two alike, some too long or no plain words. 200
// of a kind are let in, and one series stands for all others.
func TestCardinality(t *testing.T) {
	t.Parallel()
	const kept = 200
	calls := 100_000
	if underRace() || testing.Short() {
		calls = 10_000 // which take as long
	}
	// Each tenth is odd: a byte too long, or of more than words are made of.
	odd := [...]string{strings.Repeat("x", 65), " ", "ï", "\\n"}
	spans, metrics, series, folded := manyWords(t, calls, func(call, kind int) string {
		w := "k" + strconv.Itoa(kind) + "-" + strconv.Itoa(call)
		if call%10 == 9 && kind != 2 { // of an odd code the status or the outcome is told
			w += odd[call/10%len(odd)]
			w = w[:min(len(w), 65)]
		}
		return w
	}, sdkmetric.WithCardinalityLimit(0))
	for key, of := range map[attribute.Key][]words{
		"gen_ai.request.model": {spans.words, metrics}, "gen_ai.response.model": {spans.words, metrics},
		"openai.response.service_tier": {spans.words, metrics}, "error.type": {spans.words, metrics}, "status": {spans.words},
		"gen_ai.response.finish_reasons": {spans.words},
	} {
		for _, w := range of {
			rest := "_OTHER"
			if key == "error.type" || key == "status" {
				rest = "stream_error" // of a code that is not let in the outcome is told
			}
			if len(w[key]) != kept+1 || !w[key][rest] {
				t.Errorf("%s has %d values, want %d and %s", key, len(w[key]), kept, rest)
			}
		}
	}
	if len(spans.names) != kept+1 {
		t.Errorf("spans have %d names", len(spans.names))
	}
	for key, w := range spans.words {
		for s := range w {
			if len(s) > 64 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/-") != "" {
				t.Errorf("%s is %q", key, s)
			}
		}
	}
	if want := int64(4*(calls-kept) + spans.other); folded != want {
		t.Errorf("%d values are counted as folded, want %d", folded, want)
	}
	got := map[string]int{}
	for name, n := range series {
		if n != kept+1 {
			got[name] = n
		}
	}
	// The first two have no word from the wire, and the others codes: of the first
	// 200 calls, while the other words are of the first 200 that are not odd.
	if diff := cmp.Diff(map[string]int{"tacho.client.active_calls": 1, "tacho.client.overflow": 1, "gen_ai.client.inference.duration": 221, "tacho.client.calls": 221}, got); diff != "" || len(series) < 6 {
		t.Errorf("%d metrics; those of other than %d series (-want +got)\n%s", len(series), kept+1, diff)
	}
}

// TestCardinalityOfMixtures draws the words of each call from 150 each, which
// are all let in: their mixtures are bounded all the same.
func TestCardinalityOfMixtures(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	_, metrics, series, _ := manyWords(t, 4000, func(_, kind int) string { return fmt.Sprintf("k%d-%d", kind, random.IntN(150)) }, sdkmetric.WithCardinalityLimit(0))
	for _, key := range []attribute.Key{"gen_ai.request.model", "gen_ai.response.model", "openai.response.service_tier", "error.type"} {
		if n := len(metrics[key]); n != 151 {
			t.Errorf("%s has %d values", key, n)
		}
	}
	for name, n := range series {
		if n > 2001 || name == "tacho.client.calls" && n != 2001 {
			t.Errorf("%s has %d series, want 2,000 and one for all others", name, n)
		}
	}
}

// TestHeaderLimit adds trace context and baggage to the headers up to 8 KiB in
// all. Members that do not fit are counted, in the record and in the metrics;
// those that are sent are whole. Headers that are too many as they are stay so.
func TestHeaderLimit(t *testing.T) { //nolint:paralleltest // sets the global propagator
	before := otel.GetTextMapPropagator()
	otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}))
	defer otel.SetTextMapPropagator(before)
	tp := sdktrace.NewTracerProvider()
	const limit = 8 << 10
	for _, tc := range []struct {
		name          string
		own, members  int // bytes of the application's header, members of 120 bytes each
		sent, dropped int
		trace         bool
	}{
		{"all fit", 100, 64, 64, 0, true},
		{"all fit to the byte", 247, 64, 64, 0, true},
		{"one byte too many", 248, 64, 63, 1, true},
		{"few fit", 6888, 64, 9, 55, true},
		{"none fits", 7938, 64, 0, 64, true},
		{"nothing fits", 8038, 64, 0, 64, false},
		{"too many before", 9000, 0, 0, 0, false},
	} {
		want := map[string]bool{}
		var members []baggage.Member
		for i := range tc.members {
			m, err := baggage.NewMember(fmt.Sprintf("k%02d", i), strings.Repeat("v", 116)) // k00=v…
			if err != nil {
				t.Fatal(err)
			}
			members, want[m.String()] = append(members, m), true
		}
		b, err := baggage.New(members...)
		if err != nil {
			t.Fatal(err)
		}
		var sent http.Header
		reader := sdkmetric.NewManualReader()
		rt := tacho.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
			sent = r.Header
			return answer(chatAnswer), nil
		}), tacho.WithTracerProvider(tp), tacho.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))), tacho.WithPropagationTo("host.invalid"))
		ctx, tr := tacho.Track(baggage.ContextWithBaggage(t.Context(), b))
		req := newRequest(ctx, t, hostURL, chatPlain)
		req.Header.Set("X-Own", strings.Repeat("o", tc.own))
		resp, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
		size := 0
		for name, values := range sent {
			size += len(name+": \r\n") + len(values[0])
		}
		var got []string
		if s := sent.Get("Baggage"); s != "" {
			got = strings.Split(s, ",")
		}
		for _, m := range got {
			if !want[m] {
				t.Errorf("%s: sent %q, which is no member", tc.name, m)
			}
			delete(want, m)
		}
		counted := points(t, reader)["tacho.client.overflow {value} gen_ai.operation.name=chat,tacho.overflow.kind=baggage"]
		if len(got) != tc.sent || one(t, tr).Dropped() != tc.dropped || counted != float64(tc.dropped) || (sent.Get("Traceparent") != "") != tc.trace {
			t.Errorf("%s: %d members sent, %d dropped, %v counted, trace context %q; want %d, %d, %v", tc.name, len(got), one(t, tr).Dropped(), counted, sent.Get("Traceparent"), tc.sent, tc.dropped, tc.trace)
		}
		if size > limit && tc.own < 8100 {
			t.Errorf("%s: %d bytes of headers", tc.name, size)
		}
	}
}
