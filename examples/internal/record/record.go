// SPDX-License-Identifier: Apache-2.0

// Package record reads the JSON of a call's record back, with the keys that the
// example programs print. A nil field is an absent figure.
package record

import (
	"encoding/json"
	"math"
	"time"

	"github.com/tacho-go/tacho"
)

// Seconds is a duration as the record writes it.
type Seconds float64

// Duration returns it as a duration, to the nanosecond.
func (s Seconds) Duration() time.Duration {
	return time.Duration(math.Round(float64(s) * 1e9))
}

// Exact rounds a computed time to the nanosecond, as the record's are.
func Exact(s float64) Seconds { return Seconds(math.Round(s*1e9) / 1e9) }

// Record is the record of a call.
type Record struct {
	Server        string            `json:"server"`
	RequestModel  string            `json:"request_model"`
	ResponseModel string            `json:"response_model"`
	Stream        bool              `json:"stream"`
	Outcome       string            `json:"outcome"`
	Status        int               `json:"status"`
	Error         *Error            `json:"error"`
	Start         time.Time         `json:"start"`
	Phases        Phases            `json:"phases"`
	Conn          Conn              `json:"conn"`
	TTFB          *Seconds          `json:"ttfb"`
	TTFC          *Seconds          `json:"ttfc"`
	TTFT          *Seconds          `json:"ttft"`
	TTFO          *Seconds          `json:"ttfo"`
	TTLT          *Seconds          `json:"ttlt"`
	Duration      *Seconds          `json:"duration"`
	Bound         string            `json:"bound"`
	Buffered      bool              `json:"buffered"`
	FirstChannel  string            `json:"first_channel"`
	Events        *int              `json:"events"`
	OutputEvents  *int              `json:"output_events"`
	Gaps          *Gaps             `json:"gaps"`
	TBT           *TBT              `json:"tbt"`
	TPOT          *Seconds          `json:"tpot"`
	TPS           *float64          `json:"tokens_per_second"`
	Streamed      *int64            `json:"streamed_tokens"`
	Usage         Usage             `json:"usage"`
	FinishReasons []*string         `json:"finish_reasons"`
	RateLimit     RateLimit         `json:"ratelimit"`
	Labels        map[string]string `json:"labels"`
}

// Error is what went wrong.
type Error struct {
	Type      string `json:"type"`
	Code      string `json:"code"`
	MidStream bool   `json:"mid_stream"`
}

// Phases are the times up to the first byte.
type Phases struct {
	DNS     *Seconds `json:"dns"`
	Connect *Seconds `json:"connect"`
	TLS     *Seconds `json:"tls"`
	Send    *Seconds `json:"send"`
	Wait    *Seconds `json:"wait"`
}

// Conn is the connection.
type Conn struct {
	Reused      *bool    `json:"reused"`
	Protocol    string   `json:"protocol"`
	Remote      string   `json:"remote"`
	RTT         *Seconds `json:"rtt"`
	RTTVar      *Seconds `json:"rtt_var"`
	Retransmits *int64   `json:"retransmits"`
}

// Gaps are the moments of the gaps between output events.
type Gaps struct {
	Count  int      `json:"count"`
	Min    Seconds  `json:"min"`
	Mean   Seconds  `json:"mean"`
	StdDev *Seconds `json:"stddev"`
	Max    Seconds  `json:"max"`
}

// TBT is the time between tokens; Tokens is counted or assumed.
type TBT struct {
	Mean   Seconds `json:"mean"`
	Tokens string  `json:"tokens"`
}

// Usage is what the server reported.
type Usage struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"cache_read_tokens"`
	CacheWrite *int64 `json:"cache_write_tokens"`
	Reasoning  *int64 `json:"reasoning_tokens"`
}

// RateLimit is the state of the server's limiter.
type RateLimit struct {
	LimitRequests     *int64   `json:"limit_requests"`
	RemainingRequests *int64   `json:"remaining_requests"`
	ResetRequests     *Seconds `json:"reset_requests"`
	LimitTokens       *int64   `json:"limit_tokens"`
	RemainingTokens   *int64   `json:"remaining_tokens"`
	ResetTokens       *Seconds `json:"reset_tokens"`
	RetryAfter        *Seconds `json:"retry_after"`
}

// Read returns the record of a call, and its JSON.
func Read(c *tacho.Call) (r Record, raw json.RawMessage, err error) {
	if raw, err = json.Marshal(c); err != nil {
		return r, nil, err
	}
	err = json.Unmarshal(raw, &r)
	return r, raw, err
}
