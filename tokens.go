// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"fmt"
	"io"
	"strconv"
	"unsafe"

	"github.com/tacho-go/tacho/internal/bpe"
)

// An Encoding turns text into the tokens that a model reads and writes. It is
// made by [EncodingByName], [EncodingForModel] or [LoadTokenizer]; its zero
// value has no tokens. It does not change and may be used concurrently.
//
// Counts are exact: they are those of OpenAI's tiktoken, for loaded tokenizers
// those of Hugging Face's tokenizers. What is not valid UTF-8 is counted as
// what encoding/json sends for it: each byte that does not belong to a code
// point as U+FFFD.
//
// A special token in a text, such as <|endoftext|>, is ordinary text: so an API
// takes what a user wrote. [Encoding.EncodeSpecial] and
// [Encoding.CountSpecial] do otherwise.
type Encoding struct {
	impl *bpe.Encoding
}

// EncodingByName returns an encoding of OpenAI: r50k_base, p50k_base,
// p50k_edit, cl100k_base, o200k_base or o200k_harmony. Another name is an
// error.
//
// The first call for a name unpacks its vocabulary, which takes some 30 ms and
// 15 MB for o200k_base and is kept; p50k_base and p50k_edit share one, as do
// o200k_base and o200k_harmony. The packed vocabularies add 1.2 MB to a program
// that calls this function or EncodingForModel, and nothing to another.
func EncodingByName(name string) (*Encoding, error) {
	impl, err := bpe.ByName(name)
	if err != nil {
		return nil, fmt.Errorf("tacho: %w", err)
	}
	return &Encoding{impl}, nil
}

// EncodingForModel returns the encoding of a model of OpenAI, by its name in
// the API, with or without a date, of Azure ("gpt-35-turbo"), or of a
// fine-tuned model ("ft:gpt-4o:…"). The models of gpt-oss have o200k_harmony.
//
// known is false if no list has the name but it looks like one of OpenAI's: the
// encoding is then o200k_base, that of every model since gpt-4o, and a guess. So it
// is for whisper-1, tts-1, dall-e-3, sora-2 and omni-moderation-latest, whose
// tokens OpenAI does not publish: their prompts are counted as gpt-4o would, while
// limits and prices of some of them are by characters, seconds or images.
//
// For the models of others there is an error: their tokenizers are files, see
// [LoadTokenizer].
func EncodingForModel(model string) (enc *Encoding, known bool, err error) {
	name, known := encodingName(model)
	if name == "" {
		return nil, false, fmt.Errorf("tacho: no encoding is known for model %s, which is none of OpenAI's by its name: "+
			"load its tokenizer.json by LoadTokenizer, or name an encoding to EncodingByName", strconv.Quote(model))
	}
	enc, err = EncodingByName(name)
	return enc, known && err == nil, err
}

// Name returns the name of the encoding; that of a loaded tokenizer is empty.
func (e *Encoding) Name() string {
	if e.impl == nil {
		return ""
	}
	return e.impl.Name()
}

// Count returns how many tokens a text has. With OpenAI's encodings it allocates
// nothing, whatever the text is: what it needs, 40 KB and for programs that count
// much 300 KB, or 5 MB for pieces of a megabyte, is kept between calls, for each
// processor, until garbage collection takes it.
// With a loaded tokenizer that holds for texts up to 256 KB, and beyond that where
// nothing has to be made normal and the merges are those of pieces.
func (e *Encoding) Count(text string) int {
	if e.impl == nil {
		return 0
	}
	return e.impl.Count(view(text))
}

// Encode returns the tokens of a text.
func (e *Encoding) Encode(text string) []int {
	return e.Append(nil, text)
}

// Append appends the tokens of a text to dst, as Encode returns them.
func (e *Encoding) Append(dst []int, text string) []int {
	if e.impl == nil {
		return dst
	}
	return e.impl.Append(dst, view(text))
}

// Specials says what special tokens in a text are.
type Specials int

const (
	SpecialsAsText    Specials = iota // ordinary text, as an API takes them from a user
	SpecialsAllowed                   // one token each: the text is a prompt as the model reads it
	SpecialsForbidden                 // an error, a *SpecialTokenError
)

// SpecialTokenError tells that a text has a special token where none may be.
type SpecialTokenError struct {
	Token  string
	Offset int // in bytes
}

// Error implements error.
func (e *SpecialTokenError) Error() string {
	return fmt.Sprintf("tacho: the text has the special token %s at byte %d", e.Token, e.Offset)
}

// CountSpecial is Count with a choice of what special tokens are. It has an
// error only if they are forbidden and the text has one.
func (e *Encoding) CountSpecial(text string, specials Specials) (int, error) {
	switch {
	case e.impl == nil:
		return 0, nil
	case specials == SpecialsAllowed:
		return e.impl.CountSpecial(view(text)), nil
	case specials == SpecialsForbidden:
		if err := e.checkSpecial(text); err != nil {
			return 0, err
		}
	}
	return e.Count(text), nil
}

// EncodeSpecial is Encode with a choice of what special tokens are. It has an
// error only if they are forbidden and the text has one.
func (e *Encoding) EncodeSpecial(text string, specials Specials) ([]int, error) {
	switch {
	case e.impl == nil:
		return nil, nil
	case specials == SpecialsAllowed:
		return e.impl.AppendSpecial(nil, view(text)), nil
	case specials == SpecialsForbidden:
		if err := e.checkSpecial(text); err != nil {
			return nil, err
		}
	}
	return e.Encode(text), nil
}

func (e *Encoding) checkSpecial(text string) error {
	if begin, end := e.impl.FindSpecial(view(text)); begin < end {
		return &SpecialTokenError{Token: text[begin:end], Offset: begin}
	}
	return nil
}

// Decode returns the text of tokens, special ones as they are written. A number
// that is no token is an error. The tokens of a part of a text may begin or end
// inside a code point; what is returned is then no valid UTF-8.
func (e *Encoding) Decode(tokens []int) (string, error) {
	if e.impl == nil {
		return "", nil
	}
	text, bad := e.impl.Decode(tokens)
	if bad >= 0 {
		return "", fmt.Errorf("tacho: %d, at %d, is no token", tokens[bad], bad)
	}
	return string(text), nil
}

// Truncate returns the longest beginning of a text that ends where one of its
// tokens does, never inside a code point, and has at most limit tokens; and how
// many it has. These are not always its first limit tokens: white space at the end
// may be read in fewer than before a word. With OpenAI's encodings it reads no more
// of the text than it returns, 4 tokens and a piece, a word mostly. What the
// encoding reads otherwise than it is written is returned as it is read: bad UTF-8
// as U+FFFD, with some tokenizers text in Unicode's normal form C.
func (e *Encoding) Truncate(text string, limit int) (cut string, tokens int) {
	if e.impl == nil || limit <= 0 {
		return "", 0
	}
	normal := e.impl.Normal(view(text))
	end, tokens := e.impl.Truncate(normal, limit)
	if len(text) == 0 || len(normal) == len(text) && unsafe.SliceData(normal) == unsafe.StringData(text) {
		return text[:end], tokens
	}
	return string(normal[:end]), tokens
}

// LoadTokenizer reads a tokenizer.json of Hugging Face: byte-level BPE as Llama
// 3, Qwen 2.5 and 3, DeepSeek V3, Mistral Nemo and gpt-oss have it, or BPE of
// code points with byte_fallback as Gemma and Llama 2. A pattern, normalizer or
// kind of token that it does not know exactly is an error, never a guess.
//
// Added tokens that the file does not call special are matched in every text,
// special ones as [Specials] says. Templates are not applied: no token for the
// beginning of a text is counted.
//
// A [TokenCounter] of these holds 4 KB, and what came since the last space behind
// a letter or digit of ASCII, if the file has a normal form, added tokens or
// DeepSeek's patterns; and the whole text with BPE of code points, whose merges
// may reach over all of it.
func LoadTokenizer(r io.Reader) (*Encoding, error) {
	impl, err := bpe.ReadTokenizer(r)
	if err != nil {
		return nil, fmt.Errorf("tacho: tokenizer: %w", err)
	}
	return &Encoding{impl}, nil
}

// view returns the bytes of a string, which nothing writes to.
func view(text string) []byte {
	return unsafe.Slice(unsafe.StringData(text), len(text))
}
