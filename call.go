// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"math"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho/internal/phase"
	"github.com/tacho-go/tacho/internal/wire"
)

// Call is the record of one call. Observers get it when the call has ended;
// from then on it does not change, and it is safe for concurrent use.
//
// A figure that does not exist for the call is absent, all of them in the zero
// Call: its method returns false, and json.Marshal leaves it out. Durations count from Start unless
// their method says otherwise.
type Call struct {
	provider string
	server   string
	start    time.Time
	labels   []Label
	trace    trace.TraceID

	conversation string

	req   *wire.Request // shared with others, and not to be changed; see asked
	facts wire.Facts
	proto string
	fault string // what went wrong in the exchange itself, see Failure

	phases   phase.Result
	ttfb     time.Duration
	ttfc     time.Duration
	ttft     time.Duration
	ttfo     time.Duration
	ttlt     time.Duration
	duration time.Duration
	network  time.Duration
	consumer time.Duration
	gaps     gapStats
	more     *callMore // nil: nothing of it is known

	events       int32
	outputEvents int32
	firstOutput  int32
	firstVisible int32
	attempt      int32
	redirects    int32
	status       int32
	dropped      int32 // members of the baggage that did not fit the headers

	api          wire.API
	firstChannel wire.Channel
	outcome      Outcome
	stream       bool
	secure       bool // the URL says https
	failed       bool
	byServer     bool // and the server says what
	midStream    bool
	unread       bool // the body was not looked at: of an encoding unknown here, or nothing of it was read
	upper        bool
	done         bool
	terminal     bool
	eof          bool
}

// callMore is what few calls have.
type callMore struct {
	attempts []Attempt
	counted  *Counted
}

func (c *Call) extras() *callMore {
	if c.more == nil {
		c.more = new(callMore)
	}
	return c.more
}

// asked is what the request says: nothing, where none was read.
func (c *Call) asked() *wire.Request {
	if c.req == nil {
		return &noRequest
	}
	return c.req
}

var noRequest wire.Request // never written to

// absent is the value of a time that does not exist.
const absent = phase.None

func (c *Call) init() {
	c.ttfb, c.ttfc, c.ttft, c.ttfo, c.ttlt, c.duration = absent, absent, absent, absent, absent, absent
	c.network, c.consumer = absent, absent
	c.firstOutput, c.firstVisible = -1, -1
}

// Failure is what went wrong. Type and Code are the server's, or Type is one
// of our own for a fault of the exchange: dns, connect, tls, timeout,
// cancelled, connection, protocol, first_token_timeout, stall_timeout. MidStream tells an error that the server sent
// inside a stream under HTTP 200. What does not fit [A-Za-z0-9_.:/-] or is
// longer than 64 bytes is "_OTHER": the texts of errors may hold content.
type Failure struct {
	Type, Code string
	MidStream  bool
}

// silence is the longest time without output behind the first one: a gap, or what
// was between the last output and the call's end; 0 for a call without output.
func (c *Call) silence() time.Duration {
	if c.outputEvents == 0 {
		return 0
	}
	return max(c.gaps.max, c.duration-c.ttlt)
}

// API returns the API that was called: chat_completions, or the end of its path,
// such as responses or audio/speech.
func (c *Call) API() string { return c.api.String() }

// Operation returns the operation's name in OpenTelemetry's conventions: chat,
// text_completion or embeddings; for the APIs that they do not know a name of
// the same form, such as image_generation.
func (c *Call) Operation() string { return c.api.Operation() }

// Provider returns the provider's name; see WithProvider.
func (c *Call) Provider() string { return c.provider }

// Server returns the host of the request's URL, with its port if it names one.
func (c *Call) Server() string { return c.server }

// Start returns when the call entered RoundTrip or the middleware.
func (c *Call) Start() time.Time { return c.start }

// Labels returns the labels of ContextWithLabels. The slice must not be changed.
func (c *Call) Labels() []Label { return c.labels }

// Conversation returns the conversation that the call belongs to, "" when
// ContextWithConversation gave none.
func (c *Call) Conversation() string { return c.conversation }

// Streaming reports whether the response was a stream of events.
func (c *Call) Streaming() bool { return c.stream }

// StreamRequested reports whether the request asked for a stream.
func (c *Call) StreamRequested() bool { return c.asked().Stream }

// Label returns the value of one of ContextWithLabels' labels, or of "operation",
// "api", "provider", "server", "model" (asked for) or "response_model"; "" when
// the call has none of that name.
func (c *Call) Label(name string) string { return string(c.appendLabel(nil, name)) }

// Attempt returns the number of this exchange among the attempts of an SDK
// that says so (X-Stainless-Retry-Count), from 1.
func (c *Call) Attempt() int { return int(c.attempt) }

// Redirects returns how many redirects led to this exchange.
func (c *Call) Redirects() int { return int(c.redirects) }

// Outcome says how the call ended.
func (c *Call) Outcome() Outcome { return c.outcome }

// Status returns the HTTP status, absent when no response came.
func (c *Call) Status() (int, bool) { return int(c.status), c.status != 0 }

// TraceID returns the trace in which the call was made, as hexadecimal digits;
// absent when it was made in none.
func (c *Call) TraceID() (string, bool) {
	if !c.trace.IsValid() {
		return "", false
	}
	return c.trace.String(), true
}

// Dropped returns how many members of the baggage did not fit the request's
// headers; see WithPropagationTo.
func (c *Call) Dropped() int { return int(c.dropped) }

// Failure returns what went wrong, absent when nothing is known to.
func (c *Call) Failure() (Failure, bool) {
	f := Failure{Type: c.fault, MidStream: c.midStream}
	if e := &c.facts.Error; c.byServer {
		f.Type, f.Code = bounded(e.Type), bounded(e.Code)
	}
	return f, c.failed
}

// fail notes how a call ended by a fault of the exchange.
func (c *Call) fail(o Outcome, fault string) { c.outcome, c.fault, c.failed = o, fault, true }

// RequestModel returns the model that was asked for, "" when unknown.
//
//go:noinline
func (c *Call) RequestModel() string { return c.asked().Model.String() }

// ResponseModel returns the model that answered, "" when unknown.
func (c *Call) ResponseModel() string { return c.facts.Model.String() }

// ResponseID returns the response's id, "" when there was none.
func (c *Call) ResponseID() string { return c.facts.ID.String() }

// Reused reports whether the connection had served a request before; absent
// when the base transport does not tell or none was had.
func (c *Call) Reused() (reused, ok bool) { return c.phases.Reused, c.phases.Conns > 0 }

// Conn is the connection of a call.
type Conn struct {
	Reused   bool   // it had served a request before
	Protocol string // HTTP/1.1 or HTTP/2.0
	Remote   string // the address at its other end
	// TCP's figures at the call's end, where the kernel tells them (Linux).
	HasTCP      bool
	RTT, RTTVar time.Duration
	Retransmits int64 // during the call
}

// Conn returns the connection, absent when the base transport does not tell of
// it or none was had.
func (c *Call) Conn() (Conn, bool) {
	p := &c.phases
	if p.Conns == 0 {
		return Conn{}, false
	}
	k := Conn{Reused: p.Reused, Protocol: c.proto, HasTCP: p.HasTCP, RTT: p.TCP.RTT, RTTVar: p.TCP.RTTVar, Retransmits: p.TCP.Retransmits}
	if p.Remote != nil {
		k.Remote = p.Remote.String()
	}
	return k, true
}

// RateLimits are what the response's headers said of limits.
type RateLimits struct {
	LimitRequests, RemainingRequests Tokens
	LimitTokens, RemainingTokens     Tokens
	// Times until the limits are full again, and until the server wants the
	// next request; negative when the server said nothing.
	ResetRequests, ResetTokens, RetryAfter time.Duration
}

// RateLimits returns the limits, absent when no header spoke of any.
func (c *Call) RateLimits() (RateLimits, bool) {
	l := c.facts.Limits
	if l == nil {
		return RateLimits{}, false
	}
	d := func(n wire.Number) time.Duration {
		if !n.OK {
			return -1
		}
		return time.Duration(math.Round(min(n.V, 1e9) * 1e9))
	}
	t := func(n wire.Count) Tokens { return Tokens{n.N, n.OK} }
	return RateLimits{t(l.LimitRequests), t(l.RemainingRequests), t(l.LimitTokens), t(l.RemainingTokens),
		d(l.ResetRequests), d(l.ResetTokens), d(l.RetryAfter)}, true
}

// FirstChannel returns the channel of the first output: content, reasoning,
// refusal, tool_call or audio; "" when there was none, or no stream.
func (c *Call) FirstChannel() string { return c.firstChannel.String() }

// ToolCalls returns how many tool calls the first choice made.
func (c *Call) ToolCalls() int { return len(c.facts.Calls) }

// Events returns the number of SSE data events without [DONE], and how many
// of them carried output.
func (c *Call) Events() (all, output int) { return int(c.events), int(c.outputEvents) }

// FinishReasons returns the finish reason of each choice begun, "" where none came.
func (c *Call) FinishReasons() []string {
	out := make([]string, len(c.facts.Finish))
	for i, f := range c.facts.Finish {
		out[i] = bounded(f.Reason)
	}
	return out
}

// Usage holds token counts as the server reported them.
type Usage struct {
	Input, Output, CacheRead, CacheWrite, Reasoning, Total Tokens
}

// Tokens is a count, of tokens or of what else is counted, that may be absent;
// the zero Tokens is.
type Tokens struct {
	N        int64
	Reported bool
}

// Usage returns the reported usage: the last value of each count that was not
// null, never summed and never derived.
func (c *Call) Usage() Usage {
	u := &c.facts.Usage
	t := func(n wire.Count) Tokens { return Tokens{n.N, n.OK} }
	return Usage{t(u.Input), t(u.Output), t(u.CacheRead), t(u.CacheWrite), t(u.Reasoning), t(u.Total)}
}

// Upper reports whether TTFT is an upper bound: the application had been away
// when the first output came, which may have been earlier. See WithAtOnce.
func (c *Call) Upper() bool { return c.upper }

// Buffered reports whether the output came in one burst after a wait, as
// behind a proxy that holds a stream back: five output events or more, 50 µs
// or less between them in the mean, in a time of at most a tenth of TTFT. TBT
// and TPOT say nothing then and are absent.
func (c *Call) Buffered() bool {
	const events, gap, share = 5, 50 * time.Microsecond, 10
	if c.outputEvents < events || c.ttft <= 0 {
		return false
	}
	burst := c.ttlt - c.ttft
	return burst <= gap*time.Duration(c.outputEvents-1) && burst*share <= c.ttft
}
