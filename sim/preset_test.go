// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// shown is what a load on a server shows after its warm-up.
type shown struct {
	calls, served, limited, overloaded int
	ttft, input, output, last, rate    float64 // sums over the calls that were answered
	seconds                            float64
}

func (s *shown) add(o Outcome, warm, end time.Duration) {
	if o.Status == statusOK && o.End >= warm && o.End < end {
		s.served++
	}
	if o.At < warm {
		return
	}
	s.calls++
	switch o.Status {
	case statusLimited:
		s.limited++
	case statusOverloaded:
		s.overloaded++
	case statusOK:
		s.ttft += (o.First - o.At).Seconds()
		s.input += float64(o.Prompt)
		s.output += float64(o.Output)
		s.last += (o.End - o.At).Seconds()
		s.rate += float64(o.Output) / (o.End - o.First).Seconds()
	}
}

func (s *shown) answered() float64   { return float64(s.calls - s.limited - s.overloaded) }
func (s *shown) meanTTFT() float64   { return s.ttft / s.answered() }
func (s *shown) throughput() float64 { return float64(s.served) / s.seconds }
func (s *shown) ratio() float64      { return s.output / s.input }

func (s *shown) String() string {
	n := float64(s.calls)
	return fmt.Sprintf("%.2f served a second, TTFT %.1f ms, output ÷ input %.3f, 429 %.1f %%, 503 %.1f %%",
		s.throughput(), 1000*s.meanTTFT(), s.ratio(), 100*float64(s.limited)/n, 100*float64(s.overloaded)/n)
}

// openLoop offers Poisson arrivals at a rate a second.
func openLoop(t *testing.T, s Serving, rate float64, prompt int, warm, length time.Duration, seed uint64) *shown {
	got := &shown{seconds: length.Seconds()}
	outcomes, err := s.Simulate(func(yield func(Arrival) bool) {
		r := rand.New(rand.NewPCG(seed, 3))
		for at := 0.0; ; {
			at += r.ExpFloat64() / rate
			a := Arrival{At: time.Duration(at * float64(time.Second)), Prompt: prompt, Limit: limitOf(prompt)}
			if a.At >= warm+length || !yield(a) {
				return
			}
		}
	}, seed)
	if err != nil {
		t.Fatal(err)
	}
	for o := range outcomes {
		got.add(o, warm, warm+length)
	}
	return got
}

// limitOf is the published max_tokens 1024 for prompts of 640, or less alike.
func limitOf(prompt int) int { return 1024 * prompt / 640 }

// closedLoop lets callers call again as soon as they are answered or refused.
func closedLoop(s Serving, callers, prompt int, warm, length time.Duration, seed uint64) *shown {
	got := &shown{seconds: length.Seconds()}
	sm := simulation{e: newEngine(s, seed)}
	sm.e.ended = func(q *request) { sm.ended = append(sm.ended, q) }
	number := uint64(0)
	call := func(at time.Duration) {
		q := sm.request(Arrival{Prompt: prompt, Limit: limitOf(prompt)})
		q.number, q.at = number, at
		number++
		sm.e.arrive(q)
	}
	for range callers {
		call(0)
	}
	for sm.e.now < warm+length {
		sm.e.advance(sm.e.next())
		ended := sm.ended
		sm.ended = nil
		for _, q := range ended {
			got.add(sm.outcome(q), warm, warm+length)
			call(sm.e.now)
		}
	}
	return got
}

// TestPresetsPublished compares three presets with the figures that they imitate,
// as they are and sixteen times shorter, in long runs and in seconds.
func TestPresetsPublished(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		name              string
		ttft, rate, ratio float64
		refused           float64
	}{
		{"gpt4-2024", 1.842, 38.2, 1.12, 0.62}, {"gpt4turbo-2024", 0.896, 87.6, 1.38, 0.12}, {"o1preview-2024", 3.217, 22.4, 0.94, 0.78},
	} {
		s, err := Preset(want.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			name         string
			s            Serving
			prompt       int
			warm, length time.Duration
			within       float64
		}{
			{"full", s, 640, time.Minute, 200 * time.Second, 0.03},
			{"scaled", s.Scaled(16), 40, 4 * time.Second, 200 * time.Second, 0.03},
			{"scaled, in seconds", s.Scaled(16), 40, 4 * time.Second, 4 * time.Second, 0.1},
		} {
			t.Run(want.name+"/"+tc.name, func(t *testing.T) {
				t.Parallel()
				got := openLoop(t, tc.s, 100, tc.prompt, tc.warm, tc.length, 5)
				t.Log(got)
				near := func(what string, got, want float64) {
					if math.Abs(got/want-1) > tc.within {
						t.Errorf("%s is %.4g, published %.4g", what, got, want)
					}
				}
				near("TTFT", got.meanTTFT(), want.ttft)
				near("throughput", got.throughput(), want.rate)
				near("output ÷ input", got.ratio(), want.ratio)
				refused := float64(got.limited+got.overloaded) / float64(got.calls)
				if math.Abs(refused-want.refused) > max(0.02, tc.within/2) {
					t.Errorf("%.3f are refused, not %.2f", refused, want.refused)
				}
			})
		}
	}
}

// TestPresetsOrder asks for the published order of the models at other loads. At
// 20 a second nearly all that is offered is served by all.
func TestPresetsOrder(t *testing.T) {
	t.Parallel()
	var scaled []Serving // the fastest first
	for _, name := range []string{"gpt4turbo-2024", "gpt4-2024", "o1preview-2024"} {
		s, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		scaled = append(scaled, s.Scaled(16))
	}
	const warm, length = 4 * time.Second, 20 * time.Second
	check := func(load string, run func(Serving) *shown, served bool) {
		var before *shown
		for _, s := range scaled {
			got := run(s)
			t.Log(load, s.Name, got)
			if before != nil {
				if got.meanTTFT() < 1.05*before.meanTTFT() {
					t.Errorf("%s: %s is not slower by 5 %%", load, s.Name)
				}
				if served && got.throughput() > 0.95*before.throughput() {
					t.Errorf("%s: %s does not serve 5 %% less", load, s.Name)
				}
			}
			before = got
		}
	}
	for _, rate := range []float64{20, 200} {
		check(fmt.Sprint(rate, " a second"), func(s Serving) *shown { return openLoop(t, s, rate, 40, warm, length, 5) }, rate > 20)
	}
	for _, n := range []int{50, 100, 200} {
		check(fmt.Sprint(n, " callers"), func(s Serving) *shown { return closedLoop(s, n, 40, warm, length, 5) }, true)
	}
}

// TestPresetSingle compares first and last token of single calls, and tokens a second.
func TestPresetSingle(t *testing.T) {
	t.Parallel()
	s, err := Preset("llama3-8b-a100")
	if err != nil {
		t.Fatal(err)
	}
	got := closedLoop(s, 1, 640, 0, 1000*time.Second, 5)
	n := got.answered()
	for _, f := range []struct {
		name      string
		got, want float64
	}{{"TTFT", got.ttft / n, 0.320}, {"TTLT", got.last / n, 1.850}, {"tokens a second", got.rate / n, 42.1}} {
		t.Logf("%s %.4f, published %v", f.name, f.got, f.want)
		if math.Abs(f.got/f.want-1) > 0.01 {
			t.Errorf("%s is %.4f, published %v", f.name, f.got, f.want)
		}
	}
}

func TestPresetNames(t *testing.T) {
	t.Parallel()
	if got := strings.Join(Presets(), " "); got != "gpt4-2024 gpt4turbo-2024 o1preview-2024 llama3-8b-a100" {
		t.Errorf("names %s", got)
	}
	for _, name := range Presets() {
		if s, err := Preset(name); err != nil || s.check() != nil || s.Scaled(16).check() != nil {
			t.Errorf("%s: %v, %v, %v", name, err, s.check(), s.Scaled(16).check())
		}
	}
	_, err := Preset("gpt5")
	if err == nil || err.Error() != `sim: no preset "gpt5"; there are gpt4-2024, gpt4turbo-2024, o1preview-2024, llama3-8b-a100` {
		t.Errorf("error %v", err)
	}
}
