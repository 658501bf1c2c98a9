// SPDX-License-Identifier: Apache-2.0

package wire

import "unicode/utf8"

// What capture keeps of an answer: the texts of every choice, up to a limit.
// Without it a Decoder counts them and keeps none.

// Text is a text that is kept up to a limit.
type Text struct {
	B     []byte
	Chars int64 // code points of the whole
	full  bool  // what comes from now on is counted only
}

// Cut returns how many code points of the text were not kept.
func (t *Text) Cut() int64 { return max(0, t.Chars-int64(utf8.RuneCount(t.B))) }

// Choice is what one choice of an answer said.
type Choice struct {
	Index                            int32
	Text, Reasoning, Refusal, Speech Text
	Calls                            []Call // of choice 0 they are the Facts' own
}

// Captured is the content of an answer.
type Captured struct {
	Choice          // the first, 0
	Others []Choice // ascending
	// Items are those of a response that have no form of their own, in order.
	Items []KeptItem
	// Message is the text of the error, of the first maxToken bytes.
	Message []byte
	// Result is what the layer above has made of it; none of the Decoder's.
	Result any

	// Hear takes each piece of text as it comes: of what a choice says in a channel,
	// or of a tool call's arguments, which args tells from those of others. nil is
	// nobody. It must not keep the piece.
	Hear func(choice int32, kind Channel, args *Text, text []byte)

	part int // bytes kept of one text; 0: no limit
	left int // bytes that may still be kept in all
}

// NewCaptured returns room for the content of an answer, of which it keeps so
// many bytes of one text and of all; 0 is no limit.
func NewCaptured(part, all int) *Captured {
	if all == 0 {
		all = 1 << 62
	}
	return &Captured{part: part, left: all}
}

// add adds a piece of so many code points, of which fewer may have been kept.
func (c *Captured) add(t *Text, piece *Text) {
	if c.Hear != nil && len(piece.B) > 0 {
		c.tellHearer(t, piece.B)
	}
	t.Chars += piece.Chars
	if t.full {
		return
	}
	room := c.left
	if c.part > 0 {
		room = min(room, c.part-len(t.B))
	}
	b, cut := firstBytes(piece.B, room)
	t.B = append(t.B, b...)
	c.left -= len(b)
	t.full = cut || piece.Cut() > 0
}

// tellHearer says what a piece is of.
func (c *Captured) tellHearer(t *Text, b []byte) {
	kind, args, choice := ToolCall, t, int32(0)
	of := func(o *Choice) {
		switch t {
		case &o.Text:
			kind = Content
		case &o.Reasoning:
			kind = Reasoning
		case &o.Refusal:
			kind = Refusal
		case &o.Speech:
			kind = Audio
		default:
			return
		}
		args, choice = nil, o.Index
	}
	of(&c.Choice)
	for i := range c.Others {
		of(&c.Others[i])
	}
	if kind != Audio { // whose tokens are of another kind
		c.Hear(choice, kind, args, b)
	}
}

// maxHeard bounds the pieces that are heard.
const maxHeard = 1 << 20

// scratch is how many bytes of a text an event or a document may have.
func (c *Captured) scratch() int {
	if c.Hear != nil && c.part > 0 {
		return max(c.part, maxHeard)
	}
	return c.part
}

// replace puts a whole text in the place of its pieces.
func (c *Captured) replace(t, whole *Text) {
	c.left += len(t.B)
	heard := t.Chars > 0
	hear := c.Hear
	if *t = (Text{}); heard {
		c.Hear = nil
	}
	c.add(t, whole)
	c.Hear = hear
}

// firstBytes returns as much of b as fits, whole runes, and whether that is less.
func firstBytes(b []byte, room int) ([]byte, bool) {
	if len(b) <= room {
		return b, false
	}
	n := max(0, room)
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n], true
}

// choice returns a choice, which it makes when it is new; nil beyond maxChoices.
func (c *Captured) choice(index int32) *Choice {
	if index == 0 {
		return &c.Choice
	}
	i := len(c.Others)
	for i > 0 && c.Others[i-1].Index >= index {
		i--
	}
	if i < len(c.Others) && c.Others[i].Index == index {
		return &c.Others[i]
	}
	if len(c.Others) >= maxChoices {
		return nil
	}
	c.Others = append(c.Others, Choice{})
	copy(c.Others[i+1:], c.Others[i:])
	c.Others[i] = Choice{Index: index}
	return &c.Others[i]
}

// captured are the texts of the document being read, before it is known whose
// they are: of the choice's delta and message, the reasoning by source.
type captured struct {
	part    int
	text    [2]Text
	thought [2][4]Text
	refusal [2]Text
	speech  [2]Text
	delta   Text // Responses: of the event, its delta and its ".done" text
	done    Text
	item    Text // of the item: its text, its summary and its refusal
	summary Text
	refused Text
	message []byte // of the document's error
	before  int    // the calls before the document
	items   int    // and the items
	raw     rawItem
}

func (c *captured) reset() {
	for i := range c.text {
		c.text[i].clear()
		c.refusal[i].clear()
		c.speech[i].clear()
		for j := range c.thought[i] {
			c.thought[i][j].clear()
		}
	}
}

func (t *Text) clear() { t.B, t.Chars, t.full = t.B[:0], 0, false }

// keep adds a string to a text, or puts it in its place.
func (c *captured) keep(t *Text, b []byte, chars int64, instead bool) {
	if instead {
		t.clear()
	}
	t.Chars += chars
	if c.part > 0 && !t.full {
		b, t.full = firstBytes(b, c.part-len(t.B))
	} else if t.full {
		return
	}
	t.B = append(t.B, b...)
}

// eventText is what an event holds of text.
func (c *captured) eventText(done bool) *Text {
	if done {
		return &c.done
	}
	return &c.delta
}

// beginKept begins a document.
func (d *Decoder) beginKept() {
	k := d.kept
	k.delta.clear()
	k.done.clear()
	k.message = k.message[:0]
	k.before, k.items = len(d.facts.Calls), len(d.facts.Captured.Items)
	k.raw = rawItem{}
}

// keepMessage keeps what an error says, the first of what it says.
func (d *Decoder) keepMessage(b []byte) {
	if d.kept != nil && len(d.kept.message) == 0 && string(b) != "{" {
		d.kept.message = append(d.kept.message, b...)
	}
}

// keepChoice takes over what a choice of a document said, on one of its sides.
func (d *Decoder) keepChoice(index int32, side, source int) *Choice {
	c, k := d.facts.Captured, d.kept
	to := c.choice(index)
	if to == nil {
		return nil
	}
	c.add(&to.Text, &k.text[side])
	c.add(&to.Reasoning, &k.thought[side][source])
	c.add(&to.Refusal, &k.refusal[side])
	c.add(&to.Speech, &k.speech[side])
	return to
}

// keepArgs takes the arguments of an event of a Responses stream, which names
// its call by the place of its item.
func (d *Decoder) keepArgs() {
	r := &d.resp
	for i := range d.facts.Calls {
		c := &d.facts.Calls[i]
		if c.Kept == nil || c.Kept.place != r.outIndex+1 {
			continue
		}
		if piece := d.kept.eventText(r.done); !r.done {
			d.facts.Captured.add(&c.Kept.Args, piece)
		} else if piece.Chars > 0 {
			d.facts.Captured.replace(&c.Kept.Args, piece)
		}
		return
	}
	d.keepItemArgs(r.outIndex+1, d.kept.eventText(r.done), r.done)
}

// keepPlaces notes where the items of the calls stand that an event has added.
func (d *Decoder) keepPlaces() {
	for i := d.kept.before; i < len(d.facts.Calls); i++ {
		if k := d.facts.Calls[i].Kept; k != nil {
			k.place = d.resp.outIndex + 1
		}
	}
	for i := d.kept.items; i < len(d.facts.Captured.Items); i++ {
		d.facts.Captured.Items[i].place = d.resp.outIndex + 1
	}
}
