// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"encoding/json"
	"time"

	"github.com/tacho-go/tacho/internal/wire"
)

// The record as JSON. Durations are seconds; what is absent is left out.

// MarshalJSON writes the record. Durations are in seconds, Start is RFC 3339
// with nanoseconds, and a figure that does not exist has no key. It holds no
// content of requests or responses unless that was captured, see WithContent:
// then what choice 0 said.
func (c *Call) MarshalJSON() ([]byte, error) {
	r := recordJSON{
		Operation: c.Operation(), API: c.API(), Provider: c.provider, Server: c.server,
		RequestModel: c.RequestModel(), ResponseModel: c.ResponseModel(), ResponseID: c.ResponseID(),
		Conversation: c.conversation, Stream: c.stream, Attempt: c.Attempt(), Attempts: 1, Redirects: c.Redirects(),
		Outcome: c.outcome.String(), Status: int(c.status), Start: c.start.Format(time.RFC3339Nano),
		Phases: c.phasesJSON(), Conn: c.connJSON(),
		TTFB: c.seconds(TTFB), TTFC: c.seconds(TTFC), TTFT: c.seconds(TTFT), TTFO: c.seconds(TTFO), TTLT: c.seconds(TTLT),
		Duration: c.seconds(Duration), NetworkWait: c.seconds(NetworkWait), ConsumerWait: c.seconds(ConsumerWait),
		Usage: c.usageJSON(), Request: c.requestJSON(), RateLimit: c.limitsJSON(),
	}
	if f, ok := c.Failure(); ok {
		r.Error = &errKey{f.Type, f.Code, f.MidStream}
	}
	if tries := c.Attempts(); len(tries) > 1 {
		r.Attempts = len(tries)
		for _, a := range tries {
			r.AttemptList = append(r.AttemptList, tryKey{inSeconds(a.Start), inSeconds(a.Wait), inSeconds(a.Duration), a.Status, a.Error})
		}
	}
	if r.Usage != nil {
		r.UsageSource = "reported"
	}
	c.countedJSON(&r)
	if c.stream && !c.unread {
		c.streamJSON(&r)
	}
	for _, f := range c.facts.Finish {
		var reason *string
		if f.Reason != "" {
			reason = ptr(bounded(f.Reason))
		}
		r.Finish = append(r.Finish, reason)
	}
	if c.status > 0 && c.status < 400 && !c.unread && c.api.Text() {
		r.TextChars, r.Reasoning = &c.facts.TextChars, &c.facts.ReasoningChars
		r.ToolCalls = ptr(len(c.facts.Calls))
	}
	if k := c.Content(); k != nil {
		k.told(&r)
	}
	for _, t := range c.facts.Timings {
		if r.ServerTiming == nil {
			r.ServerTiming = make(map[string]float64)
		}
		r.ServerTiming[bounded(t.Name)] = t.Value
	}
	for _, l := range c.labels {
		if r.Labels == nil {
			r.Labels = make(map[string]string)
		}
		r.Labels[l.Name] = l.Value
	}
	return json.Marshal(r)
}

func (c *Call) streamJSON(r *recordJSON) {
	r.Events, r.OutputEvents, r.DoneSeen = ptr(int(c.events)), ptr(int(c.outputEvents)), &c.done
	if c.firstOutput >= 0 {
		r.FirstOutput, r.FirstChannel = ptr(int(c.firstOutput)), c.firstChannel.String()
	}
	if c.firstVisible >= 0 {
		r.FirstVisible = ptr(int(c.firstVisible))
	}
	r.Terminated = c.terminated()
	if c.upper {
		r.Bound = "upper"
	}
	r.Buffered = c.Buffered()
	if g, ok := c.Gaps(); ok {
		r.Gaps = &gapsKey{Count: g.Count, Min: inSeconds(g.Min), Mean: inSeconds(g.Mean), Max: inSeconds(g.Max)}
		if g.HasStdDev {
			r.Gaps.StdDev = ptr(inSeconds(g.StdDev))
		}
	}
	if t, ok := c.TBT(); ok {
		r.TBT = &tbtKey{inSeconds(t.Value), tokenSource(t)}
	}
	r.TPOT = c.seconds(TPOT)
	if v, ok := c.TokensPerSecond(); ok {
		r.TPS = &v
	}
	if n, ok := c.StreamedTokens(); ok {
		r.Streamed = &n
	}
}

func tokenSource(t PerToken) string {
	if t.Assumed {
		return "assumed"
	}
	return "counted"
}

// terminated says what ended the stream: done, terminal_event or eof; "" when
// it was not seen to end.
func (c *Call) terminated() string {
	switch {
	case c.done:
		return "done"
	case c.terminal:
		return "terminal_event"
	case c.eof:
		return "eof"
	}
	return ""
}

func ptr[T any](v T) *T { return &v }

func (c *Call) seconds(f Figure) *float64 {
	d, ok := c.Figure(f)
	if !ok {
		return nil
	}
	return ptr(inSeconds(d))
}

// inSeconds is d in seconds, rounded once: time.Duration.Seconds rounds the
// whole and the fraction apart, and prints 1.4835964019999999 for 1.483596402.
func inSeconds(d time.Duration) float64 { return float64(d) / 1e9 }

func count(n wire.Count) *int64 {
	if !n.OK {
		return nil
	}
	return &n.N
}

func number(n wire.Number) *float64 {
	if !n.OK {
		return nil
	}
	return &n.V
}

func (c *Call) phasesJSON() *phasesKey {
	p := phasesKey{c.seconds(DNS), c.seconds(Connect), c.seconds(TLS), c.seconds(Send), c.seconds(Wait)}
	if p == (phasesKey{}) {
		return nil
	}
	return &p
}

func (c *Call) connJSON() *connKey {
	k := connKey{Protocol: c.proto}
	if c.phases.Conns > 0 {
		k.Reused = &c.phases.Reused
	}
	if c.phases.Remote != nil {
		k.Remote = c.phases.Remote.String()
	}
	if c.phases.HasTCP {
		t := &c.phases.TCP
		k.RTT, k.RTTVar, k.Retransmits = ptr(inSeconds(t.RTT)), ptr(inSeconds(t.RTTVar)), &t.Retransmits
	}
	if k == (connKey{}) {
		return nil
	}
	return &k
}

func (c *Call) usageJSON() *usageKey {
	u := &c.facts.Usage
	k := usageKey{count(u.Input), count(u.Output), count(u.CacheRead), count(u.CacheWrite), count(u.Reasoning)}
	if k == (usageKey{}) {
		return nil
	}
	return &k
}

func (c *Call) limitsJSON() *limitsKey {
	l := c.facts.Limits
	if l == nil {
		return nil
	}
	k := limitsKey{count(l.LimitRequests), count(l.RemainingRequests), number(l.ResetRequests),
		count(l.LimitTokens), count(l.RemainingTokens), number(l.ResetTokens), number(l.RetryAfter)}
	return &k
}

func (c *Call) requestJSON() *requestKey {
	q := c.asked()
	if !q.Read {
		return nil
	}
	messages := count(q.Messages)
	if c.api != wire.ChatCompletions && c.api != wire.Responses {
		messages = nil // their input is no list of messages
	}
	return &requestKey{count(q.N), count(q.MaxTokens), number(q.Temperature), number(q.TopP),
		q.HasTools, q.IncludeUsage, messages}
}

// countedJSON writes what was counted, in place of usage that was not reported too.
func (c *Call) countedJSON(r *recordJSON) {
	n, ok := c.Counted()
	if !ok {
		return
	}
	k := &countedKey{Output: int64(n.Output), Reasoning: int64(n.Reasoning), First: int64(n.First), Guess: n.Guess}
	if n.HasInput {
		k.Input = ptr(int64(n.Input))
	}
	r.Counted = k
	if _, ok := c.estimated(); ok {
		r.Usage = &usageKey{Input: k.Input, Output: &k.Output}
		r.UsageSource = "estimated"
	}
	if d, ok := c.TokenDrift(); ok {
		r.Drift = new(driftKey)
		if d.HasInput {
			r.Drift.Input = &d.Input
		}
		if d.HasOutput {
			r.Drift.Output = &d.Output
		}
	}
}
