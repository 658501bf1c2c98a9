// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"go.opentelemetry.io/otel/attribute"

	"github.com/tacho-go/tacho/internal/conv"
	"github.com/tacho-go/tacho/internal/wire"
)

// What a span says of a call that has ended.

func (c *Call) spanAttributes(g *config, s *callSets) ([]attribute.KeyValue, int64) {
	var f folding
	// An attribute takes 64 bytes: room for those of most calls and not for all.
	room := 16
	if c.stream {
		room += 6
	}
	if c.asked().More != nil {
		room += 6
	}
	a := make([]attribute.KeyValue, 0, room)
	a = append(a, s.span...)
	a = c.appendRequest(a, &f)
	if !c.facts.ID.Empty() {
		a = append(a, pair(conv.ResponseID, f.text(c.ResponseID())))
	}
	if n := len(c.facts.Finish); n > 0 {
		reasons := make([]string, n)
		for i, end := range c.facts.Finish {
			if reasons[i] = f.word(&g.reasons, end.Reason); end.Reason == "" {
				reasons[i] = "error"
			}
		}
		a = append(a, conv.FinishReasons.StringSlice(reasons))
	}
	u, input := &c.facts.Usage, c.facts.InputTotal()
	for _, n := range [...]struct {
		key   attribute.Key
		count *wire.Count
	}{{conv.InputTokens, &input}, {conv.OutputTokens, &u.Output}, {conv.CacheRead, &u.CacheRead}, {conv.ReasoningTokens, &u.Reasoning}} {
		if n.count.OK {
			a = appendInt(a, n.key, n.count.N)
		}
	}
	if n, ok := c.estimated(); ok {
		if a = appendInt(appendBool(a, conv.UsageEstimated, true), conv.OutputTokens, int64(n.Output)); n.HasInput {
			a = appendInt(a, conv.InputTokens, int64(n.Input))
		}
	}
	if n := u.CacheWrite; n.OK {
		if g.conventions&ConventionsLatest != 0 {
			a = appendInt(a, conv.CacheWrite, n.N)
		}
		if g.conventions&ConventionsV141 != 0 {
			a = appendInt(a, conv.CacheWrite141, n.N)
		}
	}
	if d := c.facts.Detail; d != nil {
		a = appendDetail(a, &f, d, g)
	}
	for _, t := range [...]struct {
		key    attribute.Key
		figure Figure
	}{{conv.TimeToFirstChunk, TTFC}, {conv.TimeToFirstToken, TTFT}, {conv.TimeToFirstOutput, TTFO}, {conv.TimeToLastToken, TTLT}, {conv.TimePerToken, TPOT}} {
		if d, ok := c.Figure(t.figure); ok {
			a = appendNumber(a, t.key, wire.Number{V: inSeconds(d), OK: true})
		}
	}
	if reused, ok := c.Reused(); ok {
		a = appendBool(a, conv.Reused, reused)
	}
	if c.attempt > 1 {
		a = appendInt(a, conv.Attempt, int64(int(c.attempt)))
	}
	if n := len(c.Attempts()); n > 1 {
		a = appendInt(a, conv.Attempts, int64(n))
	}
	if c.upper {
		a = appendBool(a, conv.UpperBound, true)
	}
	if c.Buffered() {
		a = appendBool(a, conv.Buffered, true)
	}
	return a, int64(f)
}

func appendDetail(a []attribute.KeyValue, f *folding, d *wire.Detail, g *config) []attribute.KeyValue {
	if d.Fingerprint != "" {
		a = append(a, pair(conv.Fingerprint, f.word(&g.prints, d.Fingerprint)))
	}
	if g.conventions&ConventionsLatest == 0 {
		return a
	}
	for _, n := range [...]struct {
		key   attribute.Key
		count int64
	}{
		{conv.TextInput, d.In.Text}, {conv.ImageInput, d.In.Image}, {conv.AudioInput, d.In.Audio},
		{conv.TextOutput, d.Out.Text}, {conv.ImageOutput, d.Out.Image}, {conv.AudioOutput, d.Out.Audio},
	} {
		if n.count > 0 {
			a = appendInt(a, n.key, n.count)
		}
	}
	return a
}

// appendRequest appends what the request says. Stop sequences are a text of the
// caller's, told where content is.
func (c *Call) appendRequest(a []attribute.KeyValue, f *folding) []attribute.KeyValue {
	q := c.asked()
	if c.conversation != "" {
		a = append(a, pair(conv.ConversationID, f.text(c.conversation)))
	}
	if q.N.OK && q.N.N != 1 {
		a = append(a, conv.ChoiceCount.Int64(q.N.N))
	}
	a = appendCount(a, conv.MaxTokens, q.MaxTokens)
	a = appendNumber(a, conv.Temperature, q.Temperature)
	a = appendNumber(a, conv.TopP, q.TopP)
	switch c.api {
	case wire.ImagesGenerations, wire.ImagesEdits, wire.ImagesVariations:
		a = appendWord(a, f, conv.OutputType, "image")
	case wire.Speech:
		a = appendWord(a, f, conv.OutputType, "speech")
	}
	m := q.More
	if m == nil {
		return a
	}
	a = appendNumber(a, conv.FrequencyPenalty, m.Frequency)
	a = appendNumber(a, conv.PresencePenalty, m.Presence)
	a = appendCount(a, conv.Seed, m.Seed)
	a = appendCount(a, conv.TopK, m.TopK)
	a = appendCount(a, conv.Dimensions, m.Dimensions)
	a = appendWord(a, f, conv.PreviousResponse, m.Previous)
	a = appendWord(a, f, conv.ReasoningLevel, m.Effort)
	if m.Tier != "auto" {
		a = appendWord(a, f, conv.RequestTier, m.Tier)
	}
	switch m.Format {
	case "json_schema", "json_object":
		a = appendWord(a, f, conv.OutputType, "json")
	case "text":
		a = appendWord(a, f, conv.OutputType, "text")
	default:
		if m.Audio {
			a = appendWord(a, f, conv.OutputType, "speech")
		}
	}
	if m.Encoding != "" {
		a = append(a, conv.EncodingFormats.StringSlice([]string{f.text(m.Encoding)}))
	}
	return a
}

// The following are called often here, and not worth their size in each place.

//go:noinline
func appendCount(a []attribute.KeyValue, key attribute.Key, n wire.Count) []attribute.KeyValue {
	if !n.OK {
		return a
	}
	return append(a, key.Int64(n.N))
}

//go:noinline
func appendInt(a []attribute.KeyValue, key attribute.Key, n int64) []attribute.KeyValue {
	return append(a, key.Int64(n))
}

//go:noinline
func appendBool(a []attribute.KeyValue, key attribute.Key, v bool) []attribute.KeyValue {
	return append(a, key.Bool(v))
}

//go:noinline
func appendNumber(a []attribute.KeyValue, key attribute.Key, n wire.Number) []attribute.KeyValue {
	if !n.OK {
		return a
	}
	return append(a, key.Float64(n.V))
}

//go:noinline
func appendWord(a []attribute.KeyValue, f *folding, key attribute.Key, s string) []attribute.KeyValue {
	if s == "" {
		return a
	}
	return append(a, key.String(f.text(s)))
}
