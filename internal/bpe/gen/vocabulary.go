// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// writeVocabularies writes one file for each vocabulary. r50k_base is the
// first 50,256 tokens of p50k_base, so it needs none.
func writeVocabularies(files map[string][]byte) error {
	tokens := map[string][]string{}
	for _, name := range []string{"r50k_base", "p50k_base", "cl100k_base", "o200k_base"} {
		var err error
		if tokens[name], err = readRanks(files["package/encoders/"+name+".json"]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for id, t := range tokens["r50k_base"] {
		if tokens["p50k_base"][id] != t {
			return fmt.Errorf("token %d of r50k_base is not that of p50k_base", id)
		}
	}
	delete(tokens, "r50k_base")
	for name, list := range tokens {
		data, err := pack(list)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join("data", name+".bin"), data, 0o644); err != nil {
			return err
		}
		log.Printf("%s: %d tokens, %d bytes", name, len(list), len(data))
	}
	return nil
}

// readRanks reads lines of the form "! offset token token ...", the tokens in
// base64, numbered from the offset on. A number without a token stays empty.
func readRanks(data []byte) ([]string, error) {
	var file struct {
		Ranks string `json:"bpe_ranks"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	var tokens []string
	for line := range strings.Lines(file.Ranks) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "!" {
			return nil, fmt.Errorf("a line of %d words", len(words))
		}
		id, err := strconv.Atoi(words[1])
		if err != nil || id < len(tokens) {
			return nil, fmt.Errorf("offset %q after %d tokens", words[1], len(tokens))
		}
		tokens = append(tokens, make([]string, id-len(tokens))...)
		for _, word := range words[2:] {
			b, err := base64.StdEncoding.DecodeString(word)
			if err != nil {
				return nil, err
			}
			tokens = append(tokens, string(b))
		}
	}
	return tokens, nil
}

// pack writes the number of tokens, the bytes that the first 256 stand for,
// and for each later token its parents: the two tokens that byte-pair encoding
// makes it of. Parents are 3 bytes each, in planes: the lowest bytes of all left
// ones, those of all right ones, and then for each side the number of bytes, and as
// many, that are the two upper planes by DEFLATE. The lowest bytes are as good as
// random and would gain 0.3 % by that. A number without a token has 0xffffff for
// both parents.
func pack(tokens []string) ([]byte, error) {
	ids := make(map[string]int, len(tokens))
	for id, t := range tokens {
		if t != "" {
			ids[t] = id
		}
	}
	raw := binary.LittleEndian.AppendUint32(nil, uint32(len(tokens)))
	for id, t := range tokens[:256] {
		if len(t) != 1 {
			return nil, fmt.Errorf("token %d has %d bytes", id, len(t))
		}
		raw = append(raw, t[0])
	}
	rest := tokens[256:]
	planes := make([]byte, 6*len(rest))
	for i, t := range rest {
		left, right := 0xffffff, 0xffffff
		if t != "" {
			var ok bool
			if left, right, ok = parents(ids, t, 256+i); !ok {
				return nil, fmt.Errorf("token %d, %q, is not made of two", 256+i, t)
			}
		}
		for b := range 3 {
			planes[b*len(rest)+i] = byte(left >> (8 * b))
			planes[(3+b)*len(rest)+i] = byte(right >> (8 * b))
		}
	}
	n := len(rest)
	raw = append(raw, planes[:n]...)
	raw = append(raw, planes[3*n:4*n]...)
	for _, upper := range [][]byte{planes[n : 3*n], planes[4*n:]} {
		var out bytes.Buffer
		zw, err := flate.NewWriter(&out, flate.BestCompression)
		if err != nil {
			return nil, err
		}
		if _, err := zw.Write(upper); err != nil {
			return nil, err
		}
		if err := zw.Close(); err != nil {
			return nil, err
		}
		raw = binary.LittleEndian.AppendUint32(raw, uint32(out.Len()))
		raw = append(raw, out.Bytes()...)
	}
	return raw, nil
}

// parents merges the bytes of token id by the tokens before it, lowest first,
// until two are left.
func parents(ids map[string]int, token string, id int) (left, right int, ok bool) {
	parts := make([]string, len(token))
	for i := range len(token) {
		parts[i] = token[i : i+1]
	}
	for len(parts) > 2 {
		best, at := id, -1
		for i := range parts[:len(parts)-1] {
			if rank, ok := ids[parts[i]+parts[i+1]]; ok && rank < best {
				best, at = rank, i
			}
		}
		if at < 0 {
			return 0, 0, false
		}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
	return ids[parts[0]], ids[parts[1]], true
}
