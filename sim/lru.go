// SPDX-License-Identifier: Apache-2.0

package sim

import "container/list"

// lru holds a number of entries and drops the one that was used least recently.
type lru[K comparable, V any] struct {
	size    int
	entries map[K]*list.Element
	order   list.List // the most recently used first
}

type lruEntry[K comparable, V any] struct {
	key   K
	value V
}

func newLRU[K comparable, V any](size int) *lru[K, V] {
	return &lru[K, V]{size: size, entries: make(map[K]*list.Element)}
}

func (c *lru[K, V]) has(k K) bool {
	_, ok := c.entries[k]
	return ok
}

// get returns the entry and makes it the most recently used.
func (c *lru[K, V]) get(k K) (v V, ok bool) {
	e, ok := c.entries[k]
	if !ok {
		return v, false
	}
	c.order.MoveToFront(e)
	return e.Value.(lruEntry[K, V]).value, true
}

// put adds an entry as the most recently used one. One that is there stays.
func (c *lru[K, V]) put(k K, v V) {
	if _, ok := c.get(k); ok {
		return
	}
	if len(c.entries) == c.size {
		last := c.order.Back()
		delete(c.entries, last.Value.(lruEntry[K, V]).key)
		c.order.Remove(last)
	}
	c.entries[k] = c.order.PushFront(lruEntry[K, V]{k, v})
}

// prefixCache remembers blocks of prompts by the hash of all that a prompt has up
// to the block's end.
type prefixCache struct {
	block int
	lru   *lru[uint64, struct{}]
}

func newPrefixCache(tokens, block int) *prefixCache {
	if tokens == 0 {
		return nil
	}
	return &prefixCache{block, newLRU[uint64, struct{}](tokens / block)}
}

// lookup returns how many of the prompt's tokens are known. At least one is
// left to be computed, as the first token of the answer needs it.
func (c *prefixCache) lookup(blocks []uint64, prompt int) int {
	n := 0
	for n < len(blocks) && (n+1)*c.block < prompt && c.lru.has(blocks[n]) {
		n++
	}
	c.touch(blocks[:n])
	return n * c.block
}

// touch adds what is missing and makes the beginning of the prompt the most
// recent block, so that ends are forgotten before beginnings.
func (c *prefixCache) touch(blocks []uint64) {
	blocks = blocks[:min(len(blocks), c.lru.size)]
	for i := len(blocks) - 1; i >= 0; i-- {
		c.lru.put(blocks[i], struct{}{})
	}
}
