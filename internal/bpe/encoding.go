// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"sync"
	"unicode/utf8"
)

// An Encoding turns text into tokens: a vocabulary, the pattern that cuts the
// text into pieces, and special tokens, which are matched in the text only on
// demand. It does not change, and may be used concurrently.
//
// Text is bytes. What is not valid UTF-8 counts as what encoding/json makes of
// it: each byte that does not belong to a code point is U+FFFD.
type Encoding struct {
	name       string
	vocabulary *Vocabulary
	pattern    *pattern
	specials   specials

	// Of a tokenizer file.
	always    specials                   // those of specials that are matched without demand
	normalize func(dst, b []byte) []byte // what is done to text before, or nil
	pieces    *sentencePiece             // instead of vocabulary and pattern

	counters sync.Pool // of *Counter, without text
}

// Name returns the name of the encoding.
func (e *Encoding) Name() string { return e.name }

// Count returns how many tokens b has, special tokens being ordinary text.
func (e *Encoding) Count(b []byte) int { return e.count(b, &e.always) }

// CountSpecial is Count where special tokens in the text are what they say.
func (e *Encoding) CountSpecial(b []byte) int { return e.count(b, &e.specials) }

func (e *Encoding) count(b []byte, matched *specials) int {
	if len(matched.ids) == 0 {
		return e.countText(b)
	}
	n := 0
	for len(b) > 0 {
		begin, end, _ := matched.find(b)
		n += e.countText(b[:begin])
		if end > begin {
			n++
		}
		b = b[end:]
	}
	return n
}

// Append appends the tokens of b to dst, special tokens being ordinary text.
func (e *Encoding) Append(dst []int, b []byte) []int { return e.append(dst, b, &e.always) }

// AppendSpecial is Append where special tokens in the text are what they say.
func (e *Encoding) AppendSpecial(dst []int, b []byte) []int { return e.append(dst, b, &e.specials) }

func (e *Encoding) append(dst []int, b []byte, matched *specials) []int {
	for len(b) > 0 {
		begin, end, id := matched.find(b)
		dst = e.appendText(dst, b[:begin])
		if end > begin {
			dst = append(dst, id)
		}
		b = b[end:]
	}
	return dst
}

// countText counts text without special tokens.
func (e *Encoding) countText(b []byte) int {
	switch {
	case e.pieces != nil:
		return e.pieces.count(b)
	case e.normalize == nil && utf8.Valid(b):
		return e.vocabulary.Count(e.pattern, b)
	}
	n := 0
	for len(b) > cleanPart {
		i := lastCut(b[:cleanPart], 0)
		if i == 0 {
			if e.streams() {
				return n + e.countStream(b)
			}
			break
		}
		n += e.countClean(b[:i])
		b = b[i:]
	}
	return n + e.countClean(b)
}

// cleanPart is how many bytes are made valid and normal at once: three for each at
// most become of them, for which a scratch keeps room.
const cleanPart = keepScratch / 4

func (e *Encoding) countClean(b []byte) int {
	s := e.vocabulary.getScratch()
	n, _ := e.vocabulary.count(s, e.pattern, e.clean(s, b))
	e.vocabulary.putScratch(s)
	return n
}

// countStream counts text in which there is no place to cut.
func (e *Encoding) countStream(b []byte) int {
	c, ok := e.counters.Get().(*Counter)
	if !ok {
		c = e.NewCounter()
	}
	c.Write(b)
	n := c.Count()
	c.Reset()
	e.counters.Put(c)
	return n
}

func (e *Encoding) appendText(dst []int, b []byte) []int {
	switch {
	case e.pieces != nil:
		return e.pieces.append(dst, b)
	case e.normalize == nil && utf8.Valid(b):
		return e.vocabulary.Append(dst, e.pattern.split, b)
	}
	s := e.vocabulary.getScratch()
	dst, _ = e.vocabulary.append(dst, s, e.pattern.split, e.clean(s, b))
	e.vocabulary.putScratch(s)
	return dst
}

// clean returns b valid and normal, in the scratch.
func (e *Encoding) clean(s *scratch, b []byte) []byte {
	if !utf8.Valid(b) {
		s.clean = AppendValid(s.clean[:0], b)
		b = s.clean
	}
	if e.normalize != nil {
		s.normal = e.normalize(s.normal[:0], b)
		b = s.normal
	}
	return b
}

// FindSpecial returns where the first special token in b begins and ends. If
// there is none, both are the length of b.
func (e *Encoding) FindSpecial(b []byte) (begin, end int) {
	begin, end, _ = e.specials.find(b)
	return begin, end
}

// Decode returns the text of tokens. If one is no token of the encoding, bad is
// its index, otherwise -1.
func (e *Encoding) Decode(tokens []int) (text []byte, bad int) {
	for i, token := range tokens {
		n := len(text)
		if e.pieces != nil {
			text = append(text, e.pieces.textOf(token)...)
		}
		if len(text) > n {
			continue
		}
		if special, ok := e.specials.text(token); ok {
			text = append(text, special...)
		} else if token >= 0 && e.vocabulary != nil {
			text = append(text, e.vocabulary.textOf(token)...)
		}
		if len(text) == n {
			return nil, i
		}
	}
	if e.pieces != nil {
		text = e.pieces.strip(text)
	}
	return text, -1
}

// AppendValid appends b to dst, each byte that does not belong to a code point
// as U+FFFD.
func AppendValid(dst, b []byte) []byte {
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			dst = append(dst, b[i])
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return dst
}
