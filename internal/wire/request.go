// SPDX-License-Identifier: Apache-2.0

package wire

// Request holds what a request body says that matters to a measurement.
type Request struct {
	_            [0]func() // not to be compared: no code for it is linked
	Model        Name
	Stream       bool
	N            Count
	MaxTokens    Count
	Temperature  Number
	TopP         Number
	HasTools     bool
	IncludeUsage bool
	// StreamOptions: there are some, or null in their place.
	StreamOptions bool
	Messages      Count // messages, or Responses input items; one string is one
	Read          bool  // a JSON body was seen
	More          *More // nil: nothing of it was sent
}

// More holds what few requests say.
type More struct {
	Frequency, Presence Number // penalties
	Seed, TopK          Count
	Dimensions          Count // of embeddings
	Tier                string
	Previous            string   // the response that this one follows
	Effort              string   // of reasoning
	Format              string   // the type of the response's format
	Encoding            string   // of embeddings
	Stop                []string // sequences, the first maxStops
	Audio               bool     // among the modalities asked for
	Body                *Body    // nil without capture
}

// maxStops bounds the stop sequences that are kept: servers take 4 or so.
const maxStops = 8

//go:noinline
func (d *Decoder) more() *More {
	if d.req.More == nil {
		d.req.More = new(More)
	}
	return d.req.More
}

// Keep keeps the body among what the request says.
func (q *Request) Keep(b *Body) {
	if q.More == nil {
		q.More = new(More)
	}
	q.More.Body = b
}

// Number is a number as sent; the zero Number was not sent.
type Number struct {
	V  float64
	OK bool
}

// InitRequest makes d ready for a request body whose facts go to q.
func (d *Decoder) InitRequest(q *Request) {
	d.api, d.stream, d.req = NoAPI, false, q
	d.memo.off, d.shaped = true, false // the rest of d has no part in a request
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
	case "frequency_penalty":
		return qFrequency
	case "presence_penalty":
		return qPresence
	case "seed":
		return qSeed
	case "top_k":
		return qTopK
	case "dimensions":
		return qDimensions
	case "service_tier":
		return qTier
	case "previous_response_id":
		return qPrevious
	case "reasoning_effort":
		return qEffort
	case "reasoning":
		return qReasoning
	case "response_format":
		return qFormat
	case "text":
		return qText
	case "encoding_format":
		return qEncoding
	case "stop":
		return qStop
	case "modalities":
		return qModalities
	}
	return none
}

func (d *Decoder) requestText(s slot, b []byte) {
	switch s {
	case qModel:
		d.req.Model.Set(b)
	case qMessages:
		d.req.Messages = Count{1, true}
	case qTier:
		d.more().Tier = string(b)
	case qPrevious:
		d.more().Previous = string(b)
	case qEffort:
		d.more().Effort = string(b)
	case qFormatType:
		d.more().Format = string(b)
	case qEncoding:
		d.more().Encoding = string(b)
	case qModalities:
		if string(b) == "audio" {
			d.more().Audio = true
		}
	case qStop:
		if m := d.more(); len(m.Stop) < maxStops {
			m.Stop = append(m.Stop, string(b))
		}
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
	case qFrequency:
		m := d.more()
		m.Frequency.V, m.Frequency.OK = number(b)
	case qPresence:
		m := d.more()
		m.Presence.V, m.Presence.OK = number(b)
	case qSeed:
		m := d.more()
		m.Seed.N, m.Seed.OK = integer(b)
	case qTopK:
		m := d.more()
		m.TopK.N, m.TopK.OK = integer(b)
	case qDimensions:
		m := d.more()
		m.Dimensions.N, m.Dimensions.OK = integer(b)
	}
}
