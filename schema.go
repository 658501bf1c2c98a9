// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// maxSchemaDepth bounds the schemas within schemas that are read and written.
const maxSchemaDepth = 32

// schema is as much of a JSON schema as models are shown.
type schema struct {
	Type        []string
	Description string
	Enum        []json.RawMessage
	Default     json.RawMessage
	Items       *schema
	Tuple       []*schema // the items one by one
	Required    []string
	Any         []*schema // of anyOf and oneOf
	All         []*schema // of allOf
	Properties  properties
	Patterns    properties // of names that a pattern has
	Additional  *schema    // of names that are not listed
	Defs        properties // what references lead to
	Ref         string
	other       bool // it is no object: true or false mostly
}

// properties keep the order in which they stand: it is that of the text.
type properties struct {
	list  []property
	named map[string]*schema // made when one is looked for
}

type property struct {
	name   string
	schema *schema
}

func (p *properties) find(name string) *schema {
	if p.named == nil {
		p.named = make(map[string]*schema, len(p.list))
		for _, q := range p.list {
			p.named[q.name] = q.schema
		}
	}
	return p.named[name]
}

// composed reports whether the schema has parts other than a type, items and
// listed properties.
func (s *schema) composed() bool {
	return len(s.Any) > 0 || len(s.All) > 0 || len(s.Tuple) > 0 || len(s.Patterns.list) > 0 || s.Additional != nil || s.Ref != ""
}

// UnmarshalJSON reads a schema in one pass. What is of an unusual kind is left out:
// an estimate has use for the rest.
func (s *schema) UnmarshalJSON(b []byte) error {
	return s.read(json.NewDecoder(bytes.NewReader(b)), 0)
}

func (s *schema) read(d *json.Decoder, depth int) error {
	switch t, err := d.Token(); {
	case err != nil:
		return err
	case t == json.Delim('['):
		s.other = true
		return skip(d)
	case t != json.Delim('{'):
		s.other = true
		return nil
	}
	return s.members(d, depth)
}

// members reads what is left of an object.
func (s *schema) members(d *json.Decoder, depth int) error {
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if err := s.member(d, fmt.Sprint(key), depth); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func (s *schema) member(d *json.Decoder, key string, depth int) error {
	if depth < maxSchemaDepth {
		switch key {
		case "items":
			return s.items(d, depth)
		case "prefixItems":
			return list(d, &s.Tuple, depth)
		case "properties":
			return s.Properties.read(d, depth)
		case "patternProperties":
			return s.Patterns.read(d, depth)
		case "$defs", "definitions":
			return s.Defs.read(d, depth)
		case "additionalProperties":
			s.Additional = new(schema)
			err := s.Additional.read(d, depth+1)
			if s.Additional.other {
				s.Additional = nil
			}
			return err
		case "anyOf", "oneOf":
			return list(d, &s.Any, depth)
		case "allOf":
			return list(d, &s.All, depth)
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
	case "default":
		s.Default = raw
	case "required":
		if json.Unmarshal(raw, &s.Required) != nil {
			s.Required = nil
		}
	}
	return nil
}

// items reads the schema of all items, or, as it was written before prefixItems,
// those of the first ones.
func (s *schema) items(d *json.Decoder, depth int) error {
	switch t, err := d.Token(); {
	case err != nil:
		return err
	case t == json.Delim('['):
		return listed(d, &s.Tuple, depth)
	case t == json.Delim('{'):
		s.Items = new(schema)
		return s.Items.members(d, depth+1)
	}
	return nil
}

// read reads an object of schemas.
func (p *properties) read(d *json.Decoder, depth int) error {
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
		q := property{fmt.Sprint(name), new(schema)}
		p.list = append(p.list, q)
		if err := q.schema.read(d, depth+1); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// list reads a list of schemas.
func list(d *json.Decoder, into *[]*schema, depth int) error {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		if t == json.Delim('{') {
			return skip(d)
		}
		return err
	}
	return listed(d, into, depth)
}

// listed reads what is left of a list of schemas.
func listed(d *json.Decoder, into *[]*schema, depth int) error {
	for d.More() {
		one := new(schema)
		if err := one.read(d, depth+1); err != nil {
			return err
		}
		*into = append(*into, one)
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

// resolve returns the schema that a reference leads to from the root s: a JSON
// pointer (RFC 6901) in a URL's fragment. Without one of this document it is nil.
func (s *schema) resolve(ref string) *schema {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	if plain, err := url.PathUnescape(pointer); err == nil {
		pointer = plain
	}
	if pointer == "" {
		return s
	}
	if pointer[0] != '/' {
		return nil
	}
	for steps := strings.Split(pointer[1:], "/"); len(steps) > 0 && s != nil; {
		step, index := steps[0], -1
		next := ""
		if len(steps) > 1 {
			next = strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[1])
			if n, err := strconv.Atoi(next); err == nil {
				index = n
			}
		}
		taken := 2
		switch step {
		case "$defs", "definitions":
			s = s.Defs.find(next)
		case "properties":
			s = s.Properties.find(next)
		case "patternProperties":
			s = s.Patterns.find(next)
		case "additionalProperties":
			s, taken = s.Additional, 1
		case "items":
			if s.Items != nil {
				s, taken = s.Items, 1
			} else {
				s = at(s.Tuple, index)
			}
		case "prefixItems":
			s = at(s.Tuple, index)
		case "anyOf", "oneOf":
			s = at(s.Any, index)
		case "allOf":
			s = at(s.All, index)
		default:
			return nil
		}
		steps = steps[min(taken, len(steps)):]
	}
	return s
}

func at(list []*schema, i int) *schema {
	if i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}
