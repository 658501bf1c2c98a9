// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/tacho-go/tacho/lab/machine"
)

// Report is what a run measured, as its file holds it. Durations are seconds.
type Report struct {
	Program     string              `json:"program"`
	Version     string              `json:"version"`
	Started     time.Time           `json:"started"`
	Ended       time.Time           `json:"ended"`
	Incomplete  bool                `json:"incomplete"`
	Endpoint    string              `json:"endpoint"`
	Simulation  []string            `json:"simulation,omitempty"` // its parameters; none: a real endpoint
	Loopback    bool                `json:"loopback"`             // the calls do not leave the machine
	Model       string              `json:"model"`
	Prompt      string              `json:"prompt"`
	MaxTokens   int                 `json:"max_tokens"`
	Stream      bool                `json:"stream"`
	CallsABlock int                 `json:"calls_a_block"`
	Summary     []Side              `json:"summary"`
	Differences []Difference        `json:"differences,omitempty"`
	Known       string              `json:"known,omitempty"` // of a simulation: what it adds to a side
	Fingerprint machine.Fingerprint `json:"fingerprint"`
	Stall       machine.StallReport `json:"stall"`
	Steal       machine.StealReport `json:"steal"`
	Calls       []json.RawMessage   `json:"calls"`
}

// Difference is the second side's block means less the first side's, pair by
// pair of blocks that ran one after the other.
type Difference struct {
	Figure string    `json:"figure"`
	Pairs  []Seconds `json:"pairs"`
	Mean   Seconds   `json:"mean"`
	Min    Seconds   `json:"min"`
	Max    Seconds   `json:"max"`
}

// Seconds is a duration as the records write it.
type Seconds float64

// Duration returns it as a duration, to the nanosecond.
func (s Seconds) Duration() time.Duration {
	return time.Duration(math.Round(float64(s) * 1e9))
}

// exact rounds a computed time to the nanosecond, as the records' are.
func exact(s float64) Seconds { return Seconds(math.Round(s*1e9) / 1e9) }

// add puts the blocks into the report: every record, the sides' summaries, and
// with two sides the differences of pairs.
func (r *Report) add(blocks []block) {
	r.Calls = []json.RawMessage{}
	groups := map[string][]sample{}
	for _, b := range blocks {
		for _, res := range b.results {
			if res.Call == nil {
				continue
			}
			if raw, err := json.Marshal(res.Call); err == nil {
				r.Calls = append(r.Calls, raw)
			}
			conn, _ := res.Call.Conn()
			at, err := netip.ParseAddrPort(conn.Remote)
			r.Loopback = r.Loopback || err == nil && at.Addr().IsLoopback()
		}
		if _, seen := groups[b.side]; !seen {
			side, g := summarise(b.side, blocks)
			r.Summary, groups[b.side] = append(r.Summary, side), g
		}
	}
	if len(r.Summary) == 2 {
		r.Differences = differences(groups[r.Summary[0].Side], groups[r.Summary[1].Side])
	}
}

// differences pairs the k-th blocks of both sides, which in the order ABBA are
// neighbours.
func differences(a, b []sample) (all []Difference) {
	for _, f := range warmFigures {
		d := Difference{Figure: f.String()}
		sum := 0.0
		for k := range min(len(a), len(b)) {
			x, y := a[k].values(f), b[k].values(f)
			if len(x) == 0 || len(y) == 0 {
				continue
			}
			v := exact(mean(y) - mean(x))
			if len(d.Pairs) == 0 {
				d.Min, d.Max = v, v
			}
			d.Pairs = append(d.Pairs, v)
			d.Min, d.Max = min(d.Min, v), max(d.Max, v)
			sum += float64(v)
		}
		if len(d.Pairs) > 0 {
			d.Mean = exact(sum / float64(len(d.Pairs)))
			all = append(all, d)
		}
	}
	return all
}

// measured reports whether a call is in the figures.
func (r *Report) measured() bool {
	return slices.ContainsFunc(r.Summary, func(s Side) bool { return s.Measured > 0 })
}

// ok reports whether the run ended as it should.
func (r *Report) ok() bool {
	for _, s := range r.Summary {
		if len(s.Failures) > 0 || s.Measured == 0 {
			return false
		}
	}
	return !r.Incomplete && len(r.Summary) > 0
}
