// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tacho-go/tacho"
)

func ExampleEncodingForModel() {
	enc, known, err := tacho.EncodingForModel("gpt-4o-mini")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(enc.Name(), known, enc.Count("How many tokens has this?"))
	// Output: o200k_base true 6
}

func ExampleEncoding_Truncate() {
	enc, err := tacho.EncodingByName("o200k_base")
	if err != nil {
		fmt.Println(err)
		return
	}
	cut, tokens := enc.Truncate("No more than four tokens of this.", 4)
	fmt.Printf("%q %d\n", cut, tokens)
	// Output: "No more than four" 4
}

func ExampleTokenCounter() {
	enc, err := tacho.EncodingByName("cl100k_base")
	if err != nil {
		fmt.Println(err)
		return
	}
	c := enc.NewCounter()
	for _, part := range []string{"A str", "eam in p", "arts: \xf0\x9f", "\x98\x80."} {
		c.WriteString(part)
	}
	fmt.Println(c.Count(), enc.Count("A stream in parts: 😀."))
	// Output: 7 7
}

func encoding(tb testing.TB, name string) *tacho.Encoding {
	tb.Helper()
	enc, err := tacho.EncodingByName(name)
	if err != nil {
		tb.Fatal(err)
	}
	return enc
}

func TestEncodingForModel(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"gpt-5": "o200k_base", "gpt-5.1": "o200k_base", "gpt-5-mini-2025-08-07": "o200k_base", "gpt-5-chat-latest": "o200k_base",
		"gpt-4o": "o200k_base", "gpt-4o-mini-2024-07-18": "o200k_base", "chatgpt-4o-latest": "o200k_base", "openai/gpt-4o": "o200k_base",
		"gpt-4.1-nano": "o200k_base", "gpt-4.5-preview-2025-02-27": "o200k_base", "o1": "o200k_base", "o1-pro": "o200k_base",
		"o3-mini": "o200k_base", "o4-mini-2025-04-16": "o200k_base", "ft:gpt-4o-mini:org::id": "o200k_base",
		"gpt-oss-20b": "o200k_harmony", "openai/gpt-oss-120b": "o200k_harmony",
		"gpt-4": "cl100k_base", "gpt-4-32k-0613": "cl100k_base", "gpt-4-turbo": "cl100k_base", "gpt-3.5-turbo-0125": "cl100k_base",
		"gpt-35-turbo": "cl100k_base", "gpt-35-turbo-16k": "cl100k_base", "ft:gpt-3.5-turbo:org": "cl100k_base", "ft:davinci-002:org": "cl100k_base",
		"text-embedding-3-small": "cl100k_base", "text-embedding-ada-002": "cl100k_base", "babbage-002": "cl100k_base",
		"text-davinci-003": "p50k_base", "code-davinci-002": "p50k_base", "code-cushman-001": "p50k_base",
		"text-davinci-edit-001": "p50k_edit", "code-davinci-edit-001": "p50k_edit",
		"davinci": "r50k_base", "text-davinci-001": "r50k_base", "text-search-ada-doc-001": "r50k_base", "ada:ft-org": "r50k_base", "gpt2": "r50k_base",
		"gpt-6": "?", "gpt-4.2": "?", "gpt-realtime": "?", "o9-mini": "?", "text-embedding-4": "?", "codex-latest": "?",
		"whisper-1": "?", "tts-1": "?", "tts-1-hd": "?", "dall-e-2": "?", "dall-e-3": "?", "gpt-image-1": "?", "sora-2": "?",
		"omni-moderation-latest": "?", "text-moderation-stable": "?", "openai/whisper-1": "?", "openai/of-tomorrow": "?", "ft:of-tomorrow:org::id": "?",
		"azure/gpt-4o": "o200k_base", "azure/gpt-35-turbo": "cl100k_base", "azure/tts-1": "?", "azure/my-deployment": "", "openai/": "", "ft:": "", "whisper": "", "soraka": "",
		"claude-sonnet-4": "", "llama-3.1-8b": "", "qwen2.5": "", "oracle": "", "": "", "adapter": "", "curie-x": "",
	} {
		enc, known, err := tacho.EncodingForModel(model)
		switch {
		case want == "":
			if err == nil {
				t.Errorf("%q has %s", model, enc.Name())
			} else if !strings.Contains(err.Error(), "LoadTokenizer") || !strings.Contains(err.Error(), fmt.Sprintf("%q", model)) {
				t.Errorf("%q: %v, which does not say what to do", model, err)
			}
		case err != nil:
			t.Errorf("%q: %v", model, err)
		case want == "?":
			if known || enc.Name() != "o200k_base" {
				t.Errorf("%q has %s, known: %v; it is a guess at o200k_base", model, enc.Name(), known)
			}
		case !known || enc.Name() != want:
			t.Errorf("%q has %s, known: %v, not %s", model, enc.Name(), known, want)
		}
	}
	if _, err := tacho.EncodingByName("o300k"); err == nil {
		t.Error("there is an encoding o300k")
	}
}

func TestSpecials(t *testing.T) {
	t.Parallel()
	const prompt = "<|start|>system<|message|>You<|end|><|start|>assistant<|channel|>final<|message|>x<|return|><|call|>" +
		"<|constrain|><|startoftext|><|endoftext|><|endofprompt|><|reserved_200013|><|reserved_201087|>"
	enc := encoding(t, "o200k_harmony")
	want := slices.Concat([]int{200006}, enc.Encode("system"), []int{200008}, enc.Encode("You"), []int{200007, 200006}, enc.Encode("assistant"),
		[]int{200005}, enc.Encode("final"), []int{200008}, enc.Encode("x"), []int{200002, 200012, 200003, 199998, 199999, 200018, 200013, 201087})
	got, err := enc.EncodeSpecial(prompt, tacho.SpecialsAllowed)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, not %v", got, err, want)
	}
	if n, err := enc.CountSpecial(prompt, tacho.SpecialsAllowed); err != nil || n != len(want) {
		t.Errorf("%d, %v, not %d", n, err, len(want))
	}
	if back, err := enc.Decode(got); err != nil || back != prompt {
		t.Errorf("%q, %v", back, err)
	}
	if n, err := enc.CountSpecial(prompt, tacho.SpecialsAsText); err != nil || n <= len(want) || n != enc.Count(prompt) {
		t.Errorf("as text %d tokens, %v", n, err)
	}
	var special *tacho.SpecialTokenError
	if _, err := enc.CountSpecial("say <|end|>", tacho.SpecialsForbidden); !errors.As(err, &special) || special.Token != "<|end|>" || special.Offset != 4 {
		t.Errorf("%v", err)
	}
	if n, err := enc.CountSpecial("say it", tacho.SpecialsForbidden); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	for name, tokens := range map[string]map[string]int{
		"r50k_base":   {"<|endoftext|>": 50256},
		"p50k_base":   {"<|endoftext|>": 50256},
		"p50k_edit":   {"<|endoftext|>": 50256, "<|fim_prefix|>": 50281, "<|fim_middle|>": 50282, "<|fim_suffix|>": 50283},
		"cl100k_base": {"<|endoftext|>": 100257, "<|fim_prefix|>": 100258, "<|fim_middle|>": 100259, "<|fim_suffix|>": 100260, "<|endofprompt|>": 100276},
		"o200k_base":  {"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
	} {
		for text, id := range tokens {
			got, err := encoding(t, name).EncodeSpecial(text, tacho.SpecialsAllowed)
			if err != nil || !slices.Equal(got, []int{id}) {
				t.Errorf("%s: %s is %v, %v, not %d", name, text, got, err, id)
			}
		}
	}
}

// TestInvalidText holds that bad UTF-8 counts as what encoding/json sends.
func TestInvalidText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a\xff", "\xf0\x9f\x98", "\xf0\x9f\x98 \xe4\xb8", "\xed\xa0\x80x", "\xc0\xaf", "\x80\x80\x80", "ok \xe4\xb8\xad\xe6"} {
		wire, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var sent string
		if err := json.Unmarshal(wire, &sent); err != nil {
			t.Fatal(err)
		}
		enc := encoding(t, "o200k_base")
		if got, want := enc.Encode(text), enc.Encode(sent); !slices.Equal(got, want) {
			t.Errorf("%q is %v, %v on the wire", text, got, want)
		}
		if got, want := enc.Count(text), enc.Count(sent); got != want {
			t.Errorf("%q has %d tokens, %d on the wire", text, got, want)
		}
		if cut, n := enc.Truncate(text, 1<<20); cut != sent || n != enc.Count(sent) {
			t.Errorf("Truncate makes %q of %q", cut, text)
		}
	}
}

func TestTruncate(t *testing.T) {
	t.Parallel()
	enc := encoding(t, "o200k_base")
	text := "Emoji 🧑‍🚀🧑‍🚀 and ไทย 中文字 text,   with  spaces\n\n  and it's  more. "
	tokens := enc.Encode(text)
	last := ""
	for limit := -1; limit <= len(tokens)+1; limit++ {
		cut, n := enc.Truncate(text, limit)
		if !strings.HasPrefix(text, cut) || !strings.HasPrefix(cut, last) || !utf8.ValidString(cut) || n > max(limit, 0) || n != enc.Count(cut) {
			t.Errorf("to %d: %q, %d tokens, after %q", limit, cut, n, last)
		}
		last = cut
	}
	if last != text {
		t.Errorf("%q is left of %q", last, text)
	}
}

func TestTokensZeroValues(t *testing.T) {
	t.Parallel()
	var enc tacho.Encoding
	if enc.Count("a") != 0 || enc.Encode("a") != nil || enc.Name() != "" {
		t.Error("the zero Encoding has tokens")
	}
	c := enc.NewCounter()
	c.WriteString("a")
	c.Reset()
	if c.Count() != 0 {
		t.Error("a counter of the zero Encoding counts")
	}
	if _, err := encoding(t, "r50k_base").Decode([]int{-1}); err == nil {
		t.Error("-1 is a token")
	}
	for _, id := range []int{50257, 1 << 40} {
		if _, err := encoding(t, "r50k_base").Decode([]int{id}); err == nil {
			t.Errorf("%d is a token of r50k_base", id)
		}
	}
}

// TestLoadTokenizerRefuses has files that differ from known ones in one thing.
func TestLoadTokenizerRefuses(t *testing.T) {
	t.Parallel()
	const model = `"model":{"type":"BPE","vocab":{},"merges":[]}`
	for _, file := range []string{
		``, `{}`, `[]`, `{"model":{"type":"Unigram"}}`,
		`{"pre_tokenizer":{"type":"Whitespace"},` + model + `}`,
		`{"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true},` + model + `}`,
		`{"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\w+"},"behavior":"Isolated"},` +
			`{"type":"ByteLevel","use_regex":false}]},` + model + `}`,
		`{"pre_tokenizer":{"type":"ByteLevel"},"normalizer":{"type":"NFKC"},` + model + `}`,
		`{"pre_tokenizer":{"type":"ByteLevel"},` + model + `}`,
		`{"pre_tokenizer":{"type":"ByteLevel"},"model":{"type":"BPE","dropout":0.1,"vocab":{},"merges":[]}}`,
		`{"model":{"type":"BPE","byte_fallback":true,"vocab":{},"merges":[]}}`,
		`{"pre_tokenizer":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{"a":0},"merges":["a"]}}`,
	} {
		if _, err := tacho.LoadTokenizer(strings.NewReader(file)); err == nil {
			t.Errorf("taken: %s", file)
		}
	}
}
