// SPDX-License-Identifier: Apache-2.0

// Package wire reads the requests and responses of OpenAI-compatible servers
// and turns every dialect into the same neutral facts.
//
// A Decoder is fed a body or the data of an event in pieces of any size. It
// keeps no document: only what the facts hold, a stack of known places and one
// short token.
package wire

// Channel is the kind of output that an event carries.
type Channel uint8

// The channels, as bits: an event may carry several.
const (
	Content Channel = 1 << iota
	Reasoning
	Refusal
	ToolCall
	Audio
	summary // reasoning, but only a summary of it
)

// Visible are the channels that a user sees.
const Visible = Content | Refusal | ToolCall | Audio

// First returns the channel that counts as the event's first: reasoning comes
// before what it leads to.
func (c Channel) First() Channel {
	for _, x := range [...]Channel{Reasoning, Content, Refusal, ToolCall, Audio} {
		if c&x != 0 {
			return x
		}
	}
	return 0
}

// String returns the channel's name in the record, "" for none.
func (c Channel) String() string {
	switch c.First() {
	case Content:
		return "content"
	case Reasoning:
		return "reasoning"
	case Refusal:
		return "refusal"
	case ToolCall:
		return "tool_call"
	case Audio:
		return "audio"
	}
	return ""
}

// Event is what one SSE data event is.
type Event struct {
	Channels Channel // 0: no generated output
	Done     bool    // the "[DONE]" mark
	Terminal bool    // it ends the response, whatever follows
	Error    bool    // it carries a server error
	Fault    bool    // it is no JSON document, or a broken one
}

// Summary reports whether its reasoning is a summary of reasoning.
func (e Event) Summary() bool { return e.Channels&summary != 0 }

// Count is a token count as reported; the zero Count was not reported.
type Count struct {
	N  int64
	OK bool
}

// Usage holds the counts that a server reported, as it reported them.
type Usage struct {
	Input, Output, Total, CacheRead, CacheWrite, Reasoning Count
}

// Error is a server's error object.
type Error struct {
	Present    bool
	HasMessage bool
	Type, Code string
}

// Finish is the end of one choice. An empty Reason was never sent.
type Finish struct {
	Choice int32
	Reason string
}

// Call is one tool call of the first choice. Without capture a hash tells one
// id from another.
type Call struct {
	Index     int32
	HasIndex  bool
	HasName   bool
	InMessage bool   // it stands in a message, not in a delta
	Key       uint64 // of the id; without one of the place in a Responses stream, at most maxPlace, else 0
	Kept      *KeptCall
}

// KeptCall is what capture keeps of a tool call.
type KeptCall struct {
	ID, Name string
	Args     Text
	place    int32 // of its item in a Responses stream, plus 1; 0: not known
}

// Timing is a duration or rate that the server measured, under its own name.
type Timing struct {
	Name  string
	Value float64
}

// Facts are what a response says of itself, put together over its events.
type Facts struct {
	ID, Model Name
	Tier      string // service tier
	Usage     Usage
	Finish    []Finish // by choice, ascending
	Error     Error    // the first one
	Calls     []Call   // of choice 0, without arguments unless capture is on
	Timings   []Timing

	TextChars      int64 // code points of choice 0's content
	ReasoningChars int64 // the same of its reasoning
	Streamed       Channel
	Summaries      bool // reasoning was streamed as a summary
	RawReasoning   bool // reasoning was streamed as it is
	inputTokens    bool // the input came under this name
	cacheInput     bool // cache_read_input_tokens or its like stood beside it
	Faults         int  // documents survived that were not JSON

	Detail   *Detail   // nil: nothing of it was said
	Limits   *Limits   // nil: no header spoke of any
	Captured *Captured // the content, only under capture

	one [1]Finish // room for the usual number of choices
}

// InputTotal is the input with what came from a cache and went into one. Servers
// report those as parts of the input, but for Anthropic's and its like, who name
// them beside it.
func (f *Facts) InputTotal() Count {
	n := f.Usage.Input
	if n.OK && f.inputTokens && f.cacheInput {
		n.N += f.Usage.CacheRead.N + f.Usage.CacheWrite.N
	}
	return n
}

// Finished reports whether every choice that began has a finish reason.
func (f *Facts) Finished() bool {
	for _, c := range f.Finish {
		if c.Reason == "" {
			return false
		}
	}
	return len(f.Finish) > 0
}

// maxChoices bounds the choices that are told apart: no server is known to send more.
const maxChoices = 128

// choice returns the entry of a choice, which it makes when it is new.
func (f *Facts) choice(index int32) *Finish {
	i := len(f.Finish)
	for i > 0 && f.Finish[i-1].Choice >= index {
		i--
	}
	if i < len(f.Finish) && f.Finish[i].Choice == index {
		return &f.Finish[i]
	}
	if len(f.Finish) == maxChoices {
		return new(Finish)
	}
	if f.Finish == nil {
		f.Finish = f.one[:0]
	}
	f.Finish = append(f.Finish, Finish{})
	copy(f.Finish[i+1:], f.Finish[i:])
	f.Finish[i] = Finish{Choice: index}
	return &f.Finish[i]
}

// intern returns b as a string, without a copy for the values that nearly
// every response has, and without one when it is what was there before.
func intern(b []byte, before string) string {
	if string(b) == before {
		return before
	}
	switch string(b) {
	case "stop":
		return "stop"
	case "length":
		return "length"
	case "tool_calls":
		return "tool_calls"
	case "function_call":
		return "function_call"
	case "content_filter":
		return "content_filter"
	case "default":
		return "default"
	}
	return string(b)
}
