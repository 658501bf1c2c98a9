// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestBody compares the tree of a body with what is wanted, whole and in pieces.
func TestBody(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, body string
		part, all  int
		want       any
		full       bool
	}{
		{"as it is", `{"a":[1,2.50,"x",true,null,{}],"b":"é\n\"\u00e9"}`, 99, 999,
			map[string]any{"a": []any{json.Number("1"), json.Number("2.50"), "x", true, nil, map[string]any{}}, "b": "é\n\"é"}, false},
		{"a string is cut between characters", `{"a":"12é456","b":"12\u00e9456","c":"1234","d":"123"}`, 3, 999,
			map[string]any{"a": Cut{"12é", 3}, "b": Cut{"12é", 3}, "c": Cut{"123", 1}, "d": "123"}, false},
		{"an escape stays whole", `["ab\\\"cd\\"]`, 3, 999, []any{Cut{`ab\`, 4}}, false},
		{"a key is cut as well", `{"abcdef":"x","g":"uvwxyz"}`, 3, 999, map[string]any{"abc": "x", "g": Cut{"uvw", 3}}, false},
		{"more than is kept", `[{"a":"x"},{"a":"y"},{"a":"z"}]`, 99, 15, []any{map[string]any{"a": "x"}, map[string]any{}}, true},
		{"broken off", `{"a":[{"b":1},{"c":"d"`, 99, 999, map[string]any{"a": []any{map[string]any{"b": json.Number("1")}, map[string]any{"c": "d"}}}, false},
		{"no JSON", `hello "x`, 99, 999, nil, false},
		{"nothing", ``, 99, 999, nil, false},
		{"too deep", strings.Repeat("[", 100) + strings.Repeat("]", 100), 99, 999, nested(64), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{len(tc.body), 1, 2, 3} {
				b := feed(tc.body, tc.part, tc.all, size)
				if got := b.Tree(); !reflect.DeepEqual(got, tc.want) { // cmp takes ever longer the deeper a tree is
					t.Errorf("in pieces of %d: %v, want %v", size, got, tc.want)
				}
				if b.Full() != tc.full {
					t.Errorf("full: %v", b.Full())
				}
			}
		})
	}
}

func nested(n int) any {
	v := []any{}
	for range n - 1 {
		v = []any{v}
	}
	return v
}

func feed(body string, part, all, size int) *Body {
	b := NewBody(part, all)
	for rest := []byte(body); len(rest) > 0; {
		n := min(max(1, size), len(rest))
		b.Feed(rest[:n])
		rest = rest[n:]
	}
	return b
}

// FuzzBody: whatever a body is, and in whatever pieces it comes, what is kept of
// it is the same and within bounds; one that is JSON and within the limits is read
// as encoding/json reads it.
func FuzzBody(f *testing.F) {
	for _, s := range []string{`{"a":"12é456","b":[1,{"c":"\ud83d\ude00\\"}]}`, `["\`, `{"a"`, `{"é\u00`, "\"\xff\xfe\"", "\"\xbe\xbe\xbe\xbe\xbe\xbe\xbe\xbe\xbe\xbe\"", `[[["x"`} {
		f.Add([]byte(s), uint8(1), uint8(20))
		f.Add([]byte(s), uint8(3), uint8(20))
		f.Add([]byte(s), uint8(200), uint8(200))
	}
	f.Fuzz(func(t *testing.T, src []byte, part, all uint8) {
		whole := feed(string(src), int(part), int(all), len(src))
		tree := whole.Tree()
		for _, size := range []int{1, 3} {
			b := feed(string(src), int(part), int(all), size)
			if got := b.Tree(); !reflect.DeepEqual(got, tree) {
				t.Fatalf("in pieces of %d: %v, whole: %v", size, got, tree)
			}
		}
		if whole.Len() > int(all) {
			t.Fatalf("%d bytes are kept, more than %d", whole.Len(), all)
		}
		checkStrings(t, tree, int(part))
		free := feed(string(src), 1<<20, 1<<20, len(src))
		var want any
		d := json.NewDecoder(strings.NewReader(string(src)))
		d.UseNumber()
		if d.Decode(&want) == nil && len(src) < 60 { // so short that it is not too deep
			if got := free.Tree(); !reflect.DeepEqual(got, want) {
				t.Fatalf("%v, by encoding/json %v", got, want)
			}
		}
	})
}

// checkStrings holds that no string is longer than a limit, but for the character
// in which it was reached.
func checkStrings(t *testing.T, v any, part int) {
	switch v := v.(type) {
	case string:
		// What is no UTF-8 becomes three bytes each.
		if n := utf8.RuneCountInString(v); n > part+utf8.UTFMax {
			t.Fatalf("%q has %d characters, with a limit of %d bytes", v, n, part)
		}
	case Cut:
		checkStrings(t, v.S, part)
	case []any:
		for _, e := range v {
			checkStrings(t, e, part)
		}
	case map[string]any:
		for k, e := range v {
			checkStrings(t, k, part)
			checkStrings(t, e, part)
		}
	}
}

// TestBodyHalves cuts no character that two escapes stand for.
func TestBodyHalves(t *testing.T) {
	t.Parallel()
	const src = `{"t":"ab\ud83d\ude00cd\ud83d\ude00\ud83d\ude00"}`
	for part := 1; part < 60; part++ {
		b := NewBody(part, 1<<20)
		for i := range len(src) {
			b.Feed([]byte(src[i : i+1]))
		}
		tree, _ := b.Tree().(map[string]any)
		text, lost := "", int64(0)
		switch v := tree["t"].(type) {
		case string:
			text = v
		case Cut:
			text, lost = v.S, v.Lost
		}
		if whole := "ab😀cd😀😀"; text+string([]rune(whole)[len([]rune(text)):]) != whole || int64(len([]rune(text)))+lost != 7 {
			t.Errorf("limit %d: %q and %d more", part, text, lost)
		}
	}
}
