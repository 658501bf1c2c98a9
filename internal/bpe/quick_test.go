// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestQuickWord has what is a quick word and what is not.
func TestQuickWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"a ": 1, "word.": 4, " word,": 5, " Word\n": 5, "Word7": 4, " lengthy ": 8, "lengthen": 8, " lengthen ": 0, "lengthens ": 0, "Lengthen ": 8,
		" W ": 0, "W": 0, " ": 0, "  a": 0, "7a": 0, "it's": 0, "wordWord": 0, "WOrd": 0, "wordé": 0, "word\u0301": 0, "é": 0, "": 0, "`": 0, "{": 0, "@": 0, "[": 0, "a\x7f": 1, "a\x00": 1,
	} {
		b := []byte(text + " " + strings.Repeat(".", quickRoom))
		w, n := quickWord(b, 0)
		if n != want || n > 0 && w != word8(b, 0, n) {
			t.Errorf("%q: %d bytes, %x, want %d", text, n, w, want)
		}
	}
	for c := range 256 {
		for at := range 8 {
			b := []byte("abcxyzmn")
			b[at] = byte(c)
			want := 8
			if c < 'a' || c > 'z' {
				want = at
			}
			if got := lowerRun(binary.LittleEndian.Uint64(b)); got != want {
				t.Errorf("%q: %d letters, want %d", b, got, want)
			}
		}
	}
}

// TestCache has pieces of each length that is kept, which differ in one byte.
func TestCache(t *testing.T) {
	t.Parallel()
	c, rnd := new(cache), rand.New(rand.NewPCG(7, 8))
	text := []byte(strings.Repeat("0123456789", 8))
	for n := 1; n <= maxCached; n++ {
		begin := rnd.IntN(len(text) - n + 1)
		piece := text[begin : begin+n]
		p := c.place(text, begin, begin+n)
		if p.is(piece) {
			t.Errorf("%d bytes: it is there before it is kept", n)
		}
		p.keep(piece, n)
		if alone := append([]byte(nil), piece...); c.place(alone, 0, n) != p || !p.is(alone) || int(p.tokens) != n {
			t.Errorf("%d bytes: it is not found again", n)
		}
		other := append([]byte(nil), piece...)
		other[rnd.IntN(n)]++
		if p.is(other) || p.is(piece[:n-1]) || p.is(append(other[:0:0], text[begin:min(begin+n+1, len(text))]...)) != (begin+n == len(text)) {
			t.Errorf("%d bytes: another piece is taken for it", n)
		}
	}
}
