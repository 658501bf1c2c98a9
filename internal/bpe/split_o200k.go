// SPDX-License-Identifier: Apache-2.0

package bpe

// O200k is the pattern of o200k_base, with U for [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}],
// L for [\p{Ll}\p{Lm}\p{Lo}\p{M}] and S for (?i:'s|'t|'re|'ve|'m|'ll|'d):
//
//	[^\r\n\p{L}\p{N}]?U*L+S?|[^\r\n\p{L}\p{N}]?U+L*S?|\p{N}{1,3}|
//	?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// where the second line begins with a space.
func O200k(b []byte, i int) int {
	class, width := classAt(b, i)
	next := i + width
	switch class {
	case lower:
		return contraction(b, tail(b, next))
	case upper, letter:
		end, run := word(b, i)
		if end < 0 {
			end = run
		}
		return contraction(b, end)
	case number:
		return numberRun(b, next, 2)
	case newline:
		return spaces(b, i)
	}
	if end := prefixed(b, i, next, class); end > i {
		return contraction(b, end)
	}
	return rest(b, i, next, class)
}

// Tekken is the pattern of Mistral's tokenizers since Nemo: that of
// o200k_base without S, and each digit is a piece.
func Tekken(b []byte, i int) int {
	class, width := classAt(b, i)
	next := i + width
	switch class {
	case lower:
		return tail(b, next)
	case upper, letter:
		end, run := word(b, i)
		if end < 0 {
			end = run
		}
		return end
	case number:
		return next
	case newline:
		return spaces(b, i)
	}
	if end := prefixed(b, i, next, class); end > i {
		return end
	}
	return rest(b, i, next, class)
}

// prefixed returns the end of a word that begins with what may stand before
// one: a code point that is no letter, number or line end. A mark may, and may
// be of the word itself: the alternatives are tried in the pattern's order.
// Without a word it returns i.
func prefixed(b []byte, i, next int, class uint8) int {
	if next == len(b) {
		if class == mark {
			return next
		}
		return i
	}
	end, run := word(b, next)
	if end >= 0 {
		return end
	}
	if class == mark {
		end, _ = word(b, i)
		return end
	}
	if run > next {
		return run
	}
	return i
}

// rest returns the end of the piece at i that is no word, number or line end.
func rest(b []byte, i, next int, class uint8) int {
	if class == space {
		if b[i] == ' ' {
			if end := otherRun(b, next); end > next {
				return slashRun(b, end)
			}
		}
		return spaces(b, i)
	}
	return slashRun(b, otherRun(b, next))
}

// word returns the end of U*L+ at i, or -1, and that of U*. L+ takes what
// follows if that is of class Ll. If not, U* gives back code points until one
// is in L as well, which is the last one of class Lm, Lo or M.
func word(b []byte, i int) (end, run int) {
	end = -1
	for i < len(b) {
		class := ascii[b[i]]
		if class == lower {
			return tail(b, i+1), i
		}
		width := 1
		if b[i] >= 0x80 {
			class, width = classAbove(b, i)
		}
		if class&(upper|letter|mark) == 0 {
			if class == lower {
				return tail(b, i+width), i
			}
			break
		}
		i += width
		if class != upper {
			end = i
		}
	}
	return end, i
}

// tail returns the end of L* at i.
func tail(b []byte, i int) int {
	i = lowerEnd(b, i)
	for i < len(b) {
		if ascii[b[i]] == lower {
			i++
			continue
		}
		if b[i] < 0x80 {
			break
		}
		class, width := classAbove(b, i)
		if class&(lower|letter|mark) == 0 {
			break
		}
		i += width
	}
	return i
}

// slashRun returns the end of [\r\n/]* at i.
func slashRun(b []byte, i int) int {
	for i < len(b) && (ascii[b[i]] == newline || b[i] == '/') {
		i++
	}
	return i
}
