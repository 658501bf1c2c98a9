// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/tacho-go/tacho/internal/conv"
	"github.com/tacho-go/tacho/internal/phase"
)

// DialFunc is the type of http.Transport.DialContext.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// MeasureDial returns dial with the connections that it makes told by the HTTP
// conventions: http.client.open_connections, active while a call of a Transport
// is on them and idle else, and http.client.connection.duration, from the dial's
// begin to the close. A Transport sees calls and not when net/http closes what
// they went over, so this stands in the http.Transport below:
//
//	base := &http.Transport{DialContext: tacho.MeasureDial(nil, tacho.WithMeterProvider(mp))}
//	t := tacho.NewTransport(base, tacho.WithHTTPMetrics(), tacho.WithMeterProvider(mp))
//
// The server is named as it was dialled: behind a proxy, the proxy is. A nil dial
// is that of http.DefaultTransport. Of the options WithMeterProvider counts, with
// the default it has there; with WithoutMetrics dial is returned as it is. It is
// safe for concurrent use if dial is.
func MeasureDial(dial DialFunc, opts ...Option) DialFunc {
	if dial == nil {
		dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	c := newConfig(append(opts[:len(opts):len(opts)], optionFunc(func(c *config) { c.optIn = conv.Connections })))
	if c.metrics == nil {
		return dial
	}
	var known setCache[connSets]
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		start := time.Now()
		inner, err := dial(ctx, network, address)
		if err != nil || inner == nil {
			return inner, err
		}
		sets := known.of([]byte(address), func() *connSets { return newConnSets(address) })
		if sets == nil {
			sets = newConnSets(other) // redirects lead to any number of them
		}
		m := &measuredConn{Conn: inner, start: start, metrics: c.metrics, sets: sets}
		m.level(&m.sets.idle, 1)
		return m, nil
	}
}

// connSets are the attributes of the connections to an address.
type connSets struct{ idle, active, closed attrs }

func newConnSets(address string) *connSets {
	server := appendServer(nil, address, false)
	with := func(kv ...attribute.KeyValue) attrs { return newAttrs(append(kv, server...)...) }
	return &connSets{with(conv.ConnectionState.String("idle")), with(conv.ConnectionState.String("active")), with()}
}

// measuredConn tells when it is used and closed.
type measuredConn struct {
	net.Conn
	start   time.Time
	metrics *instruments
	sets    *connSets

	mu     sync.Mutex
	users  int
	closed bool
}

var _ phase.User = (*measuredConn)(nil)

// NetConn returns the connection that is wrapped, for who asks the kernel about it.
func (m *measuredConn) NetConn() net.Conn { return m.Conn }

// ReadFrom lets the connection below send a file without copying it.
func (m *measuredConn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(m.Conn, r) }

// Use counts the exchanges on the connection, of which HTTP/2 has many.
func (m *measuredConn) Use(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.users > 0
	m.users += n
	if is := m.users > 0; is != was && !m.closed {
		m.move(is, 1)
		m.move(was, -1)
	}
}

func (m *measuredConn) Close() error {
	err := m.Conn.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return err
	}
	m.closed = true
	m.move(m.users > 0, -1)
	fenced(func() {
		m.metrics.observe(context.Background(), conv.HTTPConnectionTime, time.Since(m.start).Seconds(), &m.sets.closed)
	})
	return err
}

// move counts the connection as active or idle.
func (m *measuredConn) move(active bool, n int64) {
	s := &m.sets.idle
	if active {
		s = &m.sets.active
	}
	m.level(s, n)
}

func (m *measuredConn) level(s *attrs, n int64) {
	fenced(func() { m.metrics.level(context.Background(), conv.HTTPConnections, n, s) })
}
