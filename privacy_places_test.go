// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/tacho-go/tacho"
)

// secretClass says where what stands in a place may come up.
type secretClass int

const (
	credential secretClass = iota // nowhere, ever
	private                       // nowhere: it has no place in what is captured
	content                       // where content goes
)

// places hands out a marked secret for each place of a request or an answer.
type places struct {
	list []place
}

type place struct {
	name, secret string
	class        secretClass
}

func (p *places) put(class secretClass, name string) string {
	s := fmt.Sprintf("SECRET%03d-%s", len(p.list), strings.ReplaceAll(name, " ", "-"))
	p.list = append(p.list, place{name, s, class})
	return s
}

// TestSecretPlaces puts a secret of its own into every place of requests and
// answers, and searches all that is told, in every mode, for each of them.
func TestSecretPlaces(t *testing.T) {
	t.Parallel()
	var p places
	put := p.put
	key, bearer := put(credential, "api-key header"), put(credential, "bearer token")
	password, cookie, proxy := put(credential, "URL password"), put(credential, "cookie"), put(credential, "proxy authorization")
	queryKey, basic := put(credential, "key in the query"), put(credential, "basic password")
	echo := strings.Join([]string{key, bearer, password, cookie, proxy, queryKey, basic}, " ")
	q := func(s string) string { return fmt.Sprintf("%q", s) }

	address := "https://" + put(credential, "URL user") + ":" + password + "@host.invalid/" + put(private, "URL path") + "/v1%s?api-key=" + queryKey +
		"&x=" + put(private, "URL query") + "#" + put(private, "URL fragment")
	image := "https://u:" + put(credential, "image password") + "@cdn.invalid/" + put(content, "image path") + "?sig=" + put(credential, "image signature") + "#" + put(credential, "image fragment")
	common := `,"user":` + q(put(private, "user")) + `,"metadata":{"m":` + q(put(private, "metadata")) + `},"api_key":` + q(put(credential, "body api_key")) +
		`,"stop":[` + q(put(content, "stop")) + `],"safety_identifier":` + q(put(private, "safety identifier")) + `}`
	chat := `{"model":"m","messages":[{"role":"system","content":` + q(put(content, "system")) + `},{"role":"user","name":` + q(put(content, "name")) + `,"content":[{"type":"text","text":` + q(put(content, "user text")+" "+echo) +
		`},{"type":"image_url","image_url":{"url":` + q(image) + `}},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + put(content, "image data") + `"}},{"type":"input_audio","input_audio":{"format":"wav","data":` + q(put(content, "sound")) +
		`}},{"type":"file","file":{"file_id":` + q(put(content, "file id")) + `,"filename":` + q(put(private, "file name")) + `}},{"type":"odd","y":` + q(put(content, "odd part")) + `,"authorization":` + q(put(credential, "odd part's key")) + `}]},` +
		`{"role":"assistant","tool_calls":[{"id":` + q(put(content, "sent call id")) + `,"function":{"name":` + q(put(content, "sent call name")) + `,"arguments":` + q(put(content, "sent arguments")) + `}}]},{"role":"tool","tool_call_id":"x","content":` + q(put(content, "tool response")) + `}],` +
		`"tools":[{"type":"function","function":{"name":` + q(put(content, "tool name")) + `,"description":` + q(put(content, "tool description")) + `,"parameters":{"d":` + q(put(content, "tool parameters")) + `}}}]` + common
	responses := `{"model":"m","instructions":` + q(put(content, "instructions")) + `,"input":[{"role":"user","content":` + q(put(content, "input")+echo) + `},{"type":"reasoning","encrypted_content":` + q(put(private, "encrypted reasoning")) + `,"summary":[{"text":` + q(put(content, "sent summary")) + `,"type":"summary_text"}]}],` +
		`"tools":[{"type":"mcp","server_label":` + q(put(content, "mcp label")) + `,"server_url":"https://x:` + put(credential, "mcp URL password") + `@h","authorization":` + q(put(credential, "mcp authorization")) + `,"headers":{"Authorization":` + q(put(credential, "mcp header")) + `}}]` + common
	completion := `{"model":"m","prompt":` + q(put(content, "prompt")) + `,"suffix":` + q(put(private, "suffix")) + common
	embedding := `{"model":"m","input":` + q(put(private, "embeddings input")) + common

	type exchange struct {
		path, request, kind, answer string
		status                      int
		err                         error
	}
	var all []exchange
	plain := func(path, request, answer string, status int) {
		all = append(all, exchange{path, request, plainType, answer, status, nil})
	}
	stream := func(path, request string, data ...string) {
		all = append(all, exchange{path, request, streamType, strings.Join(data, "\n\n") + "\n\n", 200, nil})
	}
	plain(chatPath, chat, `{"choices":[{"finish_reason":`+q(put(private, "finish reason")+" with spaces")+`,"message":{"content":`+q(put(content, "answer")+" "+echo)+`,"reasoning":`+q(put(content, "reasoning"))+`,"refusal":`+q(put(content, "refusal"))+
		`,"audio":{"data":`+q(put(private, "answered sound"))+`,"transcript":`+q(put(content, "transcript"))+`},"tool_calls":[{"id":`+q(put(content, "call id"))+`,"function":{"name":`+q(put(content, "call name"))+`,"arguments":`+q(put(content, "arguments")+bearer)+`}}],"odd":`+q(put(private, "odd member"))+`}}]}`, 200)
	for _, status := range []int{200, 401} {
		plain(chatPath, chat, `{"error":{"message":`+q("wrong key "+echo+put(content, "error text"))+`,"type":`+q(put(private, "error type")+" odd")+`,"code":`+q(put(private, "error code")+" odd")+`,"param":`+q(put(private, "error param"))+`}}`, status)
	}
	plain(chatPath, chat, put(private, "a body that is no JSON"), 500)
	stream(chatPath, chat, `data: {"choices":[{"index":0,"delta":{"content":`+q(put(content, "delta"))+`}}]}`, `event: `+put(private, "event name")+"\n"+`data: {"choices":[{"index":1,"delta":{"content":`+q(put(content, "second choice"))+`}}]}`,
		": "+put(private, "comment"), "data: "+put(private, "data that is no JSON"), `data: {"error":{"message":`+q(put(content, "error in a stream")+echo)+`,"code":"c"}}`)
	stream(responsesPath, responses, `data: {"type":"response.output_text.delta","delta":`+q(put(content, "responses text")+echo)+`}`,
		`data: {"type":"response.function_call_arguments.delta","delta":`+q(put(private, "arguments of no call"))+`}`, `data: {"type":"response.completed","response":{"status":"completed"}}`)
	plain(completionsPath, completion, `{"choices":[{"text":`+q(put(content, "completion"))+`,"finish_reason":"stop"}]}`, 200)
	plain("/embeddings", embedding, `{"data":[{"embedding":`+q(put(private, "embedding"))+`}]}`, 200)
	all = append(all, exchange{path: chatPath, request: chat, err: errors.New("proxyconnect tcp: http://u:" + put(credential, "proxy URL password") + "@proxy.invalid: refused")})
	headers := [][2]string{{"Set-Cookie", "s=" + put(credential, "Set-Cookie")}, {"X-Api-Key", put(credential, "key in an answer")}, {"Server-Timing", put(private, "Server-Timing") + " odd;dur=1"},
		{"X-Odd", put(private, "header of an answer")}, {"Location", "http://" + put(credential, "Location")}}
	odd := put(private, "header of a request")

	for _, mode := range []tacho.ContentMode{tacho.NoContent, tacho.ContentOnSpans, tacho.ContentOnEvents, tacho.ContentOnSpansAndEvents, tacho.ContentInRecord} {
		spans, reader, logs, rec := tracetest.NewSpanRecorder(), metric.NewManualReader(), new(logKeeper), tacho.NewRecorder()
		var records, lines bytes.Buffer
		log := slog.New(slog.NewJSONHandler(&lines, nil))
		i := 0
		rt := tacho.NewTransport(roundTripper(func(r *http.Request) (*http.Response, error) {
			io.Copy(io.Discard, r.Body)
			if all[i].err != nil {
				return nil, all[i].err
			}
			resp := &http.Response{StatusCode: all[i].status, Proto: "HTTP/1.1", Header: http.Header{"Content-Type": {all[i].kind}}, ContentLength: -1, Body: io.NopCloser(strings.NewReader(all[i].answer))}
			for _, h := range headers {
				resp.Header.Add(h[0], h[1])
			}
			return resp, nil
		}), tacho.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))), tacho.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))),
			tacho.WithLoggerProvider(logs), tacho.WithLogger(log), tacho.WithSlowLimit(1), tacho.WithRecorder(rec), tacho.WithContent(mode), tacho.WithRetries(tacho.RetryPolicy{Attempts: 1}),
			tacho.WithHTTPMetrics(), tacho.WithChunkMetrics(), tacho.WithConventions(tacho.ConventionsBoth),
			tacho.WithObserver(func(c *tacho.Call) {
				log.Info("call", "call", c)
				if err := json.NewEncoder(&records).Encode(c); err != nil {
					t.Error(err)
				}
			}))
		for i = range all {
			req := newRequest(t.Context(), t, fmt.Sprintf(address, all[i].path), all[i].request)
			req.Header.Set("Authorization", "Bearer "+bearer)
			req.Header.Set("Api-Key", key)
			req.Header.Set("Proxy-Authorization", proxy)
			req.Header.Set("X-Auth", "Basic "+base64.StdEncoding.EncodeToString([]byte("u:"+basic)))
			req.Header.Set("Cookie", "session="+cookie)
			req.Header.Set("X-Odd", odd)
			if resp, err := rt.RoundTrip(req); err == nil {
				readAll(resp)
			}
		}
		var spanText strings.Builder
		for _, s := range spans.Ended() {
			fmt.Fprintln(&spanText, s.Name(), s.Status(), attributes(s.Attributes()), s.Events(), s.Links())
		}
		var rm metricdata.ResourceMetrics
		if err := reader.Collect(t.Context(), &rm); err != nil {
			t.Fatal(err)
		}
		metricText := fmt.Sprintf("%+v\n", rm)
		for _, m := range rm.ScopeMetrics[0].Metrics {
			for _, set := range sets(m.Data) {
				metricText += fmt.Sprintln(m.Name, attributes(set.ToSlice()))
			}
		}
		snapshot, err := json.Marshal(rec.Total())
		if err != nil {
			t.Fatal(err)
		}
		outputs := []struct {
			name, text string
			content    bool
		}{
			{"spans", spanText.String(), mode&tacho.ContentOnSpans != 0}, {"metrics", metricText, false}, {"events", fmt.Sprint(logs.records), mode&tacho.ContentOnEvents != 0},
			{"log lines", lines.String(), false}, {"records", records.String(), mode != tacho.NoContent}, {"snapshot", string(snapshot), false},
		}
		found := map[string]bool{}
		for _, out := range outputs {
			if len(out.text) < 100 {
				t.Fatalf("mode %d: nothing is told by %s: %q", mode, out.name, out.text)
			}
			for _, pl := range p.list {
				at := strings.Index(out.text, pl.secret[:9])
				if at < 0 {
					continue
				}
				if found[pl.name] = true; pl.class != content || !out.content {
					t.Errorf("mode %d: %s tell the %s: …%s…", mode, out.name, pl.name, out.text[max(0, at-80):min(len(out.text), at+60)])
				}
			}
		}
		if mode == tacho.ContentOnSpansAndEvents {
			for _, pl := range p.list {
				if pl.class == content && !found[pl.name] {
					t.Errorf("the %s is content and told nowhere", pl.name)
				}
			}
		}
	}
	n := map[secretClass]int{}
	for _, pl := range p.list {
		n[pl.class]++
	}
	t.Logf("%d places: %d of credentials, %d private, %d of content; 5 modes, 6 outputs", len(p.list), n[credential], n[private], n[content])
}
