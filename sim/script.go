// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"net/http"
	"time"
)

// Script says how one request is answered. The zero Script answers 200 with a
// short text and no delay. A script is read only; one value may be played by
// several requests at the same time.
//
// Streams. A request with "stream": true gets server-sent events: the headers
// HeaderDelay after the request was read, the first step FirstDelay later, each
// further step a Gap after the one before it, where a step has no delay of its
// own. The times are those of a schedule: a write that came late does not move
// the steps after it. Each event is one write.
//
// The steps in Steps are sent as they are. One is added only if UsageShape is
// UsageOnLastChunk or UsageXGroq and there is no Usage step: one before a Done,
// Cut or Hang at the end. Steps made from Text and the fields below it are, in
// each choice, Role, the reasoning, the text and Finish, then Usage and Done.
//
// Plain answers. Other requests get the content of the same steps as one JSON
// object: headers after HeaderDelay, the body BodyDelay later. Steps have no
// times then; KeepAlive, Raw and Done are left out, an Error answers with an
// error object and status 500, Cut and Hang take effect after half of the body.
//
// Errors. A script with a Status of 400 or more, an Error field or a Body is
// answered as a plain answer, whether a stream was asked for or not.
//
// A delay ends early, and the connection is aborted, when the request's context
// ends or the server closes. A script that is wrong in itself, or has no form in
// the API of the request, is answered with status 500 and an error object of
// type "sim_error" that says what is wrong.
type Script struct {
	Status     int           // HTTP status; 0 means 200, or 500 with an Error field
	Header     http.Header   // response headers, set in place of the usual ones of that name
	RateLimit  RateLimit     // x-ratelimit-* headers
	RetryAfter time.Duration // Retry-After in whole seconds (rounded up), and retry-after-ms if it is no whole second; 0: none

	ErrorCode    string // error.code of the error object; "" is null
	ErrorType    string // error.type; "" is server_error from 500 on, else invalid_request_error
	ErrorMessage string // error.message
	Body         []byte // the response body as it is, in place of any other content
	ContentType  string // of the response; "" is that of the content

	Abort bool // the connection is closed after HeaderDelay, without any answer

	HeaderDelay time.Duration // request read → response headers
	FirstDelay  time.Duration // headers → first step of a stream, which is Role in made steps: the first text comes a Gap later
	Gap         time.Duration // between two steps of a stream
	BodyDelay   time.Duration // headers → body of a plain answer
	TailDelay   time.Duration // last step of a stream → end of the body, which in HTTP/1.1 is a chunk of its own

	Steps          []Step       // what happens; nil: made from the fields below
	Text           string       // the answer, one event for each word; "" is a short text
	Reasoning      string       // reasoning before the answer, one event for each word
	Choices        int          // number of choices; 0 means the request's n
	FinishReason   string       // of each choice; "" is stop
	Usage          *UsageCounts // tokens reported; nil: counted, see UsageCounts
	UsageShape     UsageShape   // where a stream carries the usage
	ReasoningField string       // the chat delta's field for reasoning; "" is reasoning_content
	Model          string       // the model named in the answer; "" is the request's
	NoDone         bool         // the made steps lack [DONE]
	NoEventNames   bool         // the Responses API's events lack the event: line

	CRLF     bool // lines end in CR LF
	OneBurst bool // all events are held back until the last one's time and written at once, as by a buffering proxy
	Coalesce int  // events in one write, at the time of the last of them; 0 and 1: each its own
}

const (
	defaultText      = "Hello from the simulated endpoint."
	defaultReasoning = "reasoning_content"
	maxChoices       = 128
)

// isError reports whether the script answers with an error object.
func (s *Script) isError() bool {
	return s.Status >= 400 || s.ErrorCode != "" || s.ErrorType != "" || s.ErrorMessage != ""
}

func (s *Script) check() error {
	for _, d := range []struct {
		name string
		d    time.Duration
	}{
		{"HeaderDelay", s.HeaderDelay}, {"FirstDelay", s.FirstDelay}, {"Gap", s.Gap}, {"BodyDelay", s.BodyDelay},
		{"TailDelay", s.TailDelay}, {"RetryAfter", s.RetryAfter},
	} {
		if d.d < 0 {
			return fmt.Errorf("sim: Script.%s is negative: %v", d.name, d.d)
		}
	}
	switch {
	case s.Status != 0 && (s.Status < 200 || s.Status > 999):
		return fmt.Errorf("sim: Script.Status %d is no final HTTP status", s.Status)
	case (s.Status == http.StatusNoContent || s.Status == http.StatusNotModified) && (s.Body == nil || len(s.Body) > 0):
		return fmt.Errorf("sim: Script.Status %d needs an empty Body that is not nil", s.Status)
	case s.Choices < 0 || s.Choices > maxChoices:
		return fmt.Errorf("sim: Script.Choices is %d, not 0 to %d", s.Choices, maxChoices)
	case s.Coalesce < 0:
		return fmt.Errorf("sim: Script.Coalesce is negative: %d", s.Coalesce)
	case s.Coalesce > 1 && s.OneBurst:
		return fmt.Errorf("sim: Script.Coalesce and OneBurst exclude each other")
	case s.UsageShape < UsageAsAsked || s.UsageShape > UsageXGroq:
		return fmt.Errorf("sim: Script.UsageShape %d is unknown", s.UsageShape)
	case s.Steps != nil && (s.Text != "" || s.Reasoning != "" || s.Choices != 0 || s.FinishReason != "" || s.NoDone):
		return fmt.Errorf("sim: Script.Steps excludes Text, Reasoning, Choices, FinishReason and NoDone")
	case s.Body != nil && s.Steps != nil:
		return fmt.Errorf("sim: Script.Body and Steps exclude each other")
	}
	for i, st := range s.Steps {
		if err := st.check(); err != nil {
			return fmt.Errorf("sim: Script.Steps[%d]: %w", i, err)
		}
	}
	return s.RateLimit.check()
}

func (s Step) check() error {
	switch {
	case s.kind == kindNone:
		return fmt.Errorf("the zero Step says nothing")
	case s.choice < 0 || s.choice >= maxChoices:
		return fmt.Errorf("%v: choice %d is not 0 to %d", s.kind, s.choice, maxChoices-1)
	case s.index < 0:
		return fmt.Errorf("%v: negative index %d", s.kind, s.index)
	case s.delay < 0:
		return fmt.Errorf("%v: negative delay %v", s.kind, s.delay)
	}
	return nil
}
