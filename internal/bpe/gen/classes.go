// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
)

// The classes, one bit each, as in class.go of package bpe.
var categories = []struct {
	bit   byte
	names []string
}{
	{1 << 0, []string{"Lowercase_Letter"}},
	{1 << 1, []string{"Uppercase_Letter", "Titlecase_Letter"}},
	{1 << 2, []string{"Modifier_Letter", "Other_Letter"}},
	{1 << 3, []string{"Mark"}},
	{1 << 4, []string{"Number"}},
	{1 << 7, []string{"Punctuation", "Symbol"}},
}

const (
	space   = 1 << 5
	newline = 1 << 6
)

// writeClasses writes a table of two levels: for each block of 128 code points
// the number of its classes, one byte, then the classes, 128 bytes each.
func writeClasses(files map[string][]byte) error {
	classes := make([]byte, 0x110000)
	set := func(name string, bit byte) error {
		ranges, err := decodeRanges(files["package/"+name+"/ranges.js"])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, r := range ranges {
			for c := r[0]; c < r[1]; c++ {
				if classes[c] != 0 {
					return fmt.Errorf("%s: U+%04X has class %#x already", name, c, classes[c])
				}
				classes[c] = bit
			}
		}
		return nil
	}
	for _, category := range categories {
		for _, name := range category.names {
			if err := set("General_Category/"+name, category.bit); err != nil {
				return err
			}
		}
	}
	if err := set("Binary_Property/White_Space", space); err != nil {
		return err
	}
	classes['\n'], classes['\r'] = newline, newline

	const block = 128
	numbers := map[string]byte{}
	var index, blocks []byte
	for ; len(classes) > 0; classes = classes[block:] {
		key := string(classes[:block])
		n, ok := numbers[key]
		if !ok {
			if len(numbers) == 256 {
				return fmt.Errorf("more than 256 different blocks")
			}
			n = byte(len(numbers))
			numbers[key] = n
			blocks = append(blocks, key...)
		}
		index = append(index, n)
	}
	data := append(index, blocks...)
	log.Printf("classes: %d blocks, %d bytes", len(numbers), len(data))
	return os.WriteFile(filepath.Join("data", "classes.bin"), data, 0o644)
}

// decodeRanges reads the one string of a ranges.js: differences in base64
// digits, the first of which tells how many there are, alternately from the
// end of a range to the next begin and from there to the end.
func decodeRanges(js []byte) ([][2]int, error) {
	_, rest, _ := bytes.Cut(js, []byte("decode-ranges.js')('"))
	text, _, ok := bytes.Cut(rest, []byte("')"))
	if !ok {
		return nil, fmt.Errorf("not in the known form: %.60q", js)
	}
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	var deltas []int
	for i := 0; i < len(text); {
		first := strings.IndexByte(digits, text[i])
		more, bits := 0, 5
		switch {
		case first >= 56:
			more, bits = 3, 3
		case first >= 48:
			more, bits = 2, 3
		case first >= 32:
			more, bits = 1, 4
		}
		if first < 0 || i+more >= len(text) {
			return nil, fmt.Errorf("cut short at %d", i)
		}
		value := first & (1<<bits - 1)
		for range more {
			i++
			value = value<<6 | strings.IndexByte(digits, text[i])
		}
		i++
		deltas = append(deltas, value)
	}
	var ranges [][2]int
	for end, i := -1, 1; i < len(deltas); i += 2 {
		begin := end + 1 + deltas[i-1]
		end = begin + 1 + deltas[i]
		ranges = append(ranges, [2]int{begin, end})
	}
	return ranges, nil
}
