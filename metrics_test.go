// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/internal/conv"
	"github.com/tacho-go/tacho/sim"
)

// points are the sums of all data points, by metric, unit and attributes.
func points(t *testing.T, reader metric.Reader) map[string]float64 {
	t.Helper()
	var rm metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &rm); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, sm := range rm.ScopeMetrics {
		if sm.Scope.Name != "github.com/tacho-go/tacho" || sm.Scope.Version != tacho.Version {
			t.Errorf("scope %+v", sm.Scope)
		}
		for _, m := range sm.Metrics {
			put := func(set attribute.Set, v float64) {
				// What all calls of these tests have is left out.
				common := []attribute.Key{"gen_ai.provider.name", "server.address", "gen_ai.request.model"}
				if !strings.HasPrefix(m.Name, "http.") {
					common = append(common, "server.port")
				}
				set, _ = set.Filter(attribute.NewDenyKeysFilter(common...))
				got[strings.TrimSpace(m.Name+" "+m.Unit+" "+set.Encoded(attribute.DefaultEncoder()))] += v
			}
			switch d := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					put(p.Attributes, p.Sum)
				}
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					put(p.Attributes, float64(p.Value))
				}
			case metricdata.Gauge[int64]:
				for _, p := range d.DataPoints {
					put(p.Attributes, float64(p.Value))
				}
			default:
				t.Errorf("%s is a %T", m.Name, d)
			}
		}
	}
	return got
}

// TestMetrics has the whole of what is told of a stream, a refusal and a call for
// embeddings, by both generations of the conventions.
func TestMetrics(t *testing.T) {
	t.Parallel()
	ours := map[string]float64{
		"tacho.client.active_calls {call} gen_ai.operation.name=chat": 0, "tacho.client.active_calls {call} gen_ai.operation.name=embeddings": 0,
		"tacho.client.calls {call} gen_ai.operation.name=chat,gen_ai.request.stream=true,gen_ai.response.model=m,tacho.outcome=complete":        1,
		"tacho.client.calls {call} error.type=slow_down,gen_ai.operation.name=chat,gen_ai.request.stream=true,tacho.outcome=error":              1,
		"tacho.client.calls {call} gen_ai.operation.name=embeddings,gen_ai.request.stream=false,gen_ai.response.model=e,tacho.outcome=complete": 1,
		"tacho.client.phase.duration s gen_ai.operation.name=chat,gen_ai.response.model=m,tacho.phase=connect":                                  0,
		"tacho.client.phase.duration s gen_ai.operation.name=chat,gen_ai.response.model=m,tacho.phase=send":                                     0,
		"tacho.client.phase.duration s gen_ai.operation.name=chat,gen_ai.response.model=m,tacho.phase=wait":                                     0.3,
		"tacho.client.phase.duration s gen_ai.operation.name=chat,tacho.phase=send":                                                             0,
		"tacho.client.phase.duration s gen_ai.operation.name=chat,tacho.phase=wait":                                                             0.05,
		"tacho.client.phase.duration s gen_ai.operation.name=embeddings,gen_ai.response.model=e,tacho.phase=send":                               0,
		"tacho.client.phase.duration s gen_ai.operation.name=embeddings,gen_ai.response.model=e,tacho.phase=wait":                               0.02,
		"tacho.client.time_to_first_token s gen_ai.operation.name=chat,gen_ai.response.model=m":                                                 0.3,
		"tacho.client.time_to_first_output s gen_ai.operation.name=chat,gen_ai.response.model=m":                                                0.3,
		"tacho.client.time_to_last_token s gen_ai.operation.name=chat,gen_ai.response.model=m":                                                  0.4,
		"tacho.client.time_per_output_token s gen_ai.operation.name=chat,gen_ai.response.model=m":                                               0.025,
		"tacho.client.ratelimit.remaining  gen_ai.operation.name=chat,tacho.ratelimit.kind=requests":                                            7,
	}
	latest := map[string]float64{
		"gen_ai.client.inference.duration s gen_ai.operation.name=chat,gen_ai.response.model=m":                                                          0.4,
		"gen_ai.client.inference.duration s error.type=slow_down,gen_ai.operation.name=chat":                                                             0.05,
		"gen_ai.client.embeddings.duration s gen_ai.operation.name=embeddings,gen_ai.response.model=e":                                                   0.02,
		"gen_ai.client.embeddings.operation.input_tokens {token} gen_ai.operation.name=embeddings,gen_ai.response.model=e":                               8,
		"gen_ai.client.inference.time_to_first_chunk s gen_ai.operation.name=chat,gen_ai.response.model=m":                                               0.3,
		"gen_ai.client.inference.operation.input_tokens {token} gen_ai.operation.name=chat,gen_ai.response.model=m":                                      9,
		"gen_ai.client.inference.operation.output_tokens {token} gen_ai.operation.name=chat,gen_ai.response.model=m":                                     5,
		"gen_ai.client.inference.usage.input_tokens {token} gen_ai.operation.name=chat,gen_ai.response.model=m,gen_ai.token.modality=unknown":            9,
		"gen_ai.client.inference.usage.output_tokens {token} gen_ai.operation.name=chat,gen_ai.response.model=m,gen_ai.token.modality=unknown":           5,
		"gen_ai.client.inference.usage.cache_read.input_tokens {token} gen_ai.operation.name=chat,gen_ai.response.model=m,gen_ai.token.modality=unknown": 4,
		"gen_ai.client.inference.usage.reasoning.output_tokens {token} gen_ai.operation.name=chat,gen_ai.response.model=m,gen_ai.token.modality=unknown": 0,
		"gen_ai.client.inference.usage.input_tokens {token} gen_ai.operation.name=chat,gen_ai.token.modality=unknown":                                    0,
		"gen_ai.client.inference.usage.cache_read.input_tokens {token} gen_ai.operation.name=chat,gen_ai.token.modality=unknown":                         0,
		"gen_ai.client.inference.usage.cache_write.input_tokens {token} gen_ai.operation.name=chat,gen_ai.token.modality=unknown":                        0,
		"gen_ai.client.inference.usage.reasoning.output_tokens {token} gen_ai.operation.name=chat,gen_ai.token.modality=unknown":                         0,
		"gen_ai.client.inference.usage.output_tokens {token} gen_ai.operation.name=chat,gen_ai.token.modality=unknown":                                   0,
	}
	v141 := map[string]float64{
		"gen_ai.client.operation.duration s gen_ai.operation.name=chat,gen_ai.response.model=m":                              0.4,
		"gen_ai.client.operation.duration s error.type=slow_down,gen_ai.operation.name=chat":                                 0.05,
		"gen_ai.client.operation.duration s gen_ai.operation.name=embeddings,gen_ai.response.model=e":                        0.02,
		"gen_ai.client.operation.time_to_first_chunk s gen_ai.operation.name=chat,gen_ai.response.model=m":                   0.3,
		"gen_ai.client.token.usage {token} gen_ai.operation.name=chat,gen_ai.response.model=m,gen_ai.token.type=input":       9,
		"gen_ai.client.token.usage {token} gen_ai.operation.name=chat,gen_ai.response.model=m,gen_ai.token.type=output":      5,
		"gen_ai.client.token.usage {token} gen_ai.operation.name=embeddings,gen_ai.response.model=e,gen_ai.token.type=input": 8,
	}
	for _, tc := range []struct {
		name string
		opts []tacho.Option
		want []map[string]float64
	}{
		{"default", nil, []map[string]float64{ours, latest}}, {"latest", []tacho.Option{tacho.WithConventions(tacho.ConventionsLatest)}, []map[string]float64{ours, latest}},
		{"chunk by chunk", []tacho.Option{tacho.WithChunkMetrics()}, []map[string]float64{ours, latest, {
			"gen_ai.client.inference.time_per_output_chunk s gen_ai.operation.name=chat,gen_ai.response.model=m": 0.1,
		}}},
		{"chunk by chunk, v1.41", []tacho.Option{tacho.WithChunkMetrics(), tacho.WithConventions(tacho.ConventionsV141)}, []map[string]float64{ours, v141, {
			"gen_ai.client.operation.time_per_output_chunk s gen_ai.operation.name=chat,gen_ai.response.model=m": 0.1,
		}}},
		{"HTTP", []tacho.Option{tacho.WithHTTPMetrics()}, []map[string]float64{ours, latest, {
			"http.client.active_requests {request} http.request.method=POST,server.port=80":                                                                                               0,
			"http.client.request.duration s http.request.method=POST,http.response.status_code=200,network.protocol.name=http,network.protocol.version=1.1,server.port=80":                0.42000000000000004, // 0.4 + 0.02
			"http.client.request.duration s error.type=429,http.request.method=POST,http.response.status_code=429,network.protocol.name=http,network.protocol.version=1.1,server.port=80": 0.05,
		}}},
		{"v1.41", []tacho.Option{tacho.WithConventions(tacho.ConventionsV141)}, []map[string]float64{ours, v141}}, {"both", []tacho.Option{tacho.WithConventions(tacho.ConventionsBoth)}, []map[string]float64{ours, latest, v141}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				reader := metric.NewManualReader()
				r := newRig(t, nil, append(tc.opts, tacho.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))))...)
				r.srv.Play(sim.Script{HeaderDelay: 300 * ms, Steps: []sim.Step{sim.Text(0, "a"), sim.Text(0, "b").After(100 * ms), sim.Finish(0, "stop"),
					sim.Usage(sim.UsageCounts{InputTokens: 9, OutputTokens: 5, CachedTokens: 4}), sim.Done()}},
					sim.Script{HeaderDelay: 50 * ms, Status: 429, ErrorCode: "slow_down", Header: http.Header{"X-Ratelimit-Remaining-Requests": {"7"}}},
					sim.Script{HeaderDelay: 20 * ms, Body: []byte(`{"model":"e","data":[],"usage":{"prompt_tokens":8}}`), ContentType: "application/json"})
				r.do(chatPath, chatStream, readAll)
				r.do(chatPath, chatStream, readAll)
				r.do("/v1/embeddings", chatPlain, readAll)
				want := map[string]float64{}
				for _, m := range tc.want {
					for k, v := range m {
						want[strings.Replace(k, "  ", " ", 1)] = v
					}
				}
				got := map[string]float64{}
				for k, v := range points(t, reader) {
					got[strings.Replace(k, "  ", " ", 1)] = v
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		})
	}
}

// TestModalities counts tokens by what they are of; what is not said is unknown.
func TestModalities(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]map[string]float64{
		`{"usage":{"prompt_tokens":9,"completion_tokens":7,"prompt_tokens_details":{"audio_tokens":4},"completion_tokens_details":{"text_tokens":2,"image_tokens":5}}}`: {
			"input audio": 4, "input unknown": 5, "output text": 2, "output image": 5},
		`{"usage":{"prompt_tokens":9,"completion_tokens":7,"prompt_tokens_details":{"audio_tokens":0},"completion_tokens_details":{"audio_tokens":8}}}`: {
			"input unknown": 9, "output unknown": 7}, // more than all of them: not to be believed
	} {
		reader := metric.NewManualReader()
		rt := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { return answer(body), nil }),
			tacho.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))), tacho.WithoutTracing())
		resp, err := rt.RoundTrip(newRequest(t.Context(), t, "http://host.invalid/v1/chat/completions", chatPlain))
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
		got := map[string]float64{}
		for k, v := range points(t, reader) {
			if name, set, ok := strings.Cut(k, "_tokens {token} gen_ai.operation.name=chat,gen_ai.token.modality="); ok {
				got[strings.TrimPrefix(name, "gen_ai.client.inference.usage.")+" "+set] = v
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", body, diff)
		}
	}
}

// TestFailedStreamsApart tells the refusal of a stream from that of a plain call.
func TestFailedStreamsApart(t *testing.T) {
	t.Parallel()
	reader := metric.NewManualReader()
	rt := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { return nil, errBroken }),
		tacho.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))), tacho.WithoutTracing(), tacho.WithFingerprintMetrics())
	for _, body := range []string{chatPlain, chatStream, chatStream} {
		if _, err := rt.RoundTrip(newRequest(t.Context(), t, "http://host.invalid/v1/chat/completions", body)); err == nil {
			t.Fatal("no error")
		}
	}
	got := points(t, reader)
	for stream, want := range map[string]float64{"false": 1, "true": 2} {
		if n := got["tacho.client.calls {call} error.type=protocol,gen_ai.operation.name=chat,gen_ai.request.stream="+stream+",tacho.outcome=error"]; n != want {
			t.Errorf("stream %s: %v calls, want %v, of %v", stream, n, want, got)
		}
	}
}

// TestFingerprintMetrics has it on the metrics of who asks for it.
func TestFingerprintMetrics(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{false, true} {
		opts := []tacho.Option{tacho.WithoutTracing()}
		if asked {
			opts = append(opts, tacho.WithFingerprintMetrics())
		}
		reader := metric.NewManualReader()
		rt := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
			return answer(`{"system_fingerprint":"fp_1"}`), nil
		}), append(opts, tacho.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))))...)
		resp, err := rt.RoundTrip(newRequest(t.Context(), t, "http://host.invalid/v1/chat/completions", chatPlain))
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
		found := 0
		for k := range points(t, reader) {
			if strings.Contains(k, "openai.response.system_fingerprint=fp_1") {
				found++
			}
		}
		if found > 0 != asked {
			t.Errorf("asked for %v: on %d series", asked, found)
		}
	}
}

// TestHTTPMetrics has what HTTP metrics say without a response, and of HTTP/2.
func TestHTTPMetrics(t *testing.T) {
	t.Parallel()
	reader := metric.NewManualReader()
	rt := tacho.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Port() == "8443" {
			return nil, errBroken
		}
		resp := answer(`{}`)
		resp.Proto = "HTTP/2.0"
		return resp, nil
	}), tacho.WithHTTPMetrics(), tacho.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))), tacho.WithoutTracing())
	for _, host := range []string{"host.invalid", "host.invalid:8443"} {
		if resp, err := rt.RoundTrip(newRequest(t.Context(), t, "https://"+host+"/v1/chat/completions", chatPlain)); err == nil {
			readAll(resp)
		}
	}
	var got []string
	for k := range points(t, reader) {
		if strings.HasPrefix(k, "http.") {
			got = append(got, k)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{
		"http.client.active_requests {request} http.request.method=POST,server.port=443",
		"http.client.active_requests {request} http.request.method=POST,server.port=8443",
		"http.client.request.duration s error.type=error,http.request.method=POST,server.port=8443",
		"http.client.request.duration s http.request.method=POST,http.response.status_code=200,network.protocol.name=http,network.protocol.version=2,server.port=443",
	}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestMetricCardinality makes calls of ten thousand models, codes and tiers: the
// series are bounded, and what was folded is counted.
func TestMetricCardinality(t *testing.T) {
	t.Parallel()
	reader := metric.NewManualReader(metric.WithCardinalityLimitSelector(func(metric.InstrumentKind) (int, bool) { return 0, true }))
	n := 0
	rt := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) {
		n++
		return answer(fmt.Sprintf(`{"model":"m%d","service_tier":"t%d","choices":[]}`, n, n)), nil
	}), tacho.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))), tacho.WithoutTracing())
	const calls = 10_000
	for i := range calls {
		resp, err := rt.RoundTrip(newRequest(t.Context(), t, "http://host.invalid/v1/chat/completions", fmt.Sprintf(`{"model":"q%d"}`, i)))
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
	}
	series, folded, counted := 0, 0.0, 0.0
	for k, v := range points(t, reader) {
		if strings.HasPrefix(k, "tacho.client.calls ") {
			series++
			counted += v
		}
		if strings.HasPrefix(k, "tacho.client.overflow ") && strings.HasSuffix(k, "=attribute") {
			folded += v
		}
	}
	// 200 models are let in, of requests and of answers.
	if series > 210 || counted != calls || folded < calls*2 {
		t.Errorf("%d series of %v calls, %v values folded", series, counted, folded)
	}
}

// TestTables holds the tables in the documentation to those in the code, from
// which the instruments are made.
func TestTables(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("docs/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{conv.MetricTable(), conv.AttributeTable(), conv.EventTable()} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("docs/telemetry.md does not have this table:\n%s", want)
		}
	}
}

func TestConventionsByEnv(t *testing.T) {
	for words, want := range map[string]string{
		"": "gen_ai.client.inference.duration", "http, gen_ai/v1.41": "gen_ai.client.operation.duration", "gen_ai_latest_experimental,gen_ai/v1.41": "gen_ai.client.inference.duration", "gen_ai/dup": "gen_ai.client.inference.duration",
	} {
		t.Setenv("OTEL_SEMCONV_STABILITY_OPT_IN", words)
		reader := metric.NewManualReader()
		resp, err := tacho.NewTransport(roundTripper(func(*http.Request) (*http.Response, error) { return answer(chatAnswer), nil }),
			tacho.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))), tacho.WithoutTracing()).RoundTrip(newRequest(t.Context(), t, hostURL, chatPlain))
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
		both, found := false, false
		for k := range points(t, reader) {
			found = found || strings.HasPrefix(k, want+" ")
			both = both || strings.HasPrefix(k, "gen_ai.client.operation.duration ")
		}
		if !found || both != (words == "gen_ai/dup" || want == "gen_ai.client.operation.duration") {
			t.Errorf("%q: %s found %v, the older one %v", words, want, found, both)
		}
	}
}
