// SPDX-License-Identifier: Apache-2.0

package bpe

// DeepSeek is the pattern of DeepSeek V3, three that cut one after the other:
//
//	\p{N}{1,3}
//	[一-龥぀-ゟ゠-ヿ]+
//	[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|
//	?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// where the last line begins with a space. The third is applied to what the
// others cut off too, and takes the middle dot of Kana out of it. What matches
// none, such as control characters, is a piece up to the next match. For the
// third pattern the text ends where a piece of the first two begins or ends.
func DeepSeek(b []byte, i int) int {
	class, width := classAt(b, i)
	next := i + width
	if class == number {
		return numberRun(b, next, 2)
	}
	han := isHan(b, i)
	if end := deepSeekMatch(b, i, class, next, han); end > i {
		return end
	}
	// Nothing matches here: the piece goes up to where something does.
	for next < len(b) {
		class, width := classAt(b, next)
		if class == number || isHan(b, next) != han || deepSeekMatch(b, next, class, next+width, han) > next {
			break
		}
		next += width
	}
	return next
}

// deepSeekMatch returns the end of what the third pattern matches at i, or i;
// han tells whether the second pattern cut that off.
func deepSeekMatch(b []byte, i int, class uint8, next int, han bool) int {
	if class == symbol && b[i] < 0x80 && next < len(b) && ascii[b[next]]&letters != 0 {
		for next < len(b) && ascii[b[next]]&letters != 0 {
			next++
		}
		return next
	}
	switch {
	case class&(letters|mark) != 0:
		return classRun(b, next, letters|mark, han)
	case class&(newline|symbol) == 0: // may stand before letters
		if end := classRun(b, next, letters|mark, han); end > next {
			return end
		}
	}
	if b[i] == ' ' {
		if end := classRun(b, next, symbol, han); end > next {
			return newlineRun(b, end)
		}
	}
	switch {
	case class == symbol:
		end := classRun(b, next, symbol, han)
		if han {
			return end
		}
		return newlineRun(b, end)
	case class&whitespace != 0:
		end := i
		for end < len(b) {
			class, width := classAt(b, end)
			if class&whitespace == 0 {
				break
			}
			end += width
		}
		if end < len(b) {
			if class, _ := classAt(b, end); class == number || isHan(b, end) {
				return spaces(b[:end], i)
			}
		}
		return spaces(b, i)
	}
	return i
}

// classRun returns the end of code points of some classes at i, as long as they
// are cut off by the second pattern or not.
func classRun(b []byte, i int, classes uint8, han bool) int {
	for i < len(b) {
		class, width := classAt(b, i)
		if class&classes == 0 || isHan(b, i) != han {
			break
		}
		i += width
	}
	return i
}

// isHan reports whether one of [一-龥぀-ゟ゠-ヿ] is at i.
func isHan(b []byte, i int) bool {
	if b[i] < 0xe3 || b[i] > 0xe9 {
		return false
	}
	r := rune(b[i]&0xf)<<12 | rune(b[i+1]&0x3f)<<6 | rune(b[i+2]&0x3f)
	return 0x4e00 <= r && r <= 0x9fa5 || 0x3040 <= r && r <= 0x30ff
}
