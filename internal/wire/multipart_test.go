// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"slices"
	"strings"
	"testing"
)

// TestForm finds the fields of forms in pieces of every size.
func TestForm(t *testing.T) {
	t.Parallel()
	part := func(head, text string) string {
		return "--b\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + text + "\r\n"
	}
	file := part(`name="file"; filename="a.wav"`+"\r\nContent-Type: audio/wav", "RIFF\r\n\x00 name \" na\r\n\r\n"+strings.Repeat("\xff", 99))
	for _, tc := range []struct {
		name, body, model string
		stream            bool
	}{
		{"model, then the file", part(`name="model"`, "whisper-1") + file + "--b--\r\n", "whisper-1", false},
		{"the file, then model and stream", file + part(`name="model"`, "w") + part(`name="stream"`, "true") + "--b--\r\n", "w", true},
		{"stream before", part(`name="stream"`, "True") + part(`name="model"`, "w") + "--b--\r\n", "w", true},
		{"no stream", part(`name="stream"`, "false") + part(`name="model"`, "w") + "--b--\r\n", "w", false},
		{"a part with headers of its own", part("name=\"model\"\r\nContent-Type: text/plain", "w") + "--b--\r\n", "w", false},
		{"names in a text", part(`name="prompt"`, "use name=\"model\" here\r\n\r\nnot a model; name=\"model\"\r\n\r\nno") + part(`name="model"`, "w") + "--b--\r\n", "w", false},
		{"unquoted and without a space", strings.ReplaceAll(part(`name=model`, "w"), "; ", ";") + "--b--\r\n", "w", false},
		{"twice", part(`name="model"`, "w") + part(`name="model"`, "x") + "--b--\r\n", "w", false},
		{"a file of that name", part(`name="file"; filename="model"`, "no") + "--b--\r\n", "", false},
		{"a name that begins so", part(`name="model_name"`, "no") + part(`name="models"`, "no") + "--b--\r\n", "", false},
		{"a model too long to be one", part(`name="model"`, strings.Repeat("x", 600)) + part(`name="stream"`, "1") + "--b--\r\n", "", true},
		{"broken off", file + strings.TrimSuffix(part(`name="model"`, "w"), "\r\n"), "w", false},
		{"nothing", "", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for size := 1; size <= len(tc.body)+1; size++ {
				var f Form
				for piece := range slices.Chunk([]byte(tc.body), size) {
					f.Write(piece)
				}
				var q Request
				f.End(&q)
				if q.Model.String() != tc.model || q.Stream != tc.stream {
					t.Fatalf("in pieces of %d: model %q, stream %v; want %q, %v", size, q.Model.String(), q.Stream, tc.model, tc.stream)
				}
			}
		})
	}
}
