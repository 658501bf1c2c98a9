// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// delta is an event as most servers send it; what varies is free.
func delta(id, content, finish, noise string) string {
	return fmt.Sprintf(`{"id":"%s","model":"m","choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":%s}],"noise":%s,"pad":"%s"}`, id, content, finish, noise, strings.Repeat(noise, 2))
}

// TestCutEvents cuts an event that is like those before it, or nearly, at every
// place and at every two, and reads it with and without the pattern.
func TestCutEvents(t *testing.T) {
	t.Parallel()
	likes := []string{delta("a", "x", "null", "1"), delta("a", "yy", "null", "22"), delta("a", "zzz", "null", "3"), delta("a", "zz", "null", "3"), delta("a", "z", "null", "4"), delta("a", "q", "null", "5")}
	for name, event := range map[string]string{
		"the same":              likes[5],
		"another text":          delta("a", "a longer text than that of all before", "null", "5"),
		"a text with escapes":   delta("a", `a \"b\" \\`, "null", "5"),
		"a text with an escape": delta("a", `\u00e9`, "null", "5"),
		"a text beyond ASCII":   delta("a", "日本語", "null", "5"),
		"no text":               delta("a", "", "null", "5"),
		"another id":            delta("bcd", "x", "null", "5"),
		"other noise":           delta("a", "x", "null", "123456789"),
		"noise that is deep":    delta("a", "x", "null", `{"a":[1]}`),
		"an end":                delta("a", "", `"stop"`, "5"),
		"a text and an end":     delta("a", "x", `"stop"`, "5"),
		"more behind":           likes[5] + " ",
		"garbage behind":        likes[5] + "x",
		"less":                  likes[5][:40],
		"nearly nothing":        likes[5][:1],
		"a tool call":           `{"id":"a","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"x"}}]},"finish_reason":null}]}`,
	} {
		read := func(memo bool, cuts ...int) (events []Event, facts Facts) {
			var d Decoder
			d.Init(ChatCompletions, true, false, &facts)
			d.memo.off = !memo
			for _, e := range likes {
				d.Write([]byte(e))
				events = append(events, d.End())
				d.Begin()
			}
			// Twice: what one leaves behind must not be in the way of the next.
			for range 2 {
				from := 0
				for _, c := range append(cuts, len(event)) {
					d.Write([]byte(event[from:c]))
					from = c
				}
				events = append(events, d.End())
				d.Begin()
			}
			d.Write([]byte(likes[1]))
			return append(events, d.End()), facts
		}
		wantEvents, wantFacts := read(false)
		check := func(cuts ...int) {
			events, facts := read(true, cuts...)
			if diff := cmp.Diff(wantEvents, events) + cmp.Diff(wantFacts, facts, cmp.AllowUnexported(Name{}, Facts{}, Detail{})); diff != "" {
				t.Errorf("%s, cut at %v (-without the pattern +with it)\n%s", name, cuts, diff)
			}
		}
		for i := range len(event) {
			check(i)
			for j := i; j < len(event); j += 13 {
				check(i, j)
			}
		}
	}
}

// TestEmptyEvent is none that fits, whatever came before.
func TestEmptyEvent(t *testing.T) {
	t.Parallel()
	var d Decoder
	var facts Facts
	d.Init(ChatCompletions, true, false, &facts)
	for range 3 {
		d.Write([]byte(delta("a", "x", "null", "5")))
		d.End()
		d.Begin()
	}
	if ev := d.End(); !ev.Fault || ev.Channels != 0 {
		t.Errorf("%+v, want a fault", ev)
	}
}

// TestCutEventsFit holds that a cut between two values costs no reading in full.
func TestCutEventsFit(t *testing.T) {
	t.Parallel()
	var d Decoder
	var facts Facts
	d.Init(ChatCompletions, true, false, &facts)
	for i := range 10 {
		e := delta("a", fmt.Sprint("x", i), "null", "5")
		cut := strings.Index(e, `"delta"`)
		if i >= 6 {
			d.Write([]byte(e[:cut]))
			e = e[cut:]
		}
		d.Write([]byte(e))
		if hit := d.memo.hit; hit != (i > 0) {
			t.Errorf("event %d: fits %v, want %v", i, hit, i > 0)
		}
		d.End()
		d.Begin()
	}
	if facts.TextChars != 20 {
		t.Errorf("%d characters, want 20", facts.TextChars)
	}
}

// TestErrorByName: an event that is an error by its name is read in full, for it may
// say which.
func TestErrorByName(t *testing.T) {
	t.Parallel()
	doc := []byte(`{"choices":[{"index":0,"delta":{"content":"x"}}],"type":"t","code":"c","message":"m"}`)
	for _, off := range []bool{true, false} {
		var d Decoder
		var facts Facts
		d.Init(ChatCompletions, true, false, &facts)
		d.memo.off = off
		for range 2 + tryFits {
			d.Write(doc)
			d.End()
			d.Begin()
		}
		d.MarkError()
		d.Write(doc)
		if ev := d.End(); !ev.Error || facts.Error != (Error{Present: true, HasMessage: true, Type: "t", Code: "c"}) {
			t.Errorf("without the pattern %v: %+v, %+v", off, ev, facts.Error)
		}
	}
}

// TestBrokenOff: a stream that ends within an event has said the same with the
// pattern and without.
func TestBrokenOff(t *testing.T) {
	t.Parallel()
	for api, doc := range map[API]string{
		ChatCompletions: delta("a", "text", "null", "1"),
		Responses:       `{"type":"response.output_text.delta","delta":"text","item_id":"m"}`,
	} {
		for cut := range len(doc) + 1 {
			read := func(off bool) (facts Facts) {
				var d Decoder
				d.Init(api, true, false, &facts)
				d.memo.off = off
				for range 2 + tryFits {
					d.Write([]byte(doc))
					d.End()
					d.Begin()
				}
				d.Write([]byte(doc[:cut]))
				d.Flush()
				return facts
			}
			if diff := cmp.Diff(read(true), read(false), cmp.AllowUnexported(Name{}, Facts{}, Detail{})); diff != "" {
				t.Errorf("cut behind %q: (-without the pattern +with it)\n%s", doc[:cut], diff)
			}
		}
	}
}

// TestLineBehindDocument: an empty line of data behind a document changes nothing.
func TestLineBehindDocument(t *testing.T) {
	t.Parallel()
	for api, doc := range map[API]string{
		ChatCompletions: delta("a", "text", "null", "1"),
		Responses:       `{"type":"response.output_text.delta","delta":"text","item_id":"m"}`,
	} {
		var d Decoder
		var facts Facts
		d.Init(api, true, false, &facts)
		for range 9 {
			d.Write([]byte(doc))
			d.Write([]byte("\n"))
			if ev := d.End(); ev != (Event{Channels: Content}) {
				t.Errorf("%v: %+v", api, ev)
			}
			d.Begin()
		}
		if facts.TextChars != 9*4 {
			t.Errorf("%v: %d code points, want %d", api, facts.TextChars, 9*4)
		}
	}
}
