// SPDX-License-Identifier: Apache-2.0

package load

import (
	"encoding/json"
	"math"
	"time"
)

// Times in JSON are seconds. One of days comes back to the nanosecond: it has
// fewer of them than a float64 has whole numbers.

// MarshalJSON writes the stage, its times in seconds.
func (s StageResult) MarshalJSON() ([]byte, error) {
	type plain StageResult
	return json.Marshal(struct {
		plain
		Window float64 `json:"window"`
		Think  float64 `json:"think,omitempty"`
	}{plain(s), s.Window.Seconds(), s.Think.Seconds()})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *StageResult) UnmarshalJSON(b []byte) error {
	type plain StageResult
	var in struct {
		plain
		Window float64 `json:"window"`
		Think  float64 `json:"think"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*s = StageResult(in.plain)
	s.Window, s.Think = fromSeconds(in.Window), fromSeconds(in.Think)
	return nil
}

// MarshalJSON writes the flow, its times in seconds.
func (f Flow) MarshalJSON() ([]byte, error) {
	type plain Flow
	return json.Marshal(struct {
		plain
		Window float64 `json:"window"`
	}{plain(f), f.Window.Seconds()})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Flow) UnmarshalJSON(b []byte) error {
	type plain Flow
	var in struct {
		plain
		Window float64 `json:"window"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*f = Flow(in.plain)
	f.Window = fromSeconds(in.Window)
	return nil
}

// fromSeconds is a time; one that no run can have lasted is negative, which a
// check refuses.
func fromSeconds(v float64) time.Duration {
	if !(v >= 0 && v <= math.MaxInt64/2e9) {
		return -1
	}
	return time.Duration(math.Round(v * 1e9))
}
