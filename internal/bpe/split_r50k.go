// SPDX-License-Identifier: Apache-2.0

package bpe

import "math"

// R50k is the pattern of r50k_base, p50k_base, p50k_edit and GPT-2:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func R50k(b []byte, i int) int {
	begin := i
	if b[i] == '\'' {
		if end := lowerContraction(b, i); end > i {
			return end
		}
	}
	if b[i] == ' ' && i+1 < len(b) {
		i++
	}
	class, width := classAt(b, i)
	switch next := i + width; {
	case class&letters != 0:
		return letterRun(b, next)
	case class == number:
		return numberRun(b, next, math.MaxInt)
	case class&whitespace != 0:
		return plainSpaces(b, begin)
	default:
		return otherRun(b, next)
	}
}

// lowerContraction returns the end of ('s|'t|'re|'ve|'m|'ll|'d)? at i.
func lowerContraction(b []byte, i int) int {
	if i+1 >= len(b) {
		return i
	}
	switch b[i+1] {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if i+2 < len(b) && b[i+2] == 'e' {
			return i + 3
		}
	case 'l':
		if i+2 < len(b) && b[i+2] == 'l' {
			return i + 3
		}
	}
	return i
}
