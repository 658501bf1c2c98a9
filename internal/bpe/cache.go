// SPDX-License-Identifier: Apache-2.0

package bpe

import "encoding/binary"

// cache keeps how many tokens pieces have that are none themselves. Text repeats
// itself, and so do requests, each of which has the messages of the one before: a
// piece is counted again by one look.
type cache [1 << cacheBits]cachedPiece

// cacheBits is the logarithm of how many pieces are kept: 256 KB.
const cacheBits = 12

// cacheAfter is how many pieces a scratch encodes before it has a cache: a program
// that counts little does not need one.
const cacheAfter = 128

// maxCached is up to how many bytes a piece is kept: 20 Chinese characters. With
// it a place has 64 bytes, a line of a processor's cache.
const maxCached = 62

type cachedPiece struct {
	size, tokens uint8
	text         [maxCached]byte
}

// place returns where the piece b[i:end], of 1 to maxCached bytes, is kept.
func (c *cache) place(b []byte, i, end int) *cachedPiece {
	h := uint64(end - i)
	for ; i+8 < end; i += 8 {
		h = (h ^ binary.LittleEndian.Uint64(b[i:])) * mix
		h ^= h >> 32
	}
	return &c[(h^word8(b, i, end-i))*mix>>(64-cacheBits)]
}

func (p *cachedPiece) is(piece []byte) bool {
	return int(p.size) == len(piece) && string(p.text[:p.size]) == string(piece)
}

func (p *cachedPiece) keep(piece []byte, tokens int) {
	p.size, p.tokens = uint8(copy(p.text[:], piece)), uint8(tokens)
}
