// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	_ "embed" // the vocabularies
	"sync"
)

// Only functions mention the embedded data: the linker keeps what the
// initialiser of a package mentions, and drops a function that nothing calls.

//go:embed data/p50k_base.bin
var dataP50k string

//go:embed data/cl100k_base.bin
var dataCl100k string

//go:embed data/o200k_base.bin
var dataO200k string

// lazy is a vocabulary that is loaded at the first use.
type lazy struct {
	once       sync.Once
	vocabulary *Vocabulary
	err        error
}

func (l *lazy) get(data string, limit int) (*Vocabulary, error) {
	l.once.Do(func() { l.vocabulary, l.err = load(data, limit) })
	return l.vocabulary, l.err
}

var r50kBase, p50kBase, cl100kBase, o200kBase lazy

// R50kBase returns the vocabulary of r50k_base: 50,256 tokens.
func R50kBase() (*Vocabulary, error) { return r50kBase.get(dataP50k, 50256) }

// P50kBase returns the vocabulary of p50k_base and p50k_edit: that of r50k_base
// and 24 runs of spaces.
func P50kBase() (*Vocabulary, error) { return p50kBase.get(dataP50k, 0) }

// Cl100kBase returns the vocabulary of cl100k_base: 100,256 tokens.
func Cl100kBase() (*Vocabulary, error) { return cl100kBase.get(dataCl100k, 0) }

// O200kBase returns the vocabulary of o200k_base and o200k_harmony: 199,998
// tokens.
func O200kBase() (*Vocabulary, error) { return o200kBase.get(dataO200k, 0) }
