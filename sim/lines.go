// SPDX-License-Identifier: Apache-2.0

package sim

import "fmt"

// form gives steps the form of one API. It is used by one request only.
type form interface {
	// check reports a step that the API has no form for.
	check(Step) error
	// events returns the SSE events of a step, in the player's line ends.
	events(Step) [][]byte
	// plain returns the JSON body that holds the content of all steps.
	plain([]Step) []byte
}

// lines writes server-sent events.
type lines struct {
	crlf  bool
	names bool // with event: lines
}

func (l lines) newline() string {
	if l.crlf {
		return "\r\n"
	}
	return "\n"
}

// event is one data event; name may be empty.
func (l lines) event(name string, data []byte) []byte {
	nl := l.newline()
	b := make([]byte, 0, len(name)+len(data)+24)
	if name != "" && l.names {
		b = append(b, "event: "...)
		b = append(b, name...)
		b = append(b, nl...)
	}
	b = append(b, "data: "...)
	b = append(b, data...)
	b = append(b, nl...)
	return append(b, nl...)
}

// common returns the form of steps that look the same in every API, and
// whether st is one of them.
func (l lines) common(st Step) ([][]byte, bool) {
	switch st.kind {
	case kindKeepAlive:
		return [][]byte{[]byte(": keep-alive" + l.newline() + l.newline())}, true
	case kindRaw:
		return [][]byte{st.data}, true
	case kindDone:
		return [][]byte{l.event("", []byte("[DONE]"))}, true
	case kindCut, kindHang:
		return nil, true
	}
	return nil, false
}

func noForm(st Step, api string) error { return fmt.Errorf("%v has no form in %s", st.kind, api) }
