// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"strings"

	"github.com/tacho-go/tacho/internal/wire"
)

// The items of the Responses API that are neither messages nor reasoning nor
// functions: tools that the server runs, and tools of its own that the
// application is to run.

// keptItems returns what the server ran, and what the application is to run.
func (m *contentMaker) keptItems(items []wire.KeptItem) (ran, asked []Part) {
	for i := range items {
		t, _ := items[i].Body.Tree().(map[string]any)
		kind := m.word(t["type"])
		if kind == "" {
			continue
		}
		if args := &items[i].Args; args.Chars > 0 {
			m.addArgs(t, args)
		}
		if items[i].Body.Full() {
			t["cut"] = "[cut by tacho: the rest of the item]"
		}
		parts := m.itemParts(kind, t)
		if parts[0].Type == PartToolCall {
			asked = append(asked, parts...)
		} else {
			ran = append(ran, parts...)
		}
	}
	return ran, asked
}

// addArgs puts the text that came in pieces in its place, where an item that
// broke off lacks it.
func (m *contentMaker) addArgs(t map[string]any, args *wire.Text) {
	key := "arguments"
	switch m.word(t["type"]) {
	case "code_interpreter_call":
		key = "code"
	case "shell_call":
		key = "command"
	case "apply_patch_call":
		key = "diff"
	}
	if m.word(t[key]) == "" {
		t[key] = wire.Cut{S: string(args.B), Lost: args.Cut()}
	}
}

// itemParts are those of an item, one or two.
func (m *contentMaker) itemParts(kind string, t map[string]any) []Part {
	id := m.word(t["call_id"])
	if id == "" {
		id = m.word(t["id"])
	}
	switch kind {
	case "computer_call", "local_shell_call", "shell_call", "apply_patch_call":
		p := Part{Type: PartToolCall, Index: -1, ID: id, Name: strings.TrimSuffix(kind, "_call")}
		for _, key := range [...]string{"action", "actions", "operation", "command", "diff"} {
			if v := t[key]; v != nil {
				p.Arguments, p.Cut = m.raw(m.plain(v))
				break
			}
		}
		return []Part{p}
	case "computer_call_output", "local_shell_call_output", "shell_call_output", "apply_patch_call_output":
		p := Part{Type: PartToolResponse, ID: id}
		p.Response, p.Cut = m.raw(m.plain(t["output"]))
		return []Part{p}
	}
	if !strings.HasSuffix(kind, "_call") && kind != "mcp_list_tools" {
		return []Part{m.other(kind, t)}
	}
	name := m.word(t["name"])
	if name == "" {
		name = strings.TrimSuffix(kind, "_call")
	}
	parts := []Part{{Type: PartServerToolCall, ID: m.word(t["id"]), Name: name}}
	call, response := map[string]any{"type": kind}, map[string]any{"type": kind}
	for key, v := range t {
		switch key {
		case "type", "id", "name":
			continue
		}
		if v == nil || isCredentialMember(key) {
			continue
		}
		if key == "result" && kind == "image_generation_call" {
			mime := ""
			if f := m.word(t["output_format"]); f != "" {
				mime = "image/" + f
			}
			parts = append(parts, m.blob("image", mime, v))
			continue
		}
		if v = m.plain(v); key == "arguments" {
			if s, ok := v.(string); ok {
				v = structured(s)
			}
		}
		switch key {
		case "output", "outputs", "result", "results", "error", "tools":
			response[key] = v
		default:
			call[key] = v
		}
	}
	parts[0].JSON = jsonText(call)
	if len(response) > 1 {
		parts = append(parts, Part{Type: PartServerToolResponse, ID: parts[0].ID, JSON: jsonText(response)})
	}
	return parts
}
