// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	_ "embed" // the table of classes
	"unicode/utf8"
)

// The classes that patterns tell apart, one bit each: a code point has one of
// them or, as control characters and unassigned ones, none.
const (
	lower   = 1 << iota // Ll
	upper               // Lu, Lt
	letter              // Lm, Lo
	mark                // M
	number              // N
	space               // White_Space, but for line feed and carriage return
	newline             // line feed, carriage return
	symbol              // P, S

	letters    = lower | upper | letter
	whitespace = space | newline
)

// UnicodeVersion is the version of the Unicode Character Database that the
// classes are taken from: the one that tiktoken's own engine has.
const UnicodeVersion = "16.0.0"

// classTable has two levels: for each block of 128 code points the number of
// its classes, then the classes, 128 bytes each.
//
//go:embed data/classes.bin
var classTable string

const blocks = (utf8.MaxRune + 1) / 128

// classOf returns the class of a code point.
func classOf(r rune) uint8 {
	return classTable[blocks+int(classTable[r>>7])<<7+int(r&0x7f)]
}

// classAt returns the class of the code point at i of valid UTF-8, and how many
// bytes it has.
func classAt(b []byte, i int) (class uint8, width int) {
	c := b[i]
	if c < utf8.RuneSelf {
		return ascii[c], 1
	}
	return classAbove(b, i)
}

// classAbove is classAt where the code point is not ASCII.
func classAbove(b []byte, i int) (class uint8, width int) {
	switch c := rune(b[i]); {
	case c < 0xe0:
		return classOf(c&0x1f<<6 | rune(b[i+1]&0x3f)), 2
	case c < 0xf0:
		return classOf(c&0xf<<12 | rune(b[i+1]&0x3f)<<6 | rune(b[i+2]&0x3f)), 3
	default:
		return classOf(c&7<<18 | rune(b[i+1]&0x3f)<<12 | rune(b[i+2]&0x3f)<<6 | rune(b[i+3]&0x3f)), 4
	}
}

// ascii has the classes of ASCII, and 0 for the bytes above.
var ascii = [256]uint8{
	0, 0, 0, 0, 0, 0, 0, 0,
	0, space, newline, space, space, newline, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0,
	space, symbol, symbol, symbol, symbol, symbol, symbol, symbol,
	symbol, symbol, symbol, symbol, symbol, symbol, symbol, symbol,
	number, number, number, number, number, number, number, number,
	number, number, symbol, symbol, symbol, symbol, symbol, symbol,
	symbol, upper, upper, upper, upper, upper, upper, upper,
	upper, upper, upper, upper, upper, upper, upper, upper,
	upper, upper, upper, upper, upper, upper, upper, upper,
	upper, upper, upper, symbol, symbol, symbol, symbol, symbol,
	symbol, lower, lower, lower, lower, lower, lower, lower,
	lower, lower, lower, lower, lower, lower, lower, lower,
	lower, lower, lower, lower, lower, lower, lower, lower,
	lower, lower, lower, symbol, symbol, symbol, symbol, 0,
}
