// SPDX-License-Identifier: Apache-2.0

package bpe

// chain counts the tokens of a piece that comes byte by byte and may have any
// length, in a memory that does not grow with it.
//
// Each beginning of a text has one encoding, and the last token of that is the
// only token that ends there and is a neighbour of the last token of the
// beginning before it. So it is enough to know of each offset the last token
// and how many there are, and no further back than the longest token reaches:
// that is exact, whatever comes later. (This is the AppendableEncoder of the
// crate bpe, run forwards.)
type chain struct {
	v       *Vocabulary
	text    []byte   // from offset base on
	last    []uint32 // of offset base+i the last token
	counts  []uint32 // and how many tokens there are; 0: that is not known
	assumed int      // bytes behind text of which counts has some
	base    int
	next    int // up to here every token that begins has been taken
	mark    int // an offset whose count is kept
	marked  bool
	atMark  uint32
	scratch *scratch
}

// window is how many bytes a chain holds, in units of the longest token.
const window = 4

func (c *chain) reset(v *Vocabulary, s *scratch) {
	if size := window*v.longest + 16; c.v != v {
		c.v = v
		c.text = make([]byte, 0, size)
		c.last, c.counts = make([]uint32, size+1), make([]uint32, size+1)
	}
	c.scratch = s
	c.text, c.base, c.next = c.text[:0], 0, 0
	c.mark, c.marked, c.atMark = 0, true, 0
	clear(c.counts)
	c.assumed = 0
	c.last[0] = none
}

// length returns how many bytes came.
func (c *chain) length() int { return c.base + len(c.text) }

// setMark keeps the count of the tokens up to here.
func (c *chain) setMark() { c.mark, c.marked = c.length(), false }

// add takes the next bytes of the piece, few of them.
func (c *chain) add(b []byte) {
	c.forget()
	if len(c.text)+len(b) > window*c.v.longest {
		keep := c.next - c.base
		copy(c.last, c.last[keep:])
		n := copy(c.counts, c.counts[keep:])
		clear(c.counts[n:])
		c.text = c.text[:copy(c.text, c.text[keep:])]
		c.base = c.next
	}
	c.text = append(c.text, b...)
	for c.next+c.v.longest <= c.length() {
		if c.next == c.mark && !c.marked {
			c.atMark, c.marked = c.counts[c.next-c.base], true
		}
		c.step(c.next)
		c.next++
	}
}

// step takes the tokens that begin at an offset. Where one is known to end no
// other is asked about: a run of spaces has 80 that end at each.
func (c *chain) step(offset int) {
	i := offset - c.base
	before, count := c.last[i], c.counts[i]
	id, n := c.v.prefix(c.text, i, min(len(c.text)-i, c.v.longest))
	for {
		if c.counts[i+n] == 0 && (offset == 0 || c.scratch.neighbours(c.v, before, id)) {
			c.last[i+n], c.counts[i+n] = id, count+1
		}
		if n == 1 {
			return
		}
		id, n = c.v.shorten(id)
	}
}

// settle makes the counts of all offsets from next on known, as if extra came
// now and the piece ended. It changes nothing else: later bytes only add
// tokens that end later.
func (c *chain) settle(extra []byte) {
	c.forget()
	n := len(c.text)
	c.text = append(c.text, extra...)
	for i := c.next; i < c.length(); i++ {
		c.step(i)
	}
	c.assumed = len(extra)
	c.text = c.text[:n]
}

// forget takes the counts back that settle made of what did not come.
func (c *chain) forget() {
	clear(c.counts[len(c.text)+1:][:c.assumed])
	c.assumed = 0
}

// at returns how many tokens there are up to an offset that is the mark, or at
// most as many bytes before the end as settle made known.
func (c *chain) at(offset int) int {
	if offset == c.mark && c.marked {
		return int(c.atMark)
	}
	return int(c.counts[offset-c.base])
}
