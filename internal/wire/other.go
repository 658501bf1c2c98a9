// SPDX-License-Identifier: Apache-2.0

package wire

// The APIs that answer with one object and little that is common: embeddings,
// images, audio, moderations. A transcription can be streamed.

func (d *Decoder) otherChild(k []byte) slot {
	switch string(k) {
	case "id":
		if d.api != Transcriptions {
			return sID // a segment's, there
		}
	case "model":
		return sModel
	case "usage":
		return sUsage
	case "type":
		return rType
	case "text", "delta", "audio":
		d.payload = true
		return oText
	case "data", "results":
		d.payload = true
	case "choices":
		return sChoice // vLLM streams a transcription as chat chunks
	}
	return outerChild(k)
}

// transcriptType reads the type of a transcription's event.
func (r *responsesScratch) transcriptType(b []byte) {
	switch string(b) {
	case "transcript.text.delta":
		r.kind = evText
	case "transcript.text.segment":
		r.kind = evSegment
	case "speech.audio.delta":
		r.kind = evAudio
	case "transcript.text.done", "speech.audio.done", "image_generation.completed", "image_edit.completed":
		r.kind = evCompleted
	case "error":
		r.kind = evError
	}
}

// transcribed takes a transcription's text. What it is, in a stream, is known
// at the event's end.
func (d *Decoder) transcribed(chars int64, kept []byte) {
	if d.stream {
		d.resp.chars = chars
		if d.kept != nil {
			d.kept.keep(&d.kept.delta, kept, chars, true)
		}
		return
	}
	d.facts.TextChars = chars
	if d.kept != nil {
		d.facts.Captured.replace(&d.facts.Captured.Text, &Text{B: kept, Chars: chars})
	}
}

// endTranscript judges an event. Segments of a diarised transcription are its
// output, but the clean text comes at the end.
func (d *Decoder) endTranscript() {
	r, f := &d.resp, d.facts
	text := d.api == Transcriptions && r.kind == evText || d.api == Transcriptions && r.kind == evCompleted && f.TextChars == 0
	if r.chars > 0 && r.kind == evAudio {
		d.ev.Channels |= Audio
	}
	if d.api == Transcriptions && r.chars > 0 && (r.kind == evText || r.kind == evSegment || r.kind == evCompleted && f.Streamed == 0) {
		d.ev.Channels |= Content
	}
	if text {
		f.TextChars += r.chars
		if d.kept != nil {
			f.Captured.add(&f.Captured.Text, &d.kept.delta)
		}
	}
	switch r.kind {
	case evCompleted:
		d.ev.Terminal = true
	case evError:
		d.ev.Terminal = true
		d.err.Present = true
	}
}
