// SPDX-License-Identifier: Apache-2.0

package loads_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/examples/internal/loads"
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
