// SPDX-License-Identifier: Apache-2.0

package tacho

import "strings"

// modelEncodings has the encoding of models by the beginning of their names: a
// name is meant by the first entry that it equals, or that is followed in it by
// a hyphen, a dot, a colon or an at sign. Those of tiktoken's list
// (tiktoken/model.py), and models of platform.openai.com/docs/models that came
// after it.
var modelEncodings = [...]struct{ model, encoding string }{
	{"gpt-oss", "o200k_harmony"},
	{"gpt-5", "o200k_base"},
	{"gpt-4o", "o200k_base"},
	{"gpt-4.1", "o200k_base"},
	{"gpt-4.5", "o200k_base"},
	{"chatgpt-4o", "o200k_base"},
	{"o1", "o200k_base"},
	{"o3", "o200k_base"},
	{"o4", "o200k_base"},
	{"codex-mini", "o200k_base"},           // made of o4-mini
	{"computer-use-preview", "o200k_base"}, // made of gpt-4o
	{"gpt-4", "cl100k_base"},
	{"gpt-3.5", "cl100k_base"},
	{"gpt-35", "cl100k_base"}, // Azure writes no dots
	{"text-embedding-3-small", "cl100k_base"},
	{"text-embedding-3-large", "cl100k_base"},
	{"text-embedding-ada-002", "cl100k_base"},
	{"davinci-002", "cl100k_base"},
	{"babbage-002", "cl100k_base"},
	{"text-davinci-edit-001", "p50k_edit"},
	{"code-davinci-edit-001", "p50k_edit"},
	{"text-davinci-003", "p50k_base"},
	{"text-davinci-002", "p50k_base"},
	{"code-davinci", "p50k_base"},
	{"code-cushman", "p50k_base"},
	{"davinci-codex", "p50k_base"},
	{"cushman-codex", "p50k_base"},
	{"text-davinci-001", "r50k_base"},
	{"text-curie-001", "r50k_base"},
	{"text-babbage-001", "r50k_base"},
	{"text-ada-001", "r50k_base"},
	{"text-similarity", "r50k_base"},
	{"text-search", "r50k_base"},
	{"code-search", "r50k_base"},
	{"davinci", "r50k_base"},
	{"curie", "r50k_base"},
	{"babbage", "r50k_base"},
	{"ada", "r50k_base"},
	{"gpt2", "r50k_base"}, // the same tokens
	{"gpt-2", "r50k_base"},
}

// encodingName returns the name of a model's encoding, and whether that is
// known. It is empty for a name that is not like those of OpenAI.
func encodingName(model string) (name string, known bool) {
	base, openai := strings.CutPrefix(model, "openai/") // as routers write it
	base = strings.TrimPrefix(base, "azure/")
	base, tuned := strings.CutPrefix(base, "ft:")
	for _, m := range modelEncodings {
		if rest, ok := strings.CutPrefix(base, m.model); ok && (rest == "" || strings.ContainsRune("-.:@", rune(rest[0]))) {
			if m.model == "gpt-4" && rest != "" && rest[0] == '.' {
				continue // those after it have another encoding
			}
			// The names of the first models are words of their own.
			if m.encoding == "r50k_base" && !strings.Contains(m.model, "-") && rest != "" && rest[0] != ':' {
				continue
			}
			return m.encoding, true
		}
	}
	if base != "" && (openai || tuned || likeOpenAI(base)) {
		return "o200k_base", false
	}
	return "", false
}

// likeOpenAI reports whether a name begins as those of OpenAI's models do. The last
// ones are of models that make sound, images and judgements of text: how these read
// a prompt is not published.
func likeOpenAI(model string) bool {
	for _, start := range []string{"gpt-", "chatgpt-", "text-", "code-", "codex-", "whisper-", "tts-", "dall-e-", "sora-", "omni-moderation-"} {
		if strings.HasPrefix(model, start) {
			return true
		}
	}
	return len(model) > 1 && model[0] == 'o' && '0' <= model[1] && model[1] <= '9'
}
