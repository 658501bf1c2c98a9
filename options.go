// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	otellog "go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/tacho-go/tacho/internal/conv"
)

// Option configures NewTransport and Middleware, and NewClient as well.
type Option interface {
	ClientOption
	apply(*config)
}

// ClientOption configures NewClient. Those that are no Option say what only a
// client that makes its own requests can do.
type ClientOption interface{ applyClient(*config) }

type optionFunc func(*config)

func (f optionFunc) apply(c *config)       { f(c) }
func (f optionFunc) applyClient(c *config) { f(c) }

type clientOption func(*config)

func (f clientOption) applyClient(c *config) { f(c) }

// config is what the options make. It does not change once a Transport has it.
type config struct {
	tracers   trace.TracerProvider
	meters    metric.MeterProvider
	tracer    trace.Tracer
	metrics   *instruments
	recorder  sink // nil: none
	observers []func(*Call)
	provider  string
	atOnce    time.Duration
	noTCPInfo bool
	noDrain   bool
	content   contentConfig
	loggers   otellog.LoggerProvider
	logger    otellog.Logger
	models    vocabulary
	answers   vocabulary // the models that answered
	codes     vocabulary
	tiers     vocabulary
	reasons   vocabulary
	servers   vocabulary
	prints    vocabulary

	conventions Conventions
	stall       time.Duration
	slow        time.Duration
	propagateTo []string

	firsts setCache[firstSets]
	asSaid setCache[callSets] // the same as those below, by what calls say
	sets   setCache[callSets]
	rest   setCache[callSets] // of calls for which sets has no room

	// What an option asks for stands here as a function, nil without it: so the
	// linker leaves out what a program does not use.
	log       func(*config, context.Context, *Call, trace.SpanContext)
	propagate func(*exchange, context.Context, *http.Request)
	askUsage  func(x *exchange, req, r *http.Request, known bool)
	refused   func(x *exchange, req, r *http.Request, resp *http.Response, next func(*http.Request) (*http.Response, error)) (*http.Request, *http.Response, error)
	attempts  *attemptCode
	newFilter func() bodyFilter
	sendAgain func(x *exchange, req, r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Request, *http.Response, error)

	metricLabels []*metricLabel
	metricPrints bool
	objectives   []objective
	retries      *RetryPolicy
	newTap       func() tap // nil: no tokens are counted
	firstToken   time.Duration
	stallEnd     time.Duration
	optIn        conv.OptIn

	// Client only.
	headers     [][2]string
	concurrency int
	sized       bool // concurrency was given
	base        http.RoundTripper
}

const (
	defaultAtOnce      = 50 * time.Microsecond
	defaultConcurrency = 64
	defaultStall       = 5 * time.Second
)

func newConfig[O ClientOption](opts []O) *config {
	c := &config{atOnce: defaultAtOnce, stall: defaultStall}
	for _, o := range opts {
		o.applyClient(c)
	}
	if c.tracers == nil {
		c.tracers = otel.GetTracerProvider()
	}
	if c.meters == nil {
		c.meters = otel.GetMeterProvider()
	}
	if _, off := c.tracers.(tracenoop.TracerProvider); !off {
		fenced(func() { c.tracer = c.tracers.Tracer(scope, trace.WithInstrumentationVersion(Version)) })
	}
	if c.loggers == nil {
		c.loggers = otel.GetLoggerProvider()
	}
	c.logger = c.loggers.Logger(scope, otellog.WithInstrumentationVersion(Version))
	c.content.settle()
	if c.conventions == 0 {
		c.conventions = conventionsByEnv(os.Getenv("OTEL_SEMCONV_STABILITY_OPT_IN"))
	}
	if _, off := c.meters.(metricnoop.MeterProvider); !off {
		fenced(func() { c.metrics = newInstruments(c.meters, conv.Generation(c.conventions), c.optIn) })
	}
	return c
}

// WithTracerProvider sends the span of each call to tp.
//
// By default the global provider of OpenTelemetry is used, as it is when the
// transport is made or, if it is set later, from then on.
func WithTracerProvider(tp trace.TracerProvider) Option {
	return optionFunc(func(c *config) { c.tracers = tp })
}

// WithoutTracing makes no spans, which saves their cost. It overrides an
// earlier WithTracerProvider and is overridden by a later one.
func WithoutTracing() Option { return WithTracerProvider(tracenoop.NewTracerProvider()) }

// WithMeterProvider sends the metrics of each call to mp.
//
// By default the global provider of OpenTelemetry is used.
func WithMeterProvider(mp metric.MeterProvider) Option {
	return optionFunc(func(c *config) { c.meters = mp })
}

// WithoutMetrics records no OpenTelemetry metrics. It overrides an earlier
// WithMeterProvider and is overridden by a later one. A Recorder is not affected.
func WithoutMetrics() Option { return WithMeterProvider(metricnoop.NewMeterProvider()) }

// WithRecorder adds each call to r when it ends. Given more than once, the
// last one holds. By default there is no recorder.
func WithRecorder(r *Recorder) Option {
	return optionFunc(func(c *config) {
		if c.recorder = nil; r != nil {
			c.recorder = r
		}
	})
}

// WithObserver calls f with each call when it has ended, on the goroutine that
// ended it and before the Read or Close that did so returns: a slow f slows
// its caller. The end of a context is told on a goroutine of its own. Calls to
// f may be concurrent; a panic in f goes to OpenTelemetry's error handler. Given more than once, all are
// called, in order. For one call alone see ContextWithObserver. Of transports in
// layers only the outermost measures, so that observers and recorders of the
// inner ones see nothing.
func WithObserver(f func(*Call)) Option {
	return optionFunc(func(c *config) {
		if f != nil {
			c.observers = append(c.observers, f)
		}
	})
}

// Conventions are versions of OpenTelemetry's conventions for generative AI, by
// which metrics and attributes are named.
type Conventions uint8

// The conventions that WithConventions takes.
const (
	// ConventionsLatest are semantic-conventions-genai v0.1.0.
	ConventionsLatest = Conventions(conv.Latest)
	// ConventionsV141 are semantic-conventions v1.41.0, which most dashboards know.
	ConventionsV141 = Conventions(conv.V141)
	// ConventionsBoth tell every metric by both, to move dashboards.
	ConventionsBoth = ConventionsLatest | ConventionsV141
)

// WithConventions names metrics and attributes by the given conventions.
//
// By default the environment says, by OTEL_SEMCONV_STABILITY_OPT_IN: with
// gen_ai/v1.41 among its words those, with gen_ai/dup both, else the latest.
func WithConventions(v Conventions) Option {
	return optionFunc(func(c *config) { c.conventions = v & ConventionsBoth })
}

func conventionsByEnv(words string) (v Conventions) {
	for w := range strings.SplitSeq(words, ",") {
		switch strings.TrimSpace(w) {
		case "gen_ai/dup":
			return ConventionsBoth
		case "gen_ai/v1.41":
			v = ConventionsV141
		case "gen_ai_latest_experimental":
			return ConventionsLatest
		}
	}
	if v == 0 {
		v = ConventionsLatest
	}
	return v
}

// WithStallLimit sets the gap between two outputs of a stream from which on a
// call's span has an event tacho.stall, with its duration.
//
// By default it is 5 s. With 0 or less there are no such events.
func WithStallLimit(d time.Duration) Option {
	return optionFunc(func(c *config) { c.stall = d })
}

// WithLogger writes a line for each call that failed, was slow or stalled: the
// call as a group, why, and trace_id and span_id where it has them. It has no
// content. What is slow WithSlowLimit says, what a stall is WithStallLimit. Calls
// that failed are warnings, others information.
//
// By default nothing is logged.
func WithLogger(l *slog.Logger) Option {
	return optionFunc(func(c *config) {
		if c.log = nil; l != nil {
			c.log = func(g *config, ctx context.Context, call *Call, at trace.SpanContext) { g.logCall(ctx, l, call, at) }
		}
	})
}

// WithSlowLimit sets the duration from which on a call is slow, for WithLogger.
//
// By default, and with 0 or less, none is.
func WithSlowLimit(d time.Duration) Option {
	return optionFunc(func(c *config) { c.slow = d })
}

// WithPropagationTo lets the trace context and the baggage of calls go to the
// given hosts, by OpenTelemetry's global propagator: names as in a URL, without a
// port; one that begins with a dot stands for all that end so. Members of the
// baggage are left out, in the order of their keys, as long as the headers would
// have more than 8 KiB; Call.Dropped tells how many. (OpenTelemetry's baggage does
// not know which of its members is the oldest.)
//
// Each hop of a redirect is looked at, unless the client that follows it is above
// Middleware's next: net/http takes the headers of the first request along, as it
// does with Authorization to the same domain. Where a listed host may redirect to
// another, give that client a Transport.
//
// By default nothing of that leaves: an endpoint on the internet has no use for
// it, and baggage may hold what is private. Given more than once, the hosts add up.
func WithPropagationTo(hosts ...string) Option {
	return optionFunc(func(c *config) {
		c.propagateTo = append(c.propagateTo, hosts...)
		c.propagate = (*exchange).propagate
	})
}

// WithMetricLabels puts the labels of those names that ContextWithLabels gave a
// call on its OpenTelemetry metrics. Their values are bounded as those from the
// wire are: plain ones, at most 200 of each name, else _OTHER. Given more than
// once, the names add up.
//
// By default no label is on the metrics. A Recorder has its own choice, WithSeriesBy.
func WithMetricLabels(names ...string) Option {
	return optionFunc(func(c *config) {
		for _, n := range names {
			c.metricLabels = append(c.metricLabels, &metricLabel{name: n})
		}
	})
}

// metricLabel is a label that goes on the metrics, and the values it has had.
type metricLabel struct {
	name  string
	words vocabulary
}

// WithProvider names the provider (gen_ai.provider.name) of the calls.
//
// By default it is told by the host, and "openai" for a host that is not known:
// the name is that of the API's flavour, and server.address tells one server
// from another.
func WithProvider(name string) Option {
	return optionFunc(func(c *config) { c.provider = name })
}

// WithAtOnce sets the longest time that a Read may take and still count as
// one that returned at once: when the application had been away longer, the
// bytes may have come earlier, and times taken from it are upper bounds.
//
// By default it is 50 µs. A negative d marks nothing.
func WithAtOnce(d time.Duration) Option {
	return optionFunc(func(c *config) { c.atOnce = d })
}

// WithoutTCPInfo does not ask the kernel about the connection at a call's
// end, which saves 2 µs to 6 µs a call on Linux and has no effect elsewhere.
func WithoutTCPInfo() Option {
	return optionFunc(func(c *config) { c.noTCPInfo = true })
}

// WithoutDrain closes the body of a finished stream as soon as the application
// does.
//
// By default what follows the last event, at most 4 KiB and 250 ms, is read
// first, on a goroutine of its own, so that an HTTP/1.1 connection can be used
// again; see Transport.Wait.
func WithoutDrain() Option {
	return optionFunc(func(c *config) { c.noDrain = true })
}

// WithHeader adds a header to each request of a Client, besides those of
// earlier WithHeaders; it replaces one that the Client would send itself.
func WithHeader(name, value string) ClientOption {
	return clientOption(func(c *config) { c.headers = append(c.headers, [2]string{name, value}) })
}

// WithConcurrency sets how many calls a Client is meant to have in flight: so
// many idle connections are kept to its server. The default of net/http, 2,
// makes every further caller dial anew.
//
// By default it is 64. It limits nothing, must be 1 or more, and cannot be
// given beside WithBase, which brings its own connections.
func WithConcurrency(n int) ClientOption {
	return clientOption(func(c *config) { c.concurrency, c.sized = n, true })
}

// WithBase sends a Client's requests through rt, measured.
//
// By default, and with a nil rt, a copy of http.DefaultTransport is used, with
// room for idle connections; see WithConcurrency.
func WithBase(rt http.RoundTripper) ClientOption {
	return clientOption(func(c *config) { c.base = rt })
}
