// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"math"
	"math/rand/v2"
	"testing"
	"unicode/utf8"
)

// longestBeginning is Truncate by its definition, of all borders of tokens.
func longestBeginning(e *Encoding, b []byte, limit int) (end, border int) {
	at := 0
	for i, id := range e.Append(nil, b) {
		text, _ := e.Decode([]int{id})
		at += len(text)
		if (at == len(b) || utf8.RuneStart(b[at])) && e.Count(b[:at]) <= limit {
			end, border = at, i+1
		}
	}
	return end, border
}

// TestTruncateLongest compares with the definition, in texts of which the white
// space is read otherwise when what follows is cut off.
func TestTruncateLongest(t *testing.T) {
	t.Parallel()
	blanks := []rune("   \n\n\r\t\u00a0\u3000\u2028")
	for _, name := range Names() {
		e, rnd, saved := embedded(t, name), rand.New(rand.NewPCG(5, 6)), 0
		check := func(b []byte, limit int) {
			want, border := longestBeginning(e, b, limit)
			end, n := e.Truncate(b, limit)
			if end != want || n > limit || n != e.Count(b[:end]) {
				t.Errorf("%s: Truncate of %q to %d gives %d tokens, %q, not %q", name, b, limit, n, b[:end], b[:want])
			}
			saved = max(saved, border-limit)
		}
		check([]byte("a\u00a0\u00a0\u00a0."), 2)
		check([]byte("end\n\nof"), 2)
		rounds := 1000
		if raceEnabled {
			rounds = 100 // which takes as long
		}
		for range rounds {
			b := randomText(rnd, 24)
			check(b, 1+rnd.IntN(12))
			for i := range 1 + rnd.IntN(40) {
				r := blanks[rnd.IntN(len(blanks))]
				for range 1 + i%4*rnd.IntN(8) {
					b = utf8.AppendRune(b, r)
				}
			}
			b = append(b, "x="[rnd.IntN(2)])
			check(b, 1+rnd.IntN(e.Count(b)))
		}
		t.Logf("%s: what ends with white space has up to %d tokens fewer", name, saved)
		if saved == 0 || saved > ahead/2 {
			t.Errorf("%s: %d tokens fewer, where %d more are looked at", name, saved, ahead)
		}
		if end, n := e.Truncate([]byte("all of it"), math.MaxInt); end != 9 || n != 3 {
			t.Errorf("%s: Truncate to any limit gives %d bytes, %d tokens", name, end, n)
		}
	}
}
