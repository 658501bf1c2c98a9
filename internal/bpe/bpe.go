// SPDX-License-Identifier: Apache-2.0

// Package bpe turns text into the tokens of byte-pair encodings and counts
// them. It has no regular-expression engine: each pattern is a function that
// finds the end of a piece, by tables of the classes of Unicode 16.0. A piece
// that is a token is found by one look-up; another is merged if it is short, and
// else encoded by backtracking over the vocabulary or merged in windows, in a
// time linear in its length. Backtracking, and telling which tokens may stand
// side by side, is the algorithm of the crate bpe in
// github.com/github/rust-gems, described in
// https://github.blog/ai-and-ml/llms/so-many-tokens-so-little-time-introducing-a-faster-more-flexible-byte-pair-tokenizer/.
//
// The vocabularies are embedded, each token as the pair of tokens that it is
// merged from, and are loaded at the first use. A program that reaches none of
// the functions that mention them does not have them.
package bpe

//go:generate go run ./gen
