// SPDX-License-Identifier: Apache-2.0

package wire

// Errors under all their names. Most servers send an object "error" with
// message, type and code; others its text alone, a list, or the members without
// an object around them.

// outerChild has the names under which an answer of any API speaks of an error.
func outerChild(k []byte) slot {
	switch string(k) {
	case "error", "errors": // Cloudflare and watsonx send a list
		return sError
	case "detail": // FastAPI: a text, an object or a list
		return sDetail
	case "message":
		return eMessage
	case "code", "error_code", "statusCode": // Databricks, Azure API Management
		return eCode
	case "type", "error_type": // TGI
		return eType
	}
	return none
}

// errorChild is the table of an error object.
func errorChild(k []byte) slot {
	switch string(k) {
	case "message", "msg":
		return eMessage
	case "type":
		return eType
	case "code":
		return eCode
	case "error":
		return sError
	}
	return none
}

// errMembers says which members of an error are known.
type errMembers uint8

const (
	errType errMembers = 1 << iota
	errCode
)

// errorText takes the strings of an error. A string where an object is usual
// is the message.
func (d *Decoder) errorText(s slot, b []byte) {
	e := &d.err
	switch s {
	case eType:
		if string(b) == "error" && !d.inError() {
			e.Present = true // what the document is, and not which error
		} else if d.setsError(errType) {
			e.Type = string(b)
		}
	case eCode:
		if d.setsError(errCode) {
			e.Code = string(b)
		}
	case eMessage:
		e.HasMessage = true
	case sError, sDetail:
		if len(b) == 0 {
			return // an empty error is none
		}
		e.Present, e.HasMessage = true, true
	}
}

// setsError reports whether a member in this place holds: what an error object
// says goes before what stands around it, and the first object before the next.
func (d *Decoder) setsError(m errMembers) bool {
	if !d.inError() {
		return d.errOwn&m == 0
	}
	d.errOwn |= m
	return d.errOver&m == 0
}

// inError reports whether the member being read is an error object's.
func (d *Decoder) inError() bool {
	at := d.m.top().slot
	return at == sError || at == sDetail
}

// closeError judges a document that is over: whether it is an error.
func (d *Decoder) closeError() {
	e := &d.err
	// {"code": …, "message": …} with no error object; a code of 0 is success.
	if !e.Present && d.choices == 0 && (e.Code != "" && e.Code != "0" || e.Type != "") && e.HasMessage {
		e.Present = true
	}
	if d.stream && d.resp.kind == evError {
		e.Present = true // the event's own members are the error
	}
	if !e.Present {
		*e = Error{}
	}
}
