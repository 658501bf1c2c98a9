// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/lab/report"
)

// answer is what a service answers one request with.
type answer struct {
	kind, body string
	status     int
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestNothingSecretIsReported puts a mark into every place of requests and
// answers that can hold a key or content, makes calls with capture on, and
// searches all forms of a report on them, files included.
func TestNothingSecretIsReported(t *testing.T) {
	t.Parallel()
	n := 0
	mark := func() string { n++; return fmt.Sprintf("MARK%03d", n) }
	q := func() string { return `"` + mark() + `"` }
	answers := []answer{
		{"application/json", `{"id":` + q() + `,"choices":[{"finish_reason":"odd ` + mark() + `","message":{"content":` + q() + `,"reasoning":` + q() + `,"refusal":` + q() + `,"tool_calls":[{"id":` + q() + `,"function":{"name":` + q() + `,"arguments":` + q() + `}}]}}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`, 200},
		{"text/event-stream", `data: {"choices":[{"index":0,"delta":{"content":` + q() + `}}]}` + "\n\n: " + mark() + "\n\n" + `data: {"choices":[{"index":0,"delta":{"content":` + q() + `},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n", 200},
		{"text/event-stream", `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n" + `data: {"error":{"message":` + q() + `,"code":"odd ` + mark() + `"}}` + "\n\n", 200},
		{"application/json", `{"error":{"message":` + q() + `,"type":"odd ` + mark() + `","code":"odd ` + mark() + `","param":` + q() + `}}`, 401},
		{"text/plain", mark(), 500},
	}
	address := "https://" + mark() + ":" + mark() + "@host.invalid/v1?api-key=" + mark() + "#" + mark()
	body := `{"model":"m","stream":%v,"user":` + q() + `,"metadata":{"m":` + q() + `},"api_key":` + q() + `,"stop":[` + q() + `],"messages":[{"role":"system","content":` + q() + `},{"role":"user","name":` + q() + `,"content":[{"type":"text","text":` + q() + `},` +
		`{"type":"image_url","image_url":{"url":"https://u:` + mark() + `@c.invalid/` + mark() + `?sig=` + mark() + `"}}]}],"tools":[{"type":"function","function":{"name":` + q() + `,"description":` + q() + `,"parameters":{"d":` + q() + `}}}]}`
	headers := map[string]string{"Authorization": "Bearer " + mark(), "Api-Key": mark(), "Proxy-Authorization": mark(), "Cookie": "s=" + mark(), "X-Odd": mark()}
	answered := map[string]string{"Set-Cookie": "s=" + mark(), "X-Api-Key": mark(), "Location": "https://" + mark() + "@x", "Server-Timing": mark() + " odd;dur=1"}

	rec := tacho.NewRecorder()
	var calls []*tacho.Call
	var next answer
	base := roundTripper(func(r *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body)
		resp := &http.Response{StatusCode: next.status, Proto: "HTTP/1.1", Header: http.Header{"Content-Type": {next.kind}}, ContentLength: -1, Body: io.NopCloser(strings.NewReader(next.body))}
		for k, v := range answered {
			resp.Header.Set(k, v)
		}
		return resp, nil
	})
	rt := tacho.NewTransport(base, tacho.WithRecorder(rec), tacho.WithContent(tacho.ContentInRecord), tacho.WithObserver(func(c *tacho.Call) { calls = append(calls, c) }))
	for _, next = range answers {
		stream := next.kind == "text/event-stream"
		at := strings.Replace(address, "/v1", "/v1/chat/completions", 1)
		req, err := http.NewRequestWithContext(tacho.ContextWithLabels(t.Context(), "region", "eu"), http.MethodPost, at, strings.NewReader(fmt.Sprintf(body, stream)))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range headers {
			req.Header.Set(k, v)
		}
		if resp, err := rt.RoundTrip(req); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	}
	if len(calls) != len(answers) {
		t.Fatalf("%d calls were told, want %d", len(calls), len(answers))
	}

	s := rec.Total()
	r := &report.Report{Program: "p", Title: "t", Subject: "Calls of " + address + " were made."}
	r.Param("endpoint", address)
	r.Param("clean", report.CleanURL(address))
	r.Warn("The endpoint " + address + " answered with errors.")
	by := report.Latency{By: []string{"region", "model", "provider"}, Quantiles: []float64{0.5}}
	r.Add(by.Sections(s)...)
	r.Add(report.Section{Heading: "ttft of " + address, Text: address, Notes: []string{address}, Chart: by.Chart(s, tacho.TTFT, true)})
	r.Add(report.Verdicts(budget.Observed(calls).Report(budget.MustParse("errors <= 1%"), budget.MustParse("ttft p50 <= 1s"))))
	failed := report.NewTable(report.Column{Name: address, Kind: report.Text}, report.Column{Name: "outcome", Kind: report.Text}, report.Column{Name: "type", Kind: report.Text}, report.Column{Name: "code", Kind: report.Text})
	for _, c := range calls {
		f, _ := c.Failure()
		failed.Row(report.S(address).Note(address), report.S(c.Outcome().String()), report.S(f.Type), report.S(f.Code))
	}
	r.Add(report.Section{Heading: "Failures", Table: failed})

	texts := map[string]string{}
	for name, write := range forms(r) {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(name, err)
		}
		texts[name] = b.String()
	}
	d, err := report.NewDirectory(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := d.Write(r, report.Histograms("latency", s))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range paths {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(b)
	}
	if len(texts) != 11 {
		t.Errorf("%d outputs, want 6 forms and 5 files", len(texts))
	}
	for name, text := range texts {
		if !strings.Contains(text, "host.invalid") && !strings.HasSuffix(name, ".hlog") || len(text) < 300 {
			t.Errorf("%s tells nothing: %d bytes", name, len(text))
		}
		if at := strings.Index(text, "MARK"); at >= 0 {
			t.Errorf("%s tells what is secret: …%s…", name, text[max(0, at-60):min(len(text), at+40)])
		}
	}
	t.Logf("%d marks, %d outputs", n, len(texts))
}
