// SPDX-License-Identifier: Apache-2.0

package sim

import "strconv"

// UsageCounts is a report of tokens. Input and output are totals, of which the
// other fields are parts; what is reported need not be consistent.
//
// Counts that are made by sim: input is the prompt's bytes ÷ 4, rounded up;
// output is the number of steps with output, over all choices; reasoning is the
// number of Reasoning steps.
type UsageCounts struct {
	InputTokens     int
	OutputTokens    int
	CachedTokens    int // of the input, read from a cache
	ReasoningTokens int // of the output
}

// UsageShape says where a stream carries the usage. A shape other than
// UsageAsAsked holds whether the request asked for usage or not. Plain answers
// carry it in their one place, unless the shape is UsageNone; so does the
// Responses API, in the terminal event.
type UsageShape int

const (
	UsageAsAsked       UsageShape = iota // as UsageOnLastChunk, if stream_options.include_usage is true
	UsageNone                            // nowhere
	UsageOnLastChunk                     // on a last chunk with empty choices, as OpenAI does
	UsageOnFinishChunk                   // on every chunk with a finish reason
	UsageOnEveryChunk                    // on every chunk, with the output tokens sent so far
	UsageXGroq                           // on a last chunk under x_groq.usage
)

func (s UsageShape) String() string {
	switch s {
	case UsageAsAsked:
		return "as asked"
	case UsageNone:
		return "none"
	case UsageOnLastChunk:
		return "on last chunk"
	case UsageOnFinishChunk:
		return "on finish chunk"
	case UsageOnEveryChunk:
		return "on every chunk"
	case UsageXGroq:
		return "x_groq"
	}
	return "UsageShape(" + strconv.Itoa(int(s)) + ")"
}

// countUsage counts what the steps will have sent.
func countUsage(prompt int, steps []Step) UsageCounts {
	u := UsageCounts{InputTokens: prompt}
	for _, s := range steps {
		u.add(s)
	}
	return u
}

func (u *UsageCounts) add(s Step) {
	if s.output() {
		u.OutputTokens++
	}
	if s.kind == kindReasoning {
		u.ReasoningTokens++
	}
}

// chat is the usage object of chat and legacy completions.
func (u UsageCounts) chat() []byte {
	o := newObject().
		int("prompt_tokens", u.InputTokens).
		int("completion_tokens", u.OutputTokens).
		int("total_tokens", u.InputTokens+u.OutputTokens).
		raw("prompt_tokens_details", newObject().int("cached_tokens", u.CachedTokens).end()).
		raw("completion_tokens_details", newObject().int("reasoning_tokens", u.ReasoningTokens).end())
	return o.end()
}

// responses is the usage object of the Responses API.
func (u UsageCounts) responses() []byte {
	o := newObject().
		int("input_tokens", u.InputTokens).
		raw("input_tokens_details", newObject().int("cached_tokens", u.CachedTokens).end()).
		int("output_tokens", u.OutputTokens).
		raw("output_tokens_details", newObject().int("reasoning_tokens", u.ReasoningTokens).end()).
		int("total_tokens", u.InputTokens+u.OutputTokens)
	return o.end()
}
