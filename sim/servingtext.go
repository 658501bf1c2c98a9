// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"strings"
)

// String prints all parameters, defaults resolved, in two lines: the engine, and
// what is around it.
func (s Serving) String() string {
	s = s.withDefaults()
	var b strings.Builder
	add := func(ok bool, format string, args ...any) {
		if ok {
			fmt.Fprintf(&b, format, args...)
		}
	}
	add(true, "serving %s: base %v", s.Name, s.Base)
	if s.Prefill > 0 {
		add(true, ", prefill %g tokens/s", s.Prefill)
		add(s.Knee > 0, " with knee %g", s.Knee)
		add(true, " (%v)", s.PrefillSpread)
	} else {
		add(true, ", prefill none")
	}
	add(s.Chunk == 0, " first")
	add(s.Chunk > 0, " in chunks of %d", s.Chunk)
	add(true, ", step %v + %v a sequence", s.Step, s.PerSequence)
	add(s.PerThousandKV > 0, " + %v a thousand tokens", s.PerThousandKV)
	add(true, " (%v), batch %d", s.StepSpread, s.MaxBatch)
	add(s.KV > 0, ", KV %d tokens", s.KV)
	if q := s.queue(); q >= 0 {
		add(true, ", queue of %d (retry after %v)", q, s.RetryAfter)
	} else {
		add(true, ", queue without bound")
	}
	add(true, "\n  output mean %g tokens (%v), %d in an event", s.Output, s.OutputSpread, s.TokensPerEvent)
	add(s.ReasoningTime > 0, ", thinks %v for %g tokens (%v)", s.ReasoningTime, s.Reasoning, s.ReasoningSpread)
	add(s.RequestsPerMinute > 0, ", %d requests a minute (burst %d)", s.RequestsPerMinute, s.RequestBurst)
	add(s.TokensPerMinute > 0, ", %d tokens a minute (burst %d)", s.TokensPerMinute, s.TokenBurst)
	add(s.PrefixCache > 0, ", prefix cache of %d tokens in blocks of %d", s.PrefixCache, s.PrefixBlock)
	add(s.ResponseCache > 0, ", cache of %d answers", s.ResponseCache)
	add(true, ", replicas of speed %v", s.Speeds)
	add(len(s.Speeds) > 1, ", %v", s.Dispatch)
	return b.String()
}
