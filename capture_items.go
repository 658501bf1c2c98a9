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

// itemParts are those of an item, one to three.
func (m *contentMaker) itemParts(kind string, t map[string]any) []Part {
	parts := make([]Part, 1, 3)
	p := &parts[0]
	if p.ID = m.word(t["call_id"]); p.ID == "" {
		p.ID = m.word(t["id"])
	}
	name, isCall := strings.CutSuffix(kind, "_call")
	own, isOutput := strings.CutSuffix(kind, "_call_output")
	switch {
	case isCall && isClients(name):
		p.Type, p.Index, p.Name = PartToolCall, -1, name
		for _, key := range [...]string{"action", "actions", "operation", "command", "diff"} {
			if v := t[key]; v != nil {
				p.Arguments, p.Cut = m.raw(m.plain(v))
				break
			}
		}
		return parts
	case isOutput && isClients(own):
		p.Type = PartToolResponse
		p.Response, p.Cut = m.raw(m.plain(t["output"]))
		return parts
	case !isCall && kind != "mcp_list_tools":
		*p = m.other(kind, t)
		return parts
	}
	if p.Type, p.Name = PartServerToolCall, m.word(t["name"]); p.Name == "" {
		p.Name = name
	}
	call, response := map[string]any{"type": kind}, map[string]any{"type": kind}
	for key, v := range t {
		if v == nil || isCredentialMember(key) {
			continue
		}
		to := call
		switch key {
		case "type", "id", "name":
			continue
		case "arguments":
			s, _ := m.str(v)
			v = structured(s)
		case "result":
			if kind == "image_generation_call" {
				continue
			}
			to = response
		case "output", "outputs", "results", "error", "tools":
			to = response
		}
		to[key] = m.plain(v)
	}
	p.JSON = jsonText(call)
	if len(response) > 1 {
		parts = append(parts, Part{Type: PartServerToolResponse, ID: p.ID, JSON: jsonText(response)})
	}
	if image := t["result"]; image != nil && kind == "image_generation_call" {
		mime := m.word(t["output_format"])
		if mime != "" {
			mime = "image/" + mime
		}
		parts = append(parts, m.blob("image", mime, image))
	}
	return parts
}

// isClients reports whether a tool is one of the API's own that the application
// is to run.
func isClients(tool string) bool {
	return tool == "computer" || tool == "local_shell" || tool == "shell" || tool == "apply_patch"
}
