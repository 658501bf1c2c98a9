// SPDX-License-Identifier: Apache-2.0

package tacho

// Outcome says how a call ended.
type Outcome uint8

// The outcomes.
const (
	// Complete: a terminal event, a clean end with a finish reason on every
	// choice begun, or a whole plain body.
	Complete Outcome = iota + 1
	// StreamError: an error inside a stream, or an error object under HTTP 200.
	StreamError
	// Failed: a status of 400 or more, or no response.
	Failed
	// Cut: the stream ended without its end, or a read failed.
	Cut
	// Cancelled: the caller's context was cancelled before the end.
	Cancelled
	// Deadline: the caller's time was up before the end.
	Deadline
	// ClosedEarly: the body was closed before the end.
	ClosedEarly
	// Dropped: the body was neither read to an end nor closed; the call ends
	// at its last byte read.
	Dropped
)

// String returns the outcome's name in the record, "" for the zero Outcome.
//
//go:noinline
func (o Outcome) String() string {
	names := [...]string{"", "complete", "stream_error", "error", "cut", "cancelled", "deadline", "closed_early", "dropped"}
	if int(o) < len(names) {
		return names[o]
	}
	return ""
}

// Bad reports whether the outcome counts as a failure of the service in an
// error rate: errors, stream errors, cuts and deadlines do.
func (o Outcome) Bad() bool {
	return o == Failed || o == StreamError || o == Cut || o == Deadline
}

// MarshalText gives the outcome's name, for logs and JSON.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }
