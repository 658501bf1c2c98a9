// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/tacho-go/tacho"
)

// told makes calls and returns all that is told of them: records, log lines,
// spans and metrics, as text.
func told(t *testing.T, answers []*http.Response, request func(int) *http.Request) string {
	t.Helper()
	var out bytes.Buffer
	spans := tracetest.NewSpanRecorder()
	reader := metric.NewManualReader()
	log := slog.New(slog.NewTextHandler(&out, nil))
	i := 0
	rt := tacho.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
		io.Copy(io.Discard, r.Body)
		return answers[i], nil
	}), tacho.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))),
		tacho.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader), metric.WithCardinalityLimit(0))),
		tacho.WithObserver(func(c *tacho.Call) {
			log.Info("call", "call", c)
			if err := json.NewEncoder(&out).Encode(c); err != nil {
				t.Error(err)
			}
		}))
	for i = range answers {
		resp, err := rt.RoundTrip(request(i))
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
	}
	for _, s := range spans.Ended() {
		fmt.Fprintln(&out, s.Name(), s.Status(), attributes(s.Attributes()), s.Events(), s.Links())
	}
	var rm metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &rm); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "%+v\n", rm)
	for _, m := range rm.ScopeMetrics[0].Metrics {
		for _, set := range sets(m.Data) {
			fmt.Fprintln(&out, m.Name, attributes(set.ToSlice()))
		}
	}
	return out.String()
}

func sets(data metricdata.Aggregation) (s []attribute.Set) {
	switch d := data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			s = append(s, p.Attributes)
		}
	case metricdata.Sum[int64]:
		for _, p := range d.DataPoints {
			s = append(s, p.Attributes)
		}
	}
	return s
}

// TestNothingSecretIsTold puts marked secrets into every place of requests and
// responses and searches all that is told.
func TestNothingSecretIsTold(t *testing.T) {
	t.Parallel()
	const mark = "SECRET"
	answers := func() []*http.Response {
		var a []*http.Response
		for _, body := range []string{
			`{"choices":[{"message":{"content":"SECRET","reasoning":"SECRET","refusal":"SECRET","tool_calls":[{"id":"SECRET id","function":{"name":"SECRET","arguments":"SECRET"}}]},"finish_reason":"SECRET reason"}]}`,
			`{"error":{"message":"SECRET","type":"a SECRET type","code":"a SECRET code","param":"SECRET"}}`,
			`{"error":"SECRET"}`, `SECRET`,
			"data: {\"choices\":[{\"delta\":{\"content\":\"SECRET\"}}]}\n\nevent: SECRET\ndata: {\"error\":{\"message\":\"SECRET\",\"code\":\"a SECRET\"}}\n\ndata: SECRET\n\n: SECRET\n\n",
		} {
			for _, status := range []int{200, 401} {
				r := answer(body)
				r.StatusCode = status
				r.Header.Set("Set-Cookie", "session=SECRET")
				r.Header.Set("X-Api-Key", mark)
				r.Header.Set("Server-Timing", "SECRET name;dur=1")
				a = append(a, r)
			}
		}
		return a
	}()
	text := told(t, answers, func(int) *http.Request {
		req := newRequest(context.Background(), t, "http://user:SECRET@host.invalid/v1/SECRET/chat/completions?api-key=SECRET&x=SECRET#SECRET",
			`{"model":"m","messages":[{"role":"user","content":"SECRET"}],"tools":[{"function":{"name":"SECRET"}}],"user":"SECRET","stop":["SECRET"]}`)
		req.Header.Set("Authorization", "Bearer SECRET")
		req.Header.Set("Api-Key", mark)
		req.Header.Set("Cookie", "session=SECRET")
		return req
	})
	if !strings.Contains(text, "gen_ai.request.model") || !strings.Contains(text, "call.outcome") {
		t.Fatalf("nothing was told:\n%s", text)
	}
	if i := strings.Index(text, mark); i >= 0 {
		t.Errorf("a secret is told: …%s…", text[max(0, i-200):min(len(text), i+100)])
	}
}

// TestWireValuesAreBounded has more values, and stranger ones, than are let in:
// of models asked for and answering, and of error codes, on spans and metrics.
func TestWireValuesAreBounded(t *testing.T) {
	t.Parallel()
	const calls = 500
	var answers []*http.Response
	for i := range calls {
		r := answer(fmt.Sprintf(`{"model":"answering-%d","error":{"code":"code-%d"},"choices":[{"finish_reason":"odd reason %d"}]}`, i, i, i))
		r.StatusCode = 400 - 200*(i%2)
		answers = append(answers, r)
	}
	text := told(t, answers, func(i int) *http.Request {
		return newRequest(context.Background(), t, hostURL, fmt.Sprintf(`{"model":"asked-%d"}`, i))
	})
	_, telemetry, _ := strings.Cut(text, "\nchat asked-0 ")
	for _, kind := range []string{"asked-", "answering-", "code-"} {
		distinct := map[string]bool{}
		for _, piece := range strings.Split(telemetry, kind)[1:] {
			n := strings.IndexFunc(piece, func(r rune) bool { return r < '0' || r > '9' })
			distinct[piece[:max(n, 0)]] = true
		}
		if len(distinct) > 201 || len(distinct) == 0 {
			t.Errorf("%d values of %s… are told", len(distinct), kind)
		}
	}
	if strings.Contains(telemetry, "odd reason") {
		t.Error("a finish reason is told as it is")
	}
}
