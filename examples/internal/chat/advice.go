// SPDX-License-Identifier: Apache-2.0

package chat

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tacho-go/tacho"
)

// reason is an error of the tacho.Client without the URL, which the programs
// print above.
func (c *Client) reason(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*tacho.APIError](err); ok {
		text := fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
		if e.Message != "" {
			// What is cut must not hold the key's first half.
			text += fmt.Sprintf(": %.300s", c.hideKey(errors.New(e.Message)))
		}
		return errors.New(text)
	}
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	return c.hideKey(err)
}

// hideKey takes the key out of an error's text: a server may echo it.
func (c *Client) hideKey(err error) error {
	if c.target.Key == "" || !strings.Contains(err.Error(), c.target.Key) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), c.target.Key, "[the key]"))
}

// Hopeless reports whether the next call would fail for the same reason.
func (r Result) Hopeless() bool {
	if r.Call == nil {
		return true
	}
	status, answered := r.Call.Status()
	switch {
	case status == 408 || status == 429:
		return false
	case status >= 400 && status < 500:
		return true
	}
	f, ok := r.Call.Failure()
	return ok && !answered && (f.Type == "dns" || f.Type == "connect" || f.Type == "tls")
}

// Advice says what the reader of a failure can do, "" when there is none.
func (r Result) Advice() string {
	if r.Call == nil {
		return ""
	}
	status, answered := r.Call.Status()
	f, _ := r.Call.Failure()
	switch {
	case status == 400 || status == 422:
		return "The endpoint does not take the request: check -model and -max-tokens."
	case status == 401 || status == 403:
		return "Check the key: -api-key or OPENAI_API_KEY."
	case status == 404:
		return "Check -model, and the base URL, which usually ends in /v1."
	case status == 405:
		return "Check the base URL: what answers there is no chat endpoint."
	case status == 429:
		return "The endpoint refuses by its rate limit: try later, or with fewer calls."
	case r.OtherKind():
		return r.kindAdvice()
	case r.Call.Outcome() == tacho.Deadline:
		return "The time for a call was up: raise -timeout."
	case answered:
		return ""
	case f.Type == "dns":
		return "The name was not found: check the host in the base URL."
	case f.Type == "connect":
		return "Nothing answers there: check host and port of the base URL, and whether the endpoint runs."
	case f.Type == "tls":
		return "The TLS handshake failed: check https or http in the base URL, and the certificate."
	}
	return ""
}

// A call is complete for the transport when its body came whole, whatever the
// body is: the page of a web server, or one JSON object where a stream was asked
// for. Such a call has none of the figures that it was made for.

// OtherKind reports whether a whole answer came that is not of the kind asked
// for. Its figures must not be mixed with those of the others.
func (r Result) OtherKind() bool {
	if r.Call == nil || r.Call.Outcome() != tacho.Complete {
		return false
	}
	return r.Call.Streaming() == r.plain || !answers(r.Call)
}

// answers reports whether a complete call's body is a model's answer: a stream,
// which has had its end, or an object with a choice, a model, an id or a usage.
func answers(c *tacho.Call) bool {
	u := c.Usage()
	return c.Streaming() || len(c.FinishReasons()) > 0 || c.ResponseModel() != "" || c.ResponseID() != "" ||
		u.Input.Reported || u.Output.Reported
}

// kinds says what came, and in place of what.
func (r Result) kinds() string {
	asked := "a stream"
	if r.plain {
		asked = "one JSON object"
	}
	switch {
	case !answers(r.Call):
		return "no answer of a model in place of " + asked
	case r.plain:
		return "a stream in place of " + asked
	}
	return "one JSON object in place of " + asked
}

func (r Result) kindAdvice() string {
	switch {
	case !answers(r.Call):
		return "Check the base URL, which usually ends in /v1: what answers there may be a web page."
	case r.plain:
		return "The endpoint answers in streams: leave -no-stream out."
	}
	return "The endpoint answers without a stream: add -no-stream."
}
