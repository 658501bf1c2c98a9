// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"fmt"
	"sync"
)

// Names are those of the embedded encodings.
func Names() []string {
	return []string{"r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"}
}

// lazyEncoding is an embedded encoding that is made at the first use.
type lazyEncoding struct {
	once     sync.Once
	encoding *Encoding
	err      error
}

var r50kEncoding, p50kEncoding, p50kEdit, cl100kEncoding, o200kEncoding, o200kHarmony lazyEncoding

func (l *lazyEncoding) get(name string, p *pattern, vocabulary func() (*Vocabulary, error), specials func(*specials)) (*Encoding, error) {
	l.once.Do(func() {
		e := &Encoding{name: name, pattern: p}
		if e.vocabulary, l.err = vocabulary(); l.err == nil {
			specials(&e.specials)
			l.encoding = e
		}
	})
	return l.encoding, l.err
}

// ByName returns an embedded encoding. It is made at the first call.
func ByName(name string) (*Encoding, error) {
	endOfText := func(s *specials) { s.add("<|endoftext|>", 50256) }
	switch name {
	case "r50k_base":
		return r50kEncoding.get(name, &r50k, R50kBase, endOfText)
	case "p50k_base":
		return p50kEncoding.get(name, &r50k, P50kBase, endOfText)
	case "p50k_edit":
		return p50kEdit.get(name, &r50k, P50kBase, func(s *specials) {
			endOfText(s)
			s.add("<|fim_prefix|>", 50281)
			s.add("<|fim_middle|>", 50282)
			s.add("<|fim_suffix|>", 50283)
		})
	case "cl100k_base":
		return cl100kEncoding.get(name, &cl100k, Cl100kBase, func(s *specials) {
			s.add("<|endoftext|>", 100257)
			s.add("<|fim_prefix|>", 100258)
			s.add("<|fim_middle|>", 100259)
			s.add("<|fim_suffix|>", 100260)
			s.add("<|endofprompt|>", 100276)
		})
	case "o200k_base":
		return o200kEncoding.get(name, &o200k, O200kBase, func(s *specials) {
			s.add("<|endoftext|>", 199999)
			s.add("<|endofprompt|>", 200018)
		})
	case "o200k_harmony":
		return o200kHarmony.get(name, &o200k, O200kBase, harmony)
	}
	return nil, fmt.Errorf("no encoding has the name %q", name)
}

// harmony adds the special tokens of o200k_harmony: those with a meaning, and
// reserved numbers up to 201087.
func harmony(s *specials) {
	named := map[int]string{
		199998: "<|startoftext|>", 199999: "<|endoftext|>", 200002: "<|return|>", 200003: "<|constrain|>",
		200005: "<|channel|>", 200006: "<|start|>", 200007: "<|end|>", 200008: "<|message|>", 200012: "<|call|>",
	}
	s.add("<|endofprompt|>", 200018) // as in o200k_base; the number has two texts
	for id := 199998; id <= 201087; id++ {
		text, ok := named[id]
		if !ok {
			text = fmt.Sprintf("<|reserved_%d|>", id)
		}
		s.add(text, id)
	}
}
