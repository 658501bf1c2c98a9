// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"
)

// longPieces are texts that other tokenizers take a time for that grows with the square
// of their length, each of one piece.
var longPieces = map[string]func(n int) string{
	"a":        func(n int) string { return strings.Repeat("a", n) },
	"A":        func(n int) string { return strings.Repeat("A", n) },
	"equals":   func(n int) string { return strings.Repeat("=", n) },
	"spaces":   func(n int) string { return strings.Repeat(" ", n) },
	"newlines": func(n int) string { return strings.Repeat("\n", n) },
	"han":      func(n int) string { return strings.Repeat("中文", n/6) },
	"words":    func(n int) string { return strings.Repeat("internationalization", n/20) },
	"marks":    func(n int) string { return strings.Repeat("e\u0301", n/3) },
	"random": func(n int) string {
		rnd := rand.New(rand.NewPCG(9, uint64(n)))
		b := make([]byte, n)
		for i := range b {
			b[i] = 'a' + byte(rnd.IntN(26))
		}
		return string(b)
	},
	"few": func(n int) string {
		rnd := rand.New(rand.NewPCG(10, uint64(n)))
		b := make([]byte, n)
		for i := range b {
			b[i] = "aab"[rnd.IntN(3)]
		}
		return string(b)
	},
}

// TestLinear holds that the choices which encoding a piece tries grow with its
// length and no faster, by their count.
func TestLinear(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"cl100k_base", "o200k_base"} {
		v := embedded(t, name).vocabulary
		for kind, text := range longPieces {
			s := new(scratch)
			steps := func(n int) int {
				s.steps = 0
				v.encode(s, []byte(text(n)))
				return s.steps
			}
			small, large := steps(10_000), steps(160_000)
			t.Logf("%s, %s: %.2f choices a byte, %.2f in a text 16 times as long", name, kind, float64(small)/10_000, float64(large)/160_000)
			if large > 17*small+1000 || large > 20*160_000 {
				t.Errorf("%s, %s: %d choices in 10,000 bytes, %d in 160,000", name, kind, small, large)
			}
		}
	}
}

// TestAllocations holds that counting allocates nothing, whole or in parts.
func TestAllocations(t *testing.T) { //nolint:paralleltest // counts the allocations of the process
	if raceEnabled {
		t.Skip("the race detector drops what pools hold")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it empties pools
	texts := map[string]string{"seeds": strings.Join(seeds, "\n"), "invalid": "a\xffb \xe4\xb8 " + strings.Repeat("x\xf0", 100)}
	for kind, text := range longPieces {
		texts[kind] = text(20_000)
	}
	for _, name := range Names() {
		e := embedded(t, name)
		c := e.NewCounter()
		for kind, text := range texts {
			b := []byte(text)
			if n := testing.AllocsPerRun(20, func() { e.Count(b) }); n >= 1 {
				t.Errorf("%s, %s: Count makes %v allocations", name, kind, n)
			}
			stream := func() {
				c.Reset()
				for rest := b; len(rest) > 0; {
					n := min(37, len(rest))
					c.Write(rest[:n])
					rest = rest[n:]
				}
				c.Count()
			}
			stream()
			if n := testing.AllocsPerRun(5, stream); n >= 1 {
				t.Errorf("%s, %s: a Counter makes %v allocations", name, kind, n)
			}
		}
	}
}

// TestLargeAllocations holds that for texts of more bytes than a scratch keeps room
// for: of bad bytes with and without places to cut at, and of one piece.
func TestLargeAllocations(t *testing.T) { //nolint:paralleltest // counts the allocations of the process
	if raceEnabled {
		t.Skip("the race detector drops what pools hold")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it empties pools
	const size = keepScratch * 5 / 4
	texts := map[string]string{
		"invalid words": strings.Repeat("some word\xff of ", size/14), "invalid run": strings.Repeat("ab\xff", size/3),
		"one piece": strings.Repeat("xqzjkvw", size/7),
	}
	for _, name := range []string{"cl100k_base", "o200k_base"} {
		e := embedded(t, name)
		for kind, text := range texts {
			b := []byte(text)
			want := len(e.Append(nil, b))
			if n := testing.AllocsPerRun(2, func() {
				if got := e.Count(b); got != want {
					t.Errorf("%s, %s: %d tokens, not %d", name, kind, got, want)
				}
			}); n >= 1 {
				t.Errorf("%s, %s: Count makes %v allocations", name, kind, n)
			}
		}
	}
}

// TestGatherLinear holds that a text without places to cut at is looked through
// once, however small its parts are.
func TestGatherLinear(t *testing.T) {
	t.Parallel()
	e := &Encoding{vocabulary: embedded(t, "cl100k_base").vocabulary, pattern: &deepSeek}
	c := e.NewCounter()
	text := []byte(strings.Repeat("中文字", 20_000))
	for i := 0; i < len(text); i += 10 {
		c.Write(text[i:min(i+10, len(text))])
	}
	if c.seen != len(text) {
		t.Errorf("%d of %d bytes were looked at", c.seen, len(text))
	}
	c.Write([]byte("end and"))
	if c.seen != len(" and") || len(c.buf) != len(" and") {
		t.Errorf("%d bytes are left, %d were looked at", len(c.buf), c.seen)
	}
	if got, want := c.Count(), e.Count(append(text, "end and"...)); got != want {
		t.Errorf("%d tokens, not %d", got, want)
	}
	c.Reset()
	if c.seen != 0 || c.Count() != 0 {
		t.Errorf("after a reset %d bytes were looked at", c.seen)
	}
}

// TestCounterMemory holds what a counter keeps of a megabyte that is one piece.
func TestCounterMemory(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"cl100k_base", "o200k_base"} {
		e := embedded(t, name)
		for kind, text := range longPieces {
			t.Run(fmt.Sprintf("%s/%s", name, kind), func(t *testing.T) {
				t.Parallel()
				b := []byte(text(200_000))
				c := e.NewCounter()
				for i := 0; i < len(b); i += 1000 {
					c.Write(b[i:min(i+1000, len(b))])
				}
				if got, want := c.Count(), e.Count(b); got != want {
					t.Errorf("%d tokens, not %d", got, want)
				}
				if c.scratch != nil || c.long.whole.scratch != nil {
					t.Error("a counter keeps a scratch")
				}
				size := cap(c.buf)
				for _, ch := range []*chain{&c.long.whole, &c.long.since} {
					size += cap(ch.text) + 4*cap(ch.last) + 4*cap(ch.counts)
				}
				if size > 12_000 {
					t.Errorf("a counter holds %d bytes", size)
				}
			})
		}
	}
}
