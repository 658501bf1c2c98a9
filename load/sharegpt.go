// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ReadPrompts reads prompts from a file of conversations: JSON, an array as of
// ShareGPT, or JSONL, an object a line. Each has
//
//	{"conversations": [{"from": "human", "value": "…"}, {"from": "gpt", "value": "…"}]}
//	{"messages": [{"role": "system", "content": "…"}, {"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]}
//	{"prompt": "…", "completion": "…"}
//
// of which the first question is the prompt. With count, such as the Count of a
// tacho.Encoding, the tokens of its answer are the limit of the call's. At most
// limit prompts are kept, 0 being no bound; conversations without a question are
// left out. An error says which conversation is wrong.
func ReadPrompts(r io.Reader, limit int, count func(string) int) ([]Prompt, error) {
	in := bufio.NewReader(r)
	skipMark(in)
	first, err := firstByte(in)
	if err != nil {
		return nil, fmt.Errorf("load: prompts: %w", err)
	}
	var out []Prompt
	err = objects(in, first == '[', "conversation", func(_ int, d *json.Decoder) (bool, error) {
		var c conversation
		if err := d.Decode(&c); err != nil {
			return false, err
		}
		if p, answer, ok := c.prompt(); ok {
			if count != nil && answer != "" {
				p.MaxTokens = max(1, count(answer))
			}
			out = append(out, p)
		}
		return limit <= 0 || len(out) < limit, nil
	})
	if err != nil {
		return nil, fmt.Errorf("load: prompts: %w", err)
	}
	if len(out) == 0 {
		return nil, errors.New(`load: prompts: there is no question in the file: give objects with "conversations", "messages" or "prompt"`)
	}
	return out, nil
}

type conversation struct {
	Conversations []struct{ From, Value string }
	Messages      []struct {
		Role    string
		Content any
	}
	Prompt, Completion string
}

func (c *conversation) prompt() (p Prompt, answer string, ok bool) {
	turn := func(who, text string) {
		switch strings.ToLower(who) {
		case "system":
			if p.User == "" {
				p.System = text
			}
		case "human", "user":
			if p.User == "" {
				p.User = text
			}
		case "gpt", "assistant", "chatgpt", "bard", "bing":
			if p.User != "" && answer == "" {
				answer = text
			}
		}
	}
	for _, t := range c.Conversations {
		turn(t.From, t.Value)
	}
	for _, m := range c.Messages {
		if text, isText := m.Content.(string); isText {
			turn(m.Role, text)
		}
	}
	if p.User == "" {
		p.User, answer = c.Prompt, c.Completion
	}
	return p, answer, strings.TrimSpace(p.User) != ""
}

// skipMark skips a byte order mark.
func skipMark(r *bufio.Reader) {
	if b, _ := r.Peek(3); string(b) == "\ufeff" {
		_, _ = r.Discard(3)
	}
}

// firstByte returns the first byte that is no white space, without taking it.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return 0, errors.New("the file is empty")
		case err != nil:
			return 0, err
		case b == ' ' || b == '\t' || b == '\r' || b == '\n':
			continue
		}
		return b, r.UnreadByte()
	}
}
