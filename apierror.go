// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// APIError is an answer with a status of 400 or more.
type APIError struct {
	URL       string // as tried, without query and credentials
	Status    int
	Type      string
	Code      string
	Message   string // the server's text; it may hold content
	RequestID string
	Call      *Call // the record
}

// Error says what was tried and what the server answered.
func (e *APIError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "tacho: POST %s: %d %s", e.URL, e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		fmt.Fprintf(&b, ": %s", e.Message)
	}
	if e.Code != "" {
		fmt.Fprintf(&b, " (code %s)", e.Code)
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, " (request %s)", e.RequestID)
	}
	if e.Status == http.StatusNotFound && e.Message == "" {
		b.WriteString(": is the base URL right? It usually ends in /v1")
	}
	return b.String()
}

func (c *Client) newAPIError(target string, resp *http.Response, body []byte, call *Call) *APIError {
	if c.key != "" {
		// Some servers quote the key that they refuse.
		body = bytes.ReplaceAll(body, []byte(c.key), []byte("[the key]"))
	}
	e := &APIError{URL: target, Status: resp.StatusCode, RequestID: requestID(resp.Header), Call: call}
	var obj struct {
		Error  json.RawMessage `json:"error"`
		Detail any             `json:"detail"`
		Code   any             `json:"code"`
	}
	if json.Unmarshal(body, &obj) != nil {
		e.Message = firstLine(string(body))
		return e
	}
	var in struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    any    `json:"code"`
	}
	switch {
	case json.Unmarshal(obj.Error, &e.Message) == nil: // {"error": "text"}
		in.Code = obj.Code
	case json.Unmarshal(obj.Error, &in) == nil:
		e.Message, e.Type = in.Message, in.Type
	default:
		if s, ok := obj.Detail.(string); ok {
			e.Message = s
		}
		in.Code = obj.Code
	}
	if in.Code != nil {
		e.Code = fmt.Sprint(in.Code)
	}
	return e
}

// requestID looks for the id under the names that it has: OpenAI's, Azure's,
// and what others use.
func requestID(h http.Header) string {
	for _, name := range [...]string{"X-Request-Id", "Apim-Request-Id", "X-Ms-Request-Id", "Request-Id", "Cf-Ray"} {
		if id := h.Get(name); id != "" {
			return id
		}
	}
	return ""
}

// firstLine cuts a text that is no JSON to what a message can show.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
