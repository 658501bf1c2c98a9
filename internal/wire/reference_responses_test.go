// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"slices"
	"strings"
)

// The reference's Responses.

// refEvent is what one event holds, refPart the part of the output it is about.
type refEvent struct {
	kind, delta, text string
	part              refPart
	named             bool // an item in it is a call with a name
	code              bool // it has a program's text
	whole             Channel
}

type refPart struct {
	channel     Channel
	output, sub int64
}

// refStreamed are the events, response.NAME.delta and .done, that bring output.
var refStreamed = map[string]Channel{
	"output_text": Content, "refusal": Refusal,
	"reasoning_text": Reasoning, "reasoning": Reasoning,
	"reasoning_summary_text": Reasoning | summary, "reasoning_summary": Reasoning | summary,
	"audio": Audio, "output_audio": Audio,
	"audio.transcript": Audio, "output_audio_transcript": Audio, "audio_transcript": Audio,
	"function_call_arguments": ToolCall, "custom_tool_call_input": ToolCall,
	"mcp_call_arguments": ToolCall, "mcp_call.arguments": ToolCall,
	"code_interpreter_call_code": ToolCall, "code_interpreter_call.code": ToolCall,
	"shell_call_command": ToolCall, "apply_patch_call_operation_diff": ToolCall,
}

// response takes an event or a response object: what an event's response holds
// counts as if the event held it.
func (r *reference) response(doc object, inner bool) {
	e := &r.resp
	for _, m := range doc {
		if inner && !slices.Contains([]string{"id", "model", "status", "output", "item", "usage", "error", "errors", "detail", "incomplete_details", "service_tier", "timings", "base_resp", "response"}, m.key) {
			continue // an event's own
		}
		s, isString := m.value.(string)
		n, isWhole := whole(m.value)
		switch m.key {
		case "type":
			switch {
			case r.stream && isString:
				e.kind = s
			case isString:
				r.errorMember(m, false)
			}
		case "delta":
			for _, d := range members(m.value) {
				if s, _ := d.value.(string); d.key == "text" {
					e.delta = s
				}
			}
			if isString {
				e.delta = s
			}
		case "text", "refusal", "arguments", "input", "transcript", "command", "diff":
			if isString {
				e.text = s
			}
		case "output_index":
			if isWhole && n >= 0 {
				e.part.output = n
			}
		case "content_index", "summary_index":
			if isWhole && n >= 0 {
				e.part.sub = n
			}
		case "response":
			r.response(members(m.value), true)
		case "status":
			if isString {
				r.status = s
			}
		case "incomplete_details":
			for _, m := range members(m.value) {
				if s, ok := m.value.(string); ok && m.key == "reason" {
					r.reason = s
				}
			}
		case "output", "item":
			r.says.payload = true
			each(m.value, func(_ int, item object) { r.item(item) })
		case "code":
			r.errorMember(m, false)
			if isString {
				e.code = s != ""
			}
		default:
			r.common(m)
		}
	}
}

func (r *reference) item(item object) {
	var kind, text, summed string
	refused := ""
	var call refCall
	for _, m := range item {
		s, isString := m.value.(string)
		switch m.key {
		case "type":
			if isString {
				kind = s
			}
		case "name":
			if s != "" {
				call.name = s
			}
		case "call_id":
			if s != "" {
				call.id = s
			}
		case "arguments", "input":
			if isString {
				call.args = s
			}
		case "content", "summary":
			into := &text
			if m.key == "summary" {
				into = &summed
			} else {
				text += s
				for _, e := range listOf(m.value) {
					s, _ := e.(string)
					text += s
				}
			}
			each(m.value, func(_ int, part object) {
				for _, m := range part {
					switch s, _ := m.value.(string); m.key {
					case "text":
						*into += s
					case "refusal":
						refused += s
					}
				}
			})
		}
	}
	switch kind {
	case "message":
		if text != "" && (!r.stream || r.f.Streamed&Content == 0) {
			r.text(text)
			r.resp.whole |= Content
		}
		if refused != "" && (!r.stream || r.f.Streamed&Refusal == 0) {
			r.refuse(refused)
			r.resp.whole |= Refusal
		}
	case "reasoning":
		channel := Reasoning
		if text == "" {
			channel, text = Reasoning|summary, summed
		}
		if text != "" && (!r.stream || r.f.Streamed&Reasoning == 0) {
			r.thought(text)
			r.resp.whole |= channel
		}
	case "mcp_call":
		r.named(call)
	case "function_call", "custom_tool_call":
		r.named(call)
		r.calling = true
		for i := range r.calls {
			if r.calls[i].id == call.id {
				r.beyond = r.beyond || call.id == "" // one call or two: nothing tells
				if call.args != "" {
					r.calls[i].args = call.args
				}
				return
			}
		}
		call.index = int32(len(r.calls))
		r.calls = append(r.calls, call)
		if call.name != "" {
			r.resp.whole |= ToolCall
		}
	}
}

func listOf(v any) []any {
	l, _ := v.([]any)
	return l
}

func (r *reference) named(call refCall) {
	e := &r.resp
	e.named = e.named || call.name != ""
}

func (r *reference) refuse(s string) {
	if r.capture {
		r.f.Captured.Refusal.append(s)
	}
}

// keepArgs gives the arguments of an event to the call whose item stands there.
func (r *reference) keepArgs(isDone bool) {
	e := &r.resp
	for i := range r.calls {
		if c := &r.calls[i]; c.place == e.part.output+1 {
			if !isDone {
				c.args += e.delta
			} else if e.text != "" {
				c.args = e.text
			}
			return
		}
	}
}

func (r *reference) endResponse() {
	e := &r.resp
	name, _ := strings.CutPrefix(e.kind, "response.")
	if name == e.kind {
		name = ""
	}
	stem, isDelta := strings.CutSuffix(name, ".delta")
	stem, isDone := strings.CutSuffix(stem, ".done")
	part := e.part
	if isDelta != isDone {
		part.channel = refStreamed[stem]
	}
	if r.stream && name == "output_item.added" {
		for i := r.before; i < len(r.calls); i++ {
			r.calls[i].place = e.part.output + 1
		}
	}
	if r.capture && r.stream && part.channel == ToolCall {
		r.keepArgs(isDone)
	}
	text := e.delta
	if isDone {
		text = e.text
		if e.code && part.channel == ToolCall {
			text = "code"
		}
		if r.told[part] {
			text = ""
		}
	}
	if part.channel != 0 && text != "" {
		r.ev.Channels |= part.channel
		if isDelta {
			r.told[part] = true
		}
		switch part.channel &^ summary {
		case Content:
			r.text(text)
		case Reasoning:
			r.thought(text)
		case Refusal:
			r.refuse(text)
		}
	}
	if r.stream {
		r.ev.Channels |= e.whole
	}
	if name == "output_item.added" && e.named {
		r.ev.Channels |= ToolCall
	}
	switch {
	case !r.stream:
		r.finish(r.status)
	case name == "completed" || name == "done":
		r.ev.Terminal = true
		if r.status == "" || r.status == "in_progress" || r.status == "queued" {
			r.finish("completed")
		} else {
			r.finish(r.status)
		}
	case name == "incomplete" || name == "failed":
		r.ev.Terminal = true
		r.err.Present = r.err.Present || name == "failed"
		r.finish(name)
	case e.kind == "error":
		r.ev.Terminal, r.err.Present = true, true
		r.ends[0] = "error"
	case r.status != "" && len(r.ends) == 0:
		r.ends[0] = ""
	}
}

func (r *reference) finish(status string) {
	reason := status
	switch status {
	case "":
		return
	case "completed":
		reason = "stop"
		if r.calling {
			reason = "tool_calls"
		}
	case "incomplete":
		reason = r.reason
		if reason == "" || reason == "max_output_tokens" {
			reason = "length"
		}
	case "failed":
		reason = "error"
	case "queued", "in_progress":
		reason = r.ends[0]
	}
	r.ends[0] = reason
}
