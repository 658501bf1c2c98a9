// SPDX-License-Identifier: Apache-2.0

package wire

// The items of a response: messages, reasoning, calls.

type itemKind uint8

func itemChild(k []byte) slot {
	switch string(k) {
	case "type":
		return rItemType
	case "name":
		return tName
	case "call_id":
		return tID
	case "id":
		return tItemID
	case "arguments", "input":
		return rArgs
	case "content":
		return sItemContent
	case "summary":
		return sItemSummary
	}
	return none
}

// maxPlace is the greatest key of a call that is told by its place.
const maxPlace = 1 << 16

func (d *Decoder) openItem() {
	d.resp.item, d.resp.itemChars, d.resp.itemSummary, d.resp.itemRefusal = itemOther, 0, 0, false
	if d.kept != nil {
		d.kept.item.clear()
		d.kept.summary.clear()
		d.kept.refused.clear()
	}
	d.tool = toolScratch{}
}

// closeItem notes an item's tool call. Those of a stream are noted where they
// are added, and again at the end with all that came.
func (d *Decoder) closeItem() {
	r := &d.resp
	named := d.tool.call.HasName && (r.item == itemFunction || r.item == itemTool)
	if r.item == itemFunction {
		r.anyCall = true
	}
	r.named = r.named || named
	f := d.facts
	switch r.item {
	case itemMessage:
		if r.itemChars > 0 && d.untold(Content) {
			f.TextChars += r.itemChars
			if d.kept != nil {
				f.Captured.add(&f.Captured.Text, &d.kept.item)
			}
		}
		if r.itemRefusal && d.untold(Refusal) && d.kept != nil {
			f.Captured.add(&f.Captured.Refusal, &d.kept.refused)
		}
	case itemReasoning:
		d.closeThought()
	}
	if r.item != itemFunction {
		if d.kept != nil && (r.item == itemOther || r.item == itemTool) {
			d.closeRaw()
		}
		return
	}
	c := d.tool.call
	if c.Key == 0 && d.stream {
		// One without an id is told by its place, when it is told again.
		c.Key = min(1+uint64(max(r.outIndex, d.m.position())), maxPlace)
	}
	for i := range d.facts.Calls {
		if have := &d.facts.Calls[i]; have.Key == c.Key && c.Key != 0 {
			if c.Kept != nil && c.Kept.Args.Chars > 0 {
				f.Captured.replace(&have.kept().Args, &c.Kept.Args)
			}
			return
		}
	}
	if named {
		d.untold(ToolCall)
	}
	if len(d.facts.Calls) < maxCalls {
		c.Index = int32(len(d.facts.Calls))
		if k := c.Kept; k != nil {
			c.Kept = &KeptCall{ID: k.ID, Name: k.Name}
			f.Captured.add(&c.Kept.Args, &k.Args)
		}
		d.facts.Calls = append(d.facts.Calls, c)
	}
}

// closeThought notes an item's reasoning: what it says itself, else its summary.
func (d *Decoder) closeThought() {
	r, f := &d.resp, d.facts
	channel, chars := Reasoning, r.itemChars
	if chars == 0 {
		channel, chars = Reasoning|summary, r.itemSummary
	}
	if chars == 0 || !d.untold(channel) {
		return
	}
	f.ReasoningChars += chars
	if d.kept != nil {
		text := &d.kept.item
		if channel&summary != 0 {
			text = &d.kept.summary
		}
		f.Captured.add(&f.Captured.Reasoning, text)
	}
}

// untold reports whether the output of an item is news: in a stream it is only
// where no delta came, and then this event brings it.
func (d *Decoder) untold(c Channel) bool {
	if d.stream {
		if d.facts.Streamed&c&^summary != 0 && c != ToolCall {
			return false
		}
		d.resp.whole |= c
	}
	return true
}
