// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"unicode/utf8"
)

// object builds a JSON object whose keys keep the order in which they were
// added, so that the same content is always the same bytes.
type object struct{ b []byte }

func newObject() *object { return &object{b: append(make([]byte, 0, 192), '{')} }

func (o *object) key(k string) {
	if len(o.b) > 1 {
		o.b = append(o.b, ',')
	}
	o.b = appendQuoted(o.b, k)
	o.b = append(o.b, ':')
}

func (o *object) str(k, v string) *object {
	o.key(k)
	o.b = appendQuoted(o.b, v)
	return o
}

func (o *object) int(k string, v int) *object {
	o.key(k)
	o.b = strconv.AppendInt(o.b, int64(v), 10)
	return o
}

func (o *object) raw(k string, v []byte) *object {
	o.key(k)
	o.b = append(o.b, v...)
	return o
}

func (o *object) null(k string) *object { return o.raw(k, []byte("null")) }

// strOrNull adds null for the empty string.
func (o *object) strOrNull(k, v string) *object {
	if v == "" {
		return o.null(k)
	}
	return o.str(k, v)
}

// end closes the object; nothing may be added afterwards.
func (o *object) end() []byte { return append(o.b, '}') }

// array joins JSON values.
func array(values ...[]byte) []byte {
	b := append([]byte{'['}, bytes.Join(values, []byte{','})...)
	return append(b, ']')
}

// appendQuoted appends s as a JSON string. Unlike encoding/json by default it
// leaves <, > and & as they are, as the real servers do.
func appendQuoted(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			var buf bytes.Buffer
			e := json.NewEncoder(&buf)
			e.SetEscapeHTML(false)
			// A string always has a JSON form.
			_ = e.Encode(s)
			return append(b, bytes.TrimSuffix(buf.Bytes(), []byte{'\n'})...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// errorObject is the error answer of the OpenAI API.
func errorObject(code, typ, message string) []byte {
	e := newObject().str("message", message).str("type", typ).null("param").strOrNull("code", code).end()
	return newObject().raw("error", e).end()
}

const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// ids makes the identifiers of one answer out of the seed and the request's
// number. It is not safe for concurrent use.
type ids struct{ r *rand.Rand }

// idStream keeps the draws of identifiers apart from those of the model.
const idStream = 0x9e3779b97f4a7c15

func newIDs(seed, request uint64) ids {
	return ids{rand.New(rand.NewPCG(seed^idStream, request))}
}

func (d ids) next(prefix string) string {
	b := []byte(prefix)
	for range 24 {
		b = append(b, idLetters[d.r.IntN(len(idLetters))])
	}
	return string(b)
}
