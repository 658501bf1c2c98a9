// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// tokenizerFile is a tokenizer.json of Hugging Face, as far as it matters to
// what tokens a text has. Templates around a text are no part of that.
type tokenizerFile struct {
	Added        []addedToken    `json:"added_tokens"`
	Normalizer   *component      `json:"normalizer"`
	PreTokenizer *component      `json:"pre_tokenizer"`
	Model        tokenizerModel  `json:"model"`
	Truncation   json.RawMessage `json:"truncation"`
}

type addedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

type tokenizerModel struct {
	Type         string          `json:"type"`
	Dropout      *float64        `json:"dropout"`
	Unknown      *string         `json:"unk_token"`
	Prefix       *string         `json:"continuing_subword_prefix"`
	Suffix       *string         `json:"end_of_word_suffix"`
	FuseUnknown  bool            `json:"fuse_unk"`
	ByteFallback bool            `json:"byte_fallback"`
	IgnoreMerges bool            `json:"ignore_merges"`
	Vocabulary   map[string]int  `json:"vocab"`
	Merges       json.RawMessage `json:"merges"`
}

// component is a normalizer or pre-tokenizer, or a sequence of them.
type component struct {
	Type          string      `json:"type"`
	Normalizers   []component `json:"normalizers"`
	PreTokenizers []component `json:"pretokenizers"`
	Pattern       struct {
		Regex  *string
		String *string
	} `json:"pattern"`
	Behavior       string `json:"behavior"`
	Invert         bool   `json:"invert"`
	AddPrefixSpace bool   `json:"add_prefix_space"`
	UseRegex       *bool  `json:"use_regex"`
	Prepend        string `json:"prepend"`
	Content        string `json:"content"`
}

// maxFile bounds a tokenizer file: the largest known has 33 MB.
const maxFile = 256 << 20

// ReadTokenizer reads a tokenizer.json. What it does not know exactly is an
// error.
func ReadTokenizer(r io.Reader) (*Encoding, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("more than %d bytes", maxFile)
	}
	var file tokenizerFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	m := &file.Model
	switch {
	case m.Type != "BPE" && m.Type != "":
		return nil, fmt.Errorf("a model of type %q, not BPE", m.Type)
	case m.Dropout != nil && *m.Dropout != 0:
		return nil, errors.New("a model with dropout: its tokens are random")
	case m.Prefix != nil && *m.Prefix != "" || m.Suffix != nil && *m.Suffix != "":
		return nil, errors.New("a model with marks inside or at the end of words")
	case len(file.Truncation) > 0 && string(file.Truncation) != "null":
		return nil, errors.New("a file that cuts texts off")
	case len(m.Vocabulary) > maxTokens/2:
		return nil, fmt.Errorf("a vocabulary of %d tokens", len(m.Vocabulary))
	}
	merges, err := readMerges(m.Merges)
	if err != nil {
		return nil, err
	}
	e := &Encoding{}
	if m.ByteFallback {
		err = e.sentencePiece(&file, merges)
	} else {
		err = e.byteLevel(&file, merges)
	}
	if err != nil {
		return nil, err
	}
	return e, e.addTokens(file.Added)
}

// readMerges reads merges as "left right" or as ["left", "right"].
func readMerges(data json.RawMessage) ([][2]string, error) {
	var pairs [][2]string
	if json.Unmarshal(data, &pairs) == nil {
		return pairs, nil
	}
	var lines []string
	if err := json.Unmarshal(data, &lines); err != nil {
		return nil, fmt.Errorf("merges: %w", err)
	}
	pairs = make([][2]string, len(lines))
	for i, line := range lines {
		left, right, ok := strings.Cut(line, " ")
		if !ok || strings.Contains(right, " ") {
			return nil, fmt.Errorf("merge %d is %q", i, line)
		}
		pairs[i] = [2]string{left, right}
	}
	return pairs, nil
}

// addTokens takes the tokens that are found in the text before all else:
// special ones on demand, others always.
func (e *Encoding) addTokens(added []addedToken) error {
	for _, a := range added {
		switch {
		case a.Content == "":
			return fmt.Errorf("added token %d is empty", a.ID)
		case a.SingleWord || a.LStrip || a.RStrip:
			return fmt.Errorf("added token %q takes the text around it in", a.Content)
		case a.ID < 0 || a.ID >= maxTokens:
			return fmt.Errorf("added token %q has the number %d", a.Content, a.ID)
		case a.Normalized && e.normalize != nil:
			return fmt.Errorf("added token %q is found in normalized text", a.Content)
		}
		e.specials.add(a.Content, a.ID)
		if !a.Special {
			e.always.add(a.Content, a.ID)
		}
	}
	return nil
}
