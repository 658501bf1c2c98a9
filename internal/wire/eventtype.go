// SPDX-License-Identifier: Apache-2.0

package wire

import "bytes"

// eventKind is what an event's type says.
type eventKind uint8

const (
	evOther eventKind = iota
	evText
	evReasoning
	evSummary
	evRefusal
	evArgs
	evAudio
	evSegment
	evItemAdded
	evCompleted
	evIncomplete
	evFailed
	evError
)

// eventType reads a type: response.STEM.delta and its like.
func (r *responsesScratch) eventType(b []byte) {
	r.kind, r.done = evOther, false
	stem, ok := bytes.CutPrefix(b, []byte("response."))
	if !ok {
		if string(b) == "error" {
			r.kind = evError
		}
		return
	}
	switch string(stem) {
	case "completed", "done":
		r.kind = evCompleted
	case "incomplete":
		r.kind = evIncomplete
	case "failed":
		r.kind = evFailed
	case "output_item.added":
		r.kind = evItemAdded
	}
	delta := false
	if stem, delta = bytes.CutSuffix(stem, []byte(".delta")); !delta {
		if stem, r.done = bytes.CutSuffix(stem, []byte(".done")); !r.done {
			return
		}
	}
	switch string(stem) {
	case "output_text":
		r.kind = evText
	case "reasoning_text", "reasoning":
		r.kind = evReasoning
	case "reasoning_summary_text", "reasoning_summary":
		r.kind = evSummary
	case "refusal":
		r.kind = evRefusal
	case "audio", "output_audio", "audio.transcript", "output_audio_transcript", "audio_transcript":
		r.kind = evAudio
	case "function_call_arguments", "custom_tool_call_input", "mcp_call_arguments", "mcp_call.arguments",
		"code_interpreter_call_code", "code_interpreter_call.code",
		"shell_call_command", "apply_patch_call_operation_diff":
		r.kind = evArgs
	}
}

func (k eventKind) channel() Channel {
	switch k {
	case evText:
		return Content
	case evReasoning:
		return Reasoning
	case evSummary:
		return Reasoning | summary
	case evRefusal:
		return Refusal
	case evArgs:
		return ToolCall
	case evAudio:
		return Audio
	}
	return 0
}
