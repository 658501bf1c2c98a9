// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The reference reader: encoding/json over the whole document, and then the
// facts taken from the tree in the plainest way. It shares nothing with the
// Decoder but the types of the facts.

// object is a JSON object in the order of its text, which decides between two
// names of one thing.
type object []member

type member struct {
	key   string
	value any // object, []any, string, json.Number, bool or nil
}

// parse reads a document. Only an object is one, and only without a name that
// stands twice, anywhere in it.
func parse(doc []byte) (object, bool) {
	if !json.Valid(doc) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	v, ok := parseValue(dec)
	o, isObject := v.(object)
	return o, ok && isObject
}

func parseValue(dec *json.Decoder) (any, bool) {
	t, err := dec.Token()
	switch t {
	case json.Delim('{'):
		o, seen := object{}, map[string]bool{}
		for dec.More() {
			k, _ := dec.Token()
			v, ok := parseValue(dec)
			key := k.(string)
			if !ok || seen[key] {
				return nil, false
			}
			seen[key] = true
			o = append(o, member{key, v})
		}
		_, err = dec.Token()
		return o, err == nil
	case json.Delim('['):
		a := []any{}
		for dec.More() {
			v, ok := parseValue(dec)
			if !ok {
				return nil, false
			}
			a = append(a, v)
		}
		_, err = dec.Token()
		return a, err == nil
	}
	return t, err == nil
}

// members are those of an object; anything else has none.
func members(v any) object {
	o, _ := v.(object)
	return o
}

// each calls f for the objects of an array, or for an object alone.
func each(v any, f func(position int, o object)) {
	switch v := v.(type) {
	case object:
		f(0, v)
	case []any:
		for i, e := range v {
			if o, ok := e.(object); ok {
				f(i, o)
			} else {
				each(e, f)
			}
		}
	}
}

// whole is a number without a fraction, however it is written.
func whole(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	if i, err := n.Int64(); err == nil {
		return i, true
	}
	f, err := n.Float64()
	return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53
}

// reference holds what a sequence of documents came to.
type reference struct {
	api             API
	stream, capture bool

	f     Facts // but for what follows
	ends  map[int32]string
	calls []refCall

	// Of the document being read.
	ev   Event
	err  Error
	resp refEvent

	// Of a Responses stream so far.
	status, reason string
	calling        bool
	told           map[refPart]bool

	// beyond is set by what the Decoder bounds on purpose, or reads in the order
	// in which it comes: there the two need not agree.
	beyond bool
}

type refCall struct {
	index          int32
	hasIndex       bool
	id, name, args string
}

func newReference(api API, stream, capture bool) *reference {
	r := &reference{api: api, stream: stream, capture: capture, ends: map[int32]string{}, told: map[refPart]bool{}}
	if capture {
		r.f.Captured = new(Captured)
	}
	return r
}

// read takes the next document.
func (r *reference) read(doc object) Event {
	r.ev, r.err, r.resp = Event{}, Error{}, refEvent{}
	if r.api == Responses {
		r.response(doc)
	} else {
		r.chat(doc)
	}
	if (r.err.Code != "" || r.err.Type != "") && r.err.HasMessage {
		r.err.Present = true
	}
	if r.api == Responses {
		r.endResponse()
	}
	if r.err.Present {
		r.ev.Error = true
		if !r.f.Error.Present {
			r.f.Error = r.err
		}
	}
	if r.ev.Fault {
		r.f.Faults++
	}
	r.f.Streamed |= r.ev.Channels
	if r.ev.Channels&Reasoning != 0 {
		r.f.Summaries = r.f.Summaries || r.ev.Summary()
		r.f.RawReasoning = r.f.RawReasoning || !r.ev.Summary()
	}
	return r.ev
}

// facts puts together what was read.
func (r *reference) facts() *Facts {
	f := r.f
	for index, reason := range r.ends {
		f.Finish = append(f.Finish, Finish{index, reason})
	}
	slices.SortFunc(f.Finish, func(a, b Finish) int { return int(a.Choice - b.Choice) })
	for _, c := range r.calls {
		call := Call{Index: c.index, HasIndex: c.hasIndex, HasName: c.name != ""}
		if c.id != "" {
			h := fnv.New64a()
			h.Write([]byte(c.id))
			call.Key = h.Sum64()
		}
		if r.capture {
			call.Kept = &KeptCall{ID: c.id, Name: c.name, Args: []byte(c.args)}
		}
		f.Calls = append(f.Calls, call)
	}
	return &f
}

func (r *reference) text(s string) {
	r.f.TextChars += int64(utf8.RuneCountInString(s))
	if r.capture {
		r.f.Captured.Text = append(r.f.Captured.Text, s...)
	}
}

func (r *reference) thought(s string) {
	r.f.ReasoningChars += int64(utf8.RuneCountInString(s))
	if r.capture {
		r.f.Captured.Reasoning = append(r.f.Captured.Reasoning, s...)
	}
}

// common takes the members that the answers of all APIs have.
func (r *reference) common(m member) {
	s, isString := m.value.(string)
	switch m.key {
	case "id":
		if s != "" {
			r.f.ID.Set([]byte(s))
		}
	case "model":
		if s != "" {
			r.f.Model.Set([]byte(s))
		}
	case "service_tier":
		if isString {
			r.f.Tier = s
		}
	case "usage":
		r.usage(m.value)
	case "error":
		if o, ok := m.value.(object); ok {
			r.err.Present = true
			for _, e := range o {
				r.errorMember(e)
			}
		}
		if isString {
			r.err.Present, r.err.HasMessage = true, true
		}
	case "detail":
		if isString {
			r.err.Present, r.err.HasMessage = true, true
		}
	case "timings":
		r.timings("timings.", m.value)
	}
}

func (r *reference) errorMember(m member) {
	s, isString := m.value.(string)
	n, isNumber := m.value.(json.Number)
	switch {
	case m.key == "message" && isString:
		r.err.HasMessage = true
	case m.key == "type" && isString:
		r.err.Type = s
	case m.key == "code" && isString:
		r.err.Code = s
	case m.key == "code" && isNumber:
		r.err.Code = n.String()
	}
}

func (r *reference) usage(v any) {
	u := &r.f.Usage
	for _, m := range members(v) {
		switch m.key {
		case "prompt_tokens", "input_tokens":
			r.count(&u.Input, m.value)
		case "completion_tokens", "output_tokens":
			r.count(&u.Output, m.value)
		case "total_tokens":
			r.count(&u.Total, m.value)
		case "cached_tokens", "num_cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens":
			r.count(&u.CacheRead, m.value)
		case "cache_creation_input_tokens", "cache_write_tokens":
			r.count(&u.CacheWrite, m.value)
		case "reasoning_tokens":
			r.count(&u.Reasoning, m.value)
		case "prompt_tokens_details", "input_tokens_details":
			for _, d := range members(m.value) {
				switch d.key {
				case "cached_tokens", "cache_read_tokens":
					r.count(&u.CacheRead, d.value)
				case "cache_write_tokens", "cache_creation_tokens":
					r.count(&u.CacheWrite, d.value)
				}
			}
		case "completion_tokens_details", "output_tokens_details":
			for _, d := range members(m.value) {
				if d.key == "reasoning_tokens" {
					r.count(&u.Reasoning, d.value)
				}
			}
		case "latency_checkpoint":
			r.timings("latency_checkpoint.", m.value)
		case "queue_time", "prompt_time", "completion_time", "total_time", "time_to_first_token_ms",
			"time_per_output_token_ms", "tokens_per_second", "prompt_tokens_per_second":
			r.timing(m.key, m.value)
		}
	}
}

// count takes a count: what is no whole number is none, and counted as a fault
// if it stands where a number does.
func (r *reference) count(c *Count, v any) {
	if n, ok := whole(v); ok {
		*c = Count{n, true}
		return
	}
	switch v.(type) {
	case json.Number, bool:
		r.ev.Fault = true
	}
}

func (r *reference) timings(prefix string, v any) {
	for _, m := range members(v) {
		for _, end := range []string{"_ms", "_time", "_per_second"} {
			if strings.HasSuffix(m.key, end) && m.key != end {
				r.timing(prefix+m.key, m.value)
			}
		}
	}
}

func (r *reference) timing(name string, v any) {
	n, ok := v.(json.Number)
	x, err := strconv.ParseFloat(n.String(), 64)
	if !ok || err != nil {
		return
	}
	i := slices.IndexFunc(r.f.Timings, func(t Timing) bool { return t.Name == name })
	if i < 0 {
		r.f.Timings = append(r.f.Timings, Timing{name, x})
		return
	}
	r.f.Timings[i].Value = x
}

// The reference's chat and legacy completions.

func (r *reference) chat(doc object) {
	for _, m := range doc {
		switch m.key {
		case "choices":
			each(m.value, r.chatChoice)
		case "x_groq":
			for _, g := range members(m.value) {
				if g.key == "usage" || g.key == "error" {
					r.common(g)
				}
			}
		case "code", "type", "message":
			r.errorMember(m)
		case "time_info", "latency_checkpoint", "sla_metrics":
			r.timings(m.key+".", m.value)
		default:
			r.common(m)
		}
	}
}

// refOutput is what one delta or message holds.
type refOutput struct {
	text           string
	thought        [4]string // by source: only the first that there is counts
	refusal, audio bool
	calls          []refCall
}

func (o *refOutput) reasoning() string {
	for _, s := range o.thought {
		if s != "" {
			return s
		}
	}
	return ""
}

func (o *refOutput) channels() (c Channel) {
	for x, on := range map[Channel]bool{
		Content: o.text != "", Reasoning: o.reasoning() != "", Refusal: o.refusal, Audio: o.audio, ToolCall: o.calls != nil,
	} {
		if on {
			c |= x
		}
	}
	return c
}

func (r *reference) chatChoice(position int, choice object) {
	index, finish := int32(position), ""
	var delta *refOutput
	message := new(refOutput)
	for _, m := range choice {
		s, _ := m.value.(string)
		switch m.key {
		case "index":
			if n, ok := whole(m.value); ok && n >= 0 && n < 1<<20 {
				index = int32(n)
			}
		case "finish_reason":
			finish = s
		case "delta":
			if o, ok := m.value.(object); ok {
				delta = new(refOutput)
				delta.read(o)
			}
		case "message":
			message.read(members(m.value))
		case "text":
			message.text += s
		case "error":
			r.common(m)
		}
	}
	if _, begun := r.ends[index]; !begun || finish != "" {
		r.ends[index] = finish
	}
	out := delta
	if delta == nil {
		out = message
		if r.stream && r.api == ChatCompletions && r.f.Streamed != 0 {
			out = new(refOutput) // it repeats what the deltas said
		}
	}
	if out != message && message.calls != nil || len(out.calls) > maxCalls {
		r.beyond = true // the Decoder notes a call before it knows whether the message counts
	}
	if r.api == Completions && out == message && message.thought[0] == "" && message.reasoning() != "" {
		r.beyond = true // the memo looks for a delta's reasoning
	}
	r.ev.Channels |= out.channels()
	if index != 0 {
		return
	}
	r.text(out.text)
	r.thought(out.reasoning())
	for _, c := range out.calls {
		r.join(c)
	}
}

func (o *refOutput) read(v object) {
	for _, m := range v {
		s, _ := m.value.(string)
		switch m.key {
		case "content":
			o.content(m.value, false)
		case "reasoning_content":
			o.thought[0] += s
		case "reasoning", "reasoning_text", "thinking":
			o.thought[1] += s
		case "reasoning_details":
			each(m.value, func(_ int, detail object) {
				for _, m := range detail {
					if s, _ := m.value.(string); m.key == "text" || m.key == "summary" {
						o.thought[2] += s
					}
				}
			})
		case "refusal":
			o.refusal = o.refusal || s != ""
		case "audio":
			for _, m := range members(m.value) {
				if s, _ := m.value.(string); m.key == "data" || m.key == "transcript" {
					o.audio = o.audio || s != ""
				}
			}
		case "tool_calls":
			each(m.value, func(_ int, call object) { o.call(refCall{}, call) })
		case "function_call":
			if f, ok := m.value.(object); ok {
				o.call(refCall{hasIndex: true}, object{{"function", f}})
			}
		}
	}
}

// content takes a text, or parts that are texts or thoughts.
func (o *refOutput) content(v any, thought bool) {
	switch v := v.(type) {
	case string:
		if thought {
			o.thought[3] += v
		} else {
			o.text += v
		}
	case []any:
		for _, e := range v {
			if p, ok := e.(object); ok {
				o.part(p, thought)
			} else {
				o.content(e, thought)
			}
		}
	case object:
		if thought {
			o.part(v, true) // but an object is no text
		}
	}
}

func (o *refOutput) part(p object, thought bool) {
	for _, m := range p {
		switch s, _ := m.value.(string); m.key {
		case "text":
			o.content(m.value, thought)
		case "thinking", "summary":
			o.content(m.value, true)
		case "refusal":
			o.refusal = o.refusal || s != ""
		}
	}
}

func (o *refOutput) call(c refCall, v object) {
	for _, m := range v {
		s, _ := m.value.(string)
		switch m.key {
		case "index":
			if n, ok := whole(m.value); ok && n >= 0 && n < 1<<20 {
				c.index, c.hasIndex = int32(n), true
			}
		case "id":
			c.id = s
		case "function", "custom":
			for _, m := range members(m.value) {
				switch s, _ := m.value.(string); {
				case m.key == "name" && s != "":
					c.name = s
				case m.key == "arguments" || m.key == "input":
					c.args += s
				}
			}
		}
	}
	if c.id != "" || c.name != "" || c.args != "" {
		o.calls = append(o.calls, c)
	}
}

// join adds a piece to its call: the last one of its index, unless another id
// says otherwise, or without an index of its id.
func (r *reference) join(piece refCall) {
	for i := len(r.calls) - 1; i >= 0; i-- {
		c := &r.calls[i]
		same := piece.id != "" && piece.id == c.id
		if piece.hasIndex {
			same = c.hasIndex && piece.index == c.index && (same || piece.id == "" || c.id == "")
		}
		if !same {
			continue
		}
		if c.id == "" {
			c.id = piece.id
		}
		if c.name == "" {
			c.name = piece.name
		}
		c.args += piece.args
		return
	}
	if !piece.hasIndex {
		piece.index = int32(len(r.calls))
	}
	r.calls = append(r.calls, piece)
}

// The reference's Responses.

// refEvent is what one event holds, refPart the part of the output it is about.
type refEvent struct {
	kind, delta, text string
	part              refPart
	named             bool // an item in it is a call with a name
	early             bool // and stood before the event's type
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
func (r *reference) response(doc object) {
	e := &r.resp
	for _, m := range doc {
		s, isString := m.value.(string)
		n, isWhole := whole(m.value)
		switch m.key {
		case "type":
			switch {
			case r.stream && isString:
				r.beyond = r.beyond || e.kind != "" // the response has a type, too
				e.kind = s
			case isString && s != "error":
				r.err.Type = s
			}
		case "delta":
			e.delta += s
		case "text", "refusal", "arguments", "input", "transcript":
			e.text += s
		case "output_index":
			if isWhole && n >= 0 {
				e.part.output = n
			}
		case "content_index", "summary_index":
			if isWhole && n >= 0 {
				e.part.sub = n
			}
		case "response":
			r.response(members(m.value))
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
			each(m.value, func(_ int, item object) { r.item(item) })
		case "code", "message":
			r.errorMember(m)
		default:
			r.common(m)
		}
	}
}

func (r *reference) item(item object) {
	var kind, text string
	var call refCall
	for _, m := range item {
		s, isString := m.value.(string)
		switch m.key {
		case "type":
			kind = s
		case "name":
			call.name = s
		case "call_id":
			call.id = s
		case "arguments", "input":
			if isString {
				call.args = s
			}
		case "content", "summary":
			each(m.value, func(_ int, part object) {
				for _, m := range part {
					if s, _ := m.value.(string); m.key == "text" {
						text += s
					}
				}
			})
		}
	}
	if r.stream {
		text = "" // it repeats what the deltas said
	}
	switch kind {
	case "message":
		r.text(text)
	case "reasoning":
		r.thought(text)
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
	}
}

func (r *reference) named(call refCall) {
	e := &r.resp
	e.early = e.early || call.name != "" && e.kind == ""
	e.named = e.named || call.name != ""
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
	text := e.delta
	if isDone {
		text = e.text
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
		}
	}
	if name == "output_item.added" && e.named {
		r.ev.Channels |= ToolCall
		r.beyond = r.beyond || e.early
	}
	switch {
	case !r.stream:
		r.finish(r.status)
	case name == "completed" || name == "done":
		r.ev.Terminal = true
		r.finish(r.status)
	case name == "incomplete" || name == "failed":
		r.ev.Terminal = true
		r.finish(name)
	case e.kind == "error":
		r.beyond = r.beyond || !r.err.Present && r.err != Error{} // a code or a message alone
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
