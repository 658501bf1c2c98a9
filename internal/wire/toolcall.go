// SPDX-License-Identifier: Apache-2.0

package wire

// Tool calls of chat answers, in pieces and whole.

type toolScratch struct {
	call Call
	args int64
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

const maxCalls = 128

// addCalls joins the tool calls of the choice being read, those of its delta or
// of its message, to those it had.
func (d *Decoder) addCalls(to *[]Call, side int) {
	before := len(*to)
	for i := range d.tools {
		if t := &d.tools[i]; t.call.InMessage == (side == 1) {
			d.addCall(to, &t.call, before)
		}
	}
}

// addCall joins a piece of a tool call to its call, of which there were so many
// before this document.
//
// By index, or by id where there is no index. Two ids under one index are two
// calls, for some servers number every call 0, unless the second has no name:
// others make up an id for every piece. A piece with nothing of all that goes to
// the last call. Two names in one array are two calls.
func (d *Decoder) addCall(to *[]Call, t *Call, before int) {
	calls := *to
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
			d.facts.Captured.add(&k.Args, &t.Kept.Args)
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
	if t.Kept != nil {
		n.Kept = &KeptCall{ID: t.Kept.ID, Name: t.Kept.Name}
		d.facts.Captured.add(&n.Kept.Args, &t.Kept.Args)
	}
	*to = append(calls, n)
}
