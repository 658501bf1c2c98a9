// SPDX-License-Identifier: Apache-2.0

package bpe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpusText returns a text of the folder TACHO_TOKENS.
func corpusText(tb testing.TB, name string) []byte {
	dir := os.Getenv("TACHO_TOKENS")
	if dir == "" {
		tb.Skip("TACHO_TOKENS names no folder with corpus/")
	}
	b, err := os.ReadFile(filepath.Join(dir, "corpus", name))
	if err != nil {
		tb.Fatal(err)
	}
	return []byte(strings.ToValidUTF8(string(b), "\uFFFD"))
}

// The texts that programs count every day.
var core = strings.Fields("english.txt chinese.txt cjk_mixed.txt code_go.txt code_python.txt json_compact.txt " +
	"json_pretty.txt markdown.txt script_arabic.txt script_cyrillic.txt script_hindi.txt script_japanese.txt " +
	"script_korean.txt script_misc_scripts.txt script_thai.txt short_msgs.txt urls.txt")

func BenchmarkCount(b *testing.B) {
	v, err := O200kBase()
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range core {
		b.Run(name, func(b *testing.B) {
			text := corpusText(b, name)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				v.Count(&o200k, text)
			}
		})
	}
	b.Run("all", func(b *testing.B) {
		var texts [][]byte
		size := 0
		for _, name := range core {
			texts = append(texts, corpusText(b, name))
			size += len(texts[len(texts)-1])
		}
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			for _, text := range texts {
				v.Count(&o200k, text)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := load(dataO200k, 0); err != nil {
			b.Fatal(err)
		}
	}
}
