// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Model is a service-time model: how long an endpoint takes to read a prompt
// and to write a token, and how much it writes. It answers requests for which
// there is no script. A zero field means its default; a negative one means none:
// no base, no time for the prompt or the tokens, no spread.
//
// A stream's headers come after Base; the role and the first token come
// (prompt tokens ÷ Prefill) later, so that
//
//	time to first token = Base + prompt tokens ÷ Prefill
//
// apart from the network. Each further token takes a draw from a lognormal
// distribution with mean PerToken and shape Spread; with n choices, one draw for
// each round of tokens. The end follows the last token at once. A plain answer
// comes, whole, at the time of the last token. Embeddings take the time to first
// token.
//
// The answer's length is drawn from a lognormal distribution with median Output
// and shape OutputSpread, at least 1, and cut at the request's limit of tokens,
// which gives the finish reason "length". Its text is drawn from a fixed
// vocabulary, a word being a token.
//
// Without Slots, requests do not slow each other down. With Slots, that many are
// served at a time; others wait before their headers, in order of arrival, or
// are refused with status 429 at once when Queue requests wait already. Scripts
// take no slot.
type Model struct {
	Base         time.Duration // time before the prompt is read; default 40 ms
	Prefill      float64       // prompt tokens a second; default 4000
	PerToken     time.Duration // mean time of a token after the first; default 18 ms
	Spread       float64       // σ of the logarithm of a token's time; default 0.25
	Output       int           // median number of tokens; default 64
	OutputSpread float64       // σ of the logarithm of the number of tokens; default 0.5
	Slots        int           // requests served at a time; default no bound, a negative one is an error
	Queue        int           // requests that may wait for a slot; default no bound; not without Slots
}

// maxOutput bounds a drawn length.
const maxOutput = 100_000

func (m Model) withDefaults() Model {
	return Model{
		Base:         pick(m.Base, 40*time.Millisecond),
		Prefill:      pick(m.Prefill, 4000),
		PerToken:     pick(m.PerToken, 18*time.Millisecond),
		Spread:       pick(m.Spread, 0.25),
		Output:       pick(m.Output, 64),
		OutputSpread: pick(m.OutputSpread, 0.5),
		Slots:        m.Slots,
		Queue:        m.Queue,
	}
}

// pick resolves a field: zero is the default, negative is zero.
func pick[T ~int | ~int64 | ~float64](v, def T) T {
	if v == 0 {
		return def
	}
	return max(v, 0)
}

// String prints all parameters, defaults resolved, in one line.
func (m Model) String() string {
	m = m.withDefaults()
	prefill := "none"
	if m.Prefill > 0 {
		prefill = fmt.Sprintf("%g tokens/s", m.Prefill)
	}
	line := fmt.Sprintf("model: base %v, prefill %s, %v a token (lognormal, σ %g), output median %d tokens (lognormal, σ %g)",
		m.Base, prefill, m.PerToken, m.Spread, m.Output, m.OutputSpread)
	if m.Slots > 0 {
		line += fmt.Sprintf(", %d slots", m.Slots)
		if q := m.queue(); q >= 0 {
			line += fmt.Sprintf(", queue of %d", q)
		}
	}
	return line
}

// queue is the number of requests that may wait; negative: without a bound.
func (m Model) queue() int {
	switch {
	case m.Queue == 0:
		return -1
	case m.Queue < 0:
		return 0
	}
	return m.Queue
}

func (m Model) check() error {
	for _, f := range []struct {
		name string
		v    float64
	}{{"Prefill", m.Prefill}, {"Spread", m.Spread}, {"OutputSpread", m.OutputSpread}} {
		if math.IsNaN(f.v) || math.IsInf(f.v, 0) {
			return fmt.Errorf("sim: Model.%s is %g", f.name, f.v)
		}
	}
	switch {
	case m.Spread > 3 || m.OutputSpread > 3:
		return fmt.Errorf("sim: Model.Spread and OutputSpread are at most 3: %g, %g", m.Spread, m.OutputSpread)
	case m.Output < 0 || m.Output > maxOutput:
		return fmt.Errorf("sim: Model.Output is %d, not 0 to %d", m.Output, maxOutput)
	case m.Slots < 0:
		return fmt.Errorf("sim: Model.Slots is negative: %d", m.Slots)
	case m.Queue != 0 && m.Slots == 0:
		return fmt.Errorf("sim: Model.Queue needs Slots")
	}
	return nil
}

// prefill is the time to read a prompt.
func (m Model) prefill(tokens int) time.Duration {
	if m.Prefill == 0 {
		return 0
	}
	return time.Duration(float64(tokens) / m.Prefill * float64(time.Second))
}

// lognormal draws a factor with mean 1.
func lognormal(r *rand.Rand, sigma float64) float64 {
	if sigma == 0 {
		return 1
	}
	return math.Exp(sigma*r.NormFloat64() - sigma*sigma/2)
}

// length draws the number of tokens of an answer.
func (m Model) length(r *rand.Rand, limit int) (n int, finish string) {
	n = m.Output
	if m.OutputSpread > 0 {
		n = int(math.Round(min(maxOutput, float64(m.Output)*math.Exp(m.OutputSpread*r.NormFloat64()))))
	}
	n = max(n, 1)
	if limit > 0 && n > limit {
		return limit, "length"
	}
	return n, "stop"
}

// script turns a request into what is played for it.
func (m Model) script(c call, seed uint64) Script {
	m = m.withDefaults()
	r := rand.New(rand.NewPCG(seed, c.number))
	prefill := m.prefill(c.promptTokens)
	if c.api == apiEmbeddings {
		return Script{HeaderDelay: m.Base + prefill}
	}
	lengths, finishes, longest := make([]int, c.n), make([]string, c.n), 0
	for i := range c.n {
		lengths[i], finishes[i] = m.length(r, c.maxTokens)
		longest = max(longest, lengths[i])
	}
	var steps []Step
	if c.api != apiCompletions {
		for i := range c.n {
			steps = append(steps, Role(i).After(0))
		}
	}
	total := time.Duration(0)
	for k := range longest {
		wait := time.Duration(0)
		if k > 0 {
			wait = time.Duration(float64(m.PerToken) * lognormal(r, m.Spread))
			total += wait
		}
		for i := range c.n {
			if k < lengths[i] {
				steps = append(steps, Text(i, word(r, k)).After(wait))
				wait = 0
			}
		}
	}
	for i := range c.n {
		steps = append(steps, Finish(i, finishes[i]).After(0))
	}
	if c.includeUsage && c.api != apiResponses {
		steps = append(steps, Usage(countUsage(c.promptTokens, steps)).After(0))
	}
	if c.api != apiResponses {
		steps = append(steps, Done().After(0))
	}
	if !c.stream {
		return Script{Steps: steps, HeaderDelay: m.Base + prefill + total}
	}
	steps[0] = steps[0].After(prefill)
	return Script{Steps: steps, HeaderDelay: m.Base}
}

// word draws the k-th word of an answer, with the space before it.
func word(r *rand.Rand, k int) string {
	w := vocabulary[r.IntN(len(vocabulary))]
	if k == 0 {
		return w
	}
	return " " + w
}

// vocabulary is what a model's answers are drawn from. It is an array, so that
// nothing is built when the program starts.
var vocabulary = [...]string{
	"lorem", "ipsum", "dolor", "sit", "amet", "consectetur", "adipiscing", "elit", "sed", "do", "eiusmod", "tempor",
	"incididunt", "ut", "labore", "et", "dolore", "magna", "aliqua", "enim", "ad", "minim", "veniam", "quis", "nostrud",
	"exercitation", "ullamco", "laboris", "nisi", "aliquip", "ex", "ea", "commodo", "consequat", "duis", "aute", "irure",
	"in", "reprehenderit", "voluptate", "velit", "esse", "cillum", "fugiat", "nulla", "pariatur",
}
