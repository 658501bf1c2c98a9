// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// TestMeasureDial follows the connections of two streams at a time.
func TestMeasureDial(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		opts  []sim.Option
		conns float64 // that two calls at a time take
		port  string
	}{
		{"HTTP/1.1", nil, 2, "80"},
		{"TLS", []sim.Option{sim.WithTLS()}, 2, "443"},
		{"HTTP/2", []sim.Option{sim.WithTLS(), sim.WithHTTP2()}, 1, "443"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				reader := metric.NewManualReader()
				mp := tacho.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
				srv := sim.New(t, tc.opts...)
				base := srv.Transport()
				base.DialContext = tacho.MeasureDial(base.DialContext, mp)
				rt := tacho.NewTransport(base, tacho.WithoutTracing(), tacho.WithoutMetrics())
				expect := func(when string, idle, active, seconds float64) {
					t.Helper()
					want := map[string]float64{"idle": idle, "active": active}
					if seconds >= 0 {
						want["closed after"] = seconds
					}
					got := map[string]float64{}
					for k, v := range points(t, reader) {
						switch k {
						case "http.client.open_connections {connection} http.connection.state=idle,server.port=" + tc.port:
							got["idle"] = v
						case "http.client.open_connections {connection} http.connection.state=active,server.port=" + tc.port:
							got["active"] = v
						case "http.client.connection.duration s server.port=" + tc.port:
							got["closed after"] = v
						default:
							t.Errorf("%s is told", k)
						}
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s: (-want +got)\n%s", when, diff)
					}
				}
				var open [2]*http.Response
				var began [2]time.Time
				for i := range open {
					req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL()+"/v1/chat/completions", strings.NewReader(chatStream))
					if err != nil {
						t.Fatal(err)
					}
					began[i] = time.Now()
					if open[i], err = rt.RoundTrip(req); err != nil {
						t.Fatal(err)
					}
				}
				expect("both under way", 0, tc.conns, -1)
				readAll(open[0])
				expect("one has ended", tc.conns-1, 1, -1)
				readAll(open[1])
				expect("both have ended", tc.conns, 0, -1)
				synctest.Wait()
				time.Sleep(time.Minute)
				base.CloseIdleConnections()
				synctest.Wait()
				lasted := time.Since(began[0])
				if tc.conns == 2 {
					lasted += time.Since(began[1])
				}
				expect("closed", 0, 0, lasted.Seconds())
			})
		})
	}
}

// TestMeasureDialFails passes on what the dial below says, and counts nothing.
func TestMeasureDialFails(t *testing.T) {
	t.Parallel()
	reader := metric.NewManualReader()
	dial := tacho.MeasureDial(func(context.Context, string, string) (net.Conn, error) { return nil, errBroken },
		tacho.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))))
	if c, err := dial(t.Context(), "tcp", "host.invalid:80"); c != nil || !errors.Is(err, errBroken) {
		t.Errorf("%v, %v", c, err)
	}
	if got := points(t, reader); len(got) != 0 {
		t.Errorf("told: %v", got)
	}
}
