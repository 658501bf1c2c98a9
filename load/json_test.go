// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tacho-go/tacho/load"
)

// What a file lacks is empty, and no nil that a reader falls over.
func TestResultOfLittle(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{}`, `{"stages":null}`, `{"stages":[{}]}`, `{"segments":["1/2"],"stages":[{"name":"a","streams":null,"plain":null,"schedule_delay":null,"recorded":null}],"health":{"stalls":null}}`,
		`{"stages":[{"streams":{"TTFT":null},"errors":[{}]}]}`,
	} {
		var r load.Result
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		use(t, &r)
	}
}

// What no run can have come to is refused, and the error says what and where.
func TestResultRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{`{"stages":[{"name":"a","offered":-1}]}`, `stage 1 ("a"): a count is negative`},
		{`{"stages":[{"offered":9223372036854775807}]}`, `too large`},
		{`{"stages":[{"window":-1}]}`, `window`},
		{`{"stages":[{"flow":{"in_flight_seconds":-3}}]}`, `flow`},
		{`{"stages":[{"flow":{"window":-3}}]}`, `flow`},
		{`{"stages":[{"flow":{"stayed_seconds":1e308}}]}`, `flow`},
		{`{"stages":[{"errors":[{"what":"x","count":-2}]}]}`, `count`},
		{`{"segments":["1"],"stages":[]}`, `segment "1"`},
		{`{"segments":["0/2"],"stages":[]}`, `segment "0/2"`},
		{`{"segments":["1/2","1/3"],"stages":[]}`, `segment`},
		{`{"health":{"cpu":-1}}`, `cpu`},
		{`{"stages":[{"schedule_delay":"?"}]}`, ``},
		{`{"stages":7}`, ``},
		{`[]`, ``},
	} {
		var r load.Result
		if err := json.Unmarshal([]byte(tt.text), &r); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
}

func FuzzResult(f *testing.F) {
	for _, s := range []string{
		`{"stages":[{"name":"a","open":true,"offered":3,"started":3,"window":1,"flow":{"ended":2,"window":5e-9}}],"segments":["1/2"],"health":{"stalls":null,"cpu":0.5}}`,
		`{"stages":[{"streams":{"TTFT":{"count":1,"hdr":"HISTFAAAABx4nJNpmSzMwMDAxQABzFCaEUzOmNbFAAAjAAH/"}},"recorded":{"series":[{"labels":{"stage":"a"},"streams":{"calls":1}}]}}]}`,
		`{"stages":[{}],"seed":1}`, `null`, `{"segments":["2/2"],"stages":[{}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r load.Result
		if json.Unmarshal(b, &r) != nil {
			return
		}
		use(t, &r)
		text, err := json.Marshal(&r)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		var back load.Result
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	})
}

// use reads all that a result has.
func use(t *testing.T, r *load.Result) {
	t.Helper()
	_ = r.Err()
	_ = r.Warnings()
	for i := range r.Stages {
		s := &r.Stages[i]
		s.Kind()
		for _, f := range []func() (float64, bool){s.OfferedRate, s.ServedRate, s.Goodput, s.GoodShare, s.OutputRate, s.OutputPerInput, s.RefusedShare, s.Flow.InFlight, s.Flow.Rate, s.Flow.Difference} {
			if v, ok := f(); !(v >= -1 && v < 1e300) || !ok && v != 0 {
				t.Errorf("%v, %v of %+v, %+v", v, ok, s.Counts, s.Flow)
			}
		}
		if d, ok := s.Flow.Stay(); ok && d < 0 {
			t.Errorf("they stayed %v", d)
		}
		_ = s.Delay.Count() + s.Streams.Duration.Count() + s.Plain.TTFT.Count() + s.Snapshot.Streams.Calls()
	}
	o := &load.Result{Seed: r.Seed, Segments: []string{"7/9"}, Start: time.Now(), Stages: make([]load.StageResult, len(r.Stages))}
	if len(r.Stages) == 0 {
		_, _ = r.Merge(o)
	}
	if m, err := r.Merge(r); err == nil {
		t.Errorf("a result merges with itself: %v", m.Segments)
	}
}

// Times are written in seconds, and come back to the nanosecond.
func TestSeconds(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{0, 1, time.Second, 72*time.Hour + 1, 1000*time.Hour - 1} {
		text, err := json.Marshal(load.StageResult{Window: d, Think: d, Flow: load.Flow{Window: d}})
		if err != nil {
			t.Fatal(err)
		}
		var back load.StageResult
		if err := json.Unmarshal(text, &back); err != nil || back.Window != d || back.Think != d || back.Flow.Window != d {
			t.Errorf("%v: %v, %v, %v, %v", d, back.Window, back.Think, back.Flow.Window, err)
		}
	}
	text, err := json.Marshal(load.StageResult{Window: 1500 * time.Millisecond})
	if err != nil || !strings.Contains(string(text), `"window":1.5`) {
		t.Errorf("%s, %v", text, err)
	}
}
