// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Traces stands in for Tempo: it takes OTLP over HTTP and keeps the names of the
// spans by trace. A server of traces that is small enough to be built for a test
// is not at hand.
type Traces struct {
	URL string

	server *http.Server
	mu     sync.Mutex
	spans  map[string][]string
}

func listenTraces() (*Traces, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &Traces{URL: "http://" + l.Addr().String() + "/v1/traces", spans: map[string][]string{}}
	t.server = &http.Server{Handler: http.HandlerFunc(t.receive), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = t.server.Serve(l) }()
	return t, nil
}

func (t *Traces) close() { _ = t.server.Close() }

func (t *Traces) receive(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(http.MaxBytesReader(w, r.Body, 64<<20))
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = z
	}
	b, err := io.ReadAll(body)
	var m collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(b, &m)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, resource := range m.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				id := hex.EncodeToString(s.TraceId)
				t.spans[id] = append(t.spans[id], s.Name)
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// Spans returns the names of a trace's spans, none for a trace that was not kept.
func (t *Traces) Spans(id string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.spans[id]...)
}
