// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/load"
)

// Three generators, with ramps of rates and of workers up and down, thinking,
// calls of several lengths that span stages, and a trace with equal moments, come
// to what one does, in whatever order their files merge.
func TestThreeSegments(t *testing.T) {
	t.Parallel()
	trace := []load.Request{{}, {}, {}, {At: time.Second}, {At: time.Second}, {At: 3 * time.Second}, {At: 3 * time.Second}}
	run := func(seg load.Segment) (res *load.Result) {
		synctest.Test(t, func(t *testing.T) {
			var err error
			res, err = load.Run(t.Context(), load.Config{
				Stages: []load.Stage{
					load.Workers(1, 5*time.Second).RampTo(7).After(time.Second),
					load.Gamma(50, 3, 5*time.Second).RampTo(5),
					load.Workers(8, 5*time.Second).RampTo(2).Thinking(30 * time.Millisecond),
					load.Replay(trace),
					load.Poisson(20, 3*time.Second),
				},
				Seed: 3, Segment: seg, Drain: time.Second,
				Limits: []budget.Limit{{Figure: tacho.Duration, AtMost: 500 * time.Millisecond}},
				Call: func(ctx context.Context, j load.Job) error {
					d := time.Duration(1+(j.Index+int64(j.Worker))%7) * 137 * time.Millisecond
					if j.Index%11 == 3 {
						d = 6 * time.Second // into the next stage, or cut off
					}
					return plainCall(ctx, d)
				},
			})
			if err != nil {
				t.Fatal(err)
			}
		})
		return res
	}
	whole := run(load.Segment{})
	var parts []*load.Result
	for i := range 3 {
		text, err := json.Marshal(run(load.Segment{I: i + 1, N: 3}))
		if err != nil {
			t.Fatal(err)
		}
		var r load.Result
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, &r)
	}
	for _, order := range [][3]int{{0, 1, 2}, {2, 0, 1}} {
		two, err := parts[order[0]].Merge(parts[order[1]])
		if err != nil {
			t.Fatal(err)
		}
		if w := strings.Join(two.Warnings(), "\n"); !strings.Contains(w, "of 3 segments of the schedule these are") {
			t.Errorf("of two parts of three: %s", w)
		}
		all, err := two.Merge(parts[order[2]])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"1/3", "2/3", "3/3"}, all.Segments); diff != "" {
			t.Error(diff)
		}
		if w := strings.Join(all.Warnings(), "\n"); strings.Contains(w, "segments of the schedule") {
			t.Errorf("of all parts: %s", w)
		}
		for i := range whole.Stages {
			a, b := &whole.Stages[i], &all.Stages[i]
			if diff := cmp.Diff(a.Counts, b.Counts); diff != "" {
				t.Errorf("%s: %s", a.Name, diff)
			}
			if diff := cmp.Diff(a.Errors, b.Errors); diff != "" {
				t.Errorf("%s: %s", a.Name, diff)
			}
			if diff := cmp.Diff(hdr(t, a), hdr(t, b)); diff != "" {
				t.Errorf("%s: %.2000s", a.Name, diff)
			}
			if a.Window != b.Window || a.Flow.Ended != b.Flow.Ended || math.Abs(a.Flow.Area-b.Flow.Area) > 1e-6 || math.Abs(a.Flow.Stayed-b.Flow.Stayed) > 1e-6 {
				t.Errorf("%s: %+v, %+v", a.Name, a.Flow, b.Flow)
			}
		}
	}
}

// Parts of another division would be counted as if they were of one.
func TestOtherDivision(t *testing.T) {
	t.Parallel()
	of := func(segment string) *load.Result { return &load.Result{Segments: []string{segment}} }
	for _, s := range []string{"1/3", "2/4", "half", "0/2", "3/2"} {
		if m, err := of("1/2").Merge(of(s)); err == nil {
			t.Errorf("1/2 merges with %s: %v", s, m.Segments)
		}
	}
	var all *load.Result
	for i := range 12 {
		one := of(fmt.Sprintf("%d/12", i+1))
		if all == nil {
			all = one
			continue
		}
		var err error
		if all, err = all.Merge(one); err != nil {
			t.Fatal(err)
		}
	}
	if all.Segments[1] != "2/12" || all.Segments[11] != "12/12" {
		t.Errorf("%v", all.Segments)
	}
}
