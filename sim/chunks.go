// SPDX-License-Identifier: Apache-2.0

package sim

// chunks is what the chunks of chat and of legacy completions have in common.
type chunks struct {
	lines  lines
	id     string
	object string
	model  string
	shape  UsageShape
	asked  bool // stream_options.include_usage
	silent bool // no usage in plain answers either
	usage  UsageCounts
	sent   UsageCounts // output so far, for UsageOnEveryChunk
}

// chunk wraps choices (a JSON array); finish tells that one of them ends.
func (c *chunks) chunk(st Step, choices []byte) [][]byte {
	o := newObject().str("id", c.id).str("object", c.object).int("created", created).str("model", c.model).
		raw("choices", choices)
	c.sent.add(st)
	switch {
	case c.shape == UsageOnEveryChunk:
		u := c.usage
		u.OutputTokens = min(u.OutputTokens, c.sent.OutputTokens)
		u.ReasoningTokens = min(u.ReasoningTokens, c.sent.ReasoningTokens)
		if st.kind == kindFinish || st.kind == kindUsage {
			u = c.usage
		}
		o.raw("usage", u.chat())
	case c.shape == UsageOnFinishChunk && st.kind == kindFinish:
		o.raw("usage", c.usage.chat())
	case st.kind == kindUsage && c.shape == UsageXGroq:
		o.raw("x_groq", newObject().str("id", c.id).raw("usage", c.usage.chat()).end())
	case st.kind == kindUsage:
		o.raw("usage", c.usage.chat())
	case c.asked:
		o.null("usage")
	}
	return [][]byte{c.lines.event("", o.end())}
}

func (c *chunks) failure(st Step) [][]byte {
	return [][]byte{c.lines.event("", errorObject(st.code, st.typ, st.text))}
}

// withUsage adds the usage to a plain answer.
func (c *chunks) withUsage(o *object) *object {
	if c.silent {
		return o
	}
	return o.raw("usage", c.usage.chat())
}

// completions is the form of legacy completions.
type completions struct {
	chunks
}

func newCompletions(s *Script, c call, id ids, l lines, shape UsageShape, usage UsageCounts) *completions {
	return &completions{chunks{lines: l, id: id.next("cmpl-"), object: "text_completion", model: c.model, shape: shape,
		asked: c.includeUsage, silent: s.UsageShape == UsageNone, usage: usage}}
}

func (f *completions) check(st Step) error {
	switch st.kind {
	case kindRole, kindReasoning, kindSummary, kindRefusal, kindToolCall, kindAudio:
		return noForm(st, "legacy completions")
	}
	return nil
}

func (f *completions) events(st Step) [][]byte {
	if e, ok := f.lines.common(st); ok {
		return e
	}
	text, reason := st.text, ""
	switch st.kind {
	case kindError:
		return f.failure(st)
	case kindUsage:
		return f.chunk(st, []byte("[]"))
	case kindFinish:
		text, reason = "", st.text
	}
	return f.chunk(st, array(completionChoice(st.choice, text, reason)))
}

func completionChoice(index int, text, reason string) []byte {
	return newObject().str("text", text).int("index", index).null("logprobs").strOrNull("finish_reason", reason).end()
}

func (f *completions) plain(steps []Step) []byte {
	var choices [][]byte
	for i, m := range collect(steps) {
		choices = append(choices, completionChoice(i, m.text, m.reason()))
	}
	o := newObject().str("id", f.id).str("object", "text_completion").int("created", created).str("model", f.model).
		raw("choices", array(choices...))
	return f.withUsage(o).end()
}
