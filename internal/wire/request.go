// SPDX-License-Identifier: Apache-2.0

package wire

// Request holds what a request body says that matters to a measurement.
type Request struct {
	Model        Name
	Stream       bool
	N            Count
	MaxTokens    Count
	Temperature  Number
	TopP         Number
	HasTools     bool
	IncludeUsage bool
	Messages     Count // messages, or Responses input items; one string is one
	Read         bool  // a JSON body was seen
}

// Number is a number as sent; the zero Number was not sent.
type Number struct {
	V  float64
	OK bool
}

// InitRequest makes d ready for a request body whose facts go to q.
func (d *Decoder) InitRequest(q *Request) {
	d.api, d.stream, d.req = NoAPI, false, q
	d.memo.off = true // the rest of d has no part in a request
	d.Begin()
}

// EndRequest ends the body. What was complete in a broken one counts.
func (d *Decoder) EndRequest() {
	d.req.Read = d.began && d.m.st != mRaw
	for d.m.nstack > 0 {
		d.pop()
	}
}

func requestChild(k []byte) slot {
	switch string(k) {
	case "model":
		return qModel
	case "stream":
		return qStream
	case "n":
		return qN
	case "max_tokens", "max_completion_tokens", "max_output_tokens":
		return qMaxTokens
	case "temperature":
		return qTemperature
	case "top_p":
		return qTopP
	case "stream_options":
		return qStreamOptions
	case "tools", "functions":
		return qTools
	case "messages", "input":
		return qMessages
	}
	return none
}

func (d *Decoder) requestText(s slot, b []byte) {
	switch s {
	case qModel:
		d.req.Model.Set(b)
	case qMessages:
		d.req.Messages = Count{1, true}
	}
}

func (d *Decoder) requestScalar(s slot, b []byte) {
	q := d.req
	switch s {
	case qStream:
		q.Stream = string(b) == "true"
	case qIncludeUsage:
		q.IncludeUsage = string(b) == "true"
	case qN, qMaxTokens:
		n, ok := integer(b)
		if s == qN {
			q.N = Count{n, ok}
		} else {
			q.MaxTokens = Count{n, ok}
		}
	case qTemperature:
		q.Temperature.V, q.Temperature.OK = number(b)
	case qTopP:
		q.TopP.V, q.TopP.OK = number(b)
	}
}
