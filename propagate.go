// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
)

// maxHeaders bounds the headers of a request that trace context is added to, in
// bytes: what common servers take.
const maxHeaders = 8 << 10

// propagates reports whether trace context may go to a host.
func (g *config) propagates(host string) bool {
	for _, h := range g.propagateTo {
		if h != "" && (strings.EqualFold(h, host) || h[0] == '.' && len(host) > len(h) && strings.EqualFold(host[len(host)-len(h):], h)) {
			return true
		}
	}
	return false
}

// propagate adds the trace context and the baggage of ctx to a copy of the
// request's headers, if its host may have them. Nothing is added that would make
// the headers too many: baggage goes first.
func (x *exchange) propagate(ctx context.Context, r *http.Request) {
	if !x.config.propagates(r.URL.Hostname()) {
		return
	}
	p, dropped := otel.GetTextMapPropagator(), int32(0)
	// OpenTelemetry's baggage keeps no order: they go by their keys, lowest first,
	// which is oldest first where a service numbers them.
	members := baggage.FromContext(ctx).Members()
	slices.SortFunc(members, func(a, b baggage.Member) int { return strings.Compare(a.Key(), b.Key()) })
	for {
		h := r.Header.Clone()
		if h == nil {
			h = http.Header{}
		}
		p.Inject(ctx, propagation.HeaderCarrier(h))
		if headerBytes(h)+addedBytes(r) <= maxHeaders {
			r.Header = h
			return
		}
		if len(members) == 0 {
			return
		}
		members = members[1:]
		dropped++
		x.call.dropped = max(x.call.dropped, dropped) // of attempts, that which had most
		left, err := baggage.New(members...)
		if err != nil {
			return
		}
		ctx = baggage.ContextWithBaggage(ctx, left)
	}
}

// headerBytes is the size of headers as HTTP/1.1 sends them.
func headerBytes(h http.Header) (n int) {
	for name, values := range h {
		for _, v := range values {
			n += len(name) + len(": ") + len(v) + len("\r\n")
		}
	}
	return n
}

// addedBytes is the size of the headers that net/http adds to a request.
func addedBytes(r *http.Request) int {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	n := len("Host: \r\n") + len(host)
	for _, h := range [...]struct{ name, value string }{{"User-Agent", "Go-http-client/1.1"}, {"Accept-Encoding", "gzip"}, {"Content-Length", "9223372036854775807"}} {
		if r.Header[h.name] == nil {
			n += len(h.name) + len(": ") + len(h.value) + len("\r\n")
		}
	}
	return n
}
