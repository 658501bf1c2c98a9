// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho/sim"
)

func TestRoutesAndRefusals(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, method, path, body string
		status                   int
		want                     string // contained in the body
	}{
		{"chat", "POST", "/v1/chat/completions", `{}`, 200, `"object":"chat.completion","created":1735689600,"model":"sim-model"`},
		{"chat without v1", "POST", "/chat/completions", `{}`, 200, `"chat.completion"`},
		{"proxy prefix, slash", "POST", "/api/openai/v1/chat/completions/", `{}`, 200, `"chat.completion"`},
		{"Azure", "POST", "/openai/deployments/gpt-x/chat/completions?api-version=1", `{}`, 200, `"model":"gpt-x"`},
		{"Azure, model in the body", "POST", "/openai/deployments/gpt-x/chat/completions", `{"model":"y"}`, 200, `"model":"y"`},
		{"completions", "POST", "/v1/completions", `{}`, 200, `"text_completion"`},
		{"responses", "POST", "/v1/responses", `{}`, 200, `"object":"response"`},
		{"embeddings", "POST", "/v1/embeddings", `{"input":"x"}`, 200, `"object":"embedding"`},
		{"models", "GET", "/v1/models", ``, 200, `{"object":"list","data":[{"id":"sim-model","object":"model","created":1735689600,"owned_by":"sim"}]}`},
		{"one model", "GET", "/v1/models/org/m", ``, 200, `{"id":"org/m","object":"model"`},
		{"null fields", "POST", "/v1/chat/completions", `{"model":null,"stream":null,"n":null,"max_tokens":null,"stream_options":null}`, 200, `"sim-model"`},
		{"unknown path", "POST", "/v1/other", `{}`, 404, `{"error":{"message":"Unknown request URL: POST /v1/other.","type":"invalid_request_error","param":null,"code":"unknown_url"}}`},
		{"wrong method", "GET", "/v1/chat/completions", ``, 405, `"message":"Not allowed to GET on /v1/chat/completions."`},
		{"bad JSON", "POST", "/v1/chat/completions", `{"model":`, 400, `We could not parse the JSON body of your request`},
		{"empty body", "POST", "/v1/responses", ``, 400, `We could not parse`},
		{"wrong type", "POST", "/v1/responses", `{"stream":"yes"}`, 400, `We could not parse`},
		{"bad limit", "POST", "/v1/chat/completions", `{"max_tokens":0}`, 400, `Invalid 'max_tokens': expected a value >= 1, but got 0 instead.`},
		{"bad n", "POST", "/v1/chat/completions", `{"n":1000}`, 400, `Invalid 'n'`},
		{"no inputs", "POST", "/v1/embeddings", `{"input":[]}`, 400, `Invalid 'input'`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			e := sim.NewEndpoint(sim.WithScript(sim.Script{}))
			e.ServeHTTP(w, httptest.NewRequest(tc.method, tc.path, strings.NewReader(tc.body)))
			if got := w.Body.String(); w.Code != tc.status || !strings.Contains(got, tc.want) {
				t.Errorf("status %d: %.300s\nwant %d: %s", w.Code, got, tc.status, tc.want)
			}
			if !json.Valid(w.Body.Bytes()) {
				t.Errorf("no JSON: %s", w.Body)
			}
			if tc.status == 405 {
				equal(t, "Allow", w.Header().Get("Allow"), "POST")
			}
		})
	}
}

func TestAPIKey(t *testing.T) {
	t.Parallel()
	e := sim.NewEndpoint(sim.WithScript(sim.Script{}), sim.WithAPIKey("k"))
	for _, tc := range []struct {
		header, value string
		status        int
	}{{"X", "", 401}, {"Authorization", "Bearer other", 401}, {"Authorization", "Bearer k", 200}, {"Api-Key", "k", 200}} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/v1/responses", strings.NewReader(`{}`))
		r.Header.Set(tc.header, tc.value)
		e.ServeHTTP(w, r)
		equal(t, tc.header+" "+tc.value, w.Code, tc.status)
	}
}

func TestScriptedAnswers(t *testing.T) {
	t.Parallel()
	limits := sim.RateLimit{LimitRequests: 60, RemainingRequests: 59, ResetRequests: 20 * time.Millisecond,
		LimitTokens: 1000, ResetTokens: 6 * time.Minute}
	for _, tc := range []struct {
		name    string
		script  sim.Script
		status  int
		body    string
		headers map[string]string
	}{
		{"status alone", sim.Script{Status: 503}, 503,
			`{"error":{"message":"Service Unavailable","type":"server_error","param":null,"code":null}}`, nil},
		{"rate limit", sim.Script{Status: 429, ErrorCode: "rate_limit_exceeded", ErrorType: "requests", ErrorMessage: "slow down",
			RetryAfter: 1500 * time.Millisecond, RateLimit: limits}, 429,
			`{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}`,
			map[string]string{"Retry-After": "2", "Retry-After-Ms": "1500", "X-Ratelimit-Limit-Requests": "60",
				"X-Ratelimit-Remaining-Requests": "59", "X-Ratelimit-Reset-Requests": "20ms", "X-Ratelimit-Limit-Tokens": "1000",
				"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "6m0s"}},
		{"whole seconds", sim.Script{Status: 500, RetryAfter: 2 * time.Second}, 500,
			`{"error":{"message":"Internal Server Error","type":"server_error","param":null,"code":null}}`,
			map[string]string{"Retry-After": "2", "Retry-After-Ms": ""}},
		{"error without status", sim.Script{ErrorMessage: "m"}, 500, `{"error":{"message":"m","type":"server_error","param":null,"code":null}}`, nil},
		{"error under 200", sim.Script{Status: 200, ErrorMessage: "m", ErrorType: "filter"}, 200,
			`{"error":{"message":"m","type":"filter","param":null,"code":null}}`, nil},
		{"raw body", sim.Script{Status: 502, Body: []byte("<html>\x00"), ContentType: "text/html"}, 502, "<html>\x00",
			map[string]string{"Content-Type": "text/html"}},
		{"header wins", sim.Script{Body: []byte("{}"), Header: http.Header{"x-request-id": {"mine"}}}, 200, "{}",
			map[string]string{"X-Request-Id": "mine", "Content-Type": "application/json"}},
		{"no content", sim.Script{Status: 204, Body: []byte{}}, 204, "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := sim.New(t, sim.WithScript(tc.script))
			for _, body := range []string{streamBody, plainBody} {
				resp, got := fetch(t, s, s.Client(), chatPath, body)
				equal(t, "status", resp.StatusCode, tc.status)
				equal(t, "body", got, tc.body)
				for k, v := range tc.headers {
					equal(t, k, resp.Header.Get(k), v)
				}
			}
		})
	}
}

func TestWrongScripts(t *testing.T) {
	t.Parallel()
	steps := func(s ...sim.Step) sim.Script { return sim.Script{Steps: s} }
	for _, tc := range []struct {
		path   string
		script sim.Script
		want   string
	}{
		{chatPath, sim.Script{Gap: -1}, "Script.Gap is negative"},
		{chatPath, sim.Script{Status: 99}, "no final HTTP status"},
		{chatPath, sim.Script{Status: 204}, "needs an empty Body"},
		{chatPath, sim.Script{Choices: 1000}, "Script.Choices is 1000"},
		{chatPath, sim.Script{Coalesce: 2, OneBurst: true}, "exclude each other"},
		{chatPath, sim.Script{Coalesce: -2}, "Script.Coalesce is negative"},
		{chatPath, sim.Script{UsageShape: 17}, "UsageShape 17 is unknown"},
		{chatPath, sim.Script{Steps: []sim.Step{}, Text: "x"}, "Script.Steps excludes Text"},
		{chatPath, sim.Script{Steps: []sim.Step{}, Body: []byte{}}, "exclude each other"},
		{chatPath, sim.Script{RateLimit: sim.RateLimit{ResetTokens: -1}}, "negative reset"},
		{chatPath, steps(sim.Role(0), sim.Step{}), "Script.Steps[1]: the zero Step says nothing"},
		{chatPath, steps(sim.Text(-1, "")), "choice -1"},
		{chatPath, steps(sim.ToolCall(0, -1, "", "", "")), "negative index"},
		{chatPath, steps(sim.Done().After(-1)), "negative delay"},
		{chatPath, steps(sim.ReasoningSummary(0, "s")), "ReasoningSummary has no form in chat completions"},
		{completionsPath, steps(sim.Role(0)), "Role has no form in legacy completions"},
		{completionsPath, sim.Script{Reasoning: "r"}, "Script.Reasoning has no form"},
		{responsesPath, steps(sim.Text(1, "a")), "Text has no form in the Responses API for a choice other than 0"},
		{responsesPath, sim.Script{Choices: 2}, "Script.Choices is 2"},
		{"/embeddings", steps(sim.Done()), "Script.Steps have no form in embeddings"},
	} {
		t.Run(tc.want, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			e := sim.NewEndpoint()
			e.Play(tc.script)
			e.ServeHTTP(w, httptest.NewRequest(http.MethodPost, tc.path, strings.NewReader(streamBody)))
			got := w.Body.String()
			if w.Code != 500 || !strings.Contains(got, tc.want) || !strings.Contains(got, `"type":"sim_error"`) {
				t.Errorf("%d %s", w.Code, got)
			}
		})
	}
}

func TestPlayQueue(t *testing.T) {
	t.Parallel()
	s := sim.New(t, sim.WithScript(sim.Script{Status: 418}))
	s.Play(sim.Script{Status: 401}, sim.Script{Status: 402})
	s.Play(sim.Script{Status: 403})
	c := s.Client()
	resp, err := c.Get(s.URL() + "/models")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	for _, want := range []int{401, 402, 403, 418, 418} {
		resp, _ := fetch(t, s, c, chatPath, plainBody)
		equal(t, "status", resp.StatusCode, want)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	e := sim.NewEndpoint(sim.WithScript(sim.Script{Status: 500}))
	for range 1100 {
		r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions?api-version=2", strings.NewReader(plainBody))
		r.Header.Set("X-A", "b")
		e.ServeHTTP(httptest.NewRecorder(), r)
	}
	got := e.Requests()
	equal(t, "kept", len(got), 1024)
	last := got[1023]
	equal(t, "number", last.Number, 1099)
	equal(t, "request", last.Method+" "+last.Path+" "+last.Query.Get("api-version")+" "+last.Header.Get("X-A")+" "+string(last.Body),
		"POST /v1/chat/completions 2 b "+plainBody)

	large := strings.Repeat("x", 17<<20)
	for range 2 {
		e.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(large)))
	}
	equal(t, "kept by size", len(e.Requests()), 1)
}

func TestEmbeddings(t *testing.T) {
	t.Parallel()
	s := sim.New(t)
	var floats struct {
		Data []struct {
			Index     int
			Embedding []float64
		}
		Usage struct {
			PromptTokens int `json:"prompt_tokens"`
		}
	}
	_, body := fetch(t, s, s.Client(), "/embeddings", `{"model":"e","input":["one","two three"],"dimensions":3}`)
	if err := json.Unmarshal([]byte(body), &floats); err != nil || len(floats.Data) != 2 || len(floats.Data[1].Embedding) != 3 {
		t.Fatal(body, err)
	}
	equal(t, "usage", floats.Usage.PromptTokens, 3)
	norm := 0.0
	for _, x := range floats.Data[1].Embedding {
		norm += x * x
	}
	if math.Abs(norm-1) > 1e-6 {
		t.Errorf("squared length %g", norm)
	}

	var coded struct{ Data []struct{ Embedding string } }
	_, body = fetch(t, s, s.Client(), "/embeddings", `{"input":[1,2,3],"encoding_format":"base64"}`)
	if err := json.Unmarshal([]byte(body), &coded); err != nil || len(coded.Data) != 1 {
		t.Fatal(body, err)
	}
	raw, err := base64.StdEncoding.DecodeString(coded.Data[0].Embedding)
	if err != nil || len(raw) != 4*8 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
}
