// SPDX-License-Identifier: Apache-2.0

package bpe

import "unicode/utf8"

// A Counter counts the tokens of a text that comes in parts, cut anywhere. At
// each moment its count is that of the text so far, as Encoding.Count has it.
//
// It holds the rest of the text that is not cut into pieces yet, at most
// bufferSize bytes. A piece longer than that goes through chains, which need 8
// KB more once. After that it allocates nothing. Encodings that look at more
// than pieces are gathered, see gather. It may not be used concurrently.
type Counter struct {
	e       *Encoding
	scratch *scratch // borrowed while pieces are counted: it is larger than all the rest
	count   int      // the tokens of the pieces that are complete
	buf     []byte   // what follows them: valid UTF-8
	size    int      // at most how much
	part    [utf8.UTFMax]byte
	parts   int // bytes of a code point that is not complete
	long    long

	// For encodings with which that cannot be done the text is gathered, and
	// counted up to a place where it can be cut, if there are such places.
	gathers, cuts bool
	seen          int // bytes of buf that were looked through for such a place
}

const (
	bufferSize = 1024
	reserve    = 16 // for incomplete code points at the end of a text
)

// streams reports whether a Counter can cut the text at each piece.
func (e *Encoding) streams() bool {
	return e.pieces == nil && e.normalize == nil && len(e.always.ids) == 0 && !e.pattern.other &&
		e.vocabulary.extra == nil && e.vocabulary.merger == nil
}

// NewCounter returns a counter of nothing so far.
func (e *Encoding) NewCounter() *Counter {
	if !e.streams() {
		return &Counter{e: e, gathers: true, cuts: e.cuts()}
	}
	return &Counter{e: e, buf: make([]byte, 0, bufferSize+reserve), size: bufferSize}
}

// Reset makes the counter one of nothing so far.
func (c *Counter) Reset() {
	c.count, c.buf, c.parts, c.long.active, c.seen = 0, c.buf[:0], 0, false, 0
}

// Write takes the next part of the text.
func (c *Counter) Write(p []byte) {
	if c.gathers {
		c.gather(p)
		return
	}
	for len(p) > 0 {
		room := c.size - len(c.buf)
		switch {
		case room < reserve:
			c.flush()
		case c.parts > 0:
			c.part[c.parts] = p[0]
			c.parts++
			p = p[1:]
			c.join()
		default:
			n := min(room, len(p))
			if utf8.Valid(p[:n]) {
				c.buf = append(c.buf, p[:n]...)
			} else {
				n = c.clean(p[:min(n, room/utf8.UTFMax)])
			}
			p = p[n:]
		}
	}
}

// join takes what is complete out of part.
func (c *Counter) join() {
	for c.parts > 0 && utf8.FullRune(c.part[:c.parts]) {
		r, n := utf8.DecodeRune(c.part[:c.parts])
		c.buf = utf8.AppendRune(c.buf, r)
		c.parts = copy(c.part[:], c.part[n:c.parts])
	}
}

// clean takes all of p, with bad bytes made good and an incomplete code point
// at the end put aside.
func (c *Counter) clean(p []byte) int {
	n := 0
	for n < len(p) && utf8.FullRune(p[n:]) {
		r, width := utf8.DecodeRune(p[n:])
		c.buf = utf8.AppendRune(c.buf, r)
		n += width
	}
	c.parts = copy(c.part[:], p[n:])
	return len(p)
}

// Count returns how many tokens the text so far has.
func (c *Counter) Count() int {
	if c.gathers {
		return c.count + c.e.Count(c.buf)
	}
	c.borrow()
	defer c.giveBack()
	c.cut()
	// Incomplete code points are bad bytes if nothing follows.
	n := len(c.buf)
	for range c.parts {
		c.buf = utf8.AppendRune(c.buf, utf8.RuneError)
	}
	rest := c.buf
	c.buf = c.buf[:n]
	count := c.count
	if c.long.active {
		more, used := c.long.finish(c, rest)
		count += more
		if used >= 0 {
			rest = rest[used:]
		} else {
			var front [4 * utf8.UTFMax]byte
			n := copy(front[:], c.long.tail[:-used])
			rest = front[:n+copy(front[n:], rest)]
		}
	}
	n, _ = c.e.vocabulary.count(c.scratch, c.e.pattern, rest)
	return count + n
}

func (c *Counter) borrow() {
	c.scratch = c.e.vocabulary.getScratch()
	c.long.whole.scratch, c.long.since.scratch = c.scratch, c.scratch
}

func (c *Counter) giveBack() {
	c.e.vocabulary.putScratch(c.scratch)
	c.scratch, c.long.whole.scratch, c.long.since.scratch = nil, nil, nil
}

// flush makes room in the buffer.
func (c *Counter) flush() {
	c.borrow()
	c.cut()
	c.giveBack()
}

// cut counts the pieces in the buffer that later text cannot change.
func (c *Counter) cut() {
	b := c.buf
	for {
		if c.long.active {
			n := c.long.feed(c, b)
			if n < 0 { // feed took nothing of b
				n = -n
				c.buf = c.buf[:n+copy(c.buf[n:n+len(b)], b)]
				copy(c.buf, c.long.tail[:n])
				b, n = c.buf, 0
			}
			b = b[n:]
			if c.long.active {
				break
			}
		}
		n := c.pieces(b)
		b = b[n:]
		if n > 0 || len(b) <= c.size-reserve {
			break
		}
		// One piece fills the buffer.
		b = b[c.long.start(c, b):]
	}
	c.buf = c.buf[:copy(c.buf, b)]
}

// pieces counts the pieces that b begins with and that are the same whatever
// follows b, and returns how many bytes they have.
//
// A pattern looks at no more than 3 bytes behind a piece, with two exceptions:
// where white space is cut depends on where it ends, and where a word of
// capital letters and of letters without case is cut as well.
func (c *Counter) pieces(b []byte) int {
	blank, caps := len(b), len(b) // where such runs begin that reach the end
	for i := len(b); i > 0; {
		_, n := utf8.DecodeLastRune(b[:i])
		i -= n
		class, _ := classAt(b, i)
		if class&whitespace != 0 && blank == i+n {
			blank = i
		} else if c.e.pattern.cased && class&(upper|letter|mark) != 0 && caps == i+n {
			caps = i
		} else {
			break
		}
	}
	v := c.e.vocabulary
	i := 0
	for i < len(b) {
		body := i
		if class, n := classAt(b, i); class&(letters|mark|number|newline) == 0 {
			body += n
		}
		end := c.e.pattern.split(b, i)
		if end+8 > len(b) || i >= blank || body >= caps {
			break
		}
		if v.piece(b, i, end) != none {
			c.count++
		} else {
			c.count += v.countPiece(c.scratch, b, i, end)
		}
		i = end
	}
	return i
}
