// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/tacho-go/tacho"
)

// tokensDir returns the folder of texts and of the tokens that other tokenizers
// make of them. It is no part of the repository.
func tokensDir(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("TACHO_TOKENS")
	if dir == "" {
		tb.Skip("TACHO_TOKENS names no folder with corpus/ and expected.json.gz")
	}
	return dir
}

// expectedTokens is what a file says of each text, by encoding.
type expectedTokens map[string]map[string]json.RawMessage

func readExpected(tb testing.TB, name string) expectedTokens {
	tb.Helper()
	file, err := os.Open(filepath.Join(tokensDir(tb), name))
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	zr, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	var all expectedTokens
	if err := json.NewDecoder(zr).Decode(&all); err != nil {
		tb.Fatal(err)
	}
	return all
}

func (x expectedTokens) ids(tb testing.TB, text, encoding string) []int {
	tb.Helper()
	var one struct {
		Count int
		IDs   []int
	}
	if err := json.Unmarshal(x[text][encoding], &one); err != nil {
		tb.Fatal(err)
	}
	if one.Count != len(one.IDs) {
		tb.Fatalf("%s has %d tokens but a count of %d", text, len(one.IDs), one.Count)
	}
	return one.IDs
}

// readCorpusText reads a text. What the other tokenizers got of the two that
// are no valid UTF-8 was decoded by JavaScript, which makes one U+FFFD of a code
// point that is cut short, where encoding/json makes one of each byte.
func readCorpusText(tb testing.TB, name string) string {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(tokensDir(tb), "corpus", name))
	if err != nil {
		tb.Fatal(err)
	}
	var text []byte
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			n = maximalSubpart(b)
		}
		text = utf8.AppendRune(text, r)
		b = b[n:]
	}
	return string(text)
}

// maximalSubpart returns how many bytes of bad UTF-8 the Encoding Standard of
// WHATWG makes one U+FFFD of: a beginning of some code point, or one byte.
func maximalSubpart(b []byte) int {
	for n := min(3, len(b)); n > 1; n-- {
		for _, fill := range [][]byte{{0x80}, {0x90}, {0xa0}, {0x80, 0x80}, {0x90, 0x80}, {0xa0, 0x80}} {
			if whole := append(bytes.Clone(b[:n]), fill...); len(whole) <= utf8.UTFMax {
				if r, size := utf8.DecodeRune(whole); r != utf8.RuneError && size == len(whole) {
					return n
				}
			}
		}
	}
	return 1
}

// compareTokens compares everything that an encoding says of a text with its
// tokens by another tokenizer.
func compareTokens(t *testing.T, enc *tacho.Encoding, text string, specials tacho.Specials, want []int) {
	t.Helper()
	got, err := enc.EncodeSpecial(text, specials)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Fatalf("%d tokens, not %d; number %d is the first that differs: %v, not %v",
			len(got), len(want), i, got[i:min(i+5, len(got))], want[i:min(i+5, len(want))])
	}
	if n, err := enc.CountSpecial(text, specials); err != nil || n != len(want) {
		t.Errorf("CountSpecial is %d, %v, not %d", n, err, len(want))
	}
	n := enc.Count(text)
	if ids := enc.Encode(text); n != len(ids) {
		t.Errorf("Count is %d, Encode has %d", n, len(ids))
	}
	c := enc.NewCounter()
	for rest := text; rest != ""; {
		n := min(997, len(rest))
		c.WriteString(rest[:n])
		rest = rest[n:]
	}
	if got := c.Count(); got != n {
		t.Errorf("a TokenCounter counts %d, not %d", got, n)
	}
}

// TestTokens compares with the tokens of tiktoken, text by text.
func TestTokens(t *testing.T) {
	t.Parallel()
	all := readExpected(t, "expected.json.gz")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := readCorpusText(t, name)
			for _, encoding := range []string{"cl100k_base", "o200k_base"} {
				enc, err := tacho.EncodingByName(encoding)
				if err != nil {
					t.Fatal(err)
				}
				want := all.ids(t, name, encoding)
				compareTokens(t, enc, text, tacho.SpecialsAsText, want)
				if back, err := enc.Decode(want); err != nil || back != text {
					t.Errorf("%s: Decode does not give the text back: %v", encoding, err)
				}
			}
		})
	}
	if len(all) != 40 {
		t.Errorf("%d texts, not 40", len(all))
	}
}
