// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"fmt"
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
	limit      int // one more than the largest number of a token
}

// Name returns the name of the encoding.
func (e *Encoding) Name() string { return e.name }

// Names are those of the embedded encodings.
func Names() []string {
	return []string{"r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"}
}

// ByName returns an embedded encoding. Its vocabulary is loaded at the first
// call.
func ByName(name string) (*Encoding, error) {
	e := &Encoding{name: name}
	var err error
	switch name {
	case "r50k_base":
		e.pattern = &r50k
		e.vocabulary, err = R50kBase()
		e.specials.add("<|endoftext|>", 50256)
	case "p50k_base":
		e.pattern = &r50k
		e.vocabulary, err = P50kBase()
		e.specials.add("<|endoftext|>", 50256)
	case "p50k_edit":
		e.pattern = &r50k
		e.vocabulary, err = P50kBase()
		e.specials.add("<|endoftext|>", 50256)
		e.specials.add("<|fim_prefix|>", 50281)
		e.specials.add("<|fim_middle|>", 50282)
		e.specials.add("<|fim_suffix|>", 50283)
	case "cl100k_base":
		e.pattern = &cl100k
		e.vocabulary, err = Cl100kBase()
		e.specials.add("<|endoftext|>", 100257)
		e.specials.add("<|fim_prefix|>", 100258)
		e.specials.add("<|fim_middle|>", 100259)
		e.specials.add("<|fim_suffix|>", 100260)
		e.specials.add("<|endofprompt|>", 100276)
	case "o200k_base":
		e.pattern = &o200k
		e.vocabulary, err = O200kBase()
		e.specials.add("<|endoftext|>", 199999)
		e.specials.add("<|endofprompt|>", 200018)
	case "o200k_harmony":
		e.pattern = &o200k
		e.vocabulary, err = O200kBase()
		harmony(&e.specials)
	default:
		return nil, fmt.Errorf("no encoding has the name %q", name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	e.limit = max(e.vocabulary.Len(), e.specials.limit)
	return e, nil
}

// harmony adds the special tokens of o200k_harmony: those with a meaning, and
// reserved numbers up to 201087.
func harmony(s *specials) {
	named := map[int]string{
		199998: "<|startoftext|>", 199999: "<|endoftext|>", 200002: "<|return|>", 200003: "<|constrain|>",
		200005: "<|channel|>", 200006: "<|start|>", 200007: "<|end|>", 200008: "<|message|>", 200012: "<|call|>",
	}
	for id := 199998; id <= 201087; id++ {
		text, ok := named[id]
		if !ok {
			text = fmt.Sprintf("<|reserved_%d|>", id)
		}
		s.add(text, id)
		if id == 200018 {
			s.add("<|endofprompt|>", id)
		}
	}
}

// Count returns how many tokens b has, special tokens being ordinary text.
func (e *Encoding) Count(b []byte) int {
	if utf8.Valid(b) {
		return e.vocabulary.Count(e.pattern.split, b)
	}
	s := e.vocabulary.getScratch()
	s.clean = AppendValid(s.clean[:0], b)
	n := e.vocabulary.Count(e.pattern.split, s.clean)
	e.vocabulary.putScratch(s)
	return n
}

// Append appends the tokens of b to dst, special tokens being ordinary text.
func (e *Encoding) Append(dst []int, b []byte) []int {
	if utf8.Valid(b) {
		return e.vocabulary.Append(dst, e.pattern.split, b)
	}
	s := e.vocabulary.getScratch()
	s.clean = AppendValid(s.clean[:0], b)
	dst = e.vocabulary.Append(dst, e.pattern.split, s.clean)
	e.vocabulary.putScratch(s)
	return dst
}

// CountSpecial is Count where special tokens in the text are what they say.
func (e *Encoding) CountSpecial(b []byte) int {
	n := 0
	for len(b) > 0 {
		begin, end, _ := e.specials.find(b)
		n += e.Count(b[:begin])
		if end > begin {
			n++
		}
		b = b[end:]
	}
	return n
}

// AppendSpecial is Append where special tokens in the text are what they say.
func (e *Encoding) AppendSpecial(dst []int, b []byte) []int {
	for len(b) > 0 {
		begin, end, id := e.specials.find(b)
		dst = e.Append(dst, b[:begin])
		if end > begin {
			dst = append(dst, id)
		}
		b = b[end:]
	}
	return dst
}

// FindSpecial returns where the first special token in b begins and ends. If
// there is none, both are the length of b.
func (e *Encoding) FindSpecial(b []byte) (begin, end int) {
	begin, end, _ = e.specials.find(b)
	return begin, end
}

// AppendText appends the bytes of a token to dst. It reports whether there is a
// token of that number.
func (e *Encoding) AppendText(dst []byte, token int) ([]byte, bool) {
	if text, ok := e.specials.text(token); ok {
		return append(dst, text...), true
	}
	if token < 0 || token >= e.vocabulary.Len() {
		return dst, false
	}
	text := e.vocabulary.token(uint32(token))
	return append(dst, text...), len(text) > 0
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
