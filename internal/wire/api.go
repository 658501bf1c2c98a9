// SPDX-License-Identifier: Apache-2.0

package wire

import "strings"

// API is one of the interfaces that OpenAI-compatible servers have.
type API uint8

// The APIs; the zero API is none of them.
const (
	NoAPI API = iota
	ChatCompletions
	Completions
	Responses
)

// String returns the API's name in the record.
func (a API) String() string {
	switch a {
	case ChatCompletions:
		return "chat_completions"
	case Completions:
		return "completions"
	case Responses:
		return "responses"
	}
	return ""
}

// Operation returns the operation's name in the conventions.
func (a API) Operation() string {
	switch a {
	case ChatCompletions, Responses:
		return "chat"
	case Completions:
		return "text_completion"
	}
	return ""
}

// Route tells the API by method and path: by suffix, so that every prefix of a
// gateway or deployment fits. It costs no allocation.
func Route(method, path string) API {
	if method != "POST" && method != "post" {
		return NoAPI
	}
	path = strings.TrimSuffix(path, "/")
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return ChatCompletions
	case strings.HasSuffix(path, "/completions"):
		return Completions
	case strings.HasSuffix(path, "/responses"):
		return Responses
	}
	return NoAPI
}

// Deployment returns the deployment that an Azure path names, else "".
func Deployment(path string) string {
	const mark = "/deployments/"
	i := strings.Index(path, mark)
	if i < 0 {
		return ""
	}
	name, _, _ := strings.Cut(path[i+len(mark):], "/")
	return name
}
