// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// textCounter counts the tokens of a text.
type textCounter interface{ Count(text string) int }

// ChatCount is an estimate of the input tokens of a chat request, by their place.
// The servers' own templates are not public: what is known of them is what OpenAI
// publishes for its models, and what others measured. See Calibration for what a
// provider really counts.
type ChatCount struct {
	Model    string // as the request names it
	Encoding string // by which the texts are counted
	// Guess: the model is not known, and the encoding is that of the newest ones.
	Guess bool

	Messages int // texts of the messages and what each costs beside, 3 tokens
	Names    int // of messages that have one, and 1 token each
	Calls    int // tool calls that the history holds
	Tools    int // their definitions
	Format   int // the schema of the response's format
	Images   int
	Priming  int // the begin of the answer, 3 tokens

	// Unknown says what is not in the count, such as a sound, or an image of which
	// the request has the address alone.
	Unknown []string
}

// Total is the sum of all parts.
func (c *ChatCount) Total() int {
	return c.Messages + c.Names + c.Calls + c.Tools + c.Format + c.Images + c.Priming
}

var errNoChat = errors.New("tacho: the request has no messages: CountChat takes the JSON body of a Chat Completions request")

// What a message costs beside its texts, from OpenAI's cookbook, "How to count
// tokens with tiktoken", section 6
// (https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken).
const (
	perMessage = 3
	perName    = 1
	priming    = 3

	perMessage0301 = 4 // gpt-3.5-turbo-0301: <|im_start|>{role/name}\n{content}<|end|>\n
	perName0301    = -1
)

type chatRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role      looseText       `json:"role"`
		Name      looseText       `json:"name"`
		Content   json.RawMessage `json:"content"`
		Refusal   looseText       `json:"refusal"`
		ToolCalls []struct {
			Function calledTool                      `json:"function"`
			Custom   struct{ Name, Input looseText } `json:"custom"`
		} `json:"tool_calls"`
		FunctionCall *calledTool `json:"function_call"`
		Reasoning    looseText   `json:"reasoning_content"`
	} `json:"messages"`
	Tools []struct {
		Type     string      `json:"type"`
		Function functionDef `json:"function"`
	} `json:"tools"`
	Functions      []functionDef `json:"functions"`
	ResponseFormat *struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Name        looseText       `json:"name"`
			Description looseText       `json:"description"`
			Schema      json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

type calledTool struct{ Name, Arguments looseText }

// looseText is a text, or the JSON of what some servers take in its place.
type looseText string

func (t *looseText) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) != nil {
		s = string(b)
	}
	*t = looseText(s)
	return nil
}

type contentPart struct {
	Type     string    `json:"type"`
	Text     looseText `json:"text"`
	Refusal  looseText `json:"refusal"`
	ImageURL imageRef  `json:"image_url"`
}

// imageRef is an object, or the address alone.
type imageRef struct{ URL, Detail string }

func (r *imageRef) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &r.URL) == nil {
		return nil
	}
	type object imageRef
	return json.Unmarshal(b, (*object)(r))
}

// CountChat estimates the input tokens of a Chat Completions request, by the
// encoding of its model: of one that is not known EncodingForModel says what it
// takes, and of a model that is none of OpenAI's CountChat is an error; an
// Encoding has a method of the same name for those.
func CountChat(request []byte) (ChatCount, error) {
	var r struct {
		Model string `json:"model"`
	}
	if err := json.Unmarshal(request, &r); err != nil {
		return ChatCount{}, fmt.Errorf("tacho: the request is no JSON: %w", err)
	}
	enc, known, err := EncodingForModel(r.Model)
	if err != nil {
		return ChatCount{}, err
	}
	c, err := enc.CountChat(request)
	c.Guess = !known
	return c, err
}

// CountChat estimates the input tokens of a Chat Completions request as CountChat
// does, by this encoding whatever the model is.
func (e *Encoding) CountChat(request []byte) (ChatCount, error) {
	c := ChatCount{Encoding: e.Name()}
	err := c.count(request, e)
	return c, err
}

// count counts a request by an encoding.
func (c *ChatCount) count(request []byte, enc textCounter) error {
	var r chatRequest
	if err := json.Unmarshal(request, &r); err != nil {
		return fmt.Errorf("tacho: the request is no JSON as Chat Completions has it: %w", err)
	}
	if r.Messages == nil {
		return errNoChat
	}
	c.Model = r.Model
	message, name := perMessage, perName
	if strings.HasSuffix(r.Model, "gpt-3.5-turbo-0301") {
		message, name = perMessage0301, perName0301
	}
	images := imageRules(r.Model)
	for i, m := range r.Messages {
		c.Messages += message + enc.Count(string(m.Role)) + enc.Count(string(m.Refusal)) + enc.Count(string(m.Reasoning))
		if m.Name != "" {
			c.Names += name + enc.Count(string(m.Name))
		}
		for _, t := range m.ToolCalls {
			for _, s := range []looseText{t.Function.Name, t.Function.Arguments, t.Custom.Name, t.Custom.Input} {
				c.Calls += enc.Count(string(s))
			}
			c.Calls += perCall
		}
		if f := m.FunctionCall; f != nil {
			c.Calls += perCall + enc.Count(string(f.Name)) + enc.Count(string(f.Arguments))
		}
		if err := c.content(m.Content, enc, images); err != nil {
			return fmt.Errorf("tacho: messages[%d].content: %w", i, err)
		}
	}
	if len(r.Messages) > 0 {
		c.Priming = priming
	}
	defs := r.Functions
	for _, t := range r.Tools {
		if t.Type != "" && t.Type != "function" {
			c.unknown("a tool of type " + bounded(t.Type))
			continue
		}
		defs = append(defs, t.Function)
	}
	c.Tools = countTools(defs, r.Model, enc)
	if f := r.ResponseFormat; f != nil && f.Type == "json_schema" {
		c.Format = countFormat(string(f.JSONSchema.Name), string(f.JSONSchema.Description), f.JSONSchema.Schema, enc)
	}
	return nil
}

// content counts a message's text, or its parts.
func (c *ChatCount) content(raw json.RawMessage, enc textCounter, images imageRule) error {
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case raw[0] == '"':
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		c.Messages += enc.Count(text)
		return nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	for _, raw := range parts {
		var p contentPart
		if len(raw) > 0 && raw[0] == '"' {
			_ = json.Unmarshal(raw, &p.Text)
		} else if json.Unmarshal(raw, &p) != nil {
			c.unknown("a part that is none")
			continue
		}
		switch p.Type {
		case "text", "input_text", "":
			c.Messages += enc.Count(string(p.Text))
		case "refusal":
			c.Messages += enc.Count(string(p.Refusal))
		case "image_url":
			n, err := images.count(p.ImageURL.URL, p.ImageURL.Detail)
			if err != nil {
				c.unknown(err.Error())
			}
			c.Images += n
		default:
			c.unknown("a part of type " + bounded(p.Type))
		}
	}
	return nil
}

func (c *ChatCount) unknown(what string) { c.Unknown = append(c.Unknown, what) }
