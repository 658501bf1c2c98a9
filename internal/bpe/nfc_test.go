// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// TestLongMarks has more marks in a row than package norm leaves together.
func TestLongMarks(t *testing.T) {
	t.Parallel()
	const acute, below, jamo = "\u0301", "\u0323", "\u11c2"
	many := strings.Repeat
	for text, want := range map[string]string{
		"":                                  "",
		"plain":                             "plain",
		"e" + many(acute, 40) + "e":         "é" + many(acute, 39) + "e",
		many(acute, 33):                     many(acute, 33),
		"ae" + many(acute+below, 20):        "aẹ" + many(below, 19) + many(acute, 20),
		"x" + many(jamo, 35) + "e" + acute:  "x" + many(jamo, 35) + "é",
		"가" + many(jamo, 35):                "갛" + many(jamo, 34),
		"\u1100\u1161" + many(jamo, 35):     "갛" + many(jamo, 34),
		many("\u0344", 20):                  many("\u0308\u0301", 20),
		"é" + many("\u0307", 31) + "\u0323": "ẹ" + "\u0301" + many("\u0307", 31),
	} {
		if got := string(nfc(nil, []byte(text))); got != want {
			t.Errorf("%+q becomes %+q, not %+q", text, got, want)
		}
	}
}

// TestNFC compares with package norm where that changes nothing else.
func TestNFC(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(11, 12))
	alphabet := []rune("eaoIKs가각힣각ᆩ한́̀̈̇̃̂̕ͅ\u0323\u0327\u0328\u0344\u0958\u0930\u093c\u09c7\u09be\u1100\u1161\u11a8\u11c2\u05bc\u05b7\u2126\u212b\u0f71\u0f72\u0f73ΰ\u0345ό\U0001d15e\U00011099\U000110ba 1")
	for range 20000 {
		var text []rune
		for range rnd.IntN(29) {
			text = append(text, alphabet[rnd.IntN(len(alphabet))])
		}
		b := []byte(string(text))
		want := norm.NFC.String(string(text))
		if strings.Contains(want, "\u034f") {
			continue
		}
		if got := string(nfc([]byte("x"), b)[1:]); got != want {
			t.Fatalf("%+q becomes %+q, not %+q", text, got, want)
		}
		if got := string(composed(nil, b)); got != want {
			t.Fatalf("by definition %+q becomes %+q, not %+q", text, got, want)
		}
	}
}
