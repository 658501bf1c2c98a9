// SPDX-License-Identifier: Apache-2.0

package wire

// Chat Completions and legacy Completions: choices with deltas or messages.

// output is what one delta or message holds, before its choice is known.
type output struct {
	content   int64    // code points
	reasoning [4]int32 // by source: reasoning_content, reasoning, details, parts
	refusal   bool
	tool      bool
	audio     bool
	seen      bool
}

// source is the one source of reasoning that counts; some deltas carry the
// same text under two names.
func (o *output) source() int {
	for i, n := range o.reasoning {
		if n > 0 {
			return i
		}
	}
	return 0
}

func (o *output) channels() (c Channel) {
	if o.content > 0 {
		c |= Content
	}
	if o.reasoning[o.source()] > 0 {
		c |= Reasoning
	}
	if o.refusal {
		c |= Refusal
	}
	if o.tool {
		c |= ToolCall
	}
	if o.audio {
		c |= Audio
	}
	return c
}

type choiceScratch struct {
	_       [0]func() // not to be compared: no code for it is linked
	index   int32
	finish  string
	delta   output
	message output
	cur     *output
}

func chatChild(k []byte) slot {
	switch string(k) {
	case "id":
		return sID
	case "model":
		return sModel
	case "choices":
		return sChoice
	case "usage":
		return sUsage
	case "x_groq":
		return sXGroq
	case "service_tier":
		return sTier
	case "system_fingerprint":
		return sFingerprint
	case "time_info":
		return gTimeInfo
	case "timings":
		return gTimings
	case "latency_checkpoint":
		return gCheckpoint
	case "sla_metrics":
		return gSLA
	}
	return outerChild(k)
}

func choiceChild(k []byte) slot {
	switch string(k) {
	case "index":
		return cIndex
	case "finish_reason":
		return cFinish
	case "delta":
		return sDelta
	case "message":
		return sMessage
	case "text":
		return cText
	case "error":
		return sError
	case "usage":
		return sUsage // Moonshot's, on the finish chunk
	}
	return none
}

func deltaChild(k []byte) slot {
	switch string(k) {
	case "content":
		return cContent
	case "reasoning_content":
		return cReason0
	case "reasoning", "reasoning_text", "thinking":
		return cReason1
	case "reasoning_details":
		return sRDetail
	case "refusal":
		return cRefusal
	case "tool_calls":
		return sTool
	case "function_call":
		return sFuncCall
	case "audio":
		return sAudio
	}
	return none
}

// partChild is the table of one element of a content array.
func partChild(k []byte) slot {
	switch string(k) {
	case "text":
		return cContent
	case "refusal":
		return cRefusal
	case "thinking", "summary":
		return cThought
	}
	return none
}

// openChoice and its like begin an object of their table.
func (d *Decoder) openChoice() {
	d.choices++
	c := &d.choice
	c.index, c.finish, c.cur = -1, "", &c.delta
	c.delta, c.message = output{}, output{}
	if d.kept != nil {
		d.kept.reset()
	}
	d.tools = d.tools[:0]
}

func (d *Decoder) openOutput(o *output) {
	d.choice.cur = o
	o.seen = true
}

// generatedChat takes a complete string of generated text. A member that stands
// twice has its last value; the parts of an array add up.
func (d *Decoder) generatedChat(s slot, chars int64, kept []byte) {
	o, side := d.choice.cur, 0
	if s == cText {
		o = &d.choice.message // some servers repeat a chat delta's content there
	}
	if o == &d.choice.message {
		side = 1
	}
	o.seen = true
	if chars == 0 {
		return // which takes back nothing that another name said
	}
	at := d.m.top().slot
	member := at == sDelta || at == sMessage || at == sChoice
	switch s {
	case cContent, cText:
		if member {
			o.content = 0
		}
		o.content += chars
		if d.kept != nil {
			d.kept.keep(&d.kept.text[side], kept, chars, member)
		}
	case cRefusal:
		o.refusal = true
		if d.kept != nil {
			d.kept.keep(&d.kept.refusal[side], kept, chars, member)
		}
	case cReason0, cReason1, cReason2, cThought:
		i := int(s - cReason0)
		if member {
			o.reasoning[i] = 0
		}
		o.reasoning[i] += int32(min(chars, 1<<30))
		if d.kept != nil {
			d.kept.keep(&d.kept.thought[side][i], kept, chars, member)
		}
	case cAudio, cSpeech:
		o.audio = true
		if s == cSpeech && d.kept != nil {
			d.kept.keep(&d.kept.speech[side], kept, chars, true)
		}
	case tArgs:
		d.tool.args = chars
		if d.kept != nil {
			d.kept.keep(&d.tool.call.kept().Args, kept, chars, true)
		}
	}
}

// closeChoice adds up a choice, now that its index is known: it may stand
// behind the delta, or nowhere.
func (d *Decoder) closeChoice() {
	c := &d.choice
	if c.index < 0 {
		c.index = d.m.position()
	}
	end := d.facts.choice(c.index)
	if c.finish != "" {
		end.Reason = c.finish
	}
	o, side := &c.delta, 0
	switch {
	case !d.stream && c.message.channels() != 0, // Perplexity's answers have an empty delta beside
		!o.seen && (!d.stream || d.facts.Streamed == 0 || d.api == Completions):
		o, side = &c.message, 1
	}
	d.ev.Channels |= o.channels()
	src := o.source()
	var keep *Choice
	if d.kept != nil {
		keep = d.keepChoice(c.index, side, src)
	}
	if c.index != 0 {
		if keep != nil {
			d.addCalls(&keep.Calls, side)
		}
		return
	}
	d.facts.TextChars += o.content
	d.facts.ReasoningChars += int64(o.reasoning[src])
	d.addCalls(&d.facts.Calls, side)
}
