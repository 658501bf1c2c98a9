// SPDX-License-Identifier: Apache-2.0

package sim

import "time"

// Step is one thing that happens in a stream, usually one SSE event. Steps are
// made by the functions of this package; the zero Step is an error.
//
// A step takes the form that the API of the request's route gives it. In the
// Responses API a step may be several events, sent at the same time: the first
// output opens its item and its part, Finish closes them.
//
// A choice counts from 0. The Responses API has only choice 0.
type Step struct {
	kind      stepKind
	choice    int
	index     int
	id, name  string
	text      string // text, arguments, reason, message
	code, typ string
	data      []byte
	usage     UsageCounts
	delay     time.Duration
	delaySet  bool
}

type stepKind int

const (
	kindNone stepKind = iota
	kindRole
	kindText
	kindReasoning
	kindSummary
	kindRefusal
	kindToolCall
	kindAudio
	kindFinish
	kindUsage
	kindError
	kindKeepAlive
	kindRaw
	kindDone
	kindCut
	kindHang
)

var kindNames = [...]string{"zero Step", "Role", "Text", "Reasoning", "ReasoningSummary", "Refusal", "ToolCall",
	"Audio", "Finish", "Usage", "Error", "KeepAlive", "Raw", "Done", "Cut", "Hang"}

func (k stepKind) String() string { return kindNames[k] }

// output reports whether the step is generated output, which counts as a token.
func (s Step) output() bool {
	switch s.kind {
	case kindText, kindReasoning, kindRefusal, kindAudio:
		return true
	case kindToolCall:
		return s.text != ""
	}
	return false
}

// After returns the step with d as the delay before it, in place of the
// script's FirstDelay or Gap. An After of zero sends it with the step before.
func (s Step) After(d time.Duration) Step {
	s.delay, s.delaySet = d, true
	return s
}

// Role begins a choice: the assistant's role and no content. In the Responses
// API it opens the message. Legacy completions have no form of it.
func Role(choice int) Step { return Step{kind: kindRole, choice: choice} }

// Text is a piece of the answer's text.
func Text(choice int, s string) Step { return Step{kind: kindText, choice: choice, text: s} }

// Reasoning is a piece of the model's own reasoning: the field reasoning_content
// of a chat delta (or Script.ReasoningField), reasoning_text in the Responses API.
func Reasoning(choice int, s string) Step { return Step{kind: kindReasoning, choice: choice, text: s} }

// ReasoningSummary is a piece of a summary of the reasoning. Only the Responses
// API has it.
func ReasoningSummary(choice int, s string) Step {
	return Step{kind: kindSummary, choice: choice, text: s}
}

// Refusal is a piece of a refusal.
func Refusal(choice int, s string) Step { return Step{kind: kindRefusal, choice: choice, text: s} }

// ToolCall is a piece of the tool call with the given index: the first one
// carries id and name, later ones leave them empty; args is a piece of the
// arguments. A piece without arguments is no token.
func ToolCall(choice, index int, id, name, args string) Step {
	return Step{kind: kindToolCall, choice: choice, index: index, id: id, name: name, text: args}
}

// Audio is a piece of spoken output; it is sent in base64.
func Audio(choice int, data []byte) Step { return Step{kind: kindAudio, choice: choice, data: data} }

// Finish ends a choice: stop, length, tool_calls, content_filter or any other
// reason. In the Responses API it closes what is open and sends the terminal
// event: response.incomplete for length and content_filter, response.failed for
// failed, else response.completed.
func Finish(choice int, reason string) Step {
	return Step{kind: kindFinish, choice: choice, text: reason}
}

// Usage is the report of tokens, in a chunk of its own with empty choices. The
// Responses API carries it in the terminal event instead, wherever the step
// stands; its delay still counts.
func Usage(u UsageCounts) Step { return Step{kind: kindUsage, usage: u} }

// Error is an error in the middle of a stream, as a data event with an error
// object, or as the Responses API's error event. The stream goes on with the
// next step.
func Error(code, typ, message string) Step {
	return Step{kind: kindError, code: code, typ: typ, text: message}
}

// KeepAlive is an SSE comment, which is no event to a client.
func KeepAlive() Step { return Step{kind: kindKeepAlive} }

// Raw is a piece of the body, sent as it is.
func Raw(b []byte) Step { return Step{kind: kindRaw, data: b} }

// Done is the event "data: [DONE]".
func Done() Step { return Step{kind: kindDone} }

// Cut aborts the answer after what was sent before: an unexpected EOF to an
// HTTP/1.1 client, a stream error to an HTTP/2 client. Later steps are never
// reached.
func Cut() Step { return Step{kind: kindCut} }

// Hang sends nothing more until the client goes away or the server closes.
// Later steps are never reached.
func Hang() Step { return Step{kind: kindHang} }
