// SPDX-License-Identifier: Apache-2.0

package bpe

// pattern is a splitter, with what a stream needs to know of it.
type pattern struct {
	split Splitter

	cased   bool // words are cut by case, as in O200k
	suffix  bool // a contraction belongs to the word before it
	lines   bool // white space is cut after its last line end
	newline bool // line ends belong to the punctuation before them
	slash   bool // and so do slashes

	quick bool // quickWord finds pieces
	other bool // it is none of this form: a stream cannot cut its text
}

var (
	r50k   = pattern{split: R50k, quick: true}
	cl100k = pattern{split: Cl100k, quick: true, lines: true, newline: true}
	qwen   = pattern{split: Qwen, quick: true, lines: true, newline: true}
	o200k  = pattern{split: O200k, quick: true, cased: true, suffix: true, lines: true, newline: true, slash: true}
	tekken = pattern{split: Tekken, quick: true, cased: true, lines: true, newline: true, slash: true}

	deepSeek = pattern{split: DeepSeek, other: true}
)
