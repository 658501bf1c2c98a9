// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// functionDef is the definition of a tool.
type functionDef struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Parameters  *schema `json:"parameters"`
}

// schema is as much of a JSON schema as models are shown.
type schema struct {
	Type        []string
	Description string
	Enum        []json.RawMessage
	Items       *schema
	Required    []string
	Union       []*schema // of anyOf, oneOf or allOf
	Properties  properties
	Ref         string
}

// properties keep the order in which they stand: it is that of the text.
type properties []property

type property struct {
	name   string
	schema *schema
}

// UnmarshalJSON reads a schema in one pass. What is of an unusual kind is left out:
// an estimate has use for the rest.
func (s *schema) UnmarshalJSON(b []byte) error {
	return s.read(json.NewDecoder(bytes.NewReader(b)), 0)
}

func (s *schema) read(d *json.Decoder, depth int) error {
	t, err := d.Token()
	switch {
	case err != nil:
		return err
	case t == json.Delim('['): // of items one by one: the first stands for all
		for first := true; d.More(); first = false {
			into := s
			if !first {
				into = new(schema)
			}
			if err := into.read(d, depth+1); err != nil {
				return err
			}
		}
		_, err = d.Token()
		return err
	case t != json.Delim('{'):
		return nil
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if err := s.member(d, fmt.Sprint(key), depth); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

func (s *schema) member(d *json.Decoder, key string, depth int) error {
	if depth < maxSchemaDepth {
		switch key {
		case "items":
			s.Items = new(schema)
			return s.Items.read(d, depth+1)
		case "properties":
			return s.members(d, func(name string) *schema {
				p := property{name, new(schema)}
				s.Properties = append(s.Properties, p)
				return p.schema
			}, depth)
		case "anyOf", "oneOf", "allOf":
			return s.list(d, depth)
		}
	}
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return err
	}
	switch key {
	case "type":
		var one string
		if json.Unmarshal(raw, &one) == nil {
			s.Type = []string{one}
		} else if json.Unmarshal(raw, &s.Type) != nil {
			s.Type = nil
		}
	case "description":
		_ = json.Unmarshal(raw, &s.Description)
	case "$ref":
		_ = json.Unmarshal(raw, &s.Ref)
	case "enum":
		_ = json.Unmarshal(raw, &s.Enum)
	case "const":
		s.Enum = []json.RawMessage{raw}
	case "required":
		if json.Unmarshal(raw, &s.Required) != nil {
			s.Required = nil
		}
	}
	return nil
}

// members reads an object of schemas.
func (s *schema) members(d *json.Decoder, of func(name string) *schema, depth int) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		if t == json.Delim('[') {
			return skip(d)
		}
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		if err := of(fmt.Sprint(name)).read(d, depth+1); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// list reads a list of schemas into the union.
func (s *schema) list(d *json.Decoder, depth int) error {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		if t == json.Delim('{') {
			return skip(d)
		}
		return err
	}
	for d.More() {
		u := new(schema)
		if err := u.read(d, depth+1); err != nil {
			return err
		}
		s.Union = append(s.Union, u)
	}
	_, err := d.Token()
	return err
}

// skip reads to the end of the object or list that d is in.
func skip(d *json.Decoder) error {
	for open := 1; open > 0; {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
	}
	return nil
}

// What a definition costs beside its texts, from OpenAI's cookbook, "How to count
// tokens with tiktoken", section 7; the first is 10 for models before gpt-4o.
const (
	perFunction   = 7
	perFunction4  = 10
	perProperties = 3
	perProperty   = 3
	perEnum       = -3
	perEnumItem   = 3
	perTools      = 12

	// perNamespace is what definitions cost beside their text in TypeScript, as
	// users measured (https://github.com/hmarr/openai-chat-tokens).
	perNamespace = 9
	// perCall is what a call in the history costs beside its texts: a message's.
	perCall = perMessage
)

// countTools counts definitions: by the cookbook's rule, which knows flat
// parameters, and else by the TypeScript in which models are shown them.
func countTools(defs []functionDef, model string, enc textCounter) int {
	if len(defs) == 0 {
		return 0
	}
	if slices.ContainsFunc(defs, func(f functionDef) bool { return !f.flat() }) {
		return perNamespace + enc.Count(typescript(defs))
	}
	each := perFunction
	if model = plainModel(model); strings.HasPrefix(model, "gpt-3.5") || strings.HasPrefix(model, "gpt-35") || strings.HasPrefix(model, "gpt-4") && !strings.HasPrefix(model, "gpt-4o") && !strings.HasPrefix(model, "gpt-4.") {
		each = perFunction4
	}
	n := perTools
	for _, f := range defs {
		n += each + enc.Count(f.Name+":"+strings.TrimSuffix(f.Description, "."))
		if f.Parameters == nil || len(f.Parameters.Properties) == 0 {
			continue
		}
		n += perProperties
		for _, p := range f.Parameters.Properties {
			n += perProperty
			if len(p.schema.Enum) > 0 {
				n += perEnum
				for _, item := range p.schema.Enum {
					n += perEnumItem + enc.Count(plainItem(item))
				}
			}
			n += enc.Count(p.name + ":" + strings.Join(p.schema.Type, "|") + ":" + strings.TrimSuffix(p.schema.Description, "."))
		}
	}
	return n
}

// flat reports whether the parameters are of one plain type each.
func (f *functionDef) flat() bool {
	if f.Parameters == nil {
		return true
	}
	for _, p := range f.Parameters.Properties {
		s := p.schema
		if len(s.Properties) > 0 || s.Items != nil || len(s.Union) > 0 || s.Ref != "" || len(s.Type) > 1 {
			return false
		}
	}
	return true
}

func plainItem(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// typescript writes definitions as models are shown them.
func typescript(defs []functionDef) string {
	var b strings.Builder
	b.WriteString("namespace functions {\n\n")
	for _, f := range defs {
		comment(&b, f.Description, "")
		if f.Parameters == nil || len(f.Parameters.Properties) == 0 {
			fmt.Fprintf(&b, "type %s = () => any;\n\n", f.Name)
			continue
		}
		fmt.Fprintf(&b, "type %s = (_: {\n", f.Name)
		f.Parameters.writeMembers(&b, "", 0)
		b.WriteString("}) => any;\n\n")
	}
	b.WriteString("} // namespace functions")
	return b.String()
}

func comment(b *strings.Builder, text, indent string) {
	if text == "" {
		return
	}
	for line := range strings.Lines(text) {
		b.WriteString(indent + "// " + strings.TrimRight(line, "\n") + "\n")
	}
}

// inline writes a description where no line is its own.
func inline(b *strings.Builder, text string) {
	if text != "" {
		b.WriteString("/* " + text + " */ ")
	}
}

// maxSchemaDepth bounds the schemas within schemas that are written.
const maxSchemaDepth = 32

func (s *schema) writeMembers(b *strings.Builder, indent string, depth int) {
	for _, p := range s.Properties {
		comment(b, p.schema.Description, indent)
		optional := "?"
		if slices.Contains(s.Required, p.name) {
			optional = ""
		}
		b.WriteString(indent + p.name + optional + ": ")
		p.schema.write(b, indent, depth+1)
		b.WriteString(",\n")
	}
}

func (s *schema) write(b *strings.Builder, indent string, depth int) {
	switch {
	case depth > maxSchemaDepth:
		b.WriteString("any")
	case len(s.Enum) > 0:
		for i, item := range s.Enum {
			if i > 0 {
				b.WriteString(" | ")
			}
			b.Write(item)
		}
	case len(s.Union) > 0:
		for i, u := range s.Union {
			if i > 0 {
				b.WriteString(" | ")
			}
			inline(b, u.Description)
			u.write(b, indent, depth+1)
		}
	case s.Ref != "":
		b.WriteString(s.Ref[strings.LastIndexByte(s.Ref, '/')+1:])
	case s.Items != nil:
		inline(b, s.Items.Description)
		s.Items.write(b, indent, depth+1)
		b.WriteString("[]")
	case len(s.Properties) > 0:
		b.WriteString("{\n")
		s.writeMembers(b, indent+"  ", depth)
		b.WriteString(indent + "}")
	case len(s.Type) == 0:
		b.WriteString("any")
	default:
		for i, t := range s.Type {
			if i > 0 {
				b.WriteString(" | ")
			}
			switch t {
			case "integer":
				t = "number"
			case "array":
				t = "any[]"
			}
			b.WriteString(t)
		}
	}
}

// countFormat counts a response's schema as the harmony format has it
// (https://cookbook.openai.com/articles/openai-harmony#structured-output).
func countFormat(name string, raw json.RawMessage, enc textCounter) int {
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return 0
	}
	return enc.Count("# Response Formats\n\n## " + name + "\n\n" + compact.String())
}
