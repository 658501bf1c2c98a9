// SPDX-License-Identifier: Apache-2.0

package export_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/export"
)

// TestNothingSecretIsScraped: what Prometheus scrapes has neither content nor
// credentials, whatever is captured.
func TestNothingSecretIsScraped(t *testing.T) {
	t.Parallel()
	rec := tacho.NewRecorder()
	reg := prometheus.NewRegistry()
	reg.MustRegister(export.NewCollector(rec))
	for _, answer := range []string{
		`{"choices":[{"message":{"content":"SECRET","tool_calls":[{"id":"SECRET","function":{"name":"SECRET","arguments":"SECRET"}}]},"finish_reason":"a SECRET"}]}`,
		`{"error":{"message":"SECRET","code":"a SECRET"}}`,
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Set-Cookie", "SECRET")
			io.WriteString(w, answer)
		}))
		rt := tacho.NewTransport(nil, tacho.WithRecorder(rec), tacho.WithContent(tacho.ContentOnSpansAndEvents))
		url := strings.Replace(srv.URL, "http://", "http://SECRET:SECRET@", 1) + "/SECRET/chat/completions?key=SECRET"
		do(t.Context(), t, rt, url, `{"model":"m","messages":[{"role":"user","content":"SECRET"}],"stop":"SECRET","user":"SECRET"}`)
		rt.CloseIdleConnections()
		srv.Close()
	}
	w := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text := w.Body.String()
	if !strings.Contains(text, "tacho_") || strings.Contains(text, "SECRET") {
		t.Errorf("scraped:\n%s", text)
	}
}
