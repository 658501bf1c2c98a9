// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tacho-go/tacho/sim"
)

// TestResponsesStreamBytes reads one short stream to the byte.
func TestResponsesStreamBytes(t *testing.T) {
	t.Parallel()
	s := sim.New(t, sim.WithScript(sim.Script{Text: "hi"}))
	_, got := fetch(t, s, s.Client(), responsesPath, `{"model":"m","stream":true,"input":"hello"}`)

	n := 0
	event := func(name, rest string) string {
		e := fmt.Sprintf("event: %s\ndata: {\"type\":\"%s\",\"sequence_number\":%d,%s}\n\n", name, name, n, rest)
		n++
		return e
	}
	response := func(status, output, usage string) string {
		return `"response":{"id":"ID","object":"response","created_at":1735689600,"status":"` + status +
			`","error":null,"incomplete_details":null,"model":"m","output":[` + output + `],"usage":` + usage + `}`
	}
	const (
		at   = `"item_id":"ID","output_index":0,"content_index":0`
		part = `{"type":"output_text","annotations":[],"text":"hi"}`
		item = `{"id":"ID","type":"message","status":"completed","role":"assistant","content":[` + part + `]}`
	)
	want := event("response.created", response("in_progress", "", "null")) +
		event("response.in_progress", response("in_progress", "", "null")) +
		event("response.output_item.added", `"output_index":0,"item":{"id":"ID","type":"message","status":"in_progress","role":"assistant","content":[]}`) +
		event("response.content_part.added", at+`,"part":{"type":"output_text","annotations":[],"text":""}`) +
		event("response.output_text.delta", at+`,"delta":"hi"`) +
		event("response.output_text.done", at+`,"text":"hi"`) +
		event("response.content_part.done", at+`,"part":`+part) +
		event("response.output_item.done", `"output_index":0,"item":`+item) +
		event("response.completed", response("completed", item, `{"input_tokens":2,"input_tokens_details":{"cached_tokens":0},`+
			`"output_tokens":1,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":3}`))
	equal(t, "body", anonymous(got), want)
}

// TestResponsesSequences gives the types of the events, without "response.".
func TestResponsesSequences(t *testing.T) {
	t.Parallel()
	const begin = "created in_progress "
	for _, tc := range []struct {
		name  string
		steps []sim.Step
		want  string
	}{
		{"reasoning, then text", []sim.Step{sim.Reasoning(0, "r"), sim.Reasoning(0, "s"), sim.Text(0, "a"), sim.Finish(0, "stop")},
			begin + "output_item.added content_part.added reasoning_text.delta reasoning_text.delta reasoning_text.done " +
				"content_part.done output_item.done output_item.added content_part.added output_text.delta output_text.done " +
				"content_part.done output_item.done completed"},
		{"summary", []sim.Step{sim.ReasoningSummary(0, "r"), sim.Finish(0, "length")},
			begin + "output_item.added reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.done " +
				"reasoning_summary_part.done output_item.done incomplete"},
		{"refusal in the message", []sim.Step{sim.Role(0), sim.Refusal(0, "no"), sim.Finish(0, "content_filter")},
			begin + "output_item.added content_part.added output_text.done content_part.done content_part.added refusal.delta " +
				"refusal.done content_part.done output_item.done incomplete"},
		{"two tool calls", []sim.Step{sim.ToolCall(0, 0, "c", "f", ""), sim.ToolCall(0, 0, "", "", "{}"), sim.ToolCall(0, 1, "d", "g", "{}"),
			sim.Finish(0, "tool_calls")},
			begin + "output_item.added function_call_arguments.delta function_call_arguments.done output_item.done " +
				"output_item.added function_call_arguments.delta function_call_arguments.done output_item.done completed"},
		{"audio", []sim.Step{sim.Audio(0, []byte("x")), sim.Finish(0, "stop")}, begin + "audio.delta audio.done completed"},
		{"failure", []sim.Step{sim.Text(0, "a"), sim.Error("c", "t", "m"), sim.Finish(0, "failed")},
			begin + "output_item.added content_part.added output_text.delta error output_text.done content_part.done output_item.done failed"},
		{"no end", []sim.Step{sim.KeepAlive(), sim.Text(0, "a"), sim.Usage(sim.UsageCounts{})},
			begin + "output_item.added content_part.added output_text.delta"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := sim.New(t, sim.WithScript(sim.Script{Steps: tc.steps, NoEventNames: true}))
			_, body := fetch(t, s, s.Client(), responsesPath, `{"stream":true}`)
			var types []string
			for line := range strings.Lines(body) {
				data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
				if !ok {
					continue
				}
				var e struct {
					Type     string
					Sequence int `json:"sequence_number"`
				}
				if err := json.Unmarshal([]byte(data), &e); err != nil {
					t.Fatalf("%s: %v", data, err)
				}
				equal(t, "sequence number", e.Sequence, len(types))
				types = append(types, strings.TrimPrefix(e.Type, "response."))
			}
			equal(t, "events", strings.Join(types, " "), tc.want)
		})
	}
}
