// SPDX-License-Identifier: Apache-2.0

package tacho

// Content is what a call said and was told, as a hook gets it and as it is
// recorded. Any of it may be absent. Its texts are as the application and the
// server wrote them, but for what a limit cut and for the call's credentials.
type Content struct {
	// Input are the messages of the request (gen_ai.input.messages): of a chat all
	// of them, those of the system too; a prompt is one of the user.
	Input []Message
	// Output has one message for each choice (gen_ai.output.messages).
	Output []Message
	// System are instructions that stand apart from the messages, as those of the
	// Responses API do (gen_ai.system_instructions).
	System []Part
	// Tools are the tools that the model may ask for (gen_ai.tool.definitions).
	Tools []ToolDefinition
	// Stop are the stop sequences, the first 8 (gen_ai.request.stop_sequences).
	Stop []string
	// ErrorText is what the server said of its error, at most 512 bytes
	// (exception.message).
	ErrorText string
}

// Message is one message of a conversation.
type Message struct {
	Role  string // system, developer, user, assistant, tool, or as sent
	Name  string // of the participant, where it has one
	Parts []Part
	// FinishReason is of output alone: stop, length, content_filter, tool_call,
	// error, or as the server says.
	FinishReason string
	Choice       int // of output: which choice it is
}

// The types of a Part. Others are as sent, with what they say in Part.JSON.
const (
	PartText         = "text"
	PartReasoning    = "reasoning"
	PartRefusal      = "refusal"    // of no convention
	PartTranscript   = "transcript" // of a sound of the output; of no convention
	PartToolCall     = "tool_call"
	PartToolResponse = "tool_call_response"
	// What the server ran itself, such as a search, and what came of it. Part.JSON is
	// an object with the type of the server's item and what it says.
	PartServerToolCall     = "server_tool_call"
	PartServerToolResponse = "server_tool_call_response"
	PartBlob               = "blob" // data inline
	PartFile               = "file" // of the provider's, by id
	PartURI                = "uri"
)

// Part is one part of a message. The type says which of the members it has.
type Part struct {
	Type string
	// Text is a text, reasoning, refusal or transcript, and of a blob its data in base64.
	Text string
	// ID is a tool call's, in the call and in the response to it.
	ID   string
	Name string // of the tool
	// Arguments are a tool call's, as the model wrote them: JSON, as a rule.
	Arguments string
	Response  string // a tool's, text or JSON
	// Index is the number that the server gave a tool call of the output, -1 of a
	// call that is no function's, such as computer_call.
	Index int

	Modality string // of a blob, file or uri: image, audio, video, document
	MIMEType string
	URI      string // without user, query and fragment, where credentials stand
	FileID   string

	JSON string // an object: a server tool's call or response, or the members of a part of another type

	// Cut is how many characters a limit took from the text, the arguments or the
	// response, which end in a mark that says so; of a blob, whose data is replaced
	// by the mark, how many bytes its base64 had.
	Cut int64
}

// ToolDefinition is a tool that the model may ask for.
type ToolDefinition struct {
	Type        string // function, or another kind
	Name        string
	Description string
	Parameters  string // their JSON schema
}

// Edit puts f of it in the place of each text that a user, a model or a server
// wrote: of parts, instructions, names, arguments, responses, addresses, tool
// definitions, stop sequences and errors; what is of a fixed list, such as roles
// and types, and the data of pictures and sounds stay. It is meant for
// WithContentHook, to redact.
func (c *Content) Edit(f func(string) string) {
	edit := func(s ...*string) {
		for _, p := range s {
			if *p != "" {
				*p = f(*p)
			}
		}
	}
	parts := func(parts []Part) {
		for i := range parts {
			p := &parts[i]
			edit(&p.Text, &p.ID, &p.Name, &p.Arguments, &p.Response, &p.URI, &p.FileID, &p.JSON)
		}
	}
	for _, list := range [...][]Message{c.Input, c.Output} {
		for i := range list {
			edit(&list[i].Name)
			parts(list[i].Parts)
		}
	}
	parts(c.System)
	for i := range c.Tools {
		edit(&c.Tools[i].Name, &c.Tools[i].Description, &c.Tools[i].Parameters)
	}
	for i := range c.Stop {
		edit(&c.Stop[i])
	}
	edit(&c.ErrorText)
}

// texts calls f with each text of the content.
func (c *Content) texts(f func(*string)) {
	for _, list := range [...][]Message{c.Input, c.Output} {
		for i := range list {
			f(&list[i].Role)
			f(&list[i].Name)
			f(&list[i].FinishReason)
			partTexts(list[i].Parts, f)
		}
	}
	partTexts(c.System, f)
	for i := range c.Tools {
		t := &c.Tools[i]
		for _, s := range [...]*string{&t.Type, &t.Name, &t.Description, &t.Parameters} {
			f(s)
		}
	}
	for i := range c.Stop {
		f(&c.Stop[i])
	}
	f(&c.ErrorText)
}

func partTexts(parts []Part, f func(*string)) {
	for i := range parts {
		p := &parts[i]
		for _, s := range [...]*string{&p.Type, &p.Text, &p.ID, &p.Name, &p.Arguments, &p.Response, &p.Modality, &p.MIMEType, &p.URI, &p.FileID, &p.JSON} {
			f(s)
		}
	}
}
