// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
)

// TestExponential: no value is lost, the buckets are as many as they may be,
// and a quantile of them is within the error that they say they have.
func TestExponential(t *testing.T) {
	t.Parallel()
	for name, source := range sources {
		random := rand.New(rand.NewPCG(7, 8))
		values := make([]float64, 20_000)
		var h tacho.Histogram
		for i := range values {
			d := min(source(random, i), time.Hour)
			values[i] = d.Seconds()
			h.Record(d)
		}
		slices.Sort(values)
		for _, buckets := range []int{2, 20, 160} {
			e := h.Exponential(buckets, time.Second)
			if down := e.AtScale(e.Scale - 2); down.Scale != e.Scale-2 || len(down.Counts) > (buckets+3)/4+1 || down.Count != e.Count {
				t.Errorf("%s: two scales lower are %d buckets at %d", name, len(down.Counts), down.Scale)
			} else if e.AtScale(99).Scale != e.Scale {
				t.Error("a higher scale is had")
			}
			if buckets == 160 {
				e = e.AtScale(min(e.Scale, 3)) // must hold of it, too
			}
			total := e.Zero
			for _, n := range e.Counts {
				total += n
			}
			if total != e.Count || e.Count != uint64(len(values)) || len(e.Counts) > buckets {
				t.Errorf("%s: %d values of %d in %d buckets of %d", name, total, len(values), len(e.Counts), buckets)
			}
			if e.Min != values[0] || e.Max != values[len(values)-1] {
				t.Errorf("%s: from %v to %v, want %v to %v", name, e.Min, e.Max, values[0], values[len(values)-1])
			}
			for _, q := range []float64{0.5, 0.9, 0.99, 0.9999} {
				rank := uint64(math.Ceil(q*float64(len(values)) - 1e-6))
				seen, k := e.Zero, -1
				for seen < rank {
					k++
					seen += e.Counts[k]
				}
				base := math.Exp2(math.Exp2(-float64(e.Scale)))
				low := math.Pow(base, float64(e.Offset+k))
				middle := 2 * low * base / (1 + base) // where both ends are off by as much
				if exact := values[rank-1]; k >= 0 && math.Abs(middle-exact) > exact*e.Error()*1.0001 {
					t.Errorf("%s, %d buckets: the quantile %v is %v, exact %v, which is off by more than %v", name, buckets, q, middle, exact, e.Error())
				}
			}
		}
	}
	var zero tacho.Histogram
	zero.Record(0)
	if e := zero.Exponential(160, time.Second); e.Zero != 1 || e.Count != 1 || len(e.Counts) != 0 {
		t.Errorf("a zero is %+v", e)
	}
}
