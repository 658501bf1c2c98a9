// SPDX-License-Identifier: Apache-2.0

package sim

// response is the JSON of the response object. why is nil while it is in
// progress, else the reason for which it is incomplete, or empty.
func (f *responses) response(status string, why *string) []byte {
	o := newObject().str("id", f.id).str("object", "response").int("created_at", created).str("status", status)
	if status == "failed" {
		o.raw("error", newObject().str("code", "server_error").str("message", "The response failed.").end())
	} else {
		o.null("error")
	}
	if why != nil && *why != "" {
		o.raw("incomplete_details", newObject().str("reason", *why).end())
	} else {
		o.null("incomplete_details")
	}
	o.str("model", f.model).raw("output", array(f.items...))
	if why != nil && !f.silent {
		o.raw("usage", f.usage.responses())
	} else {
		o.null("usage")
	}
	return o.end()
}

// json is the item as it stands, without a part that is open.
func (i *item) json(status string) []byte {
	o := newObject().str("id", i.id)
	switch i.kind {
	case kindToolCall:
		return o.str("type", "function_call").str("status", status).str("call_id", i.callID).str("name", i.name).
			str("arguments", i.text.String()).end()
	case kindReasoning:
		o.str("type", "reasoning").raw("summary", array(i.summary...))
		if len(i.contents) > 0 {
			o.raw("content", array(i.contents...))
		}
		return o.end()
	}
	return o.str("type", "message").str("status", status).str("role", "assistant").raw("content", array(i.contents...)).end()
}

// part is the JSON of a part of an item.
func part(kind stepKind, text string) []byte {
	switch kind {
	case kindRefusal:
		return newObject().str("type", "refusal").str("refusal", text).end()
	case kindReasoning:
		return newObject().str("type", "reasoning_text").str("text", text).end()
	case kindSummary:
		return newObject().str("type", "summary_text").str("text", text).end()
	}
	return newObject().str("type", "output_text").raw("annotations", array()).str("text", text).end()
}

// plain plays the steps without sending their events; what is then known of
// the response is the answer.
func (f *responses) plain(steps []Step) []byte {
	reason := "stop"
	for _, st := range steps {
		if st.kind == kindFinish {
			reason = st.text
			continue
		}
		f.events(st)
	}
	f.finish(reason)
	status, why := outcome(reason)
	return f.response(status, &why)
}

// outcome maps a finish reason to the status of a response and the reason for
// which it is incomplete.
func outcome(reason string) (status, why string) {
	switch reason {
	case "length":
		return "incomplete", "max_output_tokens"
	case "content_filter":
		return "incomplete", "content_filter"
	case "failed":
		return "failed", ""
	}
	return "completed", ""
}
