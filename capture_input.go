// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"fmt"
	"strings"

	"github.com/tacho-go/tacho/internal/wire"
)

// The content of requests, out of their JSON: the messages of a chat, the prompt
// of a completion, the input and instructions of the Responses API.

// input takes the content of a request.
func (m *contentMaker) input(content *Content, body *wire.Body) {
	q, _ := body.Tree().(map[string]any)
	switch m.call.api {
	case wire.ChatCompletions:
		content.Input = m.messages(q["messages"])
	case wire.Responses:
		content.Input = m.items(q["input"])
		content.System = m.parts(q["instructions"])
	default:
		for _, p := range listOf(q["prompt"]) {
			if parts := m.parts(p); parts != nil { // tokens are no text
				content.Input = append(content.Input, Message{Role: "user", Parts: parts})
			}
		}
	}
	for _, key := range [...]string{"tools", "functions"} {
		for _, t := range listOf(q[key]) {
			if d, ok := m.tool(t); ok {
				content.Tools = append(content.Tools, d)
			}
		}
	}
	if body.Full() {
		content.Input = append(content.Input, messageOf("user", Part{
			Type: PartText, Text: fmt.Sprintf("…[cut by tacho: the rest of a request of more than %d bytes]", body.Len()), Cut: 1}))
	}
}

// messageOf is a message of one part.
func messageOf(role string, p Part) Message {
	msg := Message{Role: role}
	msg.add(p)
	return msg
}

// add appends a part.
//
//go:noinline
func (msg *Message) add(p Part) { msg.Parts = append(msg.Parts, p) }

// listOf is a list, or a list of the one value in its place.
func listOf(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case nil:
		return nil
	}
	return []any{v}
}

// str is a string, with the mark of what was cut from it.
//
//go:noinline
func (m *contentMaker) str(v any) (s string, lost int64) {
	switch v := v.(type) {
	case string:
		return v, 0
	case wire.Cut:
		return m.marked(v.S, v.Lost), v.Lost
	}
	return "", 0
}

// word is a string that is short as a rule.
func (m *contentMaker) word(v any) string {
	s, _ := m.str(v)
	return s
}

func (m *contentMaker) messages(v any) (list []Message) {
	for _, e := range listOf(v) {
		t, ok := e.(map[string]any)
		if !ok {
			continue
		}
		list = append(list, m.chatMessage(t))
	}
	return list
}

func (m *contentMaker) chatMessage(t map[string]any) Message {
	msg := Message{Role: m.word(t["role"]), Name: m.word(t["name"])}
	if msg.Role == "tool" || msg.Role == "function" {
		msg.add(m.response(t["tool_call_id"], t["content"]))
		return msg
	}
	for _, key := range [...]string{"reasoning_content", "reasoning", "thinking"} {
		if s, lost := m.str(t[key]); s != "" {
			msg.add(Part{Type: PartReasoning, Text: s, Cut: lost})
			break
		}
	}
	msg.Parts = append(msg.Parts, m.parts(t["content"])...)
	if s, lost := m.str(t["refusal"]); s != "" {
		msg.add(Part{Type: PartRefusal, Text: s, Cut: lost})
	}
	for i, e := range listOf(t["tool_calls"]) {
		if c, ok := e.(map[string]any); ok {
			msg.add(m.toolCall(i, c["id"], c["function"], c["custom"]))
		}
	}
	if c, ok := t["function_call"].(map[string]any); ok {
		msg.add(m.toolCall(0, nil, c, nil))
	}
	return msg
}

// toolCall is a call that the request repeats.
func (m *contentMaker) toolCall(index int, id, function, custom any) Part {
	f, ok := function.(map[string]any)
	if !ok {
		f, _ = custom.(map[string]any)
	}
	p := Part{Type: PartToolCall, Index: index, ID: m.word(id), Name: m.word(f["name"])}
	if p.Arguments, p.Cut = m.raw(f["arguments"]); p.Arguments == "" {
		p.Arguments, p.Cut = m.raw(f["input"])
	}
	return p
}

// response is what a tool answered: a text, parts of one, or JSON.
func (m *contentMaker) response(id, v any) Part {
	p := Part{Type: PartToolResponse, ID: m.word(id)}
	if list, ok := v.([]any); ok {
		var b strings.Builder
		plain := true
		for _, e := range m.parts(list) {
			plain = plain && e.Type == PartText
			b.WriteString(e.Text)
			p.Cut += e.Cut
		}
		if plain {
			p.Response = b.String()
			return p
		}
		p.Response = jsonText(partTree(m.parts(list)))
		return p
	}
	p.Response, p.Cut = m.raw(v)
	return p
}

// raw is a string as it is, and of any other value its JSON.
func (m *contentMaker) raw(v any) (string, int64) {
	switch v := v.(type) {
	case nil:
		return "", 0
	case string, wire.Cut:
		return m.str(v)
	}
	return jsonText(withMarks(m, v)), 0
}

// plain is withMarks without the members that are credentials by their name, and
// without what may be one in an address.
func (m *contentMaker) plain(v any) any {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, "http://") || strings.HasPrefix(v, "https://") {
			return bareURI(v)
		}
	case wire.Cut:
		return m.word(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = m.plain(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if !isCredentialMember(k) {
				out[k] = m.plain(e)
			}
		}
		return out
	}
	return v
}

// items are those of the Responses API's input.
func (m *contentMaker) items(v any) (list []Message) {
	for _, e := range listOf(v) {
		switch e := e.(type) {
		case string, wire.Cut:
			list = append(list, Message{Role: "user", Parts: m.parts(e)})
		case map[string]any:
			list = append(list, m.item(e))
		}
	}
	return list
}

func (m *contentMaker) item(t map[string]any) Message {
	kind := m.word(t["type"])
	switch kind {
	case "", "message":
		return Message{Role: m.word(t["role"]), Parts: m.parts(t["content"])}
	case "function_call", "custom_tool_call":
		return messageOf("assistant", m.toolCall(0, t["call_id"], t, nil))
	case "function_call_output", "custom_tool_call_output":
		return messageOf("tool", m.response(t["call_id"], t["output"]))
	case "reasoning":
		thoughts := m.parts(t["content"])
		if len(thoughts) == 0 {
			thoughts = m.parts(t["summary"])
		}
		for i := range thoughts {
			thoughts[i].Type = PartReasoning
		}
		return Message{Role: "assistant", Parts: thoughts}
	}
	if strings.HasSuffix(kind, "_call_output") {
		return Message{Role: "tool", Parts: m.itemParts(kind, t)}
	}
	return Message{Role: "assistant", Parts: m.itemParts(kind, t)}
}

// tool is a definition: of a function what it takes, of any other kind its name
// alone, for the rest may hold keys and headers.
func (m *contentMaker) tool(v any) (ToolDefinition, bool) {
	t, ok := v.(map[string]any)
	if !ok {
		return ToolDefinition{}, false
	}
	d := ToolDefinition{Type: m.word(t["type"])}
	f := t
	for _, key := range [...]string{"function", "custom"} {
		if inner, ok := t[key].(map[string]any); ok {
			f = inner
		}
	}
	if d.Type == "" {
		d.Type = "function" // an old one stands bare
	}
	if d.Name = m.word(f["name"]); d.Name == "" {
		if d.Name = m.word(f["server_label"]); d.Name == "" {
			d.Name = d.Type
		}
	}
	d.Description = m.word(f["description"])
	if p, ok := f["parameters"].(map[string]any); ok && d.Type == "function" {
		d.Parameters = jsonText(withMarks(m, p))
	}
	return d, true
}

// withMarks is a tree without cuts, whose strings have the marks.
func withMarks(m *contentMaker, v any) any {
	switch v := v.(type) {
	case wire.Cut:
		return m.word(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withMarks(m, v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = withMarks(m, e)
		}
		return out
	}
	return v
}
