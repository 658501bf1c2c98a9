// SPDX-License-Identifier: Apache-2.0

package sim

import "encoding/base64"

// chat is the form of chat completions.
type chat struct {
	chunks
	reasoning string // the field of a delta
	audio     string // the id of the audio, "" before the first piece
	ids       ids
}

func newChat(s *Script, c call, id ids, l lines, shape UsageShape, usage UsageCounts) *chat {
	f := &chat{ids: id, reasoning: s.ReasoningField}
	if f.reasoning == "" {
		f.reasoning = defaultReasoning
	}
	f.chunks = chunks{lines: l, id: id.next("chatcmpl-"), object: "chat.completion.chunk", model: c.model, shape: shape,
		asked: c.includeUsage, silent: s.UsageShape == UsageNone, usage: usage}
	return f
}

func (f *chat) check(st Step) error {
	if st.kind == kindSummary {
		return noForm(st, "chat completions")
	}
	return nil
}

func (f *chat) events(st Step) [][]byte {
	if e, ok := f.lines.common(st); ok {
		return e
	}
	delta, reason := newObject(), ""
	switch st.kind {
	case kindError:
		return f.failure(st)
	case kindUsage:
		return f.chunk(st, []byte("[]"))
	case kindRole:
		delta.str("role", "assistant").str("content", "")
	case kindText:
		delta.str("content", st.text)
	case kindReasoning:
		delta.str(f.reasoning, st.text)
	case kindRefusal:
		delta.str("refusal", st.text)
	case kindToolCall:
		delta.raw("tool_calls", array(toolCall(st, st.text, true)))
	case kindAudio:
		if f.audio == "" {
			f.audio = f.ids.next("audio_")
		}
		delta.raw("audio", newObject().str("id", f.audio).str("data", base64.StdEncoding.EncodeToString(st.data)).end())
	case kindFinish:
		reason = st.text
	}
	choice := newObject().int("index", st.choice).raw("delta", delta.end()).null("logprobs").
		strOrNull("finish_reason", reason).end()
	return f.chunk(st, array(choice))
}

// toolCall is the JSON of a tool call or of a piece of one.
func toolCall(st Step, args string, indexed bool) []byte {
	o := newObject()
	if indexed {
		o.int("index", st.index)
	}
	function := newObject()
	if st.id != "" {
		o.str("id", st.id)
	}
	if st.id != "" || st.name != "" {
		o.str("type", "function")
	}
	if st.name != "" {
		function.str("name", st.name)
	}
	return o.raw("function", function.str("arguments", args).end()).end()
}

func (f *chat) plain(steps []Step) []byte {
	var choices [][]byte
	for i, m := range collect(steps) {
		choices = append(choices, newObject().int("index", i).raw("message", f.message(m)).null("logprobs").
			str("finish_reason", m.reason()).end())
	}
	o := newObject().str("id", f.id).str("object", "chat.completion").int("created", created).str("model", f.model).
		raw("choices", array(choices...))
	return f.withUsage(o).end()
}

func (f *chat) message(m *message) []byte {
	o := newObject().str("role", "assistant")
	if m.text == "" && (len(m.calls) > 0 || m.refusal != "" || len(m.audio) > 0) {
		o.null("content")
	} else {
		o.str("content", m.text)
	}
	if m.reasoning != "" {
		o.str(f.reasoning, m.reasoning)
	}
	o.strOrNull("refusal", m.refusal)
	if len(m.calls) > 0 {
		var calls [][]byte
		for _, c := range m.calls {
			calls = append(calls, toolCall(c, c.text, false))
		}
		o.raw("tool_calls", array(calls...))
	}
	if len(m.audio) > 0 {
		o.raw("audio", newObject().str("id", f.ids.next("audio_")).str("data", base64.StdEncoding.EncodeToString(m.audio)).end())
	}
	return o.end()
}
