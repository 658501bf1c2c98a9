// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// seeds has a text for each trap of the patterns.
var seeds = []string{
	"", " ", "Hello, world! It's 12345 tokens.", "don't DON'T don\u2019t 'ſ x'ſ I'LL we'Ve 'Re 's",
	"\u0301abc \u0301ABC A\u0301B aB\u0301c ʰA Aʰ AʰB ǅa \u0301\u0301A", "camelCaseWORDSAndMore ABCdef ABC中def 中ABC",
	"http://a/b//c ../ !/\n/\n!\r\n/ ///", "\u007f\u007fa \u0000\u0001 \u0085x \ufeffx \u200bx \u00a0x \u3000 x", "1 12 123 1234 ²³¹ ١٢٣٤ Ⅷ½ 1a2",
	"  \n\n  \n x \t\n\t y\r\n\r\n  ", "   ", "\n \n\n", "a \n", "日本語カナ・かな、中文。한국어 ไทย हिन्दी عربى", "\U0001F468\u200d\U0001F469 \U0001F1E9\U0001F1EA",
	strings.Repeat("a", 300), strings.Repeat("=", 200), strings.Repeat(" ", 150) + "x", strings.Repeat("ab", 90), "\xff\xfe\xe4\xb8 \xf0\x9f\x98 ok \xed\xa0\x80",
	"<|endoftext|><|start|>assistant<|channel|>final<|message|>x<|return|>", "{\"a\": [1, 2.5e-3, null], \"b\":\"\\n\"}\n",
}

// pieces returns the ends of a splitter's pieces.
func pieces(split Splitter, b []byte) (ends []int) {
	for i := 0; i < len(b); {
		i = split(b, i)
		ends = append(ends, i)
	}
	return ends
}

// checkSplit compares each splitter with its reference.
func checkSplit(t *testing.T, text []byte) {
	t.Helper()
	for _, p := range references {
		if got, want := pieces(p.splitter, text), referencePieces(p.reference, text); !slices.Equal(got, want) {
			t.Fatalf("%s cuts %q at %v, not %v", p.name, text, got, want)
		}
	}
	for _, p := range []*pattern{&r50k, &cl100k, &qwen, &o200k, &tekken} {
		for i := 0; i+quickRoom <= len(text); {
			end := p.split(text, i)
			if w, n := quickWord(text, i); p.quick && n > 0 && (i+n != end || w != word8(text, i, n)) {
				t.Fatalf("a quick word of %d bytes is at %d of %q, where a piece ends at %d", n, i, text, end)
			}
			i = end
		}
	}
	if got, want := pieces(DeepSeek, text), referenceDeepSeek(text); !slices.Equal(got, want) {
		t.Fatalf("deepseek cuts %q at %v, not %v", text, got, want)
	}
}

// checkEncoding holds what all encodings promise.
func checkEncoding(t *testing.T, e *Encoding, text []byte, rnd *rand.Rand) {
	t.Helper()
	clean := AppendValid(nil, text)
	tokens := e.Append(nil, text)
	if n := e.Count(text); n != len(tokens) {
		t.Fatalf("%s: Count is %d, not %d, of %q", e.name, n, len(tokens), text)
	}
	if back, bad := e.Decode(tokens); bad >= 0 || !bytes.Equal(back, clean) {
		t.Fatalf("%s: Decode gives %q for %q", e.name, back, clean)
	}
	checkStream(t, e, text, 40, 1+rnd.IntN(12), rnd)
	checkStream(t, e, text, bufferSize, 1+rnd.IntN(2000), rnd)
	limit := rnd.IntN(len(tokens) + 2)
	if end, n := e.Truncate(clean, limit); n > limit || e.Count(clean[:end]) != n || !utf8.Valid(clean[:end]) {
		t.Fatalf("%s: Truncate of %q to %d gives %d tokens, %q", e.name, clean, limit, n, clean[:end])
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4000 {
			return // the reference is slow
		}
		checkSplit(t, AppendValid(nil, []byte(text)))
	})
}

func FuzzTokens(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		for _, name := range Names() {
			checkEncoding(t, embedded(t, name), []byte(text), rnd)
		}
	})
}

// TestSplitRandom is FuzzSplit over random texts of the code points that
// patterns tell apart.
func TestSplitRandom(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 10000 {
		checkSplit(t, randomText(rnd, 24))
	}
}

// randomText is a text of at most n of the code points that patterns tell
// apart, some of them many times.
func randomText(rnd *rand.Rand, n int) []byte {
	alphabet := []rune("abstrevmldABSTLʰǅſ中かカ・ー龥\u0301\u0903\u20dd1²٣/'.!~ \t\n\r\u0085\u00a0\u3000\u2028\ufeff\u007f\u0000\u200b😀\ufffd\U00010ffff€")
	alphabet = append(alphabet, 'a', 'z', 'A', ' ', ' ', '\n', '\'', '\'', 0x301)
	var text []byte
	for range rnd.IntN(n) {
		r := alphabet[rnd.IntN(len(alphabet))]
		for range 1 + rnd.IntN(3)*rnd.IntN(2) {
			text = utf8.AppendRune(text, r)
		}
	}
	return text
}

// TestMergeRandom compares pieces of many kinds with byte-pair encoding as it
// is defined.
func TestMergeRandom(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"p50k_base", "cl100k_base", "o200k_base"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := embedded(t, name).vocabulary
			ranks := ranksOf(v)
			rnd := rand.New(rand.NewPCG(5, 6))
			s := new(scratch)
			var got []uint32
			for range 2000 {
				piece := randomPiece(v, rnd)
				if id := v.whole(piece, 0, len(piece)); id != none {
					got = append(got[:0], id)
				} else {
					got = v.encode(s, piece)
				}
				if want := referenceTokens(ranks, piece); !slices.Equal(got, want) {
					t.Fatalf("%q is %v, not %v", piece, got, want)
				}
			}
		})
	}
}

// randomPiece joins parts of random tokens, repeats some, or takes few letters.
func randomPiece(v *Vocabulary, rnd *rand.Rand) []byte {
	var piece []byte
	if rnd.IntN(4) == 0 {
		for range 1 + rnd.IntN(120+rnd.IntN(2)*600) {
			piece = append(piece, "ae =-\n"[rnd.IntN(1+rnd.IntN(6))])
		}
		return piece
	}
	for range 1 + rnd.IntN(5+rnd.IntN(2)*60) {
		t := v.token(uint32(rnd.IntN(v.Len())))
		if len(t) == 0 {
			continue
		}
		from := rnd.IntN(len(t))
		t = t[from : from+1+rnd.IntN(len(t)-from)]
		for range 1 + rnd.IntN(2)*rnd.IntN(4) {
			piece = append(piece, t...)
		}
	}
	return append(piece, 'x')
}

// TestEncodingsRandom is FuzzTokens over random texts.
func TestEncodingsRandom(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := embedded(t, name)
			rnd := rand.New(rand.NewPCG(7, 8))
			for range 600 {
				checkEncoding(t, e, randomText(rnd, 300), rnd)
			}
		})
	}
}
