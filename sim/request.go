// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// api is one of the OpenAI routes.
type api int

const (
	apiNone api = iota
	apiChat
	apiCompletions
	apiResponses
	apiEmbeddings
	apiModels
)

// route finds the API by the end of the path, whatever stands before it. The
// second result is the name in .../deployments/NAME/... or .../models/NAME.
func route(path string) (api, string) {
	path = strings.TrimSuffix(path, "/")
	name := ""
	if _, after, ok := strings.Cut(path, "/deployments/"); ok {
		name, _, _ = strings.Cut(after, "/")
	}
	for _, r := range []struct {
		suffix string
		api    api
	}{
		{"/chat/completions", apiChat}, {"/completions", apiCompletions}, {"/responses", apiResponses},
		{"/embeddings", apiEmbeddings}, {"/models", apiModels},
	} {
		if strings.HasSuffix(path, r.suffix) {
			return r.api, name
		}
	}
	if _, after, ok := strings.Cut(path, "/models/"); ok && after != "" {
		return apiModels, after
	}
	return apiNone, ""
}

// call is what sim understands of a request.
type call struct {
	api          api
	number       uint64
	model        string
	stream       bool
	includeUsage bool
	n            int
	maxTokens    int // 0: no limit
	promptTokens int
	inputs       int // embeddings: number of inputs
	dimensions   int
	base64       bool
	ignoreEOS    bool  // the answer has as many tokens as are allowed
	prompt       []any // decoded JSON
}

type requestBody struct {
	Model         *string `json:"model"`
	Stream        *bool   `json:"stream"`
	N             *int    `json:"n"`
	StreamOptions *struct {
		IncludeUsage *bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           *int    `json:"max_tokens"`
	MaxCompletionTokens *int    `json:"max_completion_tokens"`
	MaxOutputTokens     *int    `json:"max_output_tokens"`
	IgnoreEOS           *bool   `json:"ignore_eos"`
	Dimensions          *int    `json:"dimensions"`
	EncodingFormat      *string `json:"encoding_format"`
	Messages            any     `json:"messages"`
	Prompt              any     `json:"prompt"`
	Input               any     `json:"input"`
	Instructions        any     `json:"instructions"`
}

const (
	defaultModelName  = "sim-model"
	defaultDimensions = 8
	maxDimensions     = 4096
	maxInputs         = 2048
)

// requestError is a message to the client, worded as by OpenAI.
type requestError string

func (e requestError) Error() string { return string(e) }

func badRequest(format string, args ...any) error { return requestError(fmt.Sprintf(format, args...)) }

// parseCall reads a request body. It is lenient: the model and the prompt may
// be absent, and unknown fields are ignored.
func parseCall(a api, name string, body []byte) (call, error) {
	var r requestBody
	if err := json.Unmarshal(body, &r); err != nil {
		return call{}, badRequest("We could not parse the JSON body of your request: %v", err)
	}
	c := call{api: a, model: or(r.Model, ""), stream: or(r.Stream, false), n: or(r.N, 1),
		dimensions: or(r.Dimensions, defaultDimensions), base64: or(r.EncodingFormat, "float") == "base64"}
	if c.model == "" {
		c.model = name
	}
	if c.model == "" {
		c.model = defaultModelName
	}
	if r.StreamOptions != nil {
		c.includeUsage = or(r.StreamOptions.IncludeUsage, false)
	}
	for _, l := range []struct {
		field string
		limit *int
	}{
		{"max_tokens", r.MaxTokens}, {"max_completion_tokens", r.MaxCompletionTokens}, {"max_output_tokens", r.MaxOutputTokens},
	} {
		if l.limit == nil {
			continue
		}
		if *l.limit < 1 {
			return call{}, badRequest("Invalid '%s': expected a value >= 1, but got %d instead.", l.field, *l.limit)
		}
		if c.maxTokens == 0 || *l.limit < c.maxTokens {
			c.maxTokens = *l.limit
		}
	}
	if c.n < 1 || c.n > maxChoices {
		return call{}, badRequest("Invalid 'n': expected a value from 1 to %d, but got %d instead.", maxChoices, c.n)
	}
	if c.dimensions < 1 || c.dimensions > maxDimensions {
		return call{}, badRequest("Invalid 'dimensions': expected a value from 1 to %d, but got %d instead.", maxDimensions, c.dimensions)
	}
	if a == apiResponses {
		c.n = 1
	}
	c.ignoreEOS = or(r.IgnoreEOS, false)
	c.prompt = []any{r.Instructions, r.Messages, r.Prompt, r.Input}
	c.promptTokens = tokensOf(c.prompt...)
	c.inputs = 1
	if list, ok := r.Input.([]any); ok {
		if c.inputs = len(list); c.inputs > 0 {
			if _, ok := list[0].(float64); ok {
				c.inputs = 1
			}
		}
	}
	if a == apiEmbeddings && (c.inputs < 1 || c.inputs > maxInputs) {
		return call{}, badRequest("Invalid 'input': expected 1 to %d inputs, but got %d instead.", maxInputs, c.inputs)
	}
	return c, nil
}

func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// tokensOf estimates the tokens of a prompt: the bytes of its texts ÷ 4,
// rounded up, and one for each number (a prompt may be given as token ids).
func tokensOf(values ...any) int {
	bytes, numbers := 0, 0
	walkPrompt(values, func(s string) { bytes += len(s) }, func(float64) { numbers++ })
	return (bytes+3)/4 + numbers
}

// textOf joins the texts of a prompt, and gives each number four bytes, so that
// by the estimate of tokensOf a token is four bytes of it.
func textOf(values ...any) string {
	var b strings.Builder
	walkPrompt(values, func(s string) { b.WriteString(s) }, func(f float64) {
		b.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(f))))
	})
	return b.String()
}

// walkPrompt visits the texts and numbers of decoded JSON, the members of an
// object by name, without those that are no text for the model.
func walkPrompt(v any, text func(string), number func(float64)) {
	switch v := v.(type) {
	case string:
		text(v)
	case float64:
		number(v)
	case []any:
		for _, e := range v {
			walkPrompt(e, text, number)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			switch k {
			case "role", "type", "id", "call_id", "tool_call_id", "name", "status":
			default:
				walkPrompt(v[k], text, number)
			}
		}
	}
}
