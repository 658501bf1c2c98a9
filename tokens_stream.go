// SPDX-License-Identifier: Apache-2.0

package tacho

import "github.com/tacho-go/tacho/internal/bpe"

// A TokenCounter counts the tokens of a text that comes in parts, cut anywhere,
// inside code points too: as an [io.Writer], which never fails. Its count is
// that of [Encoding.Count] on the whole text so far, to the token.
//
// It holds 1 KB of text at most, and 8 KB more after a piece longer than that,
// such as a megabyte of one letter; of a loaded tokenizer see [LoadTokenizer].
// It may not be used concurrently.
type TokenCounter struct {
	impl *bpe.Counter
}

// NewCounter returns a counter of no text so far.
func (e *Encoding) NewCounter() *TokenCounter {
	if e.impl == nil {
		return &TokenCounter{}
	}
	return &TokenCounter{e.impl.NewCounter()}
}

// Write takes the next part of the text. It returns len(p) and no error.
func (c *TokenCounter) Write(p []byte) (int, error) {
	if c.impl != nil {
		c.impl.Write(p)
	}
	return len(p), nil
}

// WriteString is Write for a string.
func (c *TokenCounter) WriteString(s string) (int, error) { return c.Write(view(s)) }

// Count returns how many tokens the text so far has. More may follow.
func (c *TokenCounter) Count() int {
	if c.impl == nil {
		return 0
	}
	return c.impl.Count()
}

// Reset makes the counter one of no text so far.
func (c *TokenCounter) Reset() {
	if c.impl != nil {
		c.impl.Reset()
	}
}
