// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// functionDef is the definition of a tool.
type functionDef struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Parameters  *schema `json:"parameters"`
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
		if f.Parameters == nil || len(f.Parameters.Properties.list) == 0 {
			continue
		}
		n += perProperties
		for _, p := range f.Parameters.Properties.list {
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
	for _, p := range f.Parameters.Properties.list {
		s := p.schema
		if s.composed() || len(s.Properties.list) > 0 || s.Items != nil || len(s.Type) > 1 {
			return false
		}
	}
	return !f.Parameters.composed()
}

// countFormat counts a response's schema, and what is said of it, as the harmony
// format has it (https://github.com/openai/harmony/blob/main/docs/format.md,
// "Structured output"). Definitions are part of the schema's text.
func countFormat(name, description string, raw json.RawMessage, enc textCounter) int {
	var compact bytes.Buffer
	if len(raw) > 0 && json.Compact(&compact, raw) != nil {
		return 0
	}
	var about strings.Builder
	comment(&about, description, "")
	return enc.Count("# Response Formats\n\n## " + name + "\n\n" + about.String() + compact.String())
}
