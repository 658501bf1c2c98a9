// SPDX-License-Identifier: Apache-2.0

package sse

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type event struct{ Name, Data string }

// scan feeds src in pieces of the given sizes (the last size repeats) and
// returns the events, and whether one was open at the end.
func scan(src []byte, sizes ...int) (events []event, open bool) {
	var s Scanner
	var data []byte
	for k := 0; len(src) > 0; k++ {
		n := min(sizes[min(k, len(sizes)-1)], len(src))
		p := src[:n]
		src = src[n:]
		for {
			tok, piece, used := s.Next(p)
			p = p[used:]
			switch tok {
			case Data:
				data = append(data, piece...)
				continue
			case End:
				events = append(events, event{string(s.Name()), string(data)})
				s.ResetName()
				data = data[:0]
				continue
			}
			break
		}
	}
	if s.Flush() {
		events = append(events, event{string(s.Name()), string(data)})
		open = true
	}
	return events, open
}

func TestScannerGrammar(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		src  string
		want []event
		open bool
	}{
		{"nothing", "", nil, false},
		{"space after the colon", "data: a\n\n", []event{{"", "a"}}, false},
		{"no space after the colon", "data:a\n\n", []event{{"", "a"}}, false},
		{"one space only is taken", "data:  a \n\n", []event{{"", " a "}}, false},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []event{{"", "a"}, {"", "b"}}, false},
		{"CR alone", "data: a\r\rdata: b\r\r", []event{{"", "a"}, {"", "b"}}, false},
		{"mixed line ends", "data: a\r\n\ndata: b\n\r\n", []event{{"", "a"}, {"", "b"}}, false},
		{"extra blank lines", "\n\ndata: a\n\n\n\ndata: b\n\n", []event{{"", "a"}, {"", "b"}}, false},
		{"two data lines", "data: a\ndata: b\n\n", []event{{"", "a\nb"}}, false},
		{"three data lines, one empty", "data: a\ndata:\ndata: c\n\n", []event{{"", "a\n\nc"}}, false},
		{"empty data", "data:\n\n", []event{{"", ""}}, false},
		{"data without a colon", "data\n\n", []event{{"", ""}}, false},
		{"data without a colon, twice", "data\ndata\n\n", []event{{"", "\n"}}, false},
		{"name before and after", "event: x\ndata: a\n\ndata: b\nevent: y\n\n", []event{{"x", "a"}, {"y", "b"}}, false},
		{"name without data is dropped", "event: x\n\ndata: a\n\n", []event{{"", "a"}}, false},
		{"last name wins", "event: x\nevent:yy\ndata: a\n\n", []event{{"yy", "a"}}, false},
		{"name without a colon clears it", "event: x\nevent\ndata: a\n\n", []event{{"", "a"}}, false},
		{"long name is cut", "event: " + strings.Repeat("n", 40) + "\ndata: a\n\n", []event{{strings.Repeat("n", maxName), "a"}}, false},
		{"comments", ": OPENROUTER PROCESSING\n\n:\n\n: \n\ndata: a\n: inside\n\n", []event{{"", "a"}}, false},
		{"id and retry", "id: 7\nretry: 100\ndata: a\n\nid\n\n", []event{{"", "a"}}, false},
		{"unknown fields", "dat: x\ndatax: y\ndatabase: z\n data: w\ndata: a\n\n", []event{{"", "a"}}, false},
		{"BOM", "\xef\xbb\xbfdata: a\n\n", []event{{"", "a"}}, false},
		{"half a BOM spoils its line only", "\xef\xbbdata: a\n\ndata: b\n\n", []event{{"", "b"}}, false},
		{"BOM inside is no BOM", "data: a\n\n\xef\xbb\xbfdata: b\n\n", []event{{"", "a"}}, false},
		{"colons in data", "data: a:b: c\n\n", []event{{"", "a:b: c"}}, false},
		{"open at the end", "data: a\n\ndata: b\n", []event{{"", "a"}, {"", "b"}}, true},
		{"open inside a line", "data: [DONE]", []event{{"", "[DONE]"}}, true},
		{"a cut field is nothing", "data: a\n\ndat", []event{{"", "a"}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1, 2, 3, 7, 1 << 20} {
				got, open := scan([]byte(tt.src), size)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("in pieces of %d: (-want +got)\n%s", size, diff)
				}
				if open != tt.open {
					t.Errorf("in pieces of %d: open = %v, want %v", size, open, tt.open)
				}
			}
		})
	}
}

func TestScannerHasNoLineLimit(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3<<20)
	got, _ := scan([]byte("data: "+long+"\n\ndata: b\n\n"), 4096)
	if len(got) != 2 || got[0].Data != long || got[1].Data != "b" {
		t.Fatalf("got %d events", len(got))
	}
}

// reference is the grammar in its plainest form: the whole input at once.
func reference(src string) (events []event, open bool) {
	src = strings.TrimPrefix(src, "\ufeff")
	src = strings.ReplaceAll(src, "\r\n", "\n")
	src = strings.ReplaceAll(src, "\r", "\n")
	var data []string
	var name string
	lines := strings.Split(src, "\n")
	for i, line := range lines {
		last := i == len(lines)-1 // not ended by a line end
		if line == "" {
			if !last {
				if data != nil {
					events = append(events, event{name, strings.Join(data, "\n")})
				}
				data, name = nil, ""
			}
			continue
		}
		field, value, colon := strings.Cut(line, ":")
		if last && !colon {
			continue // cannot be told from the begin of a longer name
		}
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			data = append(data, value)
		case "event":
			name = value[:min(len(value), maxName)]
		}
	}
	if data != nil {
		events = append(events, event{name, strings.Join(data, "\n")})
		open = true
	}
	return events, open
}

func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		"data: a\n\n", "event: e\ndata:b\r\n\r\n", "\xef\xbb\xbfdata\n\n", "data: a\rdata: b\r\r\n",
		": c\n\nid: 1\nretry: 5\ndata: {\"x\":\"y\"}\n\ndata: [DONE]\n\n",
	} {
		f.Add([]byte(s), uint8(1), uint8(5))
	}
	f.Fuzz(func(t *testing.T, src []byte, a, b uint8) {
		want, wantOpen := reference(string(src))
		for _, sizes := range [][]int{{1 << 30}, {1}, {int(a) + 1, int(b) + 1}} {
			got, open := scan(bytes.Clone(src), sizes...)
			if diff := cmp.Diff(want, got); diff != "" || open != wantOpen {
				t.Fatalf("sizes %v, open %v want %v: (-reference +scanner)\n%s", sizes, open, wantOpen, diff)
			}
		}
	})
}

func BenchmarkScanner(b *testing.B) {
	var src bytes.Buffer
	const events = 100
	for i := range events {
		fmt.Fprintf(&src, "data: {\"id\":\"chatcmpl-%026d\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"logprobs\":null,\"finish_reason\":null}],\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\"}\n\n", i)
	}
	b.SetBytes(int64(src.Len()))
	b.ReportAllocs()
	for b.Loop() {
		var s Scanner
		for p := src.Bytes(); ; {
			tok, _, used := s.Next(p)
			if p = p[used:]; tok == None {
				break
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
}
