// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// The patterns of byte-level tokenizers, as their files have them. A file with
// another one is refused.
const (
	regexCl100k = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	regexQwen   = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	regexO200k  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	regexTekken = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	regexGPT2   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

	regexDeepSeek1 = `\p{N}{1,3}`
	regexDeepSeek2 = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
	regexDeepSeek3 = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
)

// patternOf returns the pattern of a byte-level pre-tokenizer.
func patternOf(pre *component) (*pattern, error) {
	if pre == nil {
		return nil, errors.New("no pre-tokenizer")
	}
	steps := []component{*pre}
	if pre.Type == "Sequence" {
		steps = pre.PreTokenizers
	}
	if len(steps) == 0 || steps[len(steps)-1].Type != "ByteLevel" {
		return nil, fmt.Errorf("a pre-tokenizer of type %q that does not end in ByteLevel", pre.Type)
	}
	last := steps[len(steps)-1]
	if last.AddPrefixSpace {
		return nil, errors.New("a pre-tokenizer that puts a space before the text")
	}
	var regexes []string
	for _, s := range steps[:len(steps)-1] {
		isolated := s.Behavior == "Isolated" && !s.Invert || s.Behavior == "Removed" && s.Invert
		if s.Type != "Split" || !isolated || s.Pattern.Regex == nil {
			return nil, fmt.Errorf("a pre-tokenizer of type %q and behavior %q", s.Type, s.Behavior)
		}
		regexes = append(regexes, *s.Pattern.Regex)
	}
	if last.UseRegex == nil || *last.UseRegex { // which is so by default
		regexes = append(regexes, regexGPT2)
	}
	for _, known := range []struct {
		regexes []string
		pattern *pattern
	}{
		{[]string{regexCl100k}, &cl100k},
		{[]string{regexQwen}, &qwen},
		{[]string{regexO200k}, &o200k},
		{[]string{regexTekken}, &tekken},
		{[]string{regexGPT2}, &r50k},
		{[]string{regexDeepSeek1, regexDeepSeek2, regexDeepSeek3}, &deepSeek},
	} {
		if slices.Equal(regexes, known.regexes) {
			return known.pattern, nil
		}
	}
	return nil, fmt.Errorf("the pattern is not known: %.300q", regexes)
}

// byteLevel makes e an encoding of bytes, as GPT-2's was.
func (e *Encoding) byteLevel(file *tokenizerFile, merges [][2]string) (err error) {
	if e.pattern, err = patternOf(file.PreTokenizer); err != nil {
		return err
	}
	if e.normalize, err = byteLevelNormalizer(file.Normalizer); err != nil {
		return err
	}
	e.vocabulary, err = mergedVocabulary(&file.Model, merges)
	return err
}

// byteLevelNormalizer returns what makes text normal, or nil for nothing.
func byteLevelNormalizer(n *component) (func(dst, b []byte) []byte, error) {
	if n == nil {
		return nil, nil
	}
	steps := []component{*n}
	if n.Type == "Sequence" {
		steps = n.Normalizers
	}
	switch {
	case len(steps) == 0:
		return nil, nil
	case len(steps) == 1 && steps[0].Type == "NFC":
		return nfc, nil
	default:
		return nil, fmt.Errorf("a normalizer of type %q", n.Type)
	}
}

// bytesOfRunes returns which byte each code point stands for in a byte-level
// vocabulary: printable ones of Latin-1 for themselves, those from U+0100 on
// for the others.
func bytesOfRunes() map[rune]byte {
	m := make(map[rune]byte, 256)
	next := rune(256)
	for c := range 256 {
		if r := rune(c); '!' <= r && r <= '~' || 0xa1 <= r && r <= 0xac || 0xae <= r {
			m[r] = byte(c)
		} else {
			m[next] = byte(c)
			next++
		}
	}
	return m
}

// mergedVocabulary makes a vocabulary of a file's. Its tokens are numbered as
// they are merged, and keep the numbers of the file beside.
func mergedVocabulary(m *tokenizerModel, merges [][2]string) (*Vocabulary, error) {
	v := &Vocabulary{}
	singles := bytesOfRunes()
	order := make(map[string]uint32, len(m.Vocabulary))
	add := func(token string, left, right uint32) error {
		number, ok := m.Vocabulary[token]
		if !ok || number < 0 || number >= maxTokens {
			return fmt.Errorf("%q is no token", token)
		}
		order[token] = uint32(len(order))
		for _, r := range token {
			c, ok := singles[r]
			if !ok {
				return fmt.Errorf("token %q is not of bytes", token)
			}
			v.text = append(v.text, c)
		}
		v.offsets = append(v.offsets, uint32(len(v.text)))
		v.left, v.right, v.ids = append(v.left, left), append(v.right, right), append(v.ids, uint32(number))
		return nil
	}
	v.offsets = append(v.offsets, 0)
	for _, r := range slices.Sorted(maps.Keys(singles)) {
		if err := add(string(r), uint32(len(order)), uint32(len(order))); err != nil {
			return nil, err
		}
	}
	regular, err := addMerged(order, merges, add)
	if err != nil {
		return nil, err
	}
	if !regular {
		v.merger = new(merger)
		err := v.merger.make(merges, func(token string) (uint32, bool) {
			id, ok := order[token]
			return id, ok
		})
		if err != nil {
			return nil, err
		}
	}
	// What no merge makes is found only whole, and only if the file says so;
	// all the same its number has a text.
	for _, token := range slices.Sorted(maps.Keys(m.Vocabulary)) {
		if _, ok := order[token]; ok || token == "" {
			continue
		}
		if add(token, none, none) != nil { // special tokens need not be of bytes
			delete(order, token)
			v.text = v.text[:v.offsets[len(v.offsets)-1]]
		}
	}
	v.index()
	v.tokens = make([]uint32, slices.Max(v.ids)+1)
	for i := range v.tokens {
		v.tokens[i] = none
	}
	for id, number := range v.ids {
		v.tokens[number] = uint32(id)
	}
	for id, left := range v.left {
		if m.IgnoreMerges && left == none {
			if v.extra == nil {
				v.extra = map[string]uint32{}
			}
			v.extra[string(v.token(uint32(id)))] = uint32(id)
		}
	}
	return v, nil
}

// maxMerged bounds a token that merges make, in bytes: how long it takes to make
// sure of one grows with its square, and those of models have 256 at most.
const maxMerged = 1024

// addMerged adds the tokens that merges make, in their order. A token may have
// several merges, with tokens that come after it too: its parents are those
// that merging its own bytes comes to, and the others never stand side by side.
//
// regular is false if that holds for not all of them: where a token is merged
// of one that comes after it, as some of Llama 3, backtracking does not apply.
func addMerged(order map[string]uint32, merges [][2]string, add func(string, uint32, uint32) error) (regular bool, err error) {
	type pair struct{ left, right uint32 }
	type result struct {
		rank  int
		token uint32
	}
	results := make(map[pair]result, len(merges))
	var parts []uint32
	var later []string
	regular = true
	for i := 0; i < len(merges); {
		token := merges[i][0] + merges[i][1]
		if _, ok := order[token]; ok {
			return false, fmt.Errorf("the merges of %q do not stand together", token)
		}
		begin := i
		for i < len(merges) && merges[i][0]+merges[i][1] == token {
			i++
		}
		parts = parts[:0]
		if len(token) > maxMerged {
			return false, fmt.Errorf("a merge makes a token of %d bytes, more than %d", len(token), maxMerged)
		}
		for _, r := range token {
			parts = append(parts, order[string(r)])
		}
		for len(parts) > 2 {
			best, at := result{rank: len(merges)}, -1
			for k := range len(parts) - 1 {
				if r, ok := results[pair{parts[k], parts[k+1]}]; ok && r.rank < best.rank {
					best, at = r, k
				}
			}
			if at < 0 {
				break
			}
			parts[at] = best.token
			parts = slices.Delete(parts, at+1, at+2)
		}
		id, reached := uint32(len(order)), false
		for k := begin; k < i; k++ {
			left, ok1 := order[merges[k][0]]
			right, ok2 := order[merges[k][1]]
			if !ok1 || !ok2 {
				later = append(later, merges[k][0], merges[k][1])
				continue
			}
			reached = reached || len(parts) == 2 && parts[0] == left && parts[1] == right
			results[pair{left, right}] = result{k, id}
		}
		left, right := none, none
		if reached {
			left, right = parts[0], parts[1]
		} else {
			regular = false
		}
		if err := add(token, left, right); err != nil {
			return false, err
		}
	}
	for _, token := range later {
		if _, ok := order[token]; !ok {
			return false, fmt.Errorf("a merge is of %q, which no merge makes", token)
		}
	}
	return regular, nil
}
