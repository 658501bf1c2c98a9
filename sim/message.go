// SPDX-License-Identifier: Apache-2.0

package sim

import "strings"

// message is the content of one choice, put together from its steps.
type message struct {
	text, reasoning, refusal string
	audio                    []byte
	calls                    []Step // one for each tool call, text holding the whole arguments
	finish                   string
}

func (m *message) reason() string {
	if m.finish == "" {
		return "stop"
	}
	return m.finish
}

// collect puts the messages of all choices together. There is at least one.
func collect(steps []Step) []*message {
	messages := []*message{{}}
	texts := make(map[*string]*strings.Builder)
	add := func(to *string, piece string) {
		b := texts[to]
		if b == nil {
			b = new(strings.Builder)
			texts[to] = b
		}
		b.WriteString(piece)
	}
	for _, st := range steps {
		for st.choice >= len(messages) {
			messages = append(messages, &message{})
		}
		m := messages[st.choice]
		switch st.kind {
		case kindText:
			add(&m.text, st.text)
		case kindReasoning:
			add(&m.reasoning, st.text)
		case kindRefusal:
			add(&m.refusal, st.text)
		case kindAudio:
			m.audio = append(m.audio, st.data...)
		case kindToolCall:
			m.addCall(st)
		case kindFinish:
			m.finish = st.text
		}
	}
	for to, b := range texts {
		*to = b.String()
	}
	return messages
}

func (m *message) addCall(st Step) {
	for i := range m.calls {
		if c := &m.calls[i]; c.index == st.index {
			c.text += st.text
			if c.id == "" {
				c.id = st.id
			}
			if c.name == "" {
				c.name = st.name
			}
			return
		}
	}
	m.calls = append(m.calls, st)
}
