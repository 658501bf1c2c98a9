// SPDX-License-Identifier: Apache-2.0

package bpe

import "unicode/utf8"

// long is a piece that is longer than the buffer of a Counter: a run of code
// points of one kind, whose end has not come yet.
type long struct {
	active bool
	kind   kind
	whole  chain // from the beginning
	since  chain // from the last place on where the piece may end
	cut    bool  // there is such a place
	tail   [utf8.UTFMax]byte
	width  int // bytes of the last code point, which are in tail
}

type kind uint8

const (
	blanks  kind = iota // white space, which may end after its last line end
	capital             // U* of O200k, which may end after its last code point that is in L as well
	ending              // L* of O200k
	plain               // \p{L}*
	numeric             // \p{N}*
	signs               // [^\s\p{L}\p{N}]*
	breaks              // the line ends and slashes behind that
)

// start begins with the piece that fills b, and returns how many bytes of it are
// taken: what stands before the run.
func (l *long) start(c *Counter, b []byte) int {
	l.active, l.cut, l.width = true, false, 0
	l.whole.reset(c.e.vocabulary, c.scratch)
	pattern := c.e.pattern
	first, n := classAt(b, 0)
	class, _ := classAt(b, n) // of the second code point: the first may be a prefix
	switch {
	case first&whitespace != 0 && class&whitespace != 0:
		l.kind = blanks
		return 0
	case first&(letters|number) != 0 || pattern.cased && first == mark:
		class, n = first, 0
	case class&(letters|number) == 0 && !(pattern.cased && class == mark):
		class, n = symbol, 0
	}
	switch {
	case class&letters == 0 && !(pattern.cased && class == mark):
		l.kind = signs
		if class == number {
			l.kind = numeric
		}
	case !pattern.cased:
		l.kind = plain
	case class == lower:
		l.kind = ending
	default:
		l.kind = capital
	}
	if n == 0 && first == space { // before signs
		n = 1
	}
	l.whole.add(b[:n])
	return n
}

// feed takes from b what belongs to the piece and returns how much that is.
// When the piece is complete it is counted, and long is not active any more;
// what b has from there on follows it. That may be less than none: the last
// code point that was taken, now in tail, then begins the next piece.
func (l *long) feed(c *Counter, b []byte) int {
	i := 0
	for i < len(b) {
		class, n := classAt(b, i)
		if !l.takes(c.e.pattern, class, b[i]) {
			break
		}
		l.take(c, b[i:i+n], class)
		i += n
	}
	if i == len(b) || c.e.pattern.suffix && l.word() && b[i] == '\'' && len(b)-i < 3 && contraction(b, i) == i {
		return i
	}
	more, used := l.finish(c, b[i:])
	c.count += more
	l.active = false
	return i + used
}

func (l *long) word() bool { return l.kind == capital || l.kind == ending }

// takes reports whether a code point belongs to the run.
func (l *long) takes(p *pattern, class uint8, first byte) bool {
	switch l.kind {
	case blanks:
		return class&whitespace != 0
	case capital:
		if class == lower {
			l.kind, l.cut = ending, false
		}
		return class&(letters|mark) != 0
	case ending:
		return class&(lower|letter|mark) != 0
	case plain:
		return class&letters != 0
	case numeric:
		return class == number
	case signs:
		if class == newline && p.newline {
			l.kind = breaks
			return true
		}
		return class&(letters|number|whitespace) == 0
	default:
		return class == newline || p.slash && first == '/'
	}
}

func (l *long) take(c *Counter, b []byte, class uint8) {
	l.whole.add(b)
	if l.cut {
		l.since.add(b)
	}
	l.width = copy(l.tail[:], b)
	if l.kind == blanks && class == newline && c.e.pattern.lines || l.kind == capital && class != upper {
		l.whole.setMark()
		l.since.reset(c.e.vocabulary, c.scratch)
		l.cut = true
	}
}

// finish returns how many tokens the piece has if rest is what follows, up to
// the end of the text or at least what decides, and how many bytes of rest
// belong to it: fewer than none if the piece ends before the run does.
func (l *long) finish(c *Counter, rest []byte) (tokens, used int) {
	pattern := c.e.pattern
	last, head := &l.whole, 0
	if l.cut {
		l.whole.settle(nil)
		last, head = &l.since, l.whole.at(l.whole.mark)
	}
	switch {
	case l.kind == blanks && len(rest) > 0:
		switch {
		case last.length() == 0:
			return head, 0
		case last.length() == l.width:
			return head, -l.width
		}
		last.settle(nil)
		return head + last.at(last.length()-l.width), -l.width
	case l.word() && pattern.suffix:
		used = contraction(rest, 0)
		if used > 0 && last.length() == 0 { // the cut is at the end of the run
			last, head = &l.whole, 0
		}
	case l.kind == signs || l.kind == breaks:
		// Bad bytes at the end of the text, which no feed saw.
		for used < len(rest) {
			class, n := classAt(rest, used)
			if !l.takes(pattern, class, rest[used]) {
				break
			}
			used += n
		}
	}
	last.settle(rest[:used])
	return head + last.at(last.length()+used), used
}
