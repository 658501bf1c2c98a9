// SPDX-License-Identifier: Apache-2.0

package wire

// The items of a response that are neither message nor reasoning nor the call of
// a function: what the server ran itself, and what it asks for in forms of their
// own. They have as many shapes as there are tools, so that capture keeps them
// as they are.

// KeptItem is such an item, up to the limits.
type KeptItem struct {
	Body *Body // its JSON
	// Args are the text that came in pieces before the item was whole: arguments,
	// code, a command.
	Args Text

	key   uint64
	place int32 // among the output, plus 1; 0: not known
}

// rawItem is the item being read.
type rawItem struct {
	body  *Body // nil: none, or one of a kind that is kept otherwise
	from  int   // where its next bytes begin in the piece being read
	whole bool
}

// openRaw begins an item at b[i] of the piece.
func (d *Decoder) openRaw(i int) {
	c := d.facts.Captured
	part := c.part
	if part == 0 {
		part = 1 << 30
	}
	d.kept.raw = rawItem{body: NewBody(part, c.left), from: i}
}

// feedRaw takes the bytes of the item that stand in the piece before i.
func (d *Decoder) feedRaw(b []byte, i int) {
	if r := &d.kept.raw; r.body != nil {
		r.body.Feed(b[r.from:i])
		r.from = i
	}
}

// endRaw takes the last bytes of an item, if it is one that ends at i.
func (d *Decoder) endRaw(b []byte, i int) {
	if f := d.m.top(); f.slot == sItem && !f.array {
		d.feedRaw(b, i)
		d.kept.raw.whole = true
	}
}

// closeRaw keeps the item. A stream tells it up to three times: when it begins,
// when it is whole, and in the response at the end.
func (d *Decoder) closeRaw() {
	r, c := &d.kept.raw, d.facts.Captured
	body, whole := r.body, r.whole
	if *r = (rawItem{}); body == nil {
		return
	}
	place := 1 + max(d.resp.outIndex, d.m.position())
	key := d.tool.call.Key
	named := key != 0
	if !named {
		key = min(uint64(place), maxPlace)
	}
	for i := range c.Items {
		if have := &c.Items[i]; have.key == key && (named || d.stream) {
			if whole {
				c.left += have.Body.Len() - body.Len()
				have.Body = body
			}
			return
		}
	}
	if len(c.Items) < maxCalls {
		c.left -= body.Len()
		c.Items = append(c.Items, KeptItem{Body: body, key: key})
	}
}

// keepItemArgs takes a piece of the text of an item that is told by its place.
func (d *Decoder) keepItemArgs(place int32, piece *Text, whole bool) {
	c := d.facts.Captured
	for i := range c.Items {
		if t := &c.Items[i]; t.place == place {
			if !whole {
				c.add(&t.Args, piece)
			} else if piece.Chars > 0 {
				c.replace(&t.Args, piece)
			}
			return
		}
	}
}
