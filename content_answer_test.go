// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tacho-go/tacho"
)

func said(s string) tacho.Part    { return tacho.Part{Type: tacho.PartText, Text: s} }
func thought(s string) tacho.Part { return tacho.Part{Type: tacho.PartReasoning, Text: s} }
func refused(s string) tacho.Part { return tacho.Part{Type: tacho.PartRefusal, Text: s} }

func asked(index int, id, name, arguments string) tacho.Part {
	return tacho.Part{Type: tacho.PartToolCall, Index: index, ID: id, Name: name, Arguments: arguments}
}

func assistant(choice int, finish string, parts ...tacho.Part) tacho.Message {
	return tacho.Message{Role: "assistant", Choice: choice, FinishReason: finish, Parts: parts}
}

// TestContentOfAnswers compares the whole of what is captured of answers, by dialect.
func TestContentOfAnswers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, path, kind, body string
		want                   []tacho.Message
	}{
		{"chat", chatPath, plainType,
			`{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi \ud83d\ude00"},"finish_reason":"stop"}]}`,
			[]tacho.Message{assistant(0, "stop", said("Hi 😀"))}},
		{"chat, two choices, reasoning, a refusal, calls", chatPath, plainType,
			`{"choices":[{"index":1,"message":{"content":null,"refusal":"no"},"finish_reason":"content_filter"},
			{"index":0,"message":{"reasoning_content":"hm","content":"a","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"c2","type":"custom","custom":{"name":"g","input":"free"}}]},"finish_reason":"tool_calls"}]}`,
			[]tacho.Message{
				assistant(0, "tool_call", thought("hm"), said("a"), asked(0, "c1", "f", `{"x":1}`), asked(1, "c2", "g", "free")),
				assistant(1, "content_filter", refused("no"))}},
		{"chat stream, two choices with calls of their own", chatPath, streamType, events(
			`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`,
			`{"choices":[{"index":1,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a\""}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"Hel"}}]}`,
			`{"choices":[{"index":1,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":2}"}}]}},{"index":0,"delta":{"content":"lo"}}]}`,
			`{"choices":[{"index":1,"delta":{"tool_calls":[{"index":1,"id":"c2","function":{"name":"g","arguments":""}}]},"finish_reason":"tool_calls"}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`, "[DONE]"),
			[]tacho.Message{assistant(0, "length", said("Hello")),
				assistant(1, "tool_call", asked(0, "c1", "f", `{"a":2}`), asked(1, "c2", "g", ""))}},
		{"chat stream, reasoning and its details tell the same", chatPath, streamType, events(
			`{"choices":[{"index":0,"delta":{"reasoning":"so","reasoning_details":[{"type":"reasoning.text","text":"so"}]}}]}`,
			`{"choices":[{"index":0,"delta":{"refusal":"I "}}]}`, `{"choices":[{"index":0,"delta":{"refusal":"won't"},"finish_reason":"stop"}]}`, "[DONE]"),
			[]tacho.Message{assistant(0, "stop", thought("so"), refused("I won't"))}},
		{"chat stream, content in parts", chatPath, streamType, events(
			`{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a"}]}}]}`, "[DONE]"),
			[]tacho.Message{assistant(0, "error", thought("hm"), said("a"))}},
		{"chat, a sound and its transcript", chatPath, plainType,
			`{"choices":[{"index":0,"message":{"content":null,"audio":{"id":"a","data":"UklG","transcript":"beep"}},"finish_reason":"stop"}]}`,
			[]tacho.Message{assistant(0, "stop", tacho.Part{Type: tacho.PartTranscript, Text: "beep"})}},
		{"null everywhere", chatPath, plainType,
			`{"id":null,"choices":[{"index":null,"finish_reason":null,"message":{"role":null,"content":null,"refusal":null,"tool_calls":null,"reasoning":null,"audio":null}},null],"usage":null}`,
			[]tacho.Message{assistant(0, "error")}},
		{"no choices", chatPath, plainType, `{"choices":[]}`, nil},
		{"a stream that is cut in an event", chatPath, streamType,
			events(`{"choices":[{"index":0,"delta":{"content":"whole"}}]}`) + `data: {"choices":[{"index":0,"delta":{"content":" broken`,
			[]tacho.Message{assistant(0, "error", said("whole"))}},
		{"no JSON", chatPath, plainType, `upstream connect error`, nil},
		{"completions", completionsPath, plainType, `{"choices":[{"text":"ab","index":0,"finish_reason":"length"},{"text":"c","index":1,"finish_reason":"stop"}]}`,
			[]tacho.Message{assistant(0, "length", said("ab")), assistant(1, "stop", said("c"))}},
		{"completions stream", completionsPath, streamType, events(
			`{"choices":[{"text":"a","index":0}]}`, `{"choices":[{"text":"x","index":1}]}`, `{"choices":[{"text":"b","index":0,"finish_reason":"stop"}]}`, "[DONE]"),
			[]tacho.Message{assistant(0, "stop", said("ab")), assistant(1, "error", said("x"))}},
		{"responses", responsesPath, plainType,
			`{"status":"completed","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},{"type":"message","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"no"}]},
			{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}"},{"type":"custom_tool_call","call_id":"c2","name":"g","input":"x"}]}`,
			[]tacho.Message{assistant(0, "tool_call", thought("hm"), said("a"), refused("no"), asked(0, "c1", "f", "{}"), asked(1, "c2", "g", "x"))}},
		{"responses stream", responsesPath, streamType, events(
			`{"type":"response.created","response":{"status":"in_progress"}}`,
			`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"h"}`,
			`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"m"}`,
			`{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"Ol"}`,
			`{"type":"response.output_text.done","output_index":1,"content_index":0,"text":"Ol"}`,
			`{"type":"response.refusal.delta","output_index":1,"content_index":1,"delta":"no"}`,
			`{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","output_index":2,"item_id":"fc_1","delta":"{\"a\":"}`,
			`{"type":"response.function_call_arguments.delta","output_index":2,"item_id":"fc_1","delta":"1}"}`,
			`{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{\"a\":1}"}}`,
			`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Ol"}]},{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{\"a\":1}"}]}}`),
			[]tacho.Message{assistant(0, "tool_call", thought("hm"), said("Ol"), refused("no"), asked(0, "c1", "f", `{"a":1}`))}},
		{"responses stream cut in a call's arguments", responsesPath, streamType, events(
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c0","name":"e","arguments":""}}`,
			`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"a\":"}`),
			[]tacho.Message{assistant(0, "error", asked(0, "c0", "e", ""), asked(1, "c1", "f", `{"a":`))}},
		{"a transcription", "/audio/transcriptions", plainType, `{"text":"what was said"}`, []tacho.Message{assistant(0, "stop", said("what was said"))}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := observe(t, tc.path, `{}`, 200, tc.kind, tc.body, tacho.WithContent(tacho.ContentInRecord))
			if diff := cmp.Diff(&tacho.Content{Output: tc.want}, o.call.Content(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestContentOfRequests compares the whole of what is captured of requests.
func TestContentOfRequests(t *testing.T) {
	t.Parallel()
	user := func(parts ...tacho.Part) tacho.Message { return tacho.Message{Role: "user", Parts: parts} }
	for _, tc := range []struct {
		name, path, body string
		want             tacho.Content
	}{
		{"chat: roles, names, a conversation with tools", chatPath,
			`{"model":"m","messages":[{"role":"system","content":"be"},{"role":"developer","content":[{"type":"text","text":"kind"}]},{"role":"user","name":"ann","content":"hi"},
			{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]},
			{"role":"tool","tool_call_id":"c1","content":"{\"t\":3}"},{"role":"assistant","refusal":"no"},
			{"role":"assistant","function_call":{"name":"old","arguments":"{}"}},{"role":"function","name":"old","content":"4"}],
			"stop":["\n\n","END"],
			"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"x":{"type":"number"}}}}},{"type":"custom","custom":{"name":"g","description":"e"}}],
			"functions":[{"name":"old","parameters":{}}]}`,
			tacho.Content{
				Input: []tacho.Message{
					{Role: "system", Parts: []tacho.Part{said("be")}}, {Role: "developer", Parts: []tacho.Part{said("kind")}},
					{Role: "user", Name: "ann", Parts: []tacho.Part{said("hi")}},
					{Role: "assistant", Parts: []tacho.Part{thought("hm"), asked(0, "c1", "f", `{"x":1}`)}},
					{Role: "tool", Parts: []tacho.Part{{Type: tacho.PartToolResponse, ID: "c1", Response: `{"t":3}`}}},
					{Role: "assistant", Parts: []tacho.Part{refused("no")}},
					{Role: "assistant", Parts: []tacho.Part{asked(0, "", "old", "{}")}},
					{Role: "function", Name: "old", Parts: []tacho.Part{{Type: tacho.PartToolResponse, Response: "4"}}}},
				Tools: []tacho.ToolDefinition{{"function", "f", "d", `{"properties":{"x":{"type":"number"}},"type":"object"}`}, {"custom", "g", "e", ""}, {"function", "old", "", "{}"}},
				Stop:  []string{"\n\n", "END"}}},
		{"chat: pictures, sounds, files", chatPath,
			`{"messages":[{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"https://u:p@host/a.png?sig=1#f"}},
			{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO"}},{"type":"input_audio","input_audio":{"data":"UklG","format":"wav"}},
			{"type":"file","file":{"file_id":"file-1"}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBE"}},
			{"type":"odd","api_key":"k","x":{"authorization":"Bearer","y":[1,null,true]}},{"x":1},"bare"]}]}`,
			tacho.Content{Input: []tacho.Message{user(said("see"),
				tacho.Part{Type: tacho.PartURI, Modality: "image", URI: "https://host/a.png"},
				tacho.Part{Type: tacho.PartBlob, Modality: "image", MIMEType: "image/png", Text: "iVBO"},
				tacho.Part{Type: tacho.PartBlob, Modality: "audio", MIMEType: "audio/wav", Text: "UklG"},
				tacho.Part{Type: tacho.PartFile, Modality: "document", FileID: "file-1"},
				tacho.Part{Type: tacho.PartBlob, Modality: "document", MIMEType: "application/pdf", Text: "JVBE"},
				tacho.Part{Type: "odd", JSON: `{"type":"odd","x":{"y":[1,null,true]}}`},
				tacho.Part{Type: "unknown", JSON: `{"x":1}`}, said("bare"))}}},
		{"responses", responsesPath,
			`{"instructions":"be","input":[{"role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/jpeg;base64,/9j/"},{"type":"input_image","file_id":"file-2"},{"type":"input_file","file_url":"https://h/b.pdf"}]},
			{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"},
			{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"3"}]},
			{"type":"custom_tool_call","call_id":"c2","name":"g","input":"x"},{"type":"custom_tool_call_output","call_id":"c2","output":"y"},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"no"}]},{"type":"item_reference","id":"msg_1"}],
			"tools":[{"type":"function","name":"f","parameters":{"type":"object"}},{"type":"web_search"},{"type":"mcp","server_label":"s","server_url":"https://k@h","authorization":"t","headers":{"Authorization":"x"}}]}`,
			tacho.Content{
				Input: []tacho.Message{
					user(said("see"), tacho.Part{Type: tacho.PartBlob, Modality: "image", MIMEType: "image/jpeg", Text: "/9j/"},
						tacho.Part{Type: tacho.PartFile, Modality: "image", FileID: "file-2"}, tacho.Part{Type: tacho.PartURI, Modality: "document", URI: "https://h/b.pdf"}),
					{Role: "assistant", Parts: []tacho.Part{thought("hm")}},
					{Role: "assistant", Parts: []tacho.Part{asked(0, "c1", "f", "{}")}},
					{Role: "tool", Parts: []tacho.Part{{Type: tacho.PartToolResponse, ID: "c1", Response: "3"}}},
					{Role: "assistant", Parts: []tacho.Part{asked(0, "c2", "g", "x")}},
					{Role: "tool", Parts: []tacho.Part{{Type: tacho.PartToolResponse, ID: "c2", Response: "y"}}},
					{Role: "assistant", Parts: []tacho.Part{said("a"), refused("no")}},
					{Role: "assistant", Parts: []tacho.Part{{Type: "item_reference", JSON: `{"id":"msg_1","type":"item_reference"}`}}}},
				System: []tacho.Part{said("be")},
				Tools:  []tacho.ToolDefinition{{"function", "f", "", `{"type":"object"}`}, {"web_search", "web_search", "", ""}, {"mcp", "s", "", ""}}}},
		{"responses: a text", responsesPath, `{"input":"hi"}`, tacho.Content{Input: []tacho.Message{user(said("hi"))}}},
		{"completions", completionsPath, `{"prompt":["a","b"],"stop":"x"}`, tacho.Content{Input: []tacho.Message{user(said("a")), user(said("b"))}, Stop: []string{"x"}}},
		{"completions of tokens", completionsPath, `{"prompt":[1,2]}`, tacho.Content{}},
		{"null everywhere", chatPath, `{"messages":[null,{"role":null,"content":null,"tool_calls":null,"name":null},{"content":[null,{"type":null}]}],"tools":null,"stop":null}`,
			tacho.Content{Input: []tacho.Message{{}, {Parts: []tacho.Part{{Type: "unknown", JSON: `{"type":null}`}}}}}},
		{"other types everywhere", chatPath, `{"messages":{"role":1,"content":{"type":2}},"tools":"x","functions":7}`,
			tacho.Content{Input: []tacho.Message{{Parts: []tacho.Part{{Type: "unknown", JSON: `{"type":2}`}}}}}},
		{"broken off", chatPath, `{"messages":[{"role":"user","content":"whole"},{"role":"user","content":[{"type":"text","text":"also"},{"type":"te`,
			tacho.Content{Input: []tacho.Message{user(said("whole")), user(said("also"), tacho.Part{Type: "unknown", JSON: "{}"})}}},
		{"no JSON", chatPath, `hello`, tacho.Content{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := observe(t, tc.path, tc.body, 200, plainType, `{}`, tacho.WithContent(tacho.ContentInRecord))
			if diff := cmp.Diff(&tc.want, o.call.Content(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
