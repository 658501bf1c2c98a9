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
	Embeddings
	ImagesGenerations
	ImagesEdits
	ImagesVariations
	Speech
	Transcriptions
	Translations
	Moderations
)

// routes has, by API, the end of its path, which is its name in the record,
// and the operation's name.
var routes = [...]struct {
	api       API
	path      string
	operation string
}{
	// In the order in which they are tried: the longer of two ends first.
	{ChatCompletions, "/chat/completions", "chat"},
	{Completions, "/completions", "text_completion"},
	{Responses, "/responses", "chat"},
	{Embeddings, "/embeddings", "embeddings"},
	{ImagesGenerations, "/images/generations", "image_generation"},
	{ImagesEdits, "/images/edits", "image_generation"},
	{ImagesVariations, "/images/variations", "image_generation"},
	{Speech, "/audio/speech", "speech"},
	{Transcriptions, "/audio/transcriptions", "audio_transcription"},
	{Translations, "/audio/translations", "audio_translation"},
	{Moderations, "/moderations", "moderation"},
}

// String returns the API's name in the record.
func (a API) String() string {
	if a == ChatCompletions {
		return "chat_completions"
	}
	if a > NoAPI && int(a) <= len(routes) {
		return routes[a-1].path[1:]
	}
	return ""
}

// Operation returns the operation's name in the conventions, or one of the
// same form where they have none.
func (a API) Operation() string {
	if a > NoAPI && int(a) <= len(routes) {
		return routes[a-1].operation
	}
	return ""
}

// Text reports whether the API answers with text.
func (a API) Text() bool {
	switch a {
	case ChatCompletions, Completions, Responses, Transcriptions, Translations:
		return true
	}
	return false
}

// Route tells the API by method and path: by suffix, so that every prefix of a
// gateway or deployment fits. It costs no allocation. Polling a stored response
// or listing models is no call.
func Route(method, path string) API {
	if method != "POST" && method != "post" {
		return NoAPI
	}
	path = strings.TrimSuffix(path, "/")
	if path == "" {
		return NoAPI
	}
	if last := path[len(path)-1]; last != 's' && last != 'h' {
		return NoAPI // no route ends so
	}
	if strings.HasSuffix(path, "/agents/completions") {
		return ChatCompletions // Mistral's agents: the same but for the model
	}
	for i := range routes {
		if strings.HasSuffix(path, routes[i].path) {
			return routes[i].api
		}
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
