// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sent is an event as it is sent: what stands before its data, the data, and what
// ends it.
type sent struct{ before, doc, end string }

// readSent reads events as a tap does, with Repeats or without, and returns how many
// Repeats took.
func readSent(api API, repeats bool, list []sent) (taken int, events []Event, facts Facts) {
	var stream []byte
	for _, e := range list {
		stream = append(append(append(stream, e.before...), e.doc...), e.end...)
	}
	var d Decoder
	d.Init(api, true, false, &facts)
	for i := 0; i < len(list); {
		if repeats {
			used, n := d.Repeats(stream)
			stream = stream[used:]
			taken, i = taken+n, i+n
			for range n {
				events = append(events, d.Repeated())
			}
			if i == len(list) {
				break
			}
		}
		e := list[i]
		event := stream[:len(e.before)+len(e.doc)+len(e.end)]
		doc := event[len(e.before) : len(event)-len(e.end)]
		if strings.Contains(e.before, "error") {
			d.MarkError()
		}
		d.Write(doc)
		d.Frame(event, doc)
		events = append(events, d.End())
		d.Begin()
		stream = stream[len(event):]
		i++
	}
	return taken, events, facts
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	say := func(text, noise string) sent { return sent{"data: ", delta("a", text, "null", noise), "\n\n"} }
	// The first makes the pattern, four more fit before its holes are settled, and the
	// last of those shows the frame.
	likes := []sent{say("x", "1"), say("yy", "2"), say("z", "3"), say("q", "4"), say("é", "5")}
	response := func(text string) sent {
		return sent{"event: response.output_text.delta\ndata: ", `{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"` + text + `"}`, "\n\n"}
	}
	responses := []sent{response("a"), response("b"), response("c"), response("d"), response("e")}
	for _, tc := range []struct {
		name  string
		api   API
		first []sent
		then  []sent
		taken int
	}{
		{"the same", ChatCompletions, likes, []sent{say("x", "6"), say("x", "7")}, 2},
		{"texts with escapes, beyond ASCII, long", ChatCompletions, likes, []sent{say(`\"\\`, "6"), say(`\u00e9日本`, "6"), say(strings.Repeat("long ", 100), "6")}, 3},
		{"no text", ChatCompletions, likes, []sent{say("", "6"), say("x", "6")}, 0},
		{"another id", ChatCompletions, likes, []sent{say("x", "6"), {"data: ", delta("b", "x", "null", "6"), "\n\n"}, say("x", "6")}, 1},
		{"an end", ChatCompletions, likes, []sent{say("x", "6"), {"data: ", delta("a", "", `"stop"`, "6"), "\n\n"}, {"data: ", "[DONE]", "\n\n"}}, 1},
		{"other lines", ChatCompletions, likes, []sent{{"data:", delta("a", "x", "null", "6"), "\n\n"}, {"id: 1\ndata: ", delta("a", "x", "null", "6"), "\n\n"}}, 0},
		{"lines that end in CR", ChatCompletions, likes, []sent{{"data: ", delta("a", "x", "null", "6"), "\r\n\r\n"}}, 0},
		{"another frame for good", ChatCompletions, likes, []sent{{"data:", delta("a", "x", "null", "6"), "\n\n"}, {"data:", delta("a", "x", "null", "6"), "\n\n"}}, 1},
		{"a line's end within a text", ChatCompletions, likes, []sent{say("a\nb", "6")}, 0},
		{"one that is no JSON", ChatCompletions, likes, []sent{say("x", "6"), {"data: ", delta("a", "x", "null", "6")[:50], "\n\n"}, say("x", "7")}, 1},
		{"too few", ChatCompletions, likes[:3], []sent{say("x", "6")}, 0},
		{"names", Responses, responses, []sent{response("x"), response("yz")}, 2},
		{"the name of an error", Responses, []sent{response("a"), response("b"), response("c"), response("d"), {"event: error\ndata: ", response("e").doc, "\n\n"}},
			[]sent{{"event: error\ndata: ", response("e").doc, "\n\n"}}, 0},
		{"a frame beyond its bound", ChatCompletions, likes[:4], []sent{{"id: " + strings.Repeat("1", maxFrame) + "\ndata: ", delta("a", "x", "null", "6"), "\n\n"}, {"id: " + strings.Repeat("1", maxFrame) + "\ndata: ", delta("a", "x", "null", "6"), "\n\n"}}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			list := slices.Concat(tc.first, tc.then)
			taken, events, facts := readSent(tc.api, true, list)
			_, wantEvents, want := readSent(tc.api, false, list)
			if taken != tc.taken {
				t.Errorf("%d taken, want %d", taken, tc.taken)
			}
			if diff := cmp.Diff(want, facts, cmp.AllowUnexported(Detail{}, Facts{}, Name{})); diff != "" {
				t.Errorf("(-one by one +repeats)\n%s", diff)
			}
			if diff := cmp.Diff(wantEvents, events); diff != "" {
				t.Errorf("(-one by one +repeats)\n%s", diff)
			}
		})
	}
}

// TestRepeatsCut: an event that is not whole is left, wherever it is cut.
func TestRepeatsCut(t *testing.T) {
	t.Parallel()
	var facts Facts
	var d Decoder
	d.Init(ChatCompletions, true, false, &facts)
	event := []byte("data: " + delta("a", "some text", "null", "1") + "\n\n")
	doc := bytes.TrimSuffix(event[len("data: "):], []byte("\n\n"))
	for range 1 + tryFits {
		d.Write(doc)
		d.Frame(event, doc)
		d.End()
		d.Begin()
	}
	before := facts.TextChars
	for n := range event {
		if used, events := d.Repeats(event[:n]); used != 0 || events != 0 {
			t.Fatalf("of %q %d bytes were taken", event[:n], used)
		}
	}
	if used, events := d.Repeats(slices.Concat(event, event, event[:9])); used != 2*len(event) || events != 2 || facts.TextChars != before+18 {
		t.Errorf("%d bytes and %d events were taken, with %d code points", used, events, facts.TextChars-before)
	}
}
