// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"encoding/base64"
)

// responses is the form of the Responses API: a response made of items, each
// opened by its first step and closed when the next one or the end comes.
type responses struct {
	lines    lines
	ids      ids
	id       string
	model    string
	usage    UsageCounts
	silent   bool // no usage at all
	sequence int
	begun    bool
	audio    bool
	items    [][]byte // the closed items
	open     *item
	out      [][]byte // events of the step at hand
}

// item is the output item that is open.
type item struct {
	kind     stepKind // kindText (a message), kindReasoning or kindToolCall
	id       string
	index    int // of the tool call in the script
	callID   string
	name     string
	text     bytes.Buffer // of the open part, or the arguments
	part     stepKind     // of the open part; kindNone: none
	contents [][]byte     // closed parts of content
	summary  [][]byte     // closed parts of the summary
}

func newResponses(s *Script, c call, id ids, l lines, usage UsageCounts) *responses {
	return &responses{lines: l, ids: id, id: id.next("resp_"), model: c.model, usage: usage, silent: s.UsageShape == UsageNone}
}

func (f *responses) check(st Step) error {
	if st.choice != 0 {
		return noForm(st, "the Responses API for a choice other than 0")
	}
	return nil
}

func (f *responses) events(st Step) [][]byte {
	if e, ok := f.lines.common(st); ok {
		return e
	}
	f.out = nil
	if !f.begun {
		f.begun = true
		for _, name := range []string{"response.created", "response.in_progress"} {
			f.emit(name, func(o *object) { o.raw("response", f.response("in_progress", nil)) })
		}
	}
	switch st.kind {
	case kindRole:
		f.enter(kindText, st)
		f.enterPart(kindText)
	case kindText:
		f.enter(kindText, st)
		f.enterPart(kindText)
		f.delta("response.output_text.delta", st.text)
	case kindRefusal:
		f.enter(kindText, st)
		f.enterPart(kindRefusal)
		f.delta("response.refusal.delta", st.text)
	case kindReasoning:
		f.enter(kindReasoning, st)
		f.enterPart(kindReasoning)
		f.delta("response.reasoning_text.delta", st.text)
	case kindSummary:
		f.enter(kindReasoning, st)
		f.enterPart(kindSummary)
		f.delta("response.reasoning_summary_text.delta", st.text)
	case kindToolCall:
		f.enter(kindToolCall, st)
		if st.text != "" {
			f.open.text.WriteString(st.text)
			f.emit("response.function_call_arguments.delta", func(o *object) {
				f.where(o).str("delta", st.text)
			})
		}
	case kindAudio:
		f.audio = true
		f.emit("response.audio.delta", func(o *object) {
			o.str("delta", base64.StdEncoding.EncodeToString(st.data))
		})
	case kindError:
		f.emit("error", func(o *object) {
			o.strOrNull("code", st.code).str("message", st.text).null("param")
		})
	case kindFinish:
		f.finish(st.text)
	}
	return f.out
}

// emit adds one event with its sequence number.
func (f *responses) emit(name string, fill func(*object)) {
	o := newObject().str("type", name).int("sequence_number", f.sequence)
	f.sequence++
	fill(o)
	f.out = append(f.out, f.lines.event(name, o.end()))
}

// where adds the place of the open item.
func (f *responses) where(o *object) *object {
	return o.str("item_id", f.open.id).int("output_index", len(f.items))
}

// wherePart adds the place of the open part.
func (f *responses) wherePart(o *object) *object {
	if f.open.part == kindSummary {
		return f.where(o).int("summary_index", len(f.open.summary))
	}
	return f.where(o).int("content_index", len(f.open.contents))
}

func (f *responses) delta(name, text string) {
	f.open.text.WriteString(text)
	f.emit(name, func(o *object) { f.wherePart(o).str("delta", text) })
}

// enter makes sure that an item of the kind is open.
func (f *responses) enter(kind stepKind, st Step) {
	if i := f.open; i != nil && i.kind == kind && (kind != kindToolCall || i.index == st.index) {
		return
	}
	f.leave("completed")
	prefix := map[stepKind]string{kindText: "msg_", kindReasoning: "rs_", kindToolCall: "fc_"}[kind]
	f.open = &item{kind: kind, id: f.ids.next(prefix), index: st.index, callID: st.id, name: st.name}
	f.emit("response.output_item.added", func(o *object) {
		o.int("output_index", len(f.items)).raw("item", f.open.json("in_progress"))
	})
}

// leave closes the open item, if there is one.
func (f *responses) leave(status string) {
	i := f.open
	if i == nil {
		return
	}
	f.leavePart()
	if i.kind == kindToolCall {
		f.emit("response.function_call_arguments.done", func(o *object) { f.where(o).str("arguments", i.text.String()) })
	}
	done := i.json(status)
	f.emit("response.output_item.done", func(o *object) { o.int("output_index", len(f.items)).raw("item", done) })
	f.items = append(f.items, done)
	f.open = nil
}

// enterPart makes sure that a part of the kind is open in the open item.
func (f *responses) enterPart(kind stepKind) {
	if f.open.part == kind {
		return
	}
	f.leavePart()
	f.open.part = kind
	name := "response.content_part.added"
	if kind == kindSummary {
		name = "response.reasoning_summary_part.added"
	}
	f.emit(name, func(o *object) { f.wherePart(o).raw("part", part(kind, "")) })
}

func (f *responses) leavePart() {
	i := f.open
	if i.part == kindNone {
		return
	}
	text := i.text.String()
	name, key, end := "response.output_text.done", "text", "response.content_part.done"
	switch i.part {
	case kindRefusal:
		name, key = "response.refusal.done", "refusal"
	case kindReasoning:
		name = "response.reasoning_text.done"
	case kindSummary:
		name, end = "response.reasoning_summary_text.done", "response.reasoning_summary_part.done"
	}
	p := part(i.part, text)
	f.emit(name, func(o *object) { f.wherePart(o).str(key, text) })
	f.emit(end, func(o *object) { f.wherePart(o).raw("part", p) })
	if i.part == kindSummary {
		i.summary = append(i.summary, p)
	} else {
		i.contents = append(i.contents, p)
	}
	i.part = kindNone
	i.text.Reset()
}

// finish sends the terminal event. A second one is sent too, as asked.
func (f *responses) finish(reason string) {
	status, why := outcome(reason)
	itemStatus := "completed"
	if status != "completed" {
		itemStatus = "incomplete"
	}
	f.leave(itemStatus)
	if f.audio {
		f.audio = false
		f.emit("response.audio.done", func(*object) {})
	}
	f.emit("response."+status, func(o *object) { o.raw("response", f.response(status, &why)) })
}
