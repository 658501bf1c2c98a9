// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tacho-go/tacho"
)

// FuzzContent: whatever is asked and answered, what is captured is within its
// limits, is the same in whatever pieces the answer comes, has as many characters
// as were counted, and says the same as JSON and as values.
func FuzzContent(f *testing.F) {
	for _, s := range [][2]string{
		{`{"messages":[{"role":"user","content":"hi"}],"tools":[{"function":{"name":"f","parameters":{}}}]}`, events(`{"choices":[{"index":0,"delta":{"content":"a","tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}}]}`, "[DONE]")},
		{richRequest, richAnswer},
		{`{"prompt":"x"}`, `{"choices":[{"text":"a","index":3}]}`},
		{`{"input":[{"type":"odd","x":[null]}]}`, events(`{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.function_call_arguments.delta","delta":"{"}`)},
		{`{"messages":[{"content":[{"type":"image_url","image_url":"data:"}]}]}`, `{"error":{"message":"m"}}`},
	} {
		for bits := range uint8(6) {
			f.Add([]byte(s[0]), []byte(s[1]), bits)
		}
	}
	f.Fuzz(func(t *testing.T, request, answer []byte, bits uint8) {
		path := []string{chatPath, responsesPath, completionsPath}[bits%3]
		part, all := 1<<20, 1<<20
		if bits&64 != 0 {
			part, all = 16, 64
		}
		status := 200
		if bits&128 != 0 {
			status = 500
		}
		whole := fuzzed(t, path, request, status, &pieceBody{rest: answer, err: io.EOF}, part, all)
		pieces := fuzzed(t, path, request, status, &pieceBody{rest: answer, sizes: []byte{bits, 0, 2}, err: io.EOF}, part, all)
		if diff := cmp.Diff(whole.call.Content(), pieces.call.Content()); diff != "" {
			t.Fatalf("(-whole +pieces)\n%s", diff)
		}
		content := whole.call.Content()
		if content == nil {
			t.Fatal("nothing is captured")
		}
		if n := len(fmt.Sprint(content.Output)); n > 100*(all+len(answer)) {
			t.Fatalf("%d bytes", n)
		}
		rec := record(t, whole.call)
		if n, ok := rec["text_chars"].(float64); ok && part > len(answer) {
			text, _ := rec["text"].(string)
			if kept := utf8.RuneCountInString(text); kept != int(n) {
				t.Fatalf("%d characters kept, %v counted", kept, n)
			}
		}
		details := whole.logs.named("gen_ai.client.inference.operation.details")
		if len(details) != 1 {
			t.Fatalf("%d events", len(details))
		}
		onSpan, onEvent := contentOf(whole.span), contentOf(details[0].Attributes)
		for k, v := range onSpan {
			text, isText := v.(string)
			if !isText {
				continue
			}
			var tree any
			if err := json.Unmarshal([]byte(text), &tree); err != nil {
				if strings.Contains(err.Error(), "out of range") {
					continue // a number that no float holds
				}
				t.Fatalf("%s: %v: %s", k, err, text)
			}
			if onEvent[k] == nil {
				t.Fatalf("%s is on the span alone", k)
			}
			if len(onSpan) != len(onEvent) || shape(tree) != shape(onEvent[k]) {
				t.Fatalf("%s: %v on the span, %v on the event", k, tree, onEvent[k])
			}
		}
	})
}

// shape is a tree without its values, and without nulls in objects.
func shape(v any) string {
	switch v := v.(type) {
	case []any:
		var b strings.Builder
		for _, e := range v {
			b.WriteString(shape(e) + ",")
		}
		return "[" + b.String() + "]"
	case map[string]any:
		m := map[string]string{}
		for k, e := range v {
			if e != nil {
				m[k] = shape(e)
			}
		}
		return fmt.Sprint(m)
	case nil:
		return "null"
	case string:
		return v
	}
	if k := reflect.TypeOf(v).Kind(); k == reflect.Float64 || k == reflect.Int64 {
		return "number"
	}
	return fmt.Sprint(v)
}

func fuzzed(t *testing.T, path string, request []byte, status int, body *pieceBody, part, all int) observed {
	t.Helper()
	return observeBody(t, path, string(request), func() *http.Response {
		return &http.Response{StatusCode: status, Proto: "HTTP/1.1", Header: http.Header{}, ContentLength: -1, Body: body}
	}, tacho.WithContent(tacho.ContentOnSpansAndEvents), tacho.WithContentLimits(part, all))
}
