// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text, chat, empty := write("a.txt", "Hello, 世界"), write("chat.json", `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"},{"role":"user","content":[{"type":"input_audio"}]}]}`), write("empty", "")
	none := write("none.json", `{"model":"gpt-4o","messages":[]}`)
	for _, tc := range []struct {
		name   string
		args   []string
		code   int
		stdout []string
		stderr string
	}{
		{"nothing", nil, 0, []string{"gpt-4o: o200k_base", "19         91         91          4.79  English", "21         93         31          4.43  Chinese"}, ""},
		{"a text", []string{"-model", "gpt-4", text, empty}, 0, []string{"gpt-4: cl100k_base", "6         13          9          2.17  " + text, "0          0          0             –  " + empty}, ""},
		{"a guess", []string{"-model", "gpt-9", text}, 0, []string{"gpt-9: o200k_base, a guess: the model is not known"}, ""},
		{"a chat", []string{"-chat", chat}, 0, []string{chat + ": gpt-4o, o200k_base", "9   75.0 %  messages", "3   25.0 %  priming", "12           in all, an estimate", "not counted: a part of type input_audio"}, ""},
		{"an empty chat", []string{"-chat", none}, 0, []string{"0           in all, an estimate\n"}, ""},
		{"no chat", []string{"-chat", text, chat}, 1, []string{"12           in all"}, "count: " + text + ": tacho: the request is no JSON"},
		{"no file", []string{filepath.Join(dir, "none"), text}, 1, []string{text}, "no such file"},
		{"a chat from nowhere", []string{"-chat"}, 2, nil, "-chat needs a file"},
		{"another's model", []string{"-model", "llama"}, 2, nil, "no encoding is known"},
		{"help", []string{"-h"}, 0, []string{"-chat", "-model"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), tc.args, nil, &stdout, &stderr); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			for _, want := range tc.stdout {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("no %q in\n%s", want, stdout.String())
				}
			}
			if (tc.stderr == "") != (stderr.Len() == 0) || !strings.Contains(stderr.String(), tc.stderr) {
				t.Errorf("stderr %q, want %q", stderr.String(), tc.stderr)
			}
		})
	}
}
