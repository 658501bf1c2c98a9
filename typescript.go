// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// typescript writes definitions as models are shown them: in the form of
// https://github.com/openai/harmony/blob/main/docs/format.md, "Function calling".
// That page has no references. Here what they lead to is declared once, before the
// function whose parameters they stand in, and used by its name.
func typescript(defs []functionDef) string {
	var b strings.Builder
	b.WriteString("namespace functions {\n\n")
	for _, f := range defs {
		w := typeWriter{root: f.Parameters}
		w.function(f)
		for i := 0; i < len(w.used); i++ { // declarations use others
			w.declare(w.used[i])
		}
		b.WriteString(w.declared.String())
		b.WriteString(w.text.String())
	}
	b.WriteString("} // namespace functions")
	return b.String()
}

// typeWriter writes the types of one function.
type typeWriter struct {
	root     *schema
	text     strings.Builder
	declared strings.Builder
	used     []property // what references led to, by the names that stand for it
	names    map[*schema]string
}

func (w *typeWriter) function(f functionDef) {
	b := &w.text
	comment(b, f.Description, "")
	p := f.Parameters
	if p == nil || len(p.Properties.list) == 0 && !p.composed() {
		b.WriteString("type " + f.Name + " = () => any;\n\n")
		return
	}
	comment(b, p.Description, "")
	b.WriteString("type " + f.Name + " = (_: ")
	w.write(b, p, place{}, 0)
	b.WriteString(") => any;\n\n")
}

func (w *typeWriter) declare(p property) {
	b := &w.declared
	comment(b, p.schema.Description, "")
	b.WriteString("type " + p.name + " = ")
	w.write(b, p.schema, place{}, 0)
	b.WriteString(";\n\n")
}

func comment(b *strings.Builder, text, indent string) {
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

// place is how far a type is indented, and what stands in it.
type place struct{ outer, inner string }

func (p place) within() place { return place{p.inner, p.inner + "  "} }

// write writes a type: its own, and those that it is composed of.
func (w *typeWriter) write(b *strings.Builder, s *schema, at place, depth int) {
	if depth > maxSchemaDepth {
		b.WriteString("any")
		return
	}
	begin := b.Len()
	and := func() {
		if b.Len() > begin {
			b.WriteString(" & ")
		}
	}
	if s.Ref != "" {
		b.WriteString(w.name(s.Ref))
	}
	if s.owns() {
		and()
		w.own(b, s, at, depth)
	}
	for _, member := range s.All {
		and()
		inline(b, member.Description)
		w.grouped(b, member, at, depth+1)
	}
	if len(s.Any) > 0 {
		and()
		group := len(s.Any) > 1 && b.Len() > begin
		if group {
			b.WriteString("(")
		}
		for i, member := range s.Any {
			if i > 0 {
				b.WriteString(" | ")
			}
			inline(b, member.Description)
			w.write(b, member, at, depth+1)
		}
		if group {
			b.WriteString(")")
		}
	}
	if b.Len() == begin {
		w.plain(b, s)
	}
}

// name returns the name of what a reference leads to, and notes that it is used.
func (w *typeWriter) name(ref string) string {
	name := ref[strings.LastIndexAny(ref, "/#")+1:]
	target := w.root.resolve(ref)
	if target == nil || target == w.root {
		return cmp.Or(name, "any")
	}
	if known, ok := w.names[target]; ok {
		return known
	}
	if w.names == nil {
		w.names = map[*schema]string{}
	}
	w.names[target] = name
	w.used = append(w.used, property{name, target})
	return name
}

// grouped writes a type that stands beside an operator.
func (w *typeWriter) grouped(b *strings.Builder, s *schema, at place, depth int) {
	if s.alternatives() < 2 {
		w.write(b, s, at, depth)
		return
	}
	b.WriteString("(")
	w.write(b, s, at, depth)
	b.WriteString(")")
}

// alternatives is how many types or values s lets choose from, 1 where others
// are joined with them.
func (s *schema) alternatives() int {
	switch {
	case s.Ref != "" || len(s.All) > 0:
		return 1
	case len(s.Enum) > 0:
		return len(s.Enum)
	case s.owns():
		return 1
	case len(s.Any) > 0:
		return len(s.Any)
	}
	return len(s.Type)
}

// owns reports whether the schema has a type of its own that says more than its
// name does.
func (s *schema) owns() bool {
	return len(s.Enum) > 0 || len(s.Tuple) > 0 || s.Items != nil || s.Additional != nil || len(s.Properties.list)+len(s.Patterns.list) > 0
}

func (w *typeWriter) own(b *strings.Builder, s *schema, at place, depth int) {
	switch {
	case len(s.Enum) > 0:
		for i, item := range s.Enum {
			if i > 0 {
				b.WriteString(" | ")
			}
			b.Write(item)
		}
	case len(s.Tuple) > 0:
		b.WriteString("[")
		for i, item := range s.Tuple {
			if i > 0 {
				b.WriteString(", ")
			}
			inline(b, item.Description)
			w.write(b, item, at, depth+1)
		}
		if s.Items != nil {
			b.WriteString(", ...")
			w.grouped(b, s.Items, at, depth+1)
			b.WriteString("[]")
		}
		b.WriteString("]")
	case s.Items != nil:
		inline(b, s.Items.Description)
		w.grouped(b, s.Items, at, depth+1)
		b.WriteString("[]")
	default:
		w.object(b, s, at, depth)
	}
}

func (w *typeWriter) object(b *strings.Builder, s *schema, at place, depth int) {
	b.WriteString("{\n")
	for _, p := range s.Properties.list {
		optional := "?"
		if slices.Contains(s.Required, p.name) {
			optional = ""
		}
		w.property(b, p.name+optional, p.schema, at, depth)
	}
	for _, p := range s.Patterns.list {
		w.property(b, "[key: string /* "+p.name+" */]", p.schema, at, depth)
	}
	if s.Additional != nil {
		w.property(b, "[key: string]", s.Additional, at, depth)
	}
	b.WriteString(at.outer + "}")
}

func (w *typeWriter) property(b *strings.Builder, name string, s *schema, at place, depth int) {
	comment(b, s.Description, at.inner)
	b.WriteString(at.inner + name + ": ")
	w.write(b, s, at.within(), depth+1)
	b.WriteString(",")
	if len(s.Default) > 0 {
		b.WriteString(" // default: " + plainItem(s.Default))
	}
	b.WriteString("\n")
}

// plain writes the names of types.
func (w *typeWriter) plain(b *strings.Builder, s *schema) {
	if len(s.Type) == 0 {
		b.WriteString("any")
	}
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

// plainItem is a value as text without quotation marks.
func plainItem(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
