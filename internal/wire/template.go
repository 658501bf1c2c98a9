// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/json"
)

// The requests of one application are alike, too, but for their texts. The last
// one is kept without those, as a template: one that has the same bytes around its
// texts says the same to a measurement, at the cost of a comparison a text.

const (
	maxTemplate = 16 << 10 // bytes beside the texts: tools are long
	maxLearnt   = 64 << 10 // bytes of a request that is made one: json.Valid takes up to 0.7 ms for so many
	maxTexts    = 16
	maxWord     = 64 // bytes of a string among the messages that is kept: a role, a type, an id
	manyAlike   = 8  // in a row, and the template is worth to be learnt anew at once
)

// template does not change once it is shared.
type template struct {
	req     *Request
	ntexts  uint8
	texts   [maxTexts]uint16 // where they stand in the literal part
	literal string
}

// Request returns what a request says that has the template of one before, nil if
// it has not. It is shared, and not to be changed.
func (f *Common) Request(p []byte) *Request {
	t := f.template.Load()
	if t == nil {
		return nil
	}
	from := 0
	for _, at := range t.texts[:t.ntexts] {
		seg := t.literal[from:at]
		if len(p) < len(seg) || string(p[:len(seg)]) != seg {
			return nil
		}
		from = int(at)
		p = p[len(seg):]
		end := textEnd(p)
		if end < 0 {
			return nil
		}
		p = p[end:]
	}
	if string(p) != t.literal[from:] {
		return nil
	}
	if f.unlike.Load() != 0 && f.alike.Add(1) >= manyAlike {
		f.unlike.Store(0)
	}
	return t.req
}

// textEnd returns where the text ends that b begins with, negative if it does not.
func textEnd(b []byte) int {
	for i := 0; ; i++ {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return -1
		}
		if i += j; backslashes(b[:i])&1 == 0 {
			return i
		}
	}
}

// ReadRequest reads a request that is there as a whole, whose facts go to q. They
// are not to be changed then.
func (d *Decoder) ReadRequest(p []byte, q *Request) {
	d.InitRequest(q)
	d.Write(p)
	d.EndRequest()
	// Requests that are never alike are not learnt one by one, nor those of two kinds
	// that take turns.
	f := d.common
	if f.alike.Store(0); len(p) == 0 || len(p) > maxLearnt || p[0] != '{' {
		return
	}
	if n := f.unlike.Add(1); n&(n-1) == 0 && json.Valid(p) {
		f.learn(p, q)
	}
}

// learn makes p, a valid object that says q, the template of the next. Its texts
// are the strings of some members within others, which say nothing that q holds.
func (f *Common) learn(p []byte, q *Request) {
	t := &template{req: q}
	literal := make([]byte, 0, maxTemplate)
	depth, from, within, text := 0, 0, false, false
	for i := 0; i < len(p); i++ {
		if p[i] != '"' {
			// Whatever stands before the value, but a colon, makes it another one.
			text = text && (p[i] <= ' ' || p[i] == ':')
		}
		switch p[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			start := i + 1
			i = start + textEnd(p[start:])
			switch {
			case p[i+1] == ':':
				key := string(p[start:i])
				if depth == 1 {
					within = key == "messages" || key == "input" || key == "prompt" || key == "instructions"
				}
				text = within && (depth == 1 || key == "content" || key == "text")
			case text && int(t.ntexts) < len(t.texts) && len(literal)+start-from <= maxTemplate:
				literal = append(literal, p[from:start]...)
				t.texts[t.ntexts] = uint16(len(literal))
				t.ntexts++
				from, text = i, false
			case within && i-start > maxWord:
				return // a text that would be kept
			}
		}
	}
	if len(literal)+len(p)-from <= maxTemplate {
		t.literal = string(append(literal, p[from:]...))
		f.template.Store(t)
	}
}
