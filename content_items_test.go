// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tacho-go/tacho"
)

// ran and came are a call of a tool that the server runs, and what came of it.
func ran(id, name, json string) tacho.Part {
	return tacho.Part{Type: tacho.PartServerToolCall, ID: id, Name: name, JSON: json}
}

func came(id, json string) tacho.Part {
	return tacho.Part{Type: tacho.PartServerToolResponse, ID: id, JSON: json}
}

// TestContentOfServerTools: the items of a response that are no message have a
// part each, whole, streamed, and in a request that repeats them. They had none.
func TestContentOfServerTools(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		item  string
		want  []tacho.Part
		first bool // stands before the text
	}{
		{`{"type":"mcp_call","id":"mcp_1","server_label":"s","name":"roll","arguments":"{\"n\":2}","output":"4","error":null,"status":"completed"}`,
			[]tacho.Part{ran("mcp_1", "roll", `{"arguments":{"n":2},"server_label":"s","status":"completed","type":"mcp_call"}`), came("mcp_1", `{"output":"4","type":"mcp_call"}`)}, true},
		{`{"type":"mcp_call","id":"mcp_2","name":"roll","arguments":"no JSON","error":{"code":1,"message":"m"}}`,
			[]tacho.Part{ran("mcp_2", "roll", `{"arguments":"no JSON","type":"mcp_call"}`), came("mcp_2", `{"error":{"code":1,"message":"m"},"type":"mcp_call"}`)}, true},
		{`{"type":"mcp_list_tools","id":"l","server_label":"s","tools":[{"name":"roll"}]}`,
			[]tacho.Part{ran("l", "mcp_list_tools", `{"server_label":"s","type":"mcp_list_tools"}`), came("l", `{"tools":[{"name":"roll"}],"type":"mcp_list_tools"}`)}, true},
		{`{"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","query":"q","sources":[{"url":"https://u:p@h/a?sig=x"}]}}`,
			[]tacho.Part{ran("ws", "web_search", `{"action":{"query":"q","sources":[{"url":"https://h/a"}],"type":"search"},"status":"completed","type":"web_search_call"}`)}, true},
		{`{"type":"file_search_call","id":"fs","queries":["q"],"results":[{"text":"t","score":0.5}]}`,
			[]tacho.Part{ran("fs", "file_search", `{"queries":["q"],"type":"file_search_call"}`), came("fs", `{"results":[{"score":0.5,"text":"t"}],"type":"file_search_call"}`)}, true},
		{`{"type":"code_interpreter_call","id":"ci","container_id":"c","code":"print(1)","outputs":[{"type":"logs","logs":"1"}]}`,
			[]tacho.Part{ran("ci", "code_interpreter", `{"code":"print(1)","container_id":"c","type":"code_interpreter_call"}`), came("ci", `{"outputs":[{"logs":"1","type":"logs"}],"type":"code_interpreter_call"}`)}, true},
		{`{"type":"image_generation_call","id":"ig","status":"completed","output_format":"png","result":"iVBO"}`,
			[]tacho.Part{ran("ig", "image_generation", `{"output_format":"png","status":"completed","type":"image_generation_call"}`), {Type: tacho.PartBlob, Modality: "image", MIMEType: "image/png", Text: "iVBO"}}, true},
		{`{"type":"computer_call","id":"cu","call_id":"c1","action":{"type":"keypress","keys":["CTRL","C"]}}`,
			[]tacho.Part{asked(-1, "c1", "computer", `{"keys":["CTRL","C"],"type":"keypress"}`)}, false},
		{`{"type":"local_shell_call","id":"ls","call_id":"c2","action":{"type":"exec","command":["ls"],"env":{"API_KEY":"k"}}}`,
			[]tacho.Part{asked(-1, "c2", "local_shell", `{"command":["ls"],"env":{},"type":"exec"}`)}, false},
		{`{"type":"mcp_approval_request","id":"ar","name":"n","arguments":"{}"}`,
			[]tacho.Part{{Type: "mcp_approval_request", JSON: `{"arguments":"{}","id":"ar","name":"n","type":"mcp_approval_request"}`}}, true},
		{`{"id":"late","type":"of_tomorrow","x":[1]}`, []tacho.Part{{Type: "of_tomorrow", JSON: `{"id":"late","type":"of_tomorrow","x":[1]}`}}, true},
	} {
		kind, _, _ := strings.Cut(strings.SplitAfter(tc.item, `"type":"`)[1], `"`)
		begun := `{"type":"` + kind + `",` + tc.item[strings.Index(tc.item, `"id"`):strings.Index(tc.item, `"id"`)+len(`"id"`)] + `:` + strings.SplitN(strings.SplitN(tc.item, `"id":`, 2)[1], ",", 2)[0] + callID(tc.item) + `}`
		message := `{"type":"message","id":"msg","content":[{"type":"output_text","text":"a"}]}`
		thoughts := `{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"hm"}]}`
		want := append([]tacho.Part{thought("hm")}, tc.want...)
		if want = append(want, said("a")); !tc.first {
			want = append([]tacho.Part{thought("hm"), said("a")}, tc.want...)
		}
		output := "[" + thoughts + "," + tc.item + "," + message + "]"
		for form, answer := range map[string][2]string{
			"whole": {plainType, `{"status":"completed","output":` + output + `}`},
			"streamed": {streamType, events(
				`{"type":"response.output_item.added","output_index":1,"item":`+begun+`}`,
				`{"type":"response.output_item.done","output_index":1,"item":`+tc.item+`}`,
				`{"type":"response.completed","response":{"status":"completed","output":`+output+`}}`)},
			"streamed, the end alone": {streamType, events(`{"type":"response.completed","response":{"status":"completed","output":` + output + `}}`)},
		} {
			t.Run(kind+" "+form, func(t *testing.T) {
				t.Parallel()
				o := observe(t, responsesPath, `{}`, 200, answer[0], answer[1], tacho.WithContent(tacho.ContentInRecord))
				if diff := cmp.Diff(&tacho.Content{Output: []tacho.Message{assistant(0, "stop", want...)}}, o.call.Content(), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if calls := record(t, o.call)["tool_calls"]; calls != nil {
					t.Errorf("functions' calls in the record: %v", calls)
				}
			})
		}
		t.Run(kind+" repeated by a request", func(t *testing.T) {
			t.Parallel()
			o := observe(t, responsesPath, `{"input":[`+tc.item+`]}`, 200, plainType, `{}`, tacho.WithContent(tacho.ContentInRecord))
			if diff := cmp.Diff([]tacho.Message{{Role: "assistant", Parts: tc.want}}, o.call.Content().Input, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// callID is the member of an item that says which call it is.
func callID(item string) string {
	_, rest, ok := strings.Cut(item, `"call_id":`)
	if !ok {
		return ""
	}
	id, _, _ := strings.Cut(rest, ",")
	return `,"call_id":` + id
}

// TestContentOfBrokenServerTools: of an item that broke off there is what came.
func TestContentOfBrokenServerTools(t *testing.T) {
	t.Parallel()
	added := func(item string) string {
		return `{"type":"response.output_item.added","output_index":3,"item":` + item + `}`
	}
	for _, tc := range []struct {
		name, kind, body string
		want             []tacho.Part
	}{
		{"code in pieces", streamType, events(added(`{"type":"code_interpreter_call","id":"ci","code":""}`),
			`{"type":"response.code_interpreter_call_code.delta","output_index":3,"delta":"print"}`, `{"type":"response.code_interpreter_call_code.delta","output_index":3,"delta":"(1"}`),
			[]tacho.Part{ran("ci", "code_interpreter", `{"code":"print(1","type":"code_interpreter_call"}`)}},
		{"arguments in pieces", streamType, events(added(`{"type":"mcp_call","id":"m","name":"f"}`), `{"type":"response.mcp_call_arguments.delta","output_index":3,"delta":"{\"a\":"}`),
			[]tacho.Part{ran("m", "f", `{"arguments":"{\"a\":","type":"mcp_call"}`)}},
		{"in the item", plainType, `{"output":[{"type":"web_search_call","id":"w","action":{"query":"q","typ`,
			[]tacho.Part{ran("w", "web_search", `{"action":{"query":"q"},"type":"web_search_call"}`)}},
		{"told again and broken off", streamType, events(added(`{"type":"web_search_call","id":"w","status":"x"}`)) + `data: {"type":"response.output_item.done","item":{"id":"w","type":"web_search_call","st` + "\n\n",
			[]tacho.Part{ran("w", "web_search", `{"status":"x","type":"web_search_call"}`)}},
		{"two without ids", plainType, `{"output":[{"type":"web_search_call","status":"a"},{"type":"web_search_call","status":"b"}]}`,
			[]tacho.Part{ran("", "web_search", `{"status":"a","type":"web_search_call"}`), ran("", "web_search", `{"status":"b","type":"web_search_call"}`)}},
		{"of other types", plainType, `{"output":[{"type":"web_search_call","id":7,"action":null},{"type":8},{},null,"x",[{}]]}`,
			[]tacho.Part{ran("", "web_search", `{"type":"web_search_call"}`)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := observe(t, responsesPath, `{}`, 200, tc.kind, tc.body, tacho.WithContent(tacho.ContentInRecord))
			if diff := cmp.Diff([]tacho.Message{assistant(0, "error", tc.want...)}, o.call.Content().Output, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	t.Run("cut by the limits", func(t *testing.T) {
		t.Parallel()
		item := func(id, s string) string {
			return `{"id":"` + id + `","type":"image_generation_call","result":"` + s + `"}`
		}
		o := observe(t, responsesPath, `{}`, 200, plainType, `{"status":"completed","output":[`+item("a", strings.Repeat("A", 900))+`,`+item("b", "iVBO")+`,`+item("c", "iVBO")+`]}`,
			tacho.WithContent(tacho.ContentInRecord), tacho.WithContentLimits(100, 260))
		image := func(s string, cut int64) tacho.Part {
			return tacho.Part{Type: tacho.PartBlob, Modality: "image", Text: s, Cut: cut}
		}
		call := `{"type":"image_generation_call"}`
		want := []tacho.Part{ran("a", "image_generation", call), image("[cut by tacho: 900 bytes]", 900), ran("b", "image_generation", call), image("iVBO", 0),
			ran("c", "image_generation", `{"cut":"[cut by tacho: the rest of the item]","type":"image_generation_call"}`)}
		if diff := cmp.Diff(want, o.call.Content().Output[0].Parts, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}
