// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Prompt is what a call asks.
type Prompt struct {
	System, User string
	MaxTokens    int // 0: as Chat has it
}

// Prompts makes the prompts of a run. The same job gets the same prompt, in
// whatever order jobs come. It is called concurrently.
type Prompts interface{ Prompt(Job) Prompt }

// Fixed is one prompt for all calls, as it is. An endpoint that keeps prompts in
// a cache answers all but the first from there: see Unique.
func Fixed(text string) Prompts { return fixed(text) }

type fixed string

func (f fixed) Prompt(Job) Prompt { return Prompt{User: string(f)} }

// Synthetic makes prompts of an exact number of tokens, drawn for each call from
// words of one token: a system instruction and a context behind it. They are
// unique by seed, worker and call, from the first words on, so that no prompt
// cache makes an endpoint look faster than it is. A trace's number of prompt
// tokens takes the place of the sum of both.
//
// The numbers are those of the texts; what an endpoint adds for each message
// comes on top of them in its report.
func Synthetic(system, context int) Prompts { return synthetic{system: system, context: context} }

// SharedSystem is Synthetic with one system instruction for all calls of a seed,
// for a prompt cache to keep.
func SharedSystem(system, context int) Prompts {
	return synthetic{system: system, context: context, shared: true}
}

type synthetic struct {
	system, context int
	shared          bool
}

// String says what is sent.
func (s synthetic) String() string {
	text := fmt.Sprintf("synthetic, %d tokens of system instruction and %d of context, ", s.system, s.context)
	if s.shared {
		return text + "the instruction shared by all calls"
	}
	return text + "unique to each call"
}

func (s synthetic) Prompt(j Job) Prompt {
	r := random(j)
	system, context := s.system, s.context
	if n := j.Request.PromptTokens; n > 0 {
		system = min(system, n-1) // an endpoint may refuse an empty question
		context = n - system
	}
	p := Prompt{MaxTokens: j.Request.OutputTokens}
	of := r
	if s.shared {
		of = rand.New(rand.NewPCG(j.Seed, 0))
	}
	p.System = text(of, system)
	p.User = text(r, context)
	return p
}

// random draws for a job alone.
func random(j Job) *rand.Rand {
	return rand.New(rand.NewPCG(j.Seed, uint64(j.Worker+1)<<40^uint64(j.Index)))
}

func text(r *rand.Rand, words int) string {
	var b strings.Builder
	b.Grow(4 * max(0, words))
	appendWords(&b, r, words)
	return b.String()
}

// uniqueWords make one prompt in 10^17 like another.
const uniqueWords = 8

// Unique puts eight words in front of each prompt, others for each call, so that
// nothing of it is in a prompt cache.
func Unique(p Prompts) Prompts { return unique{p} }

type unique struct{ of Prompts }

// String says what is sent.
func (u unique) String() string {
	return fmt.Sprintf("%v, behind %d words unique to each call", u.of, uniqueWords)
}

func (u unique) Prompt(j Job) Prompt {
	p := u.of.Prompt(j)
	first := text(random(j), uniqueWords) + "\n"
	if p.System != "" {
		p.System = first + p.System
	} else {
		p.User = first + p.User
	}
	return p
}

// String says what is sent.
func (f fixed) String() string { return fmt.Sprintf("one prompt of %d bytes", len(f)) }

// Drawn is a list of prompts of which each call has one, drawn by the seed: the
// list in a random order, and again in another when it is at its end.
func Drawn(list []Prompt) Prompts { return drawn(list) }

type drawn []Prompt

// String says what is sent.
func (d drawn) String() string { return fmt.Sprintf("drawn from a list of %d", len(d)) }

func (d drawn) Prompt(j Job) Prompt {
	if len(d) == 0 {
		return Prompt{}
	}
	n := uint64(len(d))
	if j.Worker >= 0 {
		// Workers go on from places of their own.
		return d[(random(Job{Seed: j.Seed, Worker: j.Worker}).Uint64N(n)+uint64(j.Index))%n]
	}
	// A step that has no factor in common with the length visits all.
	r := rand.New(rand.NewPCG(j.Seed, uint64(j.Index)/n))
	from, step := r.Uint64N(n), 1+r.Uint64N(n)
	for gcd(step, n) != 1 {
		step++
	}
	return d[(from+step%n*(uint64(j.Index)%n))%n]
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
