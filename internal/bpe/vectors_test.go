// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// TestVectors has small texts with their tokens by the npm package tiktoken
// 1.0.22, which runs OpenAI's own code; a text for each trap of the patterns.
func TestVectors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []map[string]json.RawMessage
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, v := range vectors {
		var text string
		if err := json.Unmarshal(v["text"], &text); err != nil {
			t.Fatal(err)
		}
		for _, name := range Names() {
			if v[name] == nil {
				continue
			}
			var want []int
			if err := json.Unmarshal(v[name], &want); err != nil {
				t.Fatal(err)
			}
			compared++
			if got := embedded(t, name).Append(nil, []byte(text)); !slices.Equal(got, want) {
				t.Errorf("%s: %q is %v, not %v", name, text, got, want)
			}
		}
	}
	if want := 5 * len(vectors); compared != want || want == 0 {
		t.Errorf("%d comparisons, not %d", compared, want)
	}
}

// TestUnicodeVersion holds which code points the classes know: U+1C89 is a
// letter since Unicode 16.0, U+16EA0 since 17.0, and in between tiktoken is.
func TestUnicodeVersion(t *testing.T) {
	t.Parallel()
	if classOf(0x1c89) != upper || classOf(0x16ea0) != 0 {
		t.Errorf("the classes are not those of Unicode %s", UnicodeVersion)
	}
	for c := range 256 {
		want := uint8(0)
		if c < 0x80 {
			want = classOf(rune(c))
		}
		if ascii[c] != want {
			t.Errorf("byte %#x has class %#x, not %#x", c, ascii[c], want)
		}
	}
	// White_Space is Unicode's.
	for r, want := range map[rune]bool{0x85: true, 0xa0: true, 0x2028: true, 0x3000: true, 0xfeff: false, 0x200b: false, 0x7f: false, 0x1c: false} {
		if got := classOf(r)&whitespace != 0; got != want {
			t.Errorf("U+%04X is white space: %v", r, got)
		}
	}
}
