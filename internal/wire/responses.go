// SPDX-License-Identifier: Apache-2.0

package wire

// The Responses API: typed events, or one response object with output items.
// What an event means is known at its end only, for its type may stand anywhere.

const (
	itemOther itemKind = iota
	itemMessage
	itemReasoning
	itemFunction // function_call and custom_tool_call: they make the finish reason
	itemTool     // other calls with a name
)

type responsesScratch struct {
	_           [0]func() // not to be compared: no code for it is linked
	kind        eventKind
	done        bool // the type ends in ".done"
	code        bool // a member "code" has a text: of a program, or of an error
	item        itemKind
	anyCall     bool
	named       bool // an item of the event is a call with a name
	itemRefusal bool
	whole       Channel // the output of whole items that no delta had told

	chars     int64 // of delta
	doneChars int64 // of text, refusal or arguments, in a ".done" event
	outIndex  int32
	partIndex int32
	status    string
	reason    string

	// An item's texts wait for its end: its type may stand behind them.
	itemChars, itemSummary int64

	// The parts that had a delta, so that their ".done" is no output again.
	seen [8]uint32
	next uint8
	lost bool
}

func (r *responsesScratch) begin() {
	r.kind, r.done, r.code, r.chars, r.doneChars = evOther, false, false, 0, 0
	r.outIndex, r.partIndex, r.named, r.whole = 0, 0, false, 0
}

func (d *Decoder) responsesChild(k []byte) slot {
	switch string(k) {
	case "type":
		return rType
	case "delta":
		return rDelta
	case "output_index":
		return rOutputIndex
	case "content_index", "summary_index":
		return rPartIndex
	case "id":
		return sID
	case "model":
		return sModel
	case "response":
		return sResponse
	case "status":
		return rStatus
	case "output", "item":
		d.payload = true
		return sItem
	case "usage":
		return sUsage
	case "incomplete_details":
		return sIncomplete
	case "service_tier":
		return sTier
	case "text", "refusal", "arguments", "input", "transcript", "command", "diff":
		return rText
	case "code":
		return rCode
	case "timings":
		return gTimings
	}
	return outerChild(k)
}

// responseObjectChild is the table of an event's response, whose type is not
// the event's.
func (d *Decoder) responseObjectChild(k []byte) slot {
	switch s := d.responsesChild(k); s {
	case rType, rDelta, rText, rOutputIndex, rPartIndex, rCode, eMessage, eCode, eStatus, eSuccess, eObject:
		return none
	default:
		return s
	}
}

func (d *Decoder) responsesText(s slot, b []byte) {
	r := &d.resp
	switch s {
	case rType:
		switch {
		case !d.stream:
			d.errorText(eType, b) // of an answer only an error has one
		case d.api == Responses:
			r.eventType(b)
		default:
			r.transcriptType(b)
		}
	case rCode:
		d.errorText(eCode, b)
		r.code = len(b) > 0
	case rStatus:
		r.status = intern(b[:min(len(b), maxReason)], r.status)
	case rReason:
		r.reason = intern(b[:min(len(b), maxReason)], r.reason)
	case rItemType:
		switch string(b) {
		case "message":
			r.item = itemMessage
		case "reasoning":
			r.item = itemReasoning
		case "function_call", "custom_tool_call":
			r.item = itemFunction
		case "mcp_call":
			r.item = itemTool
		default:
			r.item = itemOther
		}
		if d.kept != nil && (r.item == itemMessage || r.item == itemReasoning || r.item == itemFunction) {
			d.kept.raw.body = nil // its texts are kept one by one
		}
	}
}

func (d *Decoder) responsesScalar(s slot, b []byte) {
	if s == rCode {
		d.scalar(eCode, b)
		return
	}
	n, ok := integer(b)
	if !ok || n < 0 {
		return
	}
	switch s {
	case rOutputIndex:
		d.resp.outIndex = int32(min(n, 1<<15))
	case rPartIndex:
		d.resp.partIndex = int32(min(n, 1<<8))
	}
}

// generatedResponses takes a complete string of text of a place. A stream
// repeats its text in the items at its end: those are not counted again.
func (d *Decoder) generatedResponses(s slot, chars int64, kept []byte) {
	r := &d.resp
	switch s {
	case rDelta:
		r.chars = chars
		if d.kept != nil {
			d.kept.keep(&d.kept.delta, kept, chars, true)
		}
	case rText:
		r.doneChars = chars
		if d.kept != nil {
			d.kept.keep(&d.kept.done, kept, chars, true)
		}
	case rArgs:
		if d.kept != nil {
			d.kept.keep(&d.tool.call.kept().Args, kept, chars, true)
		}
	case rPartRefusal:
		r.itemRefusal = r.itemRefusal || chars > 0
		if d.kept != nil {
			d.kept.keep(&d.kept.refused, kept, chars, false)
		}
	case rPartText, sItemContent:
		if d.m.top().slot == sItemSummary {
			r.itemSummary += chars
			if d.kept != nil {
				d.kept.keep(&d.kept.summary, kept, chars, false)
			}
			return
		}
		r.itemChars += chars
		if d.kept != nil {
			d.kept.keep(&d.kept.item, kept, chars, false)
		}
	}
}

// endResponses judges the document now that all of it is known.
func (d *Decoder) endResponses() {
	r, f := &d.resp, d.facts
	if d.stream && r.kind == evItemAdded && r.named {
		d.ev.Channels |= ToolCall
	}
	if d.kept != nil && d.stream {
		switch r.kind {
		case evItemAdded:
			d.keepPlaces()
		case evArgs:
			d.keepArgs()
		}
	}
	if ch := r.kind.channel(); ch != 0 {
		key := uint32(r.kind)<<24 | uint32(r.outIndex)<<8 | uint32(r.partIndex&0xff)
		chars := r.chars
		if r.done {
			chars = r.doneChars
			if r.kind == evArgs && r.code {
				chars = 1 // how long it is does not matter
			}
			if r.hadDelta(key) {
				chars = 0
			}
		} else if chars > 0 {
			r.noteDelta(key)
		}
		if chars > 0 {
			d.ev.Channels |= ch
			switch {
			case ch&Content != 0:
				f.TextChars += chars
				if d.kept != nil {
					f.Captured.add(&f.Captured.Text, d.kept.eventText(r.done))
				}
			case ch&Reasoning != 0:
				f.ReasoningChars += chars
				if d.kept != nil {
					f.Captured.add(&f.Captured.Reasoning, d.kept.eventText(r.done))
				}
			case ch&Refusal != 0 && d.kept != nil:
				f.Captured.add(&f.Captured.Refusal, d.kept.eventText(r.done))
			}
		}
	}
	if !d.stream {
		d.finishResponse()
		return
	}
	d.ev.Channels |= r.whole
	switch r.kind {
	case evCompleted, evIncomplete, evFailed:
		d.ev.Terminal = true
		d.err.Present = d.err.Present || r.kind == evFailed
		d.finishResponse()
	case evError:
		d.ev.Terminal = true
		d.err.Present = true
		f.choice(0).Reason = "error"
	default:
		if r.status != "" && len(f.Finish) == 0 {
			f.choice(0)
		}
	}
}

// finishResponse turns the status into a finish reason.
func (d *Decoder) finishResponse() {
	r, f := &d.resp, d.facts
	status := r.status
	switch r.kind {
	case evFailed:
		status = "failed"
	case evIncomplete:
		status = "incomplete"
	case evCompleted:
		if status == "" || status == "in_progress" || status == "queued" {
			status = "completed" // what the event's type says, where it gives no status
		}
	}
	if status == "" {
		return
	}
	end := f.choice(0)
	switch status {
	case "completed":
		end.Reason = "stop"
		if r.anyCall {
			end.Reason = "tool_calls"
		}
	case "incomplete":
		end.Reason = r.reason
		if r.reason == "max_output_tokens" || r.reason == "" {
			end.Reason = "length"
		}
	case "failed":
		end.Reason = "error"
	case "queued", "in_progress":
	default:
		end.Reason = status
	}
}

func (r *responsesScratch) hadDelta(key uint32) bool {
	for _, k := range r.seen {
		if k == key {
			return true
		}
	}
	return r.lost // more parts at once than are remembered: it may have had one
}

func (r *responsesScratch) noteDelta(key uint32) {
	for _, k := range r.seen {
		if k == key {
			return
		}
	}
	r.seen[r.next%uint8(len(r.seen))] = key
	r.next++
	r.lost = r.lost || int(r.next) > len(r.seen)
}
