// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// checkStream feeds a text to a counter with a buffer of some size, in parts of at
// most most bytes, and compares its count with that of the whole, at the end
// and now and then before it.
func checkStream(t *testing.T, e *Encoding, text []byte, size, most int, rnd *rand.Rand) {
	t.Helper()
	c := e.NewCounter()
	c.size = size
	for i := 0; i < len(text); {
		n := min(1+rnd.IntN(most), len(text)-i)
		c.Write(text[i : i+n])
		i += n
		if i == len(text) || rnd.IntN(8) == 0 {
			if got, want := c.Count(), e.Count(text[:i]); got != want {
				t.Fatalf("%s, buffer %d: %d tokens, not %d, in %.300q", e.name, size, got, want, text[:i])
			}
		}
	}
}

// TestStreamRuns feeds runs of few kinds of code points, long for the buffer.
func TestStreamRuns(t *testing.T) {
	t.Parallel()
	alphabet := strings.Split("a b A ʰ ſ é É 中 ́ 1 ² ! / ' . \n \r   \t \u00a0 \u3000 's 'll 're \xff \xe4 \xf0\x9f 😀 \u0085 \u007f", " ")
	alphabet = append(alphabet, " ", " ")
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := embedded(t, name)
			rnd := rand.New(rand.NewPCG(1, 2))
			for range 1000 {
				var text []byte
				for range 1 + rnd.IntN(4) {
					few := make([]string, 1+rnd.IntN(3))
					for i := range few {
						few[i] = alphabet[rnd.IntN(len(alphabet))]
					}
					for range rnd.IntN(80) {
						text = append(text, few[rnd.IntN(len(few))]...)
					}
				}
				checkStream(t, e, text, 40, 1+rnd.IntN(30), rnd)
			}
		})
	}
}

func embedded(tb testing.TB, name string) *Encoding {
	tb.Helper()
	e, err := ByName(name)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}
