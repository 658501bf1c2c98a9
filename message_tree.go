// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// Content as OpenTelemetry's schemas have it. One tree of plain values makes
// both the JSON of spans and the structured values of events, so that the two
// cannot differ.

func messageTree(messages []Message, output bool) []any {
	list := make([]any, len(messages))
	for i, m := range messages {
		t := map[string]any{"role": m.Role, "parts": partTree(m.Parts)}
		if m.Name != "" {
			t["name"] = m.Name
		}
		if output {
			t["finish_reason"] = m.FinishReason
		}
		list[i] = t
	}
	return list
}

func partTree(parts []Part) []any {
	list := make([]any, len(parts))
	for i := range parts {
		list[i] = parts[i].tree()
	}
	return list
}

func (p *Part) tree() map[string]any {
	t := map[string]any{}
	member := func(key, s string) {
		if s != "" {
			t[key] = s
		}
	}
	switch p.Type {
	case PartText, PartReasoning, PartRefusal, PartTranscript:
		t["content"] = p.Text
	case PartToolCall:
		member("id", p.ID)
		t["name"] = p.Name
		if p.Arguments != "" {
			t["arguments"] = structured(p.Arguments)
		}
	case PartToolResponse:
		member("id", p.ID)
		t["response"] = structured(p.Response)
	case PartServerToolCall, PartServerToolResponse:
		member("id", p.ID)
		if p.Type == PartServerToolCall {
			t["name"] = p.Name
		}
		inner, ok := structured(p.JSON).(map[string]any)
		if !ok {
			inner = map[string]any{"content": p.JSON} // a hook's
		}
		if kind, ok := inner["type"].(string); !ok || kind == "" {
			inner["type"] = "unknown"
		}
		t[p.Type] = inner
	case PartBlob, PartFile, PartURI:
		t["modality"] = p.Modality
		member("mime_type", p.MIMEType)
		switch p.Type {
		case PartBlob:
			t["content"] = p.Text
		case PartFile:
			t["file_id"] = p.FileID
		default:
			t["uri"] = p.URI
		}
	default:
		if m, ok := structured(p.JSON).(map[string]any); ok {
			t = m
		} else {
			member("content", p.JSON) // cut by a limit, or a hook's
		}
		member("id", p.ID)
		member("name", p.Name)
	}
	t["type"] = p.Type
	return t
}

func toolTree(tools []ToolDefinition) []any {
	list := make([]any, len(tools))
	for i, d := range tools {
		t := map[string]any{"type": d.Type, "name": d.Name}
		if d.Description != "" {
			t["description"] = d.Description
		}
		if m, ok := structured(d.Parameters).(map[string]any); ok {
			t["parameters"] = m
		}
		list[i] = t
	}
	return list
}

// structured is a text as what its JSON says, if it is an object or a list, else
// the text.
func structured(s string) any {
	if t := strings.TrimLeft(s, " \t\r\n"); t == "" || t[0] != '{' && t[0] != '[' {
		return s
	}
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return s
	}
	if _, err := d.Token(); err != io.EOF {
		return s
	}
	return v
}

// jsonText is a tree as JSON, as it is: without the escapes that HTML wants.
func jsonText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// attributeValue is a tree as a value of OpenTelemetry. A null is left out.
func attributeValue(v any) attribute.Value {
	switch v := v.(type) {
	case string:
		return attribute.StringValue(strings.ToValidUTF8(v, "\ufffd"))
	case bool:
		return attribute.BoolValue(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return attribute.Int64Value(n)
		}
		if f, err := v.Float64(); err == nil {
			return attribute.Float64Value(f)
		}
		return attribute.StringValue(v.String())
	case []any:
		list := make([]attribute.Value, len(v))
		for i := range v {
			list[i] = attributeValue(v[i])
		}
		return attribute.SliceValue(list...)
	case map[string]any:
		kv := make([]attribute.KeyValue, 0, len(v))
		for key, m := range v { // MapValue puts them in order
			if m != nil {
				kv = append(kv, attribute.KeyValue{Key: attribute.Key(strings.ToValidUTF8(key, "\ufffd")), Value: attributeValue(m)})
			}
		}
		return attribute.MapValue(kv...)
	}
	return attribute.Value{}
}
