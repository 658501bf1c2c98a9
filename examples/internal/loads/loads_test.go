// SPDX-License-Identifier: Apache-2.0

package loads_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/examples/internal/loads"
	"github.com/tacho-go/tacho/load"
	"github.com/tacho-go/tacho/sim"
)

func TestLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want budget.Limit
		err  string
	}{
		{"ttft <= 2s", budget.Limit{Figure: tacho.TTFT, AtMost: 2 * time.Second}, ""},
		{"Duration<=500ms", budget.Limit{Figure: tacho.Duration, AtMost: 500 * time.Millisecond}, ""},
		{"ttft < 2s", budget.Limit{}, "give FIGURE <= TIME"},
		{"ttft <= 2", budget.Limit{}, `"2" is no time`},
		{"ttft <= 0s", budget.Limit{}, `"0s" is no time`},
		{"speed <= 2s", budget.Limit{}, `"speed" is no figure; there are dns, connect`},
	} {
		got, err := loads.Limit(tt.text)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: %+v, %v", tt.text, got, err)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want []float64
		bad  bool
	}{
		{"20,100 , 200", []float64{20, 100, 200}, false},
		{"", nil, false},
		{"0", nil, true},
		{"-1", nil, true},
		{"NaN", nil, true},
		{"1e9", nil, true},
		{"x", nil, true},
	} {
		if got, err := loads.Numbers("rates", tt.text); !slices.Equal(got, tt.want) || (err != nil) != tt.bad {
			t.Errorf("%q: %v, %v", tt.text, got, err)
		}
	}
}

// A P99 that nine calls met is undecided for calls to come.
func TestObjectives(t *testing.T) {
	t.Parallel()
	var s tacho.Snapshot
	rec := load.NewRecorder()
	synctest.Test(t, func(t *testing.T) {
		srv := sim.NewServer()
		defer srv.Close()
		c, err := tacho.NewClient(srv.URL(), "", tacho.WithBase(srv.Transport()), tacho.WithRecorder(rec))
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseIdleConnections()
		chat := load.Chat{Client: c, Model: "m", Prompts: load.Fixed("hi")}
		if _, err := load.Run(t.Context(), load.Config{Stages: []load.Stage{load.Constant(3, 3*time.Second)}, Call: chat.Call, Recorder: rec}); err != nil {
			t.Fatal(err)
		}
		s = rec.Total()
	})
	got := loads.Objectives(s, []budget.Budget{budget.MustParse("ttft p99 <= 60s"), budget.MustParse("ttft p99 <= 1ns")})
	if len(got.Notes) != 3 || !strings.HasPrefix(got.Notes[0], "ttft p99 <= 1m0s is met by these calls; of calls to come it is undecided") {
		t.Errorf("%q", got.Notes)
	}
}
