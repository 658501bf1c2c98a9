// SPDX-License-Identifier: Apache-2.0

// Package budget judges latency budgets and service-level objectives over the
// calls that tacho measures, and fails a test when one is broken.
//
//	ctx, calls := tacho.Track(ctx)
//	… // make calls
//	budget.Require(t, budget.Observed(calls.Calls()),
//		budget.MustParse(`ttft p99 <= 500ms {model="gpt-4o"}`),
//		budget.MustParse(`errors <= 1%`),
//		budget.MustParse(`goodput(ttft <= 500ms, tpot <= 50ms) >= 95%`))
//
// There are two readings. [Observed] takes the calls at hand for all there are:
// what a scripted test wants. [Estimated] takes them for a sample and gives a
// verdict on what made them: met, broken or undecided, with an interval and how
// many more calls would decide.
//
// A call whose TTFT is an upper bound, and one that a deadline ended before it
// came so far, have no value that is known; what depends on them is undecided.
package budget
