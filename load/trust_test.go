// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/load"
)

// One long stall hardly moves the P99 of many sleeps, and holds up every call
// that is under way.
func TestStallWarnings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		stalls map[time.Duration]int
		want   string
	}{
		{"none", map[time.Duration]int{time.Millisecond: 2000}, ""},
		{"few and short", map[time.Duration]int{time.Millisecond: 2000, 100 * time.Millisecond: 1}, ""},
		{"one that is long", map[time.Duration]int{time.Millisecond: 2000, 12 * time.Second: 1},
			"a sleep overshot by 12s: this machine stood still, and so did the calls under way then"},
		{"one that is long, among few sleeps", map[time.Duration]int{12 * time.Second: 1},
			"a sleep overshot by 12s: this machine stood still, and so did the calls under way then"},
		{"many", map[time.Duration]int{50 * time.Millisecond: 2000},
			"sleeps overshot by 50ms (P99), 50ms at most: this machine stalls, and latencies below that say little"},
	} {
		h := new(tacho.Histogram)
		for d, n := range tt.stalls {
			for range n {
				h.Record(d)
			}
		}
		got := strings.Join(load.Health{Stalls: h}.Warnings(), "\n")
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A stage in which no call ended has no figures, and says so.
func TestIdleWarning(t *testing.T) {
	t.Parallel()
	served := load.Counts{Offered: 5, Started: 5, Served: 5, Ended: 5, EndedServed: 5}
	res := load.Result{Stages: []load.StageResult{
		{Name: "20/s", Window: time.Second, Counts: served, Delay: new(tacho.Histogram)},
		{Name: "200 workers", Window: time.Second, Delay: new(tacho.Histogram), Flow: load.Flow{Area: 100}},
		{Name: "of another segment", Window: time.Second, Delay: new(tacho.Histogram)},
		{Name: "not come to", Delay: new(tacho.Histogram)},
	}}
	const want = "no call ended in the measured time: 200 workers of 1s"
	if w := res.Warnings(); !slices.Contains(w, want) {
		t.Errorf("warnings %q, want %q among them", w, want)
	}
}
