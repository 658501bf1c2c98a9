// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Option configures a server: New, NewServer and Listen take all options.
//
// An option that cannot take effect, or has a bad value, is an error: Listen
// returns it, New fails the test with it, and a server of NewServer returns it
// from every Dial.
type Option interface {
	apply(*config)
}

// EndpointOption is an Option that concerns the endpoint and no network, so
// that NewEndpoint takes it too.
type EndpointOption interface {
	Option
	endpointOption()
}

type config struct {
	seed   uint64
	apiKey string
	script *Script
	model  Model

	hasModel bool
	serving  *Serving

	host        string
	capacity    int
	hasCapacity bool
	link        *Link
	lookupDelay time.Duration
	dialDelay   time.Duration
	tls, http2  bool

	err error
}

const (
	defaultHost     = "sim.invalid"
	defaultCapacity = 64 << 10
)

func newConfig[O Option](opts []O) config {
	c := config{host: defaultHost, capacity: defaultCapacity}
	for _, o := range opts {
		o.apply(&c)
	}
	if c.script != nil {
		c.fail(c.script.check())
	}
	c.fail(c.model.check())
	if c.serving != nil {
		c.fail(c.serving.check())
		if c.hasModel || c.script != nil {
			c.fail(errors.New("sim: WithServing goes with neither WithModel nor WithScript"))
		}
	}
	return c
}

func (c *config) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

type serverOption func(*config)

func (f serverOption) apply(c *config) { f(c) }

type endpointOption func(*config)

func (f endpointOption) apply(c *config) { f(c) }
func (endpointOption) endpointOption()   {}

// WithScript sets what every request plays while nothing is queued by
// Endpoint.Play.
//
// By default such requests are answered by the model.
func WithScript(s Script) EndpointOption {
	return endpointOption(func(c *config) { c.script = &s })
}

// WithModel sets the service-time model that answers requests for which there
// is no script.
//
// By default it is the zero Model. WithScript takes precedence over it.
func WithModel(m Model) EndpointOption {
	return endpointOption(func(c *config) { c.model, c.hasModel = m, true })
}

// WithServing sets the model of a server under load that answers requests for
// which there is no script, and adds the route /metrics, which answers a GET with
// what the server counted, in Prometheus' text format and with vLLM's names. That
// route wants no API key and is not listed in Endpoint.Requests.
//
// By default requests are answered by a Model, and do not share its time. It goes
// with neither WithModel nor WithScript; scripts queued by Play take precedence
// over it and take nothing of it.
func WithServing(s Serving) EndpointOption {
	s.Speeds = slices.Clone(s.Speeds)
	return endpointOption(func(c *config) { c.serving = &s })
}

// WithSeed sets the seed of identifiers, the model's draws and embeddings. With
// the same seed the k-th request to arrive is answered by the same bytes at the
// same offsets in time.
//
// By default the seed is 0. A Link has a seed of its own.
func WithSeed(seed uint64) EndpointOption {
	return endpointOption(func(c *config) { c.seed = seed })
}

// WithAPIKey makes the endpoint answer 401 to a request that carries neither
// "Authorization: Bearer key" nor "Api-Key: key".
//
// By default every request is let in. An empty key is an error.
func WithAPIKey(key string) EndpointOption {
	return endpointOption(func(c *config) {
		if key == "" {
			c.fail(errors.New("sim: WithAPIKey: the key is empty"))
		}
		c.apiKey = key
	})
}

// WithHost sets the host name in the URL of an in-memory server, so that one
// transport can tell several servers apart: see TransportTo.
//
// By default it is "sim.invalid". It does not go with Listen.
func WithHost(name string) Option {
	return serverOption(func(c *config) {
		if !validHost(name) {
			c.fail(fmt.Errorf("sim: WithHost: %q is no host name", name))
		}
		c.host = name
	})
}

func validHost(name string) bool {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' {
			return false
		}
	}
	return name != ""
}

// WithPipeCapacity sets how many bytes an in-memory connection holds in each
// direction before its writer waits.
//
// By default they are 64 KiB. It does not go with Listen: a socket has the
// buffers of the kernel.
func WithPipeCapacity(bytes int) Option {
	return serverOption(func(c *config) {
		if bytes <= 0 {
			c.fail(fmt.Errorf("sim: WithPipeCapacity: %d bytes is no capacity", bytes))
		}
		c.capacity, c.hasCapacity = bytes, true
	})
}

// WithLink carries connections that are made by the server's Dial, Transport or
// Client over an emulated link, in memory and on a port alike. A client that
// dials a port itself does not cross the link.
//
// By default there is no link.
func WithLink(l Link) Option {
	return serverOption(func(c *config) {
		c.fail(l.check())
		c.link = &l
	})
}

// WithDialDelay makes Dial wait d before it connects, between the ConnectStart
// and ConnectDone hooks of net/http/httptrace. A link's round trip comes on top.
//
// By default Dial does not wait.
func WithDialDelay(d time.Duration) Option {
	return serverOption(func(c *config) {
		if d < 0 {
			c.fail(fmt.Errorf("sim: WithDialDelay: negative delay %v", d))
		}
		c.dialDelay = d
	})
}

// WithLookupDelay makes Dial wait d before it begins to connect, between the
// DNSStart and DNSDone hooks of net/http/httptrace, as if the name had been
// looked up. Nothing is looked up.
//
// By default Dial calls no DNS hook.
func WithLookupDelay(d time.Duration) Option {
	return serverOption(func(c *config) {
		if d <= 0 {
			c.fail(fmt.Errorf("sim: WithLookupDelay: the delay must be positive: %v", d))
		}
		c.lookupDelay = d
	})
}

// WithTLS serves HTTPS, with HTTP/1.1 unless WithHTTP2 is given too, under a
// certificate made for this server. Transports and clients of the server trust
// it; for others see Server.Certificate.
//
// By default the server speaks plain HTTP/1.1.
func WithTLS() Option {
	return serverOption(func(c *config) { c.tls = true })
}

// WithHTTP2 serves HTTP/2 over TLS, and HTTP/1.1 to clients that do not
// negotiate HTTP/2. It includes WithTLS.
//
// By default the server speaks HTTP/1.1 only.
func WithHTTP2() Option {
	return serverOption(func(c *config) { c.tls, c.http2 = true, true })
}
