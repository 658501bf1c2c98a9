// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"

	"github.com/tacho-go/tacho/internal/conv"
	"github.com/tacho-go/tacho/internal/wire"
)

// Content returns the content of the call, nil unless it was captured; see
// WithContent. It must not be changed.
func (c *Call) Content() *Content {
	if c.facts.Captured == nil {
		return nil
	}
	content, _ := c.facts.Captured.Result.(*Content)
	return content
}

// captures reports whether the content of the call is captured.
//
//go:noinline
func (x *exchange) captures() bool { return x.config.content.mode != NoContent && x.call.api.Text() }

// keepBody returns room for the request's body, nil unless it is captured. A
// form, as sounds are sent, is not.
func (x *exchange) keepBody() *wire.Body {
	switch x.call.api {
	case wire.ChatCompletions, wire.Completions, wire.Responses:
		if g := &x.config.content; g.mode != NoContent {
			return wire.NewBody(g.part, g.all)
		}
	}
	return nil
}

// keepAnswer makes room for the answer's content. The call's own is made once.
func (x *exchange) keepAnswer() bool {
	t := x.tap()
	if !x.captures() && t == nil {
		return false
	}
	f := &x.call.facts
	if f.Captured != nil {
		return true
	}
	if f.Captured = wire.NewCaptured(1, 1); x.captures() {
		f.Captured = wire.NewCaptured(x.config.content.part, x.config.content.all)
	}
	if t != nil {
		t.model(x.call.RequestModel())
		f.Captured.Hear = t.hear
	}
	return true
}

// tellContent makes the content of what was captured, has the hooks look at it,
// and puts what they leave in the record. Nothing of it is left when one panics.
func (x *exchange) tellContent(ctx context.Context) {
	c := x.call
	x.keepAnswer() // there may have been none
	kept := c.facts.Captured
	m := contentMaker{call: c, secrets: x.secrets()}
	var content *Content
	fenced(func() { content = m.content() })
	if q := c.asked().More; q != nil {
		q.Body, q.Stop = nil, nil
	}
	for i := range c.facts.Calls {
		c.facts.Calls[i].Kept = nil
	}
	*kept = wire.Captured{}
	if content == nil {
		return
	}
	for _, f := range x.config.content.hooks {
		whole := false
		fenced(func() {
			f(ctx, c, content)
			whole = true
		})
		if !whole {
			return
		}
	}
	kept.Result = content
}

// contentMaker turns what was captured into messages.
type contentMaker struct {
	call    *Call
	secrets []string
}

func (m *contentMaker) content() *Content {
	c := m.call
	content := &Content{}
	if q := c.asked().More; q != nil {
		content.Stop = q.Stop
		if q.Body != nil {
			m.input(content, q.Body)
		}
	}
	m.output(content)
	if e := c.facts.Captured.Message; c.facts.Error.Present && len(e) > 0 {
		content.ErrorText = string(e)
		if len(e) > maxErrorText-2*utf8.UTFMax {
			content.ErrorText = m.withoutHalves(content.ErrorText)
		}
	}
	content.redact(m.secrets)
	return content
}

// maxErrorText is what is kept of an error's text.
const maxErrorText = 512

// output makes a message of each choice.
func (m *contentMaker) output(content *Content) {
	f := &m.call.facts
	if m.call.status >= 400 {
		return
	}
	said := f.Captured
	ran, asked := m.keptItems(said.Items)
	first := m.message(&said.Choice, ran, f.Calls)
	first.Parts = append(first.Parts, asked...)
	if len(first.Parts) > 0 || len(f.Finish) > 0 && f.Finish[0].Choice == 0 {
		content.Output = append(content.Output, first)
	}
	for i := range said.Others {
		o := &said.Others[i]
		content.Output = append(content.Output, m.message(o, nil, o.Calls))
	}
	for i := range content.Output {
		o := &content.Output[i]
		o.FinishReason = "error" // where one was expected and never came
		if api := m.call.api; api != wire.ChatCompletions && api != wire.Completions && api != wire.Responses && m.call.outcome == Complete {
			o.FinishReason = "stop" // where none is expected
		}
		for _, end := range f.Finish {
			if int(end.Choice) == o.Choice && end.Reason != "" {
				o.FinishReason = bounded(end.Reason)
			}
		}
		switch o.FinishReason {
		case "tool_calls", "function_call":
			o.FinishReason = "tool_call" // as the conventions have it
		}
	}
}

// message is what a choice said. What the server ran stands behind the reasoning,
// for it came before the text.
func (m *contentMaker) message(said *wire.Choice, ran []Part, calls []wire.Call) Message {
	out := Message{Role: "assistant", Choice: int(said.Index)}
	for i, t := range [...]struct {
		kind string
		text *wire.Text
	}{{PartReasoning, &said.Reasoning}, {PartText, &said.Text}, {PartTranscript, &said.Speech}, {PartRefusal, &said.Refusal}} {
		if t.text.Chars > 0 {
			text, lost := m.text(t.text)
			out.add(Part{Type: t.kind, Text: text, Cut: lost})
		}
		if i == 0 {
			out.Parts = append(out.Parts, ran...)
		}
	}
	for i := range calls {
		p := Part{Type: PartToolCall, Index: int(calls[i].Index)}
		if k := calls[i].Kept; k != nil {
			p.ID, p.Name = k.ID, k.Name
			p.Arguments, p.Cut = m.text(&k.Args)
		}
		out.add(p)
	}
	return out
}

// text is a text as it is recorded, and how many characters it lost.
func (m *contentMaker) text(t *wire.Text) (string, int64) {
	lost := t.Cut()
	return m.marked(string(t.B), lost), lost
}

// marked is a text with the mark of what was cut from it.
func (m *contentMaker) marked(s string, lost int64) string {
	if lost == 0 {
		return s
	}
	return fmt.Sprintf("%s…[cut by tacho: %d characters]", m.withoutHalves(s), lost)
}

// withoutHalves leaves out the begin of a credential that a limit has cut in
// two: what is left of it would not be found.
func (m *contentMaker) withoutHalves(s string) string {
	for _, secret := range m.secrets {
		for n := min(len(secret)-1, len(s)); n >= minHalf; n-- {
			if strings.HasSuffix(s, secret[:n]) {
				return s[:len(s)-n] + redacted
			}
		}
	}
	return s
}

// minHalf is the shortest begin of a credential that is taken for one.
const minHalf = 4

// appendContent appends the content by the names of the conventions: as JSON, or
// as structured values.
func (c *Content) appendContent(a []attribute.KeyValue, structured bool) []attribute.KeyValue {
	add := func(key attribute.Key, n int, tree func() []any) {
		switch {
		case n == 0:
		case structured:
			a = append(a, attribute.KeyValue{Key: key, Value: attributeValue(tree())})
		default:
			a = append(a, key.String(jsonText(tree())))
		}
	}
	if len(c.Stop) > 0 {
		a = append(a, conv.StopSequences.StringSlice(c.Stop))
	}
	add(conv.SystemInstructions, len(c.System), func() []any { return partTree(c.System) })
	add(conv.InputMessages, len(c.Input), func() []any { return messageTree(c.Input, false) })
	add(conv.OutputMessages, len(c.Output), func() []any { return messageTree(c.Output, true) })
	add(conv.ToolDefinitions, len(c.Tools), func() []any { return toolTree(c.Tools) })
	return a
}

// told is what the record's JSON has of choice 0.
func (c *Content) told(r *recordJSON) {
	for i := range c.Output {
		if c.Output[i].Choice != 0 {
			continue
		}
		var text, reasoning bytes.Buffer
		for _, p := range c.Output[i].Parts {
			switch p.Type {
			case PartText:
				text.WriteString(p.Text)
			case PartReasoning:
				reasoning.WriteString(p.Text)
			case PartToolCall:
				if p.Index < 0 {
					continue // of an item of its own, no function's
				}
				r.Calls = append(r.Calls, callKey{p.Index, p.ID, p.Name, p.Arguments})
			}
		}
		r.Text, r.Thought = text.String(), reasoning.String()
		return
	}
}
