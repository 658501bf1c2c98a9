// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxJoined is how many code points in a row may join what is before them for
// package norm to normalize them: after 30 it puts U+034F between them, as Unicode's
// Stream-Safe Text Process has it (UAX 15, section 13), which tokenizers do not.
// Some code points are three when they are decomposed.
const maxJoined = 10

// nfc appends b in normal form C.
func nfc(dst, b []byte) []byte {
	done, begin, joined := 0, 0, 0 // up to where b is normal in dst; the last boundary; code points since
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			begin, joined = i, 0
			i++
			continue
		}
		p := norm.NFC.Properties(b[i:])
		if p.BoundaryBefore() {
			begin, joined = i, 0
		} else {
			joined++
		}
		i += max(p.Size(), 1)
		if joined <= maxJoined {
			continue
		}
		for i < len(b) { // to the next boundary
			p := norm.NFC.Properties(b[i:])
			if p.BoundaryBefore() {
				break
			}
			i += max(p.Size(), 1)
		}
		dst = appendNormal(dst, b[done:begin])
		dst = composed(dst, b[begin:i])
		done, begin, joined = i, i, 0
	}
	return appendNormal(dst, b[done:])
}

// appendNormal leaves dst as it is, which package norm would look at again.
func appendNormal(dst, b []byte) []byte {
	end := dst[len(dst):]
	return append(dst, norm.NFC.Append(end, b...)...)
}

// joinedRune is a code point with its canonical combining class.
type joinedRune struct {
	r     rune
	class uint8
}

// composed appends b in normal form C by its definition (Unicode 16.0, section
// 3.11): decomposed, put in order, and composed pair by pair.
func composed(dst, b []byte) []byte {
	var runes []joinedRune
	for len(b) > 0 {
		_, n := utf8.DecodeRune(b)
		for _, r := range string(norm.NFD.Bytes(b[:n])) {
			runes = append(runes, joinedRune{r, norm.NFD.PropertiesString(string(r)).CCC()})
		}
		b = b[n:]
	}
	for i := 0; i < len(runes); {
		end := i + 1
		if runes[i].class > 0 {
			for end < len(runes) && runes[end].class > 0 {
				end++
			}
			slices.SortStableFunc(runes[i:end], func(a, b joinedRune) int { return int(a.class) - int(b.class) })
		}
		i = end
	}
	out := runes[:0]
	starter := -1 // the last code point of class 0
	for _, c := range runes {
		if starter >= 0 {
			if last := out[len(out)-1]; starter == len(out)-1 || last.class > 0 && last.class < c.class {
				if r, ok := pair(out[starter].r, c.r); ok {
					out[starter].r = r
					continue
				}
			}
		}
		if c.class == 0 {
			starter = len(out)
		}
		out = append(out, c)
	}
	for _, c := range out {
		dst = utf8.AppendRune(dst, c.r)
	}
	return dst
}

// pair returns what two code points are composed to.
func pair(a, b rune) (rune, bool) {
	s := norm.NFC.String(string([]rune{a, b}))
	r, n := utf8.DecodeRuneInString(s)
	return r, n == len(s)
}
