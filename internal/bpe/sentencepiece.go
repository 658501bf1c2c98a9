// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// sentencePiece is an encoding of code points, as SentencePiece makes them:
// spaces are U+2581, a text is one piece, and a code point without a token is
// its bytes. It takes a time of n log n.
type sentencePiece struct {
	merger
	runes  map[rune]uint32 // the tokens of one code point
	bytes  [256]uint32     // the tokens <0x00> to <0xFF>
	texts  map[int][]byte
	prefix bool // a space is put before the text
	pool   sync.Pool
}

const spaceMark = '\u2581'

// sentencePiece makes e such an encoding.
func (e *Encoding) sentencePiece(file *tokenizerFile, merges [][2]string) error {
	p := &sentencePiece{runes: map[rune]uint32{}, texts: map[int][]byte{}}
	if err := p.normalizer(file.Normalizer); err != nil {
		return err
	}
	if pre := file.PreTokenizer; pre != nil {
		// Such a cut at spaces finds none, since they are U+2581 before.
		if pre.Type != "Split" || pre.Pattern.String == nil || *pre.Pattern.String != " " {
			return fmt.Errorf("a pre-tokenizer of type %q beside byte_fallback", pre.Type)
		}
	}
	if file.Model.IgnoreMerges {
		return errors.New("ignore_merges beside byte_fallback")
	}
	vocabulary := file.Model.Vocabulary
	for token, id := range vocabulary {
		if id < 0 || id >= maxTokens-1 {
			return fmt.Errorf("token %q has the number %d", token, id)
		}
		if r, n := utf8.DecodeRuneInString(token); n == len(token) && n > 0 {
			p.runes[r] = uint32(id)
		}
		p.texts[id] = []byte(strings.ReplaceAll(token, string(spaceMark), " "))
	}
	for c := range 256 {
		id, ok := vocabulary[fmt.Sprintf("<0x%02X>", c)]
		if _, has := p.runes[rune(c)]; !ok && has && c < utf8.RuneSelf {
			continue // never asked for
		}
		if !ok {
			return fmt.Errorf("no token <0x%02X>", c)
		}
		p.bytes[c], p.texts[id] = uint32(id), []byte{byte(c)}
	}
	e.pieces = p
	return p.make(merges, func(token string) (uint32, bool) {
		id, ok := vocabulary[token]
		return uint32(id), ok
	})
}

func (p *sentencePiece) normalizer(n *component) error {
	if n == nil {
		return errors.New("byte_fallback without a normalizer")
	}
	steps := []component{*n}
	if n.Type == "Sequence" {
		steps = n.Normalizers
	}
	if len(steps) == 2 && steps[0].Type == "Prepend" && steps[0].Prepend == string(spaceMark) {
		p.prefix, steps = true, steps[1:]
	}
	if len(steps) != 1 || steps[0].Type != "Replace" || steps[0].Content != string(spaceMark) ||
		steps[0].Pattern.String == nil || *steps[0].Pattern.String != " " {
		return fmt.Errorf("a normalizer of type %q beside byte_fallback", n.Type)
	}
	return nil
}

// encode leaves the tokens of b in s, in between none.
func (p *sentencePiece) encode(s *symbols, b []byte) {
	s.tokens = s.tokens[:0]
	if p.prefix && len(b) > 0 {
		p.symbol(s, spaceMark)
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == ' ' {
			r = spaceMark
		}
		p.symbol(s, r)
		b = b[n:]
	}
	p.merge(s)
}

// symbol appends the token of a code point, or those of its bytes.
func (p *sentencePiece) symbol(s *symbols, r rune) {
	if id, ok := p.runes[r]; ok {
		s.tokens = append(s.tokens, id)
		return
	}
	var buf [utf8.UTFMax]byte
	for _, c := range buf[:utf8.EncodeRune(buf[:], r)] {
		s.tokens = append(s.tokens, p.bytes[c])
	}
}

func (p *sentencePiece) get() *symbols {
	if s, ok := p.pool.Get().(*symbols); ok {
		return s
	}
	return new(symbols)
}

func (p *sentencePiece) put(s *symbols) {
	if cap(s.tokens) <= keepScratch {
		p.pool.Put(s)
	}
}

func (p *sentencePiece) count(b []byte) int {
	s := p.get()
	defer p.put(s)
	p.encode(s, b)
	n := 0
	for _, id := range s.tokens {
		if id != none {
			n++
		}
	}
	return n
}

func (p *sentencePiece) append(dst []int, b []byte) []int {
	s := p.get()
	defer p.put(s)
	p.encode(s, b)
	for _, id := range s.tokens {
		if id != none {
			dst = append(dst, int(id))
		}
	}
	return dst
}

func (p *sentencePiece) textOf(token int) []byte { return p.texts[token] }

// strip takes away the space that encode puts before a text.
func (p *sentencePiece) strip(text []byte) []byte {
	if p.prefix && len(text) > 0 && text[0] == ' ' {
		return text[1:]
	}
	return text
}
