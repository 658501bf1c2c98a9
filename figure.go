// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"time"

	"github.com/tacho-go/tacho/internal/phase"
	"github.com/tacho-go/tacho/internal/wire"
)

// Figure names a duration of a call.
type Figure uint8

// The figures. Those of streams alone say so.
const (
	DNS          Figure = iota // name lookup; absent on a reused connection
	Connect                    // connecting; absent on a reused connection
	TLS                        // TLS handshake; absent on a reused connection
	Send                       // connection had → request written
	Wait                       // request written → first response byte
	TTFB                       // start → first response byte
	TTFC                       // stream: start → first SSE data event of any kind
	TTFT                       // stream: start → first event with output in any channel
	TTFO                       // stream: start → first output that a user sees
	TTLT                       // stream: start → last output event
	Duration                   // start → end
	Gap                        // stream: between two output events in succession
	TPOT                       // stream: time per output token after the first
	NetworkWait                // inside Read, from the first byte on
	ConsumerWait               // outside Read, from the first byte on
	numFigures
)

// String returns the figure's key in the record.
//
//go:noinline
func (f Figure) String() string {
	names := [...]string{"dns", "connect", "tls", "send", "wait", "ttfb", "ttfc", "ttft", "ttfo", "ttlt",
		"duration", "gap", "tpot", "network_wait", "consumer_wait"}
	if int(f) < len(names) {
		return names[f]
	}
	return ""
}

// ofStreams reports whether only streams have the figure.
func (f Figure) ofStreams() bool {
	switch f {
	case TTFC, TTFT, TTFO, TTLT, Gap, TPOT:
		return true
	}
	return false
}

// Figure returns a duration of the call, absent where it is not defined. Gap
// is no single duration: see Gaps.
func (c *Call) Figure(f Figure) (time.Duration, bool) {
	d := absent
	if c.start.IsZero() {
		return 0, false // the zero Call
	}
	switch f {
	case DNS:
		d = c.phases.Phases[phase.DNS]
	case Connect:
		d = c.phases.Phases[phase.Connect]
	case TLS:
		d = c.phases.Phases[phase.TLS]
	case Send:
		d = c.phases.Send
	case Wait:
		d = c.phases.Wait
	case TTFB:
		d = c.ttfb
	case TTFC:
		d = c.ttfc
	case TTFT:
		d = c.ttft
	case TTFO:
		d = c.ttfo
	case TTLT:
		d = c.ttlt
	case Duration:
		d = c.duration
	case TPOT:
		t, ok := c.TPOT()
		return t.Value, ok
	case NetworkWait:
		d = c.network
	case ConsumerWait:
		d = c.consumer
	}
	if d < 0 {
		return 0, false
	}
	return d, true
}

// TTFB returns the time to the first response byte.
func (c *Call) TTFB() (time.Duration, bool) { return c.Figure(TTFB) }

// TTFC returns the time to the first chunk: the first SSE data event of any
// kind, role-only ones included (OpenTelemetry's time_to_first_chunk).
func (c *Call) TTFC() (time.Duration, bool) { return c.Figure(TTFC) }

// TTFT returns the time to the first token: the first event with generated
// output in any channel, on any choice. Role-only, empty and usage events are
// no output.
func (c *Call) TTFT() (time.Duration, bool) { return c.Figure(TTFT) }

// TTFO returns the time to the first output that a user sees: not reasoning.
func (c *Call) TTFO() (time.Duration, bool) { return c.Figure(TTFO) }

// TTLT returns the time to the last token: the last output event.
func (c *Call) TTLT() (time.Duration, bool) { return c.Figure(TTLT) }

// Duration returns the time to the end: the terminal event, else what ended
// the call.
func (c *Call) Duration() (time.Duration, bool) { return c.Figure(Duration) }

// PerToken is a time per token. With Assumed, the tokens of an event were not
// counted but taken as one.
type PerToken struct {
	Value   time.Duration
	Assumed bool
}

// choices is the number of choices asked for or seen.
func (c *Call) choices() int {
	return max(1, int(min(c.asked().N.N, 1<<20)), len(c.facts.Finish))
}

// StreamedTokens returns the tokens that came over the stream: the reported
// output tokens, less the reported reasoning tokens when no reasoning event
// came, plus them when reasoning was streamed and the provider's output count
// leaves it out (reasoning > output). It is absent without reported output,
// and when reasoning was streamed as a summary only, whose tokens nobody counts.
func (c *Call) StreamedTokens() (int64, bool) {
	u := &c.facts.Usage
	if !c.stream || !u.Output.OK {
		return 0, false
	}
	out, reasoning := u.Output.N, max(0, u.Reasoning.N)
	apart := reasoning > out
	switch {
	case c.facts.Summaries && !c.facts.RawReasoning:
		return 0, false
	case c.facts.Streamed&wire.Reasoning == 0 && !apart:
		out -= reasoning
	case c.facts.Streamed&wire.Reasoning != 0 && apart:
		out += reasoning
	}
	return out, true
}

// pace returns the streamed tokens and the time from the first to the last, if
// a rate can be had from them.
func (c *Call) pace() (tokens int64, span time.Duration, ok bool) {
	tokens, ok = c.StreamedTokens()
	if n, counted := c.estimated(); counted && !ok && n.Output > 0 {
		tokens, ok = int64(n.Output), true
	}
	if !ok || c.choices() > 1 || c.outputEvents < 2 || tokens < 2 || c.Buffered() {
		return 0, 0, false
	}
	// Output that came in one Read has no pace that could be told.
	span = c.ttlt - c.ttft
	return tokens, span, span > 0
}

// TPOT returns the time per output token: (TTLT − TTFT) ÷ (streamed tokens −
// k₁), where k₁, the tokens of the first event, is counted (WithTokenCounter) or
// assumed to be 1. Where no usage was reported, counted tokens stand for it. It is
// absent for several choices, fewer than two output events, all of them in one
// Read, a denominator below 1, reasoning summaries and buffered streams.
func (c *Call) TPOT() (PerToken, bool) {
	tokens, span, ok := c.pace()
	if !ok {
		return PerToken{}, false
	}
	if n, counted := c.Counted(); counted && n.First > 0 {
		if tokens <= int64(n.First) {
			return PerToken{}, false
		}
		return PerToken{span / time.Duration(tokens-int64(n.First)), false}, true
	}
	return PerToken{span / time.Duration(tokens-1), true}, true
}

// TokensPerSecond returns streamed tokens ÷ (TTLT − TTFT), absent as TPOT is.
func (c *Call) TokensPerSecond() (float64, bool) {
	tokens, span, ok := c.pace()
	if !ok {
		return 0, false
	}
	return float64(tokens) / inSeconds(span), true
}

// TBT returns the mean time between tokens: each gap shared over the tokens of
// its later event, which are counted (WithTokenCounter), or one is assumed. Absent for several choices,
// buffered streams, and output that all came in one Read.
func (c *Call) TBT() (PerToken, bool) {
	g, ok := c.Gaps()
	if !ok || c.choices() > 1 || c.Buffered() || g.Max == 0 {
		return PerToken{}, false
	}
	if n, counted := c.Counted(); counted && n.First > 0 {
		if n.Output <= n.First {
			return PerToken{}, false
		}
		return PerToken{(c.ttlt - c.ttft) / time.Duration(n.Output-n.First), false}, true
	}
	return PerToken{g.Mean, true}, true
}
