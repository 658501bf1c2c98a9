// SPDX-License-Identifier: Apache-2.0

package bpe

// Cl100k is the pattern of cl100k_base, of Llama 3 as well:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//	?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// where the second line begins with a space.
func Cl100k(b []byte, i int) int { return splitCl100k(b, i, 3) }

// Qwen is the pattern of Qwen 2 and later: that of cl100k_base, but for numbers,
// each digit of which is a piece.
func Qwen(b []byte, i int) int { return splitCl100k(b, i, 1) }

func splitCl100k(b []byte, i, digits int) int {
	class, width := classAt(b, i)
	next := i + width
	switch {
	case class&letters != 0:
		return letterRun(b, next)
	case class == number:
		return numberRun(b, next, digits-1)
	case class == newline:
		return spaces(b, i)
	case next == len(b):
		return next
	}
	if b[i] == '\'' {
		if end := contraction(b, i); end > i {
			return end
		}
	}
	if end := letterRun(b, next); end > next {
		return end
	}
	if class == space {
		if b[i] == ' ' {
			if end := otherRun(b, next); end > next {
				return newlineRun(b, end)
			}
		}
		return spaces(b, i)
	}
	return newlineRun(b, otherRun(b, next))
}
