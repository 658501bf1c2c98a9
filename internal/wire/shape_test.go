// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answer reads a plain answer, in pieces of a size (0: whole).
func answer(api API, common *Common, doc []byte, size int) (Facts, Event) {
	var f Facts
	var d Decoder
	d.Share(common)
	d.Init(api, false, false, &f)
	for len(doc) > 0 {
		n := len(doc)
		if size > 0 {
			n = min(n, size)
		}
		d.Write(doc[:n])
		doc = doc[n:]
	}
	ev := d.End()
	return unshared(f), ev
}

// unshared is what facts say, whoever else has their parts.
func unshared(f Facts) Facts {
	f.Finish, f.one = slices.Clone(f.Finish), [1]Finish{}
	if f.Detail != nil {
		own := *f.Detail
		own.shared = false
		f.Detail = &own
		if own == (Detail{}) {
			f.Detail = nil
		}
	}
	return f
}

// sameAnswer compares what is read of an answer with the shape of another, and without.
func sameAnswer(t *testing.T, api API, learnt, doc []byte) {
	t.Helper()
	var common Common
	answer(api, &common, learnt, 0)
	want, wantEvent := answer(api, nil, doc, 0)
	for _, size := range []int{0, 7} {
		got, ev := answer(api, &common, doc, size)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Detail{}, Facts{}, Name{})); diff != "" {
			t.Fatalf("%v, pieces of %d: (-without +with the shape)\n%s\nof %q\nand %q", api, size, diff, learnt, doc)
		}
		if diff := cmp.Diff(wantEvent, ev); diff != "" {
			t.Fatalf("%v, pieces of %d: (-without +with the shape)\n%s\nof %q\nand %q", api, size, diff, learnt, doc)
		}
	}
}

// chat is an answer with its usual members; what is in the holes is given.
func chat(id, created, content, input, output, cached string) string {
	return `{"id":"` + id + `","object":"chat.completion","created":` + created + `,"model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,"message":{"role":"assistant","content":"` +
		content + `","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":` + input + `,"completion_tokens":` + output +
		`,"total_tokens":24,"prompt_tokens_details":{"cached_tokens":` + cached + `,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"service_tier":"default","system_fingerprint":"fp_1"}`
}

var shapedPairs = [][2]string{
	{chat("a", "1", "x", "1", "2", "0"), chat("chatcmpl-2", "17", "a longer text with \\\"quotes\\\" and \\u00e9 \\ud83d\\ude00", "100", "20", "30")},
	{chat("a", "1", "x", "1", "2", "0"), chat("", "null", "", "-1", "1e3", "0.5")},
	{chat("a", "1", "", "1", "2", "0"), chat("a", "1", "x", "1", "2", "0")},
	{chat("a", "1", "x", "1", "2", "0"), chat("\\u0041", "1", "\xff\xfe", "true", "null", "{}")},
	{chat("a", "1", "x", "1", "2", "0"), chat("a", "1", "x", "1", "2", "0") + "\n"},
	{chat("a", "1", "x", "1", "2", "0") + " \n", chat("b", "1", "x", "1", "2", "0") + "x"},
	{`{"choices":[{"message":{"reasoning_content":"ab"},"finish_reason":"stop"}]}`, `{"choices":[{"message":{"reasoning_content":"abcd"},"finish_reason":"stop"}]}`},
	{`{"choices":[{"message":{"reasoning_content":"ab","content":"c"}}]}`, `{"choices":[{"message":{"reasoning_content":"","content":"cd"}}]}`},
	{`{"choices":[{"index":1,"text":"ab","finish_reason":"length"}]}`, `{"choices":[{"index":1,"text":"abc","finish_reason":"length"}]}`},
	{`{"id":"a","id":"b","choices":[{"text":"ab"}]}`, `{"id":"c","id":"","choices":[{"text":"ab"}]}`},
	{`{"id":"\u0041","id":"b","choices":[{"text":"ab"}]}`, `{"id":"\u0041","id":"","choices":[{"text":"ab"}]}`},
	{`{"choices":[{"text":"ab"}],"usage":{"prompt_tokens":3,"input_tokens":0,"cache_read_input_tokens":1}}`, `{"choices":[{"text":"ab"}],"usage":{"prompt_tokens":0,"input_tokens":5,"cache_read_input_tokens":2}}`},
	{`{"choices":[{"text":"ab"}],"usage":{"prompt_tokens_details":{"audio_tokens":1}},"system_fingerprint":"x"}`, `{"choices":[{"text":"ab"}],"usage":{"prompt_tokens_details":{"audio_tokens":2}},"system_fingerprint":"x"}`},
	{`{"choices":[{"text":"ab"}],"usage":{"queue_time":1}}`, `{"choices":[{"text":"ab"}],"usage":{"queue_time":2}}`},
	{`{"choices":[{"message":{"tool_calls":[{"id":"a"}]}}]}`, `{"choices":[{"message":{"tool_calls":[{"id":"b"}]}}]}`},
	{`{"choices":[{"text":"a","x":"b","y":1}]}`, `{"choices":[{"text":"a","x":"\"\\","y":"s"}]}`},
	{`{"choices":[{"text":"a","x":"b","y":1}]}`, `{"choices":[{"text":"a","x":"b","y":[1]}]}`},
	{`{"choices":[{"message":{"refusal":"no"}}]}`, `{"choices":[{"message":{"refusal":""}}]}`},
	{`{"choices":[{"message":{"content":[{"text":"a"}]}}]}`, `{"choices":[{"message":{"content":[{"text":"abc"}]}}]}`},
	{`{"choices":[{"message":{"content":"a"},"text":"a"}]}`, `{"choices":[{"message":{"content":"abc"},"text":"ab"}]}`},
	{`{"choices":[{"message":{"content":"a"}},{"message":{"content":"a"}}]}`, `{"choices":[{"message":{"content":"abc"}},{"message":{"content":"ab"}}]}`},
	{`{"choices":[{"delta":{"content":"a"},"message":{}}]}`, `{"choices":[{"delta":{"content":"abc"},"message":{}}]}`},
}

func TestShape(t *testing.T) {
	t.Parallel()
	for i, p := range shapedPairs {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			for _, api := range []API{ChatCompletions, Completions} {
				sameAnswer(t, api, []byte(p[0]), []byte(p[0]))
				sameAnswer(t, api, []byte(p[0]), []byte(p[1]))
			}
		})
	}
}

// TestShapeFits: an answer like the one before is not read token by token, one
// that is not makes a new shape.
func TestShapeFits(t *testing.T) {
	t.Parallel()
	var common Common
	answer(ChatCompletions, &common, []byte(chat("a", "1", "x", "1", "2", "0")), 0)
	first := common.shape.Load()
	if first == nil {
		t.Fatal("the first answer made no shape")
	}
	if strings.Contains(first.literal, "chatcmpl") || first.nholes != 10 {
		t.Fatalf("%d holes in %q", first.nholes, first.literal)
	}
	next := []byte(chat("chatcmpl-b", "22", "two \\\"words\\\"", "3", "4", "1"))
	for size := range len(next) {
		answer(ChatCompletions, &common, next, size)
		if common.shape.Load() != first || common.missed.Load() != 0 {
			t.Fatalf("an answer of the same shape does not fit in pieces of %d", size)
		}
	}
	answer(ChatCompletions, &common, []byte(strings.Replace(chat("a", "1", "x", "1", "2", "0"), "mini", "maxi", 1)), 0)
	if common.shape.Load() == first {
		t.Fatal("another model did not make a new shape")
	}
}

// TestShapeCut: an answer that breaks off is told as far as it came.
func TestShapeCut(t *testing.T) {
	t.Parallel()
	var common Common
	doc := []byte(chat("a", "1", "x", "1", "2", "0"))
	for n := range doc {
		var want, got Facts
		for f, common := range map[*Facts]*Common{&want: nil, &got: &common} {
			var d Decoder
			d.Share(common)
			d.Init(ChatCompletions, false, false, f)
			d.Write(doc[:n])
			d.Flush()
			if d.Whole() {
				t.Fatalf("whole after %d bytes", n)
			}
		}
		if diff := cmp.Diff(unshared(want), unshared(got), cmp.AllowUnexported(Detail{}, Facts{}, Name{})); diff != "" {
			t.Fatalf("after %d bytes: (-without +with the shape)\n%s", n, diff)
		}
		answer(ChatCompletions, &common, doc, 0) // the shape is there from the second one on
	}
}

// TestShapeBound: of an answer that comes in pieces no more is kept than the bound.
func TestShapeBound(t *testing.T) {
	t.Parallel()
	var common Common
	for range 3 {
		doc := []byte(chat("a", "1", strings.Repeat("word ", 4000), "1", "2", "0"))
		var f Facts
		var d Decoder
		d.Share(&common)
		d.Init(ChatCompletions, false, false, &f)
		for ; len(doc) > 0; doc = doc[min(len(doc), 100):] {
			d.Write(doc[:min(len(doc), 100)])
			if cap(d.memo.pattern) > 2*maxHeld {
				t.Fatalf("%d bytes are kept", cap(d.memo.pattern))
			}
		}
		if d.End(); f.TextChars != 20000 || f.Usage.Output.N != 2 {
			t.Fatalf("%d code points, %d tokens", f.TextChars, f.Usage.Output.N)
		}
	}
}

// FuzzShape: whatever answer came before, the facts of one are the same.
func FuzzShape(f *testing.F) {
	for _, p := range shapedPairs {
		f.Add([]byte(p[0]), []byte(p[1]), uint16(0), uint16(0), byte(0))
		f.Add([]byte(p[0]), []byte("12"), uint16(len(p[0])/2), uint16(2), byte(1))
	}
	f.Fuzz(func(t *testing.T, learnt, other []byte, at, n uint16, mutate byte) {
		doc := other
		if mutate != 0 { // the same one with a part replaced
			i := int(at) % (len(learnt) + 1)
			j := min(len(learnt), i+int(n)%64)
			doc = slices.Concat(learnt[:i], other, learnt[j:])
		}
		for _, api := range []API{ChatCompletions, Completions} {
			sameAnswer(t, api, learnt, doc)
		}
	})
}
