// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math"
	"time"
)

// Scaled returns the same server for calls whose prompts and answers are k times
// shorter, so that an experiment of seconds shows what one of minutes would: the
// requests a second that it serves and the times to first token are the same, the
// time of an answer's tokens is k times less. k below 1 counts as 1.
//
//	÷ k        Prefill, Knee, Chunk, Output, Reasoning, TokensPerEvent, TokensPerMinute,
//	           TokenBurst, PrefixCache, PrefixBlock
//	× c        MaxBatch; c is the ratio of the times for which a call keeps its place:
//	           (Output − 1) × S, or ReasoningTime + (Output − ½) × S, where S is the step of
//	           a full batch. (The prefill gives the first token, or after thinking the step
//	           that is under way then.) For long answers without reasoning c is about 1 ÷ k
//	× c ÷ k    KV: fewer sequences of fewer tokens each
//	÷ c, × k÷c PerSequence, PerThousandKV: a full batch has the same step
//	kept       all else: Base, Step, ReasoningTime, Queue, RequestsPerMinute, spreads, …
//
// Whole numbers are rounded, and are at least 1, so that a batch of few sequences
// scales roughly. The time of a prefill is not in c: what is said above holds
// while it is short beside an answer's tokens.
func (s Serving) Scaled(k int) Serving {
	d, f := s.withDefaults(), float64(max(k, 1))
	less := func(n int) int {
		if n == 0 {
			return 0
		}
		return max(1, int(math.Round(float64(n)/f)))
	}
	step := float64(d.Step + time.Duration(d.MaxBatch)*d.PerSequence)
	c := 1 / f
	if hold := d.hold(d.Output, step); hold > 0 {
		c = d.hold(d.Output/f, step) / hold
	}
	if s.Prefill >= 0 {
		s.Prefill = d.Prefill / f
	}
	s.Knee /= f
	s.Chunk = less(s.Chunk)
	s.MaxBatch = max(1, int(math.Round(float64(d.MaxBatch)*c)))
	if s.KV > 0 {
		s.KV = max(1, int(math.Round(float64(s.KV)*c/f)))
	}
	s.PerSequence = time.Duration(math.Round(float64(s.PerSequence) / c))
	s.PerThousandKV = time.Duration(math.Round(float64(s.PerThousandKV) * f / c))
	s.Output = d.Output / f
	s.Reasoning /= f
	s.TokensPerEvent = less(s.TokensPerEvent)
	s.TokensPerMinute, s.TokenBurst = less(s.TokensPerMinute), less(s.TokenBurst)
	if s.PrefixCache > 0 {
		s.PrefixBlock = less(d.PrefixBlock)
		s.PrefixCache = max(s.PrefixBlock, less(s.PrefixCache))
	}
	return s
}

// hold is the time for which a call keeps its place after its prefill.
func (s *Serving) hold(output, step float64) float64 {
	if s.ReasoningTime > 0 {
		return float64(s.ReasoningTime) + max(output-0.5, 0.5)*step
	}
	return max(output-1, 0) * step
}
