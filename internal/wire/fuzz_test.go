// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decode reads documents, one a line, in pieces of a size (0: whole), and
// returns what each was and what all say together.
func decode(api API, stream, capture, memo bool, src []byte, size int) (Facts, []Event) {
	var f Facts
	var d Decoder
	var events []Event
	d.Init(api, stream, capture, &f)
	if !memo {
		d.memo.off = true
	}
	for _, doc := range bytes.Split(src, []byte("\n")) {
		d.Begin()
		for len(doc) > 0 {
			n := len(doc)
			if size > 0 {
				n = min(n, size)
			}
			d.Write(doc[:n])
			doc = doc[n:]
		}
		events = append(events, d.End())
	}
	f.Finish, f.one = slices.Clone(f.Finish), [1]Finish{}
	return f, events
}

// seeds are events alike and unlike, so that patterns are learnt, fit and break.
var seeds = []string{
	chatEvent + "\n" + chatEvent + "\n" + chatEvent,
	responsesEvent + "\n" + responsesEvent,
	`{"choices":[{"delta":{"content":"a"}}]}` + "\n" + `{"choices":[{"delta":{"content":"\u00e9\n\ud83d\ude00"}}]}` + "\n" + `{"choices":[{"delta":{"content":""}}]}`,
	`{"choices":[{"delta":{"reasoning":"a","reasoning_details":[{"text":"a"}]}}]}` + "\n" + `{"choices":[{"delta":{"reasoning":"bc","reasoning_details":[{"text":"bc"}]}}]}`,
	`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]}}]}` + "\n" + `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}` + "\n" + `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]}}]}`,
	`{"choices":[{"index":1,"delta":{"content":"x"}}]}` + "\n" + `{"choices":[{"index":0,"delta":{"content":"y"}}]}` + "\n" + `{"choices":[{"index":1,"delta":{"content":"z"}}]}`,
	`{"x":1,"choices":[{"delta":{"content":"a"}}]}` + "\n" + `{"x":{},"choices":[{"delta":{"content":"a"}}]}` + "\n" + `{"x":null,"choices":[{"delta":{"content":"a"}}]}`,
	`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1}}` + "\n" + `{"choices":[{"delta":{"content":"b"}}],"usage":{"prompt_tokens":2}}` + "\n[DONE]",
	`{"error":{"message":"m","code":7}}` + "\n" + `{"choices":[{"delta":{"content":"\\"}}]}` + "\n" + `{"choices":[{"delta":{"content":"\\\""}}]}` + "\nplain",
	`{"choices":[{"text":"a","finish_reason":"stop"}],"id":"\u0061","model":"` + "\xff" + `"}`,
	`{"type":"response.output_item.added","item":{"type":"function_call","name":"f","call_id":"c"}}` + "\n" + `{"type":"response.completed","response":{"status":"completed","id":"r","usage":{"input_tokens":1e2},"output":[{"type":"message","content":[{"type":"output_text","text":"t"}]}]}}`,
}

// FuzzPieces: neither the pieces in which a document comes nor the memo change
// what is read of it.
func FuzzPieces(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), uint8(1), true)
		f.Add([]byte(s), uint8(3), false)
	}
	f.Fuzz(func(t *testing.T, src []byte, size uint8, stream bool) {
		for _, api := range []API{ChatCompletions, Completions, Responses} {
			want, wantEvents := decode(api, stream, false, false, src, 0)
			for _, n := range []int{0, 1, int(size) + 1} {
				got, events := decode(api, stream, false, true, src, n)
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(Detail{}, Facts{}, Name{})); diff != "" {
					t.Fatalf("%v in pieces of %d: (-whole +pieces)\n%s", api, n, diff)
				}
				if diff := cmp.Diff(wantEvents, events); diff != "" {
					t.Fatalf("%v in pieces of %d: (-whole +pieces)\n%s", api, n, diff)
				}
			}
			// Capture changes what is kept, not what is counted.
			got, _ := decode(api, stream, true, true, src, int(size)+1)
			if kept := int64(len([]rune(string(got.Captured.Text.B)))); kept != got.TextChars || got.TextChars != want.TextChars {
				t.Fatalf("%v: %d code points kept, %d counted with capture, %d without", api, kept, got.TextChars, want.TextChars)
			}
		}
	})
}
