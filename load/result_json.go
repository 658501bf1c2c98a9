// SPDX-License-Identifier: Apache-2.0

package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tacho-go/tacho"
)

// UnmarshalJSON reads what a Result is written as. What the text lacks is empty.
// What no run can have come to, such as a negative count, is an error that names
// the stage.
func (r *Result) UnmarshalJSON(b []byte) error {
	type plain Result
	var in plain
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	out := Result(in)
	if _, err := segmentsOf(out.Segments); err != nil {
		return err
	}
	if c := out.Health.CPU; c != nil && !(*c >= 0 && *c <= maxJSONCount) {
		return fmt.Errorf("load: health: a cpu of %g is no share", *c)
	}
	out.Health.Stalls = orEmpty(out.Health.Stalls)
	for i := range out.Stages {
		s := &out.Stages[i]
		s.fill()
		if err := s.check(); err != nil {
			return fmt.Errorf("load: stage %d (%q): %w", i+1, s.Name, err)
		}
	}
	*r = out
	return nil
}

// maxJSONCount bounds a count that is read, so that those of many files add up.
const maxJSONCount = 1 << 53

func (s *StageResult) check() error {
	for _, n := range s.fields() {
		if err := checkCount(*n); err != nil {
			return err
		}
	}
	for _, e := range s.Errors {
		if err := checkCount(e.Count); err != nil {
			return err
		}
	}
	f := &s.Flow
	sane := func(v float64) bool { return v == 0 || v >= 1e-9 && v <= math.MaxInt64 }
	switch {
	case s.Window < 0 || s.Think < 0 || s.Workers < 0:
		return errors.New("its window, its think time or its number of workers is negative")
	case f.Window < 0 || f.Most < 0 || f.Ended < 0 || f.Ended > maxJSONCount || !sane(f.Area) || !sane(f.Stayed):
		return errors.New("its flow is none: a number is negative or too large")
	}
	return nil
}

func checkCount(n int64) error {
	switch {
	case n < 0:
		return errors.New("a count is negative")
	case n > maxJSONCount:
		return fmt.Errorf("a count of %d is too large", n)
	}
	return nil
}

// fill puts empty histograms where there are none.
func (s *StageResult) fill() {
	s.Delay = orEmpty(s.Delay)
	if s.Streams == nil {
		s.Streams = new(Latencies)
	}
	if s.Plain == nil {
		s.Plain = new(Latencies)
	}
}

func orEmpty(h *tacho.Histogram) *tacho.Histogram {
	if h == nil {
		return new(tacho.Histogram)
	}
	return h
}

// segmentsOf returns of how many segments a schedule is, of which these are some,
// each once; 0 without any.
func segmentsOf(list []string) (n int, err error) {
	for k, text := range list {
		s, ok := ParseSegment(text)
		switch {
		case !ok:
			return 0, fmt.Errorf("load: segment %q: it is none such as 1/2", text)
		case k > 0 && s.N != n:
			return 0, fmt.Errorf("load: segment %s: the others are of %d: these are two divisions of a schedule", text, n)
		case slices.Contains(list[:k], text):
			return 0, fmt.Errorf("load: segment %s is there twice, in %s", text, strings.Join(list, ", "))
		}
		n = s.N
	}
	return n, nil
}
