// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"slices"
	"unicode/utf8"
)

// A slow reference: patterns as trees that are matched by backtracking, as a
// regular-expression engine does, and byte-pair encoding as it is defined.

// node matches at i and calls then with each end that it can come to, the
// preferred first, until that is content.
type node func(text []rune, i int, then func(end int) bool) bool

func class(bits uint8) node { return one(func(r rune) bool { return classOf(r)&bits != 0 }) }

// not is [^…] of a class.
func not(bits uint8) node { return one(func(r rune) bool { return classOf(r)&bits == 0 }) }

func one(ok func(rune) bool) node {
	return func(text []rune, i int, then func(int) bool) bool {
		return i < len(text) && ok(text[i]) && then(i+1)
	}
}

func char(set string) node { return one(func(r rune) bool { return slices.Contains([]rune(set), r) }) }

// seq is one node after the other.
func seq(nodes ...node) node {
	return func(text []rune, i int, then func(int) bool) bool {
		if len(nodes) == 0 {
			return then(i)
		}
		return nodes[0](text, i, func(end int) bool { return seq(nodes[1:]...)(text, end, then) })
	}
}

// alt is the first node that leads to a match.
func alt(nodes ...node) node {
	return func(text []rune, i int, then func(int) bool) bool {
		for _, n := range nodes {
			if n(text, i, then) {
				return true
			}
		}
		return false
	}
}

// times is n{least,most}, as many as possible first.
func times(n node, least, most int) node {
	return func(text []rune, i int, then func(int) bool) bool {
		ends := []int{i}
		for len(ends) <= most && n(text, ends[len(ends)-1], func(end int) bool { ends = append(ends, end); return true }) {
		}
		for k := len(ends) - 1; k >= least; k-- {
			if then(ends[k]) {
				return true
			}
		}
		return false
	}
}

func star(n node) node { return times(n, 0, 1<<30) }
func plus(n node) node { return times(n, 1, 1<<30) }
func opt(n node) node  { return times(n, 0, 1) }

// blank is \s+(?!\S).
func blank(text []rune, i int, then func(int) bool) bool {
	return plus(class(whitespace))(text, i, func(end int) bool {
		return (end == len(text) || classOf(text[end])&whitespace != 0) && then(end)
	})
}

// folded is (?i:'s|'t|'re|'ve|'m|'ll|'d).
var folded = seq(char("'"), alt(char("sSſ"), char("tT"), seq(char("rR"), char("eE")), seq(char("vV"), char("eE")),
	char("mM"), seq(char("lL"), char("lL")), char("dD")))

var exactly = seq(char("'"), alt(char("s"), char("t"), seq(char("r"), char("e")), seq(char("v"), char("e")),
	char("m"), seq(char("l"), char("l")), char("d")))

func referenceCl100k(digits int) node {
	return alt(folded,
		seq(opt(not(newline|letters|number)), plus(class(letters))),
		times(class(number), 1, digits),
		seq(opt(char(" ")), plus(not(whitespace|letters|number)), star(class(newline))),
		seq(star(class(whitespace)), plus(class(newline))), blank, plus(class(whitespace)))
}

func referenceO200k(digits int, suffix node) node {
	first, second := class(upper|letter|mark), class(lower|letter|mark)
	prefix := opt(not(newline | letters | number))
	return alt(seq(prefix, star(first), plus(second), suffix), seq(prefix, plus(first), star(second), suffix),
		times(class(number), 1, digits),
		seq(opt(char(" ")), plus(not(whitespace|letters|number)), star(char("\r\n/"))),
		seq(star(class(whitespace)), plus(class(newline))), blank, plus(class(whitespace)))
}

var empty = seq()

// references has for each pattern a reference.
var references = []struct {
	name      string
	splitter  Splitter
	reference node
}{
	{"r50k", R50k, alt(exactly, seq(opt(char(" ")), plus(class(letters))), seq(opt(char(" ")), plus(class(number))),
		seq(opt(char(" ")), plus(not(whitespace|letters|number))), blank, plus(class(whitespace)))},
	{"cl100k", Cl100k, referenceCl100k(3)},
	{"qwen", Qwen, referenceCl100k(1)},
	{"o200k", O200k, referenceO200k(3, opt(folded))},
	{"tekken", Tekken, referenceO200k(1, empty)},
}

// referencePieces returns the ends of the pieces of valid UTF-8.
func referencePieces(n node, b []byte) []int {
	var ends []int
	text, at := []rune(string(b)), 0
	for i := 0; i < len(text); {
		n(text, i, func(end int) bool {
			for _, r := range text[i:end] {
				at += utf8.RuneLen(r)
			}
			i = end
			return true
		})
		ends = append(ends, at)
	}
	return ends
}

// han is [一-龥぀-ゟ゠-ヿ].
var han = one(func(r rune) bool { return 0x4e00 <= r && r <= 0x9fa5 || 0x3040 <= r && r <= 0x30ff })

var latin = one(func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' })

var deepSeekParts = []node{
	times(class(number), 1, 3),
	plus(han),
	alt(seq(one(func(r rune) bool { return r < 0x80 && classOf(r) == symbol }), plus(latin)),
		seq(opt(not(newline|letters|symbol)), plus(class(letters|mark))),
		seq(opt(char(" ")), plus(class(symbol)), star(class(newline))),
		seq(star(class(whitespace)), plus(class(newline))), blank, plus(class(whitespace))),
}

// referenceDeepSeek cuts by one part after the other; what matches a part is a
// piece, and so is what is between.
func referenceDeepSeek(b []byte) []int {
	pieces := [][]rune{[]rune(string(b))}
	for i, part := range deepSeekParts {
		var next [][]rune
		for _, text := range pieces {
			if i == 2 && isolated(text) {
				next = append(next, text)
				continue
			}
			next = append(next, isolate(part, text)...)
		}
		pieces = next
	}
	var ends []int
	at := 0
	for _, p := range pieces {
		at += len(string(p))
		ends = append(ends, at)
	}
	return ends
}

// isolated reports whether the third pattern leaves a piece of the others as it
// is: Hugging Face's library applies it to those as well, and numbers match
// nothing in it.
func isolated(text []rune) bool { return len(text) > 0 && classOf(text[0]) == number }

func isolate(n node, text []rune) (pieces [][]rune) {
	begin := 0
	for i := 0; i < len(text); {
		end := i
		n(text, i, func(e int) bool { end = e; return true })
		if end == i {
			i++
			continue
		}
		if begin < i {
			pieces = append(pieces, text[begin:i])
		}
		pieces = append(pieces, text[i:end])
		i, begin = end, end
	}
	if begin < len(text) {
		pieces = append(pieces, text[begin:])
	}
	return pieces
}

// referenceTokens merges a piece as tiktoken does: of all neighbours that make
// a token together the lowest, the leftmost first.
func referenceTokens(ranks map[string]uint32, piece []byte) []uint32 {
	if id, ok := ranks[string(piece)]; ok {
		return []uint32{id}
	}
	parts := make([]string, len(piece))
	for i := range piece {
		parts[i] = string(piece[i : i+1])
	}
	for {
		best, at := none, -1
		for i := range len(parts) - 1 {
			if id, ok := ranks[parts[i]+parts[i+1]]; ok && id < best {
				best, at = id, i
			}
		}
		if at < 0 {
			break
		}
		parts[at] += parts[at+1]
		parts = slices.Delete(parts, at+1, at+2)
	}
	ids := make([]uint32, len(parts))
	for i, p := range parts {
		ids[i] = ranks[p]
	}
	return ids
}

// ranksOf returns a vocabulary as a map.
func ranksOf(v *Vocabulary) map[string]uint32 {
	ranks := make(map[string]uint32, v.Len())
	for id := range uint32(v.Len()) {
		if t := v.token(id); len(t) > 0 {
			ranks[string(t)] = id
		}
	}
	return ranks
}
