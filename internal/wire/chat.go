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

// captured are the texts of the choice being read: of its delta and of its
// message, the reasoning by source.
type captured struct {
	text    [2][]byte
	thought [2][4][]byte
	delta   []byte // Responses: of the event, its delta and its ".done" text
	done    []byte
	item    []byte // of the item, its text and its summary
	summary []byte
}

func (c *captured) reset() {
	for i := range c.text {
		c.text[i] = c.text[i][:0]
		for j := range c.thought[i] {
			c.thought[i][j] = c.thought[i][j][:0]
		}
	}
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
	index   int32
	finish  string
	delta   output
	message output
	cur     *output
}

type toolScratch struct {
	call Call
	args int64
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

func toolChild(k []byte) slot {
	switch string(k) {
	case "index":
		return tIndex
	case "id":
		return tID
	case "function", "custom":
		return sFunc
	}
	return none
}

func funcChild(k []byte) slot {
	switch string(k) {
	case "name":
		return tName
	case "arguments", "input":
		return tArgs
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
			keep(&d.kept.text[side], kept, member)
		}
	case cRefusal:
		o.refusal = true
	case cReason0, cReason1, cReason2, cThought:
		i := int(s - cReason0)
		if member {
			o.reasoning[i] = 0
		}
		o.reasoning[i] += int32(min(chars, 1<<30))
		if d.kept != nil {
			keep(&d.kept.thought[side][i], kept, member)
		}
	case cAudio:
		o.audio = true
	case tArgs:
		d.tool.args = chars
		if d.kept != nil {
			keep(&d.tool.call.kept().Args, kept, true)
		}
	}
}

// keep adds a text to what capture keeps, or puts it in its place.
func keep(dst *[]byte, text []byte, instead bool) {
	if instead {
		*dst = (*dst)[:0]
	}
	*dst = append(*dst, text...)
}

func (d *Decoder) toolText(s slot, b []byte) {
	if len(b) == 0 {
		return
	}
	c := &d.tool.call
	if s == tID {
		c.Key = hash(b)
	} else {
		c.HasName = true
	}
	if d.kept == nil {
		return
	}
	if s == tID {
		c.kept().ID = string(b)
	} else {
		c.kept().Name = string(b)
	}
}

// kept makes room for what capture keeps.
func (c *Call) kept() *KeptCall {
	if c.Kept == nil {
		c.Kept = new(KeptCall)
	}
	return c.Kept
}

// hash is FNV-1a (Fowler, Noll, Vo), never 0.
func hash(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return max(h, 1)
}

func (d *Decoder) closeTool() {
	t := &d.tool
	if t.args == 0 && t.call.Key == 0 && !t.call.HasName {
		return
	}
	d.choice.cur.tool = true
	if len(d.tools) == maxCalls {
		return
	}
	t.call.InMessage = d.choice.cur == &d.choice.message
	d.tools = append(d.tools, *t)
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
	if c.index != 0 {
		return
	}
	src := o.source()
	d.facts.TextChars += o.content
	d.facts.ReasoningChars += int64(o.reasoning[src])
	if d.kept != nil {
		d.facts.Captured.add(d.kept.text[side], d.kept.thought[side][src])
	}
	before := len(d.facts.Calls)
	for i := range d.tools {
		if t := &d.tools[i]; t.call.InMessage == (side == 1) {
			d.addCall(&t.call, before)
		}
	}
}

func (c *Captured) add(text, reasoning []byte) {
	c.Text = append(c.Text, text...)
	c.Reasoning = append(c.Reasoning, reasoning...)
}

const maxCalls = 128

// addCall joins a piece of a tool call to its call, of which there were so many
// before this document.
//
// By index, or by id where there is no index. Two ids under one index are two
// calls, for some servers number every call 0, unless the second has no name:
// others make up an id for every piece. A piece with nothing of all that goes to
// the last call. Two names in one array are two calls.
func (d *Decoder) addCall(t *Call, before int) {
	calls := d.facts.Calls
	for i := len(calls) - 1; i >= 0; i-- {
		c := &calls[i]
		var same bool
		switch {
		case i >= before && t.HasName && c.HasName:
		case t.HasIndex:
			same = c.HasIndex && t.Index == c.Index && (t.Key == 0 || c.Key == 0 || t.Key == c.Key || !t.HasName)
		default:
			same = t.Key != 0 && t.Key == c.Key || !t.HasName && i == len(calls)-1
		}
		if !same {
			continue
		}
		if t.Kept != nil {
			k := c.kept()
			if c.Key == 0 {
				k.ID = t.Kept.ID
			}
			if !c.HasName {
				k.Name = t.Kept.Name
			}
			k.Args = append(k.Args, t.Kept.Args...)
		}
		if c.Key == 0 {
			c.Key = t.Key
		}
		c.HasName = c.HasName || t.HasName
		return
	}
	if len(calls) == maxCalls {
		return
	}
	n := *t
	n.InMessage = false // it has been asked
	if !n.HasIndex {
		n.Index = int32(len(calls))
	}
	d.facts.Calls = append(calls, n)
}
