// SPDX-License-Identifier: Apache-2.0

package wire

// Usage under all its names. Every count is taken as it was reported: the last
// value that is not null holds, nothing is summed, nothing derived.

func usageChild(k []byte) slot {
	switch string(k) {
	case "prompt_tokens", "input_tokens":
		return uInput
	case "completion_tokens", "output_tokens":
		return uOutput
	case "total_tokens":
		return uTotal
	case "prompt_tokens_details", "input_tokens_details", "input_token_details": // the last is of transcriptions
		return sInDetails
	case "completion_tokens_details", "output_tokens_details", "output_token_details":
		return sOutDetails
	case "cached_tokens", "num_cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens":
		return uCacheRead
	case "cache_creation_input_tokens", "cache_write_tokens":
		return uCacheWrite
	case "reasoning_tokens":
		return uReasoning
	case "latency_checkpoint":
		return gCheckpoint
	case "queue_time", "prompt_time", "completion_time", "total_time",
		"time_to_first_token_ms", "time_per_output_token_ms", "tokens_per_second", "prompt_tokens_per_second":
		return gValue // Groq, gpustack: times among the counts
	case "time_to_first_token", "total_latency", "completion_tokens_per_sec", "completion_tokens_after_first_per_sec", "total_tokens_per_sec":
		return gValue // SambaNova
	}
	return none
}

func inDetailsChild(k []byte) slot {
	switch string(k) {
	case "cached_tokens", "cache_read_tokens":
		return uCacheRead
	case "cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens": // the last is Qwen's
		return uCacheWrite
	case "text_tokens":
		return uInText
	case "image_tokens":
		return uInImage
	case "audio_tokens":
		return uInAudio
	}
	return none
}

func outDetailsChild(k []byte) slot {
	switch string(k) {
	case "reasoning_tokens":
		return uReasoning
	case "text_tokens":
		return uOutText
	case "image_tokens":
		return uOutImage
	case "audio_tokens":
		return uOutAudio
	}
	return none
}

// setCount takes a count. One below 0 is none. Of two names for one thing in a
// document, that one holds which is not 0.
func (d *Decoder) setCount(s slot, b []byte) {
	n, ok := integer(b)
	if !ok {
		d.fault = true
		return
	}
	bit := uint16(1) << (s - uFirst)
	if n < 0 || n == 0 && d.usage0&bit != 0 {
		return
	}
	if n > 0 {
		d.usage0 |= bit
	}
	if s >= uInText {
		if n > 0 || d.facts.Detail != nil {
			*d.facts.detail().modality(s) = n
		}
		return
	}
	*d.count(s) = Count{n, true}
}

func (d *Decoder) count(s slot) *Count {
	u := &d.facts.Usage
	switch s {
	case uInput:
		return &u.Input
	case uOutput:
		return &u.Output
	case uTotal:
		return &u.Total
	case uCacheRead:
		return &u.CacheRead
	case uCacheWrite:
		return &u.CacheWrite
	default:
		return &u.Reasoning
	}
}

// groupName is the prefix that a group of timings has in the record.
func groupName(s slot) string {
	switch s {
	case gTimings:
		return "timings."
	case gTimeInfo:
		return "time_info."
	case gCheckpoint:
		return "latency_checkpoint."
	case gSLA:
		return "sla_metrics."
	}
	return ""
}

// isTiming tells the durations and rates of a group from the counts and dates
// beside them.
func isTiming(k []byte) bool {
	for _, end := range [...]string{"_ms", "_time", "_per_second"} {
		if len(k) > len(end) && string(k[len(k)-len(end):]) == end {
			return true
		}
	}
	return false
}

const maxTimings = 32

// timingName is the key of a timing, which stands before its value.
type timingName struct {
	n uint8
	b [40]byte
}

func (d *Decoder) nameTiming(k []byte) {
	if d.timing == nil {
		d.timing = new(timingName)
	}
	d.timing.n = uint8(copy(d.timing.b[:], k))
}

// noteTiming notes a number under the key read last.
func (d *Decoder) noteTiming(b []byte) {
	v, ok := number(b)
	if !ok {
		return
	}
	prefix, key := groupName(d.group), d.timing.b[:d.timing.n]
	for i := range d.facts.Timings {
		t := &d.facts.Timings[i]
		if len(t.Name) == len(prefix)+len(key) && t.Name[:len(prefix)] == prefix && t.Name[len(prefix):] == string(key) {
			t.Value = v
			return
		}
	}
	if len(d.facts.Timings) < maxTimings {
		d.facts.Timings = append(d.facts.Timings, Timing{prefix + string(key), v})
	}
}
