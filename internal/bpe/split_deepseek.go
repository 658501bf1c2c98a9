// SPDX-License-Identifier: Apache-2.0

package bpe

// DeepSeek is the pattern of DeepSeek V3, three that cut one after the other:
//
//	\p{N}{1,3}
//	[一-龥぀-ゟ゠-ヿ]+
//	[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|
//	?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// where the last line begins with a space. What matches none, such as control
// characters, is a piece up to the next match. For the third pattern the text
// ends where a piece of the first two begins.
func DeepSeek(b []byte, i int) int {
	class, width := classAt(b, i)
	next := i + width
	switch {
	case class == number:
		return numberRun(b, next, 2)
	case width == 3 && isHan(b, i):
		for next < len(b) && isHan(b, next) {
			next += 3
		}
		return next
	}
	if end := deepSeekMatch(b, i, class, next); end > i {
		return end
	}
	// Nothing matches here: the piece goes up to where something does.
	for next < len(b) {
		class, width := classAt(b, next)
		if class == number || isHan(b, next) || deepSeekMatch(b, next, class, next+width) > next {
			break
		}
		next += width
	}
	return next
}

// deepSeekMatch returns the end of what the third pattern matches at i, or i.
func deepSeekMatch(b []byte, i int, class uint8, next int) int {
	if class == symbol && b[i] < 0x80 && next < len(b) && ascii[b[next]]&letters != 0 {
		for next < len(b) && ascii[b[next]]&letters != 0 {
			next++
		}
		return next
	}
	switch {
	case class&(letters|mark) != 0:
		return markedRun(b, next)
	case class&(newline|symbol) == 0: // may stand before letters
		if end := markedRun(b, next); end > next {
			return end
		}
	}
	if b[i] == ' ' {
		if end := symbolRun(b, next); end > next {
			return newlineRun(b, end)
		}
	}
	switch {
	case class == symbol:
		return newlineRun(b, symbolRun(b, next))
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

// markedRun returns the end of [\p{L}\p{M}]* at i, before Han and Kana.
func markedRun(b []byte, i int) int {
	for i < len(b) {
		class, width := classAt(b, i)
		if class&(letters|mark) == 0 || isHan(b, i) {
			break
		}
		i += width
	}
	return i
}

// symbolRun returns the end of [\p{P}\p{S}]* at i, before the middle dot of
// Kana, which is one.
func symbolRun(b []byte, i int) int {
	for i < len(b) {
		class, width := classAt(b, i)
		if class != symbol || isHan(b, i) {
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
