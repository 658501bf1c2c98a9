// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pkoukk "github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
	"github.com/tiktoken-go/tokenizer"

	"github.com/tacho-go/tacho"
)

// The texts that programs count every day, and those of one kind of character
// or one piece, which take some libraries a time that grows with its square.
var (
	coreTexts = strings.Fields("english chinese cjk_mixed code_go code_python json_compact json_pretty markdown script_arabic " +
		"script_cyrillic script_hindi script_japanese script_korean script_misc_scripts script_thai short_msgs urls")
	pathological = strings.Fields("base64 combining contractions digits emoji hex_uuid letter_run_A letter_run_a letter_run_zh longword_camel " +
		"longword_rand longword_words newlines_long punct_run rand_unicode spaces_long unicode_classes whitespace_mix")
)

type tokenCounter struct {
	name  string
	count func(text string) int
}

func tokenCounters(b *testing.B, encoding string, slow bool) []tokenCounter {
	enc, err := tacho.EncodingByName(encoding)
	if err != nil {
		b.Fatal(err)
	}
	codec, err := tokenizer.Get(tokenizer.Encoding(encoding))
	if err != nil {
		b.Fatal(err)
	}
	counters := []tokenCounter{
		{"tacho", enc.Count},
		{"tokenizer", func(text string) int { n, _ := codec.Count(text); return n }},
	}
	if slow {
		pkoukk.SetBpeLoader(loader.NewOfflineLoader())
		tk, err := pkoukk.GetEncoding(encoding)
		if err != nil {
			b.Fatal(err)
		}
		counters = append(counters, tokenCounter{"pkoukk", func(text string) int { return len(tk.EncodeOrdinary(text)) }})
	}
	return counters
}

func tokenText(b *testing.B, name string) string {
	dir := os.Getenv("TACHO_TOKENS")
	if dir == "" {
		b.Skip("TACHO_TOKENS names no folder with corpus/")
	}
	text, err := os.ReadFile(filepath.Join(dir, "corpus", name+".txt"))
	if err != nil {
		b.Fatal(err)
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// fastest counts a text by each library in turns, and returns for each the
// shortest time: what a machine that stalls does least to.
func fastest(text string, rounds int, counters []tokenCounter) []time.Duration {
	times := make([]time.Duration, len(counters))
	for range rounds {
		for i, c := range counters {
			begin := time.Now()
			c.count(text)
			if d := time.Since(begin); times[i] == 0 || d < times[i] {
				times[i] = d
			}
		}
	}
	return times
}

// BenchmarkTokens gives each library's speed by kind of text, and over all: the
// bytes of all divided by the sum of the times.
func BenchmarkTokens(b *testing.B) {
	for _, encoding := range []string{"o200k_base", "cl100k_base"} {
		b.Run(encoding, func(b *testing.B) {
			counters := tokenCounters(b, encoding, true)
			size, total := 0, make([]time.Duration, len(counters))
			report := func(b *testing.B, bytes int, times []time.Duration) {
				b.ReportMetric(0, "ns/op")
				for i, c := range counters {
					b.ReportMetric(float64(bytes)/times[i].Seconds()/1e6, c.name+"-MB/s")
				}
				b.ReportMetric(float64(min(times[1], times[2]))/float64(times[0]), "times-the-better")
			}
			for _, name := range coreTexts {
				b.Run(name, func(b *testing.B) {
					text := tokenText(b, name)
					times := fastest(text, 9, counters)
					report(b, len(text), times)
					b.ReportMetric(testing.AllocsPerRun(3, func() { counters[0].count(text) }), "tacho-allocs")
					size += len(text)
					for i := range total {
						total[i] += times[i]
					}
				})
			}
			b.Run("all", func(b *testing.B) { report(b, size, total) })
		})
	}
}

// BenchmarkTokensPathological gives the milliseconds that each text takes;
// pkoukk/tiktoken-go, which takes seconds, is left out.
func BenchmarkTokensPathological(b *testing.B) {
	for _, encoding := range []string{"o200k_base", "cl100k_base"} {
		counters := tokenCounters(b, encoding, false)
		for _, name := range pathological {
			b.Run(encoding+"/"+name, func(b *testing.B) {
				times := fastest(tokenText(b, name), 5, counters)
				b.ReportMetric(0, "ns/op")
				for i, c := range counters {
					b.ReportMetric(float64(times[i].Microseconds())/1000, c.name+"-ms")
				}
			})
		}
	}
}
