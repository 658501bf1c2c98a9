// SPDX-License-Identifier: Apache-2.0

package wire

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
		case "time_info", "latency_checkpoint", "sla_metrics":
			r.timings(m.key+".", m.value)
		default:
			r.common(m)
		}
	}
}

// refOutput is what one delta or message holds.
type refOutput struct {
	text    string
	thought [4]string // by source: only the first that there is counts
	refusal string
	speech  string
	audio   bool
	calls   []refCall
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
		Content: o.text != "", Reasoning: o.reasoning() != "", Refusal: o.refusal != "", Audio: o.audio, ToolCall: o.calls != nil,
	} {
		if on {
			c |= x
		}
	}
	return c
}

func (r *reference) chatChoice(position int, choice object) {
	r.choices++
	index, finish := int32(position), ""
	var delta *refOutput
	message := new(refOutput)
	for _, m := range choice {
		s, isString := m.value.(string)
		switch m.key {
		case "index":
			if n, ok := whole(m.value); ok && n >= 0 && n < 1<<20 {
				index = int32(n)
			}
		case "finish_reason":
			if isString {
				finish = s
			}
		case "delta":
			if o, ok := m.value.(object); ok {
				delta = new(refOutput)
				delta.read(o)
			}
		case "message":
			message.read(members(m.value))
		case "text":
			if s != "" {
				message.text = s
			}
		case "error", "usage":
			r.common(m)
		}
	}
	if _, begun := r.ends[index]; !begun || finish != "" {
		r.ends[index] = finish
	}
	out := delta
	if !r.stream && message.channels() != 0 {
		out = message
	} else if delta == nil {
		out = message
		if r.stream && r.api == ChatCompletions && r.f.Streamed != 0 {
			out = new(refOutput) // it repeats what the deltas said
		}
	}
	if len(out.calls) > maxCalls {
		r.beyond = true
	}
	r.ev.Channels |= out.channels()
	if r.capture {
		r.keep(index, out)
	}
	if index == 0 {
		r.text(out.text)
		r.thought(out.reasoning())
		join(&r.calls, out.calls)
	}
}

// keep takes what capture keeps beyond the texts of choice 0.
func (r *reference) keep(index int32, out *refOutput) {
	to := &r.f.Captured.Choice
	if index != 0 {
		if r.others[index] == nil {
			r.others[index] = &refChoice{Choice: Choice{Index: index}}
		}
		o := r.others[index]
		to = &o.Choice
		to.Text.append(out.text)
		to.Reasoning.append(out.reasoning())
		join(&o.calls, out.calls)
	}
	to.Refusal.append(out.refusal)
	to.Speech.append(out.speech)
}

// refChoice is a choice other than the first.
type refChoice struct {
	Choice
	calls []refCall
}

func (o *refOutput) read(v object) {
	for _, m := range v {
		s, _ := m.value.(string)
		switch m.key {
		case "content":
			if s != "" {
				o.text = ""
			}
			o.content(m.value, false)
		case "reasoning_content":
			if s != "" {
				o.thought[0] = s
			}
		case "reasoning", "reasoning_text", "thinking":
			if s != "" {
				o.thought[1] = s
			}
		case "reasoning_details":
			each(m.value, func(_ int, detail object) {
				for _, m := range detail {
					if s, _ := m.value.(string); m.key == "text" || m.key == "summary" {
						o.thought[2] += s
					}
				}
			})
		case "refusal":
			if s != "" {
				o.refusal = s
			}
		case "audio":
			for _, m := range members(m.value) {
				if s, _ := m.value.(string); m.key == "data" || m.key == "transcript" {
					if o.audio = o.audio || s != ""; s != "" && m.key == "transcript" {
						o.speech = s
					}
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
			o.refusal += s
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
			if s != "" {
				c.id = s
			}
		case "function", "custom":
			for _, m := range members(m.value) {
				switch s, _ := m.value.(string); {
				case m.key == "name" && s != "":
					c.name = s
				case s != "" && (m.key == "arguments" || m.key == "input"):
					c.args = s
				}
			}
		}
	}
	if c.id != "" || c.name != "" || c.args != "" {
		o.calls = append(o.calls, c)
	}
}

// join adds the pieces of a document.
func join(calls *[]refCall, pieces []refCall) {
	before := len(*calls)
	for _, c := range pieces {
		*calls = joinPiece(*calls, c, before)
	}
}

// joinPiece adds a piece to its call, of which there were so many before the
// document: the last one of its index, unless another id and a name say
// otherwise; without an index the one of its id, or without a name the last.
func joinPiece(calls []refCall, piece refCall, before int) []refCall {
	for i := len(calls) - 1; i >= 0; i-- {
		c := &calls[i]
		same := piece.id != "" && piece.id == c.id
		if piece.hasIndex {
			same = c.hasIndex && piece.index == c.index && (same || piece.id == "" || c.id == "" || piece.name == "")
		} else if piece.name == "" && i == len(calls)-1 {
			same = true
		}
		if piece.name != "" && c.name != "" && i >= before {
			same = false
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
		return calls
	}
	if !piece.hasIndex {
		piece.index = int32(len(calls))
	}
	return append(calls, piece)
}
