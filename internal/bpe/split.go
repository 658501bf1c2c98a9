// SPDX-License-Identifier: Apache-2.0

package bpe

// A Splitter is a pattern that cuts text into pieces, no token reaching from
// one into the next. It returns the end of the piece that begins at i, which
// is less than len(b). The text is valid UTF-8 and goes on to the end of b.
type Splitter func(b []byte, i int) int

// letterRun returns the end of \p{L}* at i.
func letterRun(b []byte, i int) int {
	i = lowerEnd(b, i)
	for i < len(b) {
		if ascii[b[i]]&letters != 0 {
			i++
			continue
		}
		if b[i] < 0x80 {
			break
		}
		class, width := classAbove(b, i)
		if class&letters == 0 {
			break
		}
		i += width
	}
	return i
}

// numberRun returns the end of \p{N}{0,limit} at i.
func numberRun(b []byte, i, limit int) int {
	for ; limit > 0 && i < len(b); limit-- {
		class, width := classAt(b, i)
		if class&number == 0 {
			break
		}
		i += width
	}
	return i
}

// otherRun returns the end of [^\s\p{L}\p{N}]* at i.
func otherRun(b []byte, i int) int {
	for i < len(b) {
		class, width := classAt(b, i)
		if class&(letters|number|whitespace) != 0 {
			break
		}
		i += width
	}
	return i
}

// newlineRun returns the end of [\r\n]* at i.
func newlineRun(b []byte, i int) int {
	for i < len(b) && ascii[b[i]] == newline {
		i++
	}
	return i
}

// spaces returns the end of \s*[\r\n]+|\s+(?!\S)|\s+ at i, where white space
// begins: up to the last line end of the run; without one the whole run at the
// end of the text, else the run less its last code point, unless that is all.
func spaces(b []byte, i int) int {
	begin, last, lines := i, i, -1
	for i < len(b) {
		class, width := classAt(b, i)
		if class&whitespace == 0 {
			break
		}
		last = i
		i += width
		if class == newline {
			lines = i
		}
	}
	switch {
	case lines >= 0:
		return lines
	case i == len(b) || last == begin:
		return i
	default:
		return last
	}
}

// plainSpaces returns the end of \s+(?!\S)|\s+ at i, where white space begins.
func plainSpaces(b []byte, i int) int {
	begin, last := i, i
	for i < len(b) {
		class, width := classAt(b, i)
		if class&whitespace == 0 {
			break
		}
		last = i
		i += width
	}
	if i == len(b) || last == begin {
		return i
	}
	return last
}

// contraction returns the end of (?i:'s|'t|'re|'ve|'m|'ll|'d)? at i. Case is
// folded as Unicode does, so that 's is also an apostrophe and U+017F.
func contraction(b []byte, i int) int {
	if i+1 >= len(b) || b[i] != '\'' {
		return i
	}
	switch b[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if i+2 < len(b) && b[i+2]|0x20 == 'e' {
			return i + 3
		}
	case 'l':
		if i+2 < len(b) && b[i+2]|0x20 == 'l' {
			return i + 3
		}
	}
	if i+2 < len(b) && b[i+1] == 0xc5 && b[i+2] == 0xbf { // U+017F
		return i + 3
	}
	return i
}
