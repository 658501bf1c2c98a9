// SPDX-License-Identifier: Apache-2.0

package chat

import (
	"errors"
	"strings"

	"github.com/tacho-go/tacho"
)

// hideKey takes the key out of an error's text: a server may echo it.
func (c *Client) hideKey(err error) error {
	if c.target.Key == "" || !strings.Contains(err.Error(), c.target.Key) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), c.target.Key, "[the key]"))
}

// Hopeless reports whether the next call would fail for the same reason.
func (r Result) Hopeless() bool {
	switch {
	case r.Call == nil:
		return true
	case r.Status == 408 || r.Status == 429:
		return false
	case r.Status >= 400 && r.Status < 500:
		return true
	}
	f, ok := r.Call.Failure()
	return ok && r.Status == 0 && (f.Type == "dns" || f.Type == "connect" || f.Type == "tls")
}

// Advice says what the reader of a failure can do, "" when there is none.
func (r Result) Advice() string {
	switch r.Status {
	case 0:
	case 400, 422:
		return "The endpoint does not take the request: check -model and -max-tokens."
	case 401, 403:
		return "Check the key: -api-key or OPENAI_API_KEY."
	case 404:
		return "Check -model, and the base URL, which usually ends in /v1."
	case 405:
		return "Check the base URL: what answers there is no chat endpoint."
	case 429:
		return "The endpoint refuses by its rate limit: try later, or with fewer calls."
	}
	if r.Call == nil {
		return ""
	}
	f, _ := r.Call.Failure()
	switch {
	case r.Call.Outcome() == tacho.Deadline:
		return "The time for a call was up: raise -timeout."
	case r.Status != 0:
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
