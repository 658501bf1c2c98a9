// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/record"
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
	Figure string           `json:"figure"`
	Pairs  []record.Seconds `json:"pairs"`
	Mean   record.Seconds   `json:"mean"`
	Min    record.Seconds   `json:"min"`
	Max    record.Seconds   `json:"max"`
}

// add puts the blocks into the report: every record, the sides' summaries, and
// with two sides the differences of pairs.
func (r *Report) add(blocks []block) {
	r.Calls = []json.RawMessage{}
	groups := map[string][]tacho.Group{}
	for _, b := range blocks {
		for _, res := range b.results {
			if res.Call == nil {
				continue
			}
			if rec, raw, err := record.Read(res.Call); err == nil {
				r.Calls = append(r.Calls, raw)
				at, err := netip.ParseAddrPort(rec.Conn.Remote)
				r.Loopback = r.Loopback || err == nil && at.Addr().IsLoopback()
			}
		}
		if _, seen := groups[b.side]; !seen {
			side, g := summarise(b.side, blocks, r.Stream)
			r.Summary, groups[b.side] = append(r.Summary, side), g
		}
	}
	if len(r.Summary) == 2 {
		r.Differences = differences(groups[r.Summary[0].Side], groups[r.Summary[1].Side])
	}
}

// differences pairs the k-th blocks of both sides, which in the order ABBA are
// neighbours.
func differences(a, b []tacho.Group) (all []Difference) {
	for _, f := range warmFigures {
		d := Difference{Figure: f.String()}
		sum := 0.0
		for k := range min(len(a), len(b)) {
			x, ok := a[k].Figure(f).Mean()
			y, ok2 := b[k].Figure(f).Mean()
			if !ok || !ok2 {
				continue
			}
			v := record.Exact((y - x).Seconds())
			if len(d.Pairs) == 0 {
				d.Min, d.Max = v, v
			}
			d.Pairs = append(d.Pairs, v)
			d.Min, d.Max = min(d.Min, v), max(d.Max, v)
			sum += float64(v)
		}
		if len(d.Pairs) > 0 {
			d.Mean = record.Exact(sum / float64(len(d.Pairs)))
			all = append(all, d)
		}
	}
	return all
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

// reserve makes the file before anything is measured, so that a bad name costs
// no run; nil without a name. A file that exists may hold a measurement.
func reserve(name string) (*os.File, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s is there already: give another name, or remove it", name)
	}
	return f, err
}

// write writes the report as JSON.
func (r *Report) write(w io.Writer) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// readReport reads a report back.
func readReport(name string) (*Report, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if len(b) == 0 {
		return nil, fmt.Errorf("%s is empty: the run that made it was killed before its end", name)
	}
	var r Report
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("%s is no report of vmhost: %w", name, err)
	}
	if r.Program != "vmhost" {
		return nil, fmt.Errorf("%s is no report of vmhost: its \"program\" is %q", name, r.Program)
	}
	return &r, nil
}
