// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"strings"
	"testing"

	"github.com/tacho-go/tacho/load"
)

// A file that was not fetched to its end, or has something between its objects,
// is an error, and not a short list.
func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	const question, arrival = `{"prompt":"why"}`, `{"timestamp":1,"input_length":2}`
	for _, text := range []string{
		"[" + question, "[" + question + ",", "[" + question + "}", question + "]", question + "\n}\n" + question, question + " x",
		"[" + question + "] " + question, question + "\n[" + question + "]",
	} {
		if list, err := load.ReadPrompts(strings.NewReader(text), 0, nil); err == nil {
			t.Errorf("prompts %q: %v", text, list)
		}
		text = strings.ReplaceAll(text, question, arrival)
		if list, err := load.ReadTrace(strings.NewReader(text)); err == nil {
			t.Errorf("trace %q: %v", text, list)
		}
	}
	// What lies behind the limit is not read.
	if list, err := load.ReadPrompts(strings.NewReader("["+question+","+question+", broken"), 2, nil); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
}

// Two columns that say the same are ambiguous; JSON has no order that decides.
func TestTraceTwoColumns(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"time":1,"timestamp":5}`, `{"timestamp":1,"input_tokens":5,"prompt_tokens":3}`, `{"timestamp":1,"Timestamp":1}`,
		"time,timestamp\n1,5\n", "timestamp,input_tokens,prompt_tokens\n1,2,3\n",
	} {
		for range 20 {
			if list, err := load.ReadTrace(strings.NewReader(text)); err == nil {
				t.Fatalf("%q: %v", text, list)
			}
		}
	}
}

// Moments further apart than a duration holds are an error, and no negative ones.
func TestTraceFarApart(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"timestamp\n0001-01-01 00:00:00\n2023-11-16 18:15:46\n", "timestamp\n1700-01-01 00:00:00\n2290-11-16 18:15:46\n",
		"time\n-4e9\n1e9\n2e9\n4e9\n", "timestamp\n1\n2023-11-16 18:15:46\n",
	} {
		list, err := load.ReadTrace(strings.NewReader(text))
		if err == nil && list[len(list)-1].At < list[0].At {
			t.Errorf("%q: %v", text, list)
		}
		if err == nil && list[0].At != 0 {
			t.Errorf("%q: %v", text, list)
		}
	}
	if list, err := load.ReadTrace(strings.NewReader("timestamp\n0001-01-01 00:00:00\n2023-11-16 18:15:46\n")); err == nil {
		t.Errorf("%v", list)
	}
	if list, err := load.ReadTrace(strings.NewReader("timestamp\n1\n2023-11-16 18:15:46\n")); err == nil {
		t.Errorf("seconds beside dates: %v", list)
	}
}

// Unicode is as it was in the file.
func TestPromptsUnicode(t *testing.T) {
	t.Parallel()
	const text = "日本語 🙂\u0000\u2028 é e\u0301"
	in := "\ufeff[{\"conversations\":[{\"from\":\"human\",\"value\":\"日本語 \\ud83d\\ude42\\u0000\\u2028 é e\\u0301\"},{\"from\":\"gpt\",\"value\":\"\"}]}]"
	list, err := load.ReadPrompts(strings.NewReader(in), 0, func(string) int { return 7 })
	if err != nil || len(list) != 1 || list[0].User != text || list[0].MaxTokens != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}
