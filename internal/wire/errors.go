// SPDX-License-Identifier: Apache-2.0

package wire

import "bytes"

// Errors under all their names. Most servers send an object "error" with
// message, type and code; others its text alone, a list, or the members without
// an object around them. Some send an empty error with every answer.

// outerChild has the names under which an answer of any API speaks of an error.
//
//go:noinline
func outerChild(k []byte) slot {
	switch string(k) {
	case "error", "errors": // Cloudflare and watsonx send a list
		return sError
	case "detail": // FastAPI: a text, an object or a list
		return sDetail
	case "base_resp": // MiniMax
		return sBaseResp
	case "message", "msg", "error_msg":
		return eMessage
	case "code", "error_code", "errorCode": // the second is Databricks'
		return eCode
	case "statusCode": // Azure API Management
		return eStatus
	case "type", "error_type", "__type": // the second is TGI's, the third AWS's
		return eType
	case "success":
		return eSuccess
	case "object":
		return eObject
	}
	return none
}

// errorChild is the table of an error object.
//
//go:noinline
func errorChild(k []byte) slot {
	switch string(k) {
	case "message", "msg":
		return eMessage
	case "type":
		return eType
	case "code":
		return eCode
	case "key", "http_code": // Writer, MiniMax
		return eStatus
	case "error":
		return sError
	}
	return eOther
}

// detailChild is that of an object in FastAPI's detail, which may be no error.
func detailChild(k []byte) slot {
	if s := errorChild(k); s != eOther {
		return s
	}
	return none
}

func baseRespChild(k []byte) slot {
	switch string(k) {
	case "status_code":
		return eCode
	case "status_msg":
		return eMessage
	}
	return none
}

// errFlags is what is known of the error of a document.
type errFlags uint8

const (
	errType   errFlags = 1 << iota // an error object has said its type
	errCode                        // and its code
	errInner                       // an error object says something
	errMarked                      // the document says that it is one
	errType0                       // an error object that is over has said its type
	errCode0                       // and its code
)

// errorText takes the strings of an error, and its code as a number. A string
// where an object is usual is the message. What is empty says nothing.
func (d *Decoder) errorText(s slot, b []byte) {
	e := &d.err
	at := d.m.top().slot
	inner := at == sError || at == sDetail
	if len(b) == 0 {
		return
	}
	switch s {
	case eType:
		switch {
		case !inner && string(b) == "error":
			d.errs |= errMarked // what the document is, and not which error
		case d.errs&errType0 != 0 || !inner && d.errs&errType != 0:
			// what an error object says goes before what stands around it, and the
			// first object before the next
		default:
			e.Type = string(b)
			if inner {
				d.errs |= errType | errInner
			}
		}
	case eCode:
		if d.errs&errCode0 != 0 || !inner && d.errs&errCode != 0 {
			return
		}
		e.Code = string(b)
		if inner {
			d.errs |= errCode
		}
		if (inner || at == sBaseResp) && e.Code != "0" {
			d.errs |= errInner
		}
	case eStatus:
		if e.Code == "" {
			e.Code = string(b)
		}
		if inner {
			d.errs |= errInner
		}
	case eObject:
		if string(b) == "error" {
			d.errs |= errMarked
		}
	case eMessage:
		e.HasMessage = true
		d.keepMessage(b)
		if inner {
			d.errs |= errInner
		}
	case eOther, sError, sDetail:
		if s != eOther {
			e.HasMessage = true
			d.keepMessage(b)
		}
		d.errs |= errInner
	}
}

// errorScalar takes the numbers and words among an error's members.
func (d *Decoder) errorScalar(s slot, b []byte) {
	number := b[0] == '-' || b[0] >= '0' && b[0] <= '9'
	switch {
	case s == eSuccess && b[0] == 'f':
		d.errs |= errMarked
	case (s == eCode || s == eStatus) && number:
		d.errorText(s, b)
	case s == eOther && b[0] != 'f' && string(b) != "0":
		d.errs |= errInner
	}
}

// MarkError says that the document under way is an error, by the name of its event.
func (d *Decoder) MarkError() { d.errs |= errMarked }

// overError ends an error object.
func (d *Decoder) overError() {
	if d.errs&errType != 0 {
		d.errs |= errType0
	}
	if d.errs&errCode != 0 {
		d.errs |= errCode0
	}
}

// closeError judges a document that is over: whether it is an error.
func (d *Decoder) closeError() {
	e := &d.err
	switch {
	case d.errs&(errInner|errMarked) != 0:
		e.Present = true
	case d.stream && d.resp.kind == evError:
		e.Present = true // the event's own members are the error
	case d.choices == 0 && !d.payload && e.HasMessage:
		// {"code": …, "message": …} with no error object. A code of 0 is success,
		// and events have types that are none of an error's.
		e.Present = e.Code != "" && e.Code != "0" || e.Type != "" && (!d.stream || errorLike(e.Type))
	}
	if !e.Present {
		*e = Error{}
	}
}

// errorLike reports whether a type is an error's by its name.
func errorLike(t string) bool {
	return bytes.Contains(bytes.ToLower([]byte(t)), []byte("error"))
}
