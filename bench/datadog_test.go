// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/DataDog/dd-trace-go/v2/ddtrace/tracer"
)

// startDatadog runs the tracer of dd-trace-go, which is one for the process, to the
// end of b. It samples every trace, as it does by default, encodes what it would
// send, and reaches no network: an agent without further abilities is played by
// discarding.
func startDatadog(b *testing.B) {
	b.Helper()
	for _, name := range []string{
		"DD_APPSEC_ENABLED",
		"DD_INSTRUMENTATION_TELEMETRY_ENABLED",
		"DD_REMOTE_CONFIGURATION_ENABLED",
		"DD_RUNTIME_METRICS_V2_ENABLED",
		"DD_TRACE_INTERNAL_METRICS_ENABLED", // else by statsd
	} {
		b.Setenv(name, "false")
	}
	err := tracer.Start(
		tracer.WithHTTPClient(&http.Client{Transport: discarding{}}),
		tracer.WithLogger(silent{}),
		tracer.WithLogStartup(false),
	)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(tracer.Stop)
}

// discarding answers every request with an empty JSON object.
type discarding struct{}

func (discarding) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_, err := io.Copy(io.Discard, req.Body)
		req.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(strings.NewReader("{}")), ContentLength: 2,
		Request: req,
	}, nil
}

// silent is a logger that writes nothing.
type silent struct{}

func (silent) Log(string) {}
