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
